"""``.env`` and the variables of the process: what is misspelled stops the program or is warned of."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from spca.common.environment import KNOWN_VARIABLES, complete_environment, load_env, nearest_variable
from spca.common.errors import SettingsError
from spca.llm.catalogue.servers import VARIABLES
from spca.runs.default_models import DEFAULTS
from spca.runs.settings import ROLES

ROOT = Path(__file__).resolve().parents[3]
KEY = "sk-of-a-user-0123456789"


@pytest.fixture(autouse=True)
def environment() -> Iterator[None]:
    """Read ``.env``, and take away again what it has set: after what a test patches, so without ``monkeypatch``."""
    before = dict(os.environ)
    for name in ("PYTHON_DOTENV_DISABLED", "HTTP_PROXY"):
        os.environ.pop(name, None)
    yield
    os.environ.clear()
    os.environ.update(before)


def written(folder: Path, *lines: str) -> Path:
    path = folder / ".env"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_a_file_names_no_code_to_execute(tmp_path: Path) -> None:
    path = written(tmp_path, "A=1", "SPCA_PLUGINS=planted.py")
    with pytest.raises(SettingsError, match=r"line 2: SPCA_PLUGINS is read from the environment only"):
        load_env(path)


@pytest.mark.parametrize(
    ("lines", "at", "meant"),
    [
        ((f"OPENAI_API_KY={KEY}",), 1, "OPENAI_API_KEY"),
        ((f"openai_api_key={KEY}",), 1, "OPENAI_API_KEY"),
        ((f"Openai_Api_Key={KEY}",), 1, "OPENAI_API_KEY"),
        ((f"OPENAI-API-KEY={KEY}",), 1, "OPENAI_API_KEY"),
        ((f"OPENAI_APIKEY={KEY}",), 1, "OPENAI_API_KEY"),
        ((f"OPENAI_KEY={KEY}",), 1, "OPENAI_API_KEY"),
        ((f"anthropic_key={KEY}",), 1, "ANTHROPIC_API_KEY"),
        (("OPENAI_URL=http://localhost:1/v1",), 1, "OPENAI_BASE_URL"),
        ((f"OPENAI_API_KYE={KEY}",), 1, "OPENAI_API_KEY"),
        (("# keys", "", f"export ANTROPIC_API_KEY='{KEY}'"), 3, "ANTHROPIC_API_KEY"),
        (("A='two", "lines'", f"GEMNI_API_KEY={KEY}"), 3, "GEMINI_API_KEY"),
        (("OPENAI_BASEURL=http://localhost:1/v1",), 1, "OPENAI_BASE_URL"),
        (("SPCA_CODER_MODL=openai/x",), 1, "SPCA_CODER_MODEL"),
        (("SPCA_MODEL=openai/x",), 1, "SPCA_CODER_MODEL"),
        (("OPENAI_API_KEY=", f"OPENAI_API_KY={KEY}"), 2, "OPENAI_API_KEY"),
        ((f"OPENAI_API_KEY {KEY}",), 1, "NAME=VALUE"),
        ((f"OPENAI_API_KEY: {KEY}",), 1, "NAME=VALUE"),
        ((f"export OPENAI_API_KEY {KEY}",), 1, "NAME=VALUE"),
        (("", "OPENAI_API_KEY"), 2, "NAME=VALUE"),
        ((KEY,), 1, "NAME=VALUE"),
        ((f"={KEY}",), 1, "NAME=VALUE"),
        ((f"set OPENAI_API_KEY={KEY}",), 1, "NAME=VALUE"),
        (("A=1", f'OPENAI_API_KEY="{KEY}', "B=2"), 2, "NAME=VALUE"),
        ((f"OPENAI_API_KEY='{KEY}",), 1, "NAME=VALUE"),
        ((f'OPENAI_API_KEY="{KEY}" or so',), 1, "NAME=VALUE"),
        ((f'OPENAI_API_KEY="{KEY}', 'B="2"'), 1, "NAME=VALUE"),
        (("A=1", "'B=b'=2"), 2, "NAME=VALUE"),
        ((f"'OPENAI_API_KEY={KEY}'",), 1, "NAME=VALUE"),
    ],
)
def test_a_line_that_sets_nothing_of_ours_stops(tmp_path: Path, lines: tuple[str, ...], at: int, meant: str) -> None:
    path = written(tmp_path, *lines)
    before = dict(os.environ)
    with pytest.raises(SettingsError) as caught:
        load_env(path)
    told = str(caught.value)
    assert told.startswith(f"{path}, line {at}: ")
    assert told.endswith(f" write {meant}")
    assert KEY not in told
    assert "\n" not in told
    assert dict(os.environ) == before


@pytest.mark.parametrize(
    "name",
    [
        *("DATABASE_URL", "HTTP_PROXY", "MY_KEY", "PATH_TO_X", "AWS_SECRET_ACCESS_KEY", "XAI_API_KEY", "HF_TOKEN"),
        *("OPENAI_ORG_ID", "OPENAI_PROJECT_ID", "OPENROUTER_API_KEY", "AZURE_OPENAI_API_KEY", "GOOGLE_MAPS_API_KEY"),
        *(
            "OPENAI_API_KEY_2",
            "MY_OPENAI_API_KEY",
            "OPENAI_API_KEY_OLD",
            "OLLAMA_PORT",
            "GOOGLE_URL",
            "ANTHROPIC_AUTH_TOKEN",
            "API_KEY",
        ),
    ],
)
def test_other_variables_of_a_user_are_left_alone(tmp_path: Path, name: str) -> None:
    load_env(written(tmp_path, f"{name}=x", "# a comment", "", "OLLAMA_HOST=h:1"))
    assert (os.environ[name], os.environ["OLLAMA_HOST"]) == ("x", "h:1")
    assert nearest_variable(name) == ""


def test_a_name_that_a_server_of_the_users_own_has_is_no_mistake(tmp_path: Path) -> None:
    path = written(tmp_path, f"OPENAI_API_KEYS={KEY}")
    with pytest.raises(SettingsError, match=r"OPENAI_API_KEYS is read by nothing here: write OPENAI_API_KEY$"):
        load_env(path)
    load_env(path, ["lab=http://gpu:8000/v1,OPENAI_API_KEYS"])
    assert os.environ.pop("OPENAI_API_KEYS") == KEY
    written(tmp_path, f"OPENAI_API_KEYS={KEY}", "SPCA_SERVERS=box=http://b,lab=http://gpu:8000/v1|OPENAI_API_KEYS")
    load_env(path)
    assert os.environ["OPENAI_API_KEYS"] == KEY


def test_where_the_true_name_is_set_a_similar_one_is_the_users_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written(tmp_path, f"OPENAI_API_KYE={KEY}", "OPENAI_API_KEY=sk-0")
    load_env(path)
    assert os.environ["OPENAI_API_KEY"] == "sk-0"
    monkeypatch.setenv("OPENAI_API_KEY", "sk-1")
    load_env(written(tmp_path, f"OPENAI_API_KYE={KEY}"))
    assert os.environ["OPENAI_API_KEY"] == "sk-1"


def test_values_are_those_of_python_dotenv(tmp_path: Path) -> None:
    lines = [
        "export A=1 # one",
        "B='$A ${A}'",
        'C="x\\ty ${A}"',
        "D=${C}-${NONE:-n}",
        "E=",
        "",
        "'F'=f",
        "A=2",
        "G=${A}",
    ]
    path = written(tmp_path, *lines)
    load_env(path)
    from dotenv import dotenv_values

    expected = dotenv_values(path)
    assert expected == {name: os.environ[name] for name in "BCDEFAG"}
    assert expected["C"] == "x\ty 1"


def test_a_variable_of_the_process_that_is_nearly_ours_is_warned_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("openai_api_key", KEY)
    monkeypatch.setenv("SPCA_OF_A_TEST", "1")
    complete_environment((tmp_path, tmp_path))
    said = capsys.readouterr().err
    assert said == (
        "warning: the environment variable openai_api_key is read by nothing here: did you mean OPENAI_API_KEY?\n"
    )
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    complete_environment((tmp_path,))
    assert capsys.readouterr().err == ""


def test_the_example_can_be_copied(tmp_path: Path) -> None:
    example = (ROOT / ".env.example").read_text(encoding="utf-8")
    load_env(written(tmp_path, example))
    assert os.environ.pop("OPENAI_API_KEY") == ""
    load_env(written(tmp_path, re.sub(r"(?m)^#(?=[A-Z])", "", example).replace("KEY=", f"KEY={KEY}")))
    assert os.environ["OPENAI_API_KEY"] == KEY


def test_every_variable_that_programs_read_is_known() -> None:
    read = {name for default in DEFAULTS for name in default.variables} | set(VARIABLES.values())
    read |= {f"SPCA_{role.upper()}_{what}" for role in ROLES for what in ("MODEL", "EFFORT")}
    sources = [
        *ROOT.glob("*.py"),
        *(p for part in ("spca", "gridworld", "explorer") for p in (ROOT / part).rglob("*.py")),
    ]
    for path in sources:
        read |= set(re.findall(r"\bSPCA_[A-Z_]+[A-Z]\b|\b[A-Z]+_API_KEY\b", path.read_text(encoding="utf-8")))
    assert read - {"MY_OPENAI_API_KEY"} == set(KNOWN_VARIABLES)
