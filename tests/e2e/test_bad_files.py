"""What may stand under the name of a file or folder: one line, exit code 2, nothing is played."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.e2e.conftest import Learned, Refused
from tests.support.commands import command, curriculum, environment
from tests.support.tiers import few

pytestmark = pytest.mark.timeout(120)

LONG = "n" * 300


def endless(path: Path) -> None:
    path.symlink_to("/dev/zero")


def huge(path: Path) -> None:
    """More than any text has; it takes no room on the disk."""
    with path.open("wb") as file:
        file.truncate((16 << 20) + 1)


MADE: dict[str, tuple[Callable[[Path], object], str]] = {
    "pipe": (os.mkfifo, "it is a pipe or a device, not a file"),
    "endless": (endless, "it is a pipe or a device, not a file"),
    "folder": (Path.mkdir, "Is a directory"),
    "huge": (huge, "it has more than 16 MB"),
    "latin-1": (lambda path: path.write_bytes("\u00e4".encode("latin-1")), "it is not UTF-8 text (byte 0 is 0xe4)"),
    "utf-16": (lambda path: path.write_text("{}", encoding="utf-16"), "it is not UTF-8 text (byte 0 is 0xff)"),
    "NUL": (lambda path: path.write_text("a\nb\0c"), "line 2 holds a NUL character: save it as UTF-8 text"),
}
"""What may stand under the name of a text file: how it comes there, and what is said of it."""

FLAGS = {
    "c.json": ("--curriculum", "c.json"),
    "prices.json": ("--model-table", "prices.json"),
    "workspace/agent.py": ("--keep-agent",),
    "workspace/domain.pddl": ("--keep-pddl",),
}
"""A file, and the flags with which it is read."""


@pytest.mark.parametrize("what", few(3, MADE))
@pytest.mark.parametrize("name", few(2, FLAGS))
def test_a_file_that_is_no_text(tmp_path: Path, refused: Refused, name: str, what: str) -> None:
    make, said = MADE[what]
    (tmp_path / "workspace").mkdir()
    make(tmp_path / name)
    line = refused(*FLAGS[name], "--workspace", "workspace", "--runs", "runs")
    assert f"{name} cannot be read: {said}" in line
    assert str(FLAGS[name][0]) in line or name == "c.json"


@pytest.mark.long
@pytest.mark.parametrize(
    "name",
    few(1, ["run.json", "llm/0001-x-0.json", "state/state.json", "state/finished.jsonl", "state/curriculum.json"]),
)
def test_a_pipe_in_the_folder_of_a_run(tmp_path: Path, refused: Refused, learned: Learned, name: str) -> None:
    run = tmp_path / "runs" / learned.run.name
    shutil.copytree(learned.run, run)
    (run / name).unlink(missing_ok=True)
    os.mkfifo(run / name)
    flags = ("--planner-model", f"replay/{run}") if name.startswith("llm") else ("--resume", run.name)
    assert run.name in refused(*flags, "--runs", "runs")


def test_a_model_file_that_is_a_pipe(tmp_path: Path, refused: Refused) -> None:
    os.mkfifo(tmp_path / "model.gguf")
    flags = ("--planner-model", "llamacpp/model.gguf", "--coder-model", "reference/coder", "--max-calls", 1)
    assert "it is a pipe or a device, not a file" in refused(*flags, "--workspace", "workspace", "--runs", "runs")


@pytest.mark.long
def test_names_of_folders_that_are_too_long(tmp_path: Path, refused: Refused) -> None:
    (tmp_path / "runs").mkdir()
    assert "File name too long" in refused("--runs", LONG, "--workspace", "workspace")
    assert "File name too long" in refused("--runs", "runs", "--workspace", LONG)
    assert "File name too long" in refused("--runs", "runs", "--workspace", "/".join(["n" * 200] * 30))
    assert "no transcripts in" in refused("--planner-model", f"replay/{LONG}", "--runs", "runs")
    assert f"no run '{LONG}' in" in refused("--resume", LONG, "--runs", "runs")
    assert "cannot be read: File name too long" in refused("--curriculum", LONG, "--runs", "runs")
    for looking in (("report", LONG), ("replay", LONG, "1"), ("query", LONG, "FROM runs"), ("watch", LONG)):
        assert LONG[:200] in refused(*looking, "--runs", "runs")
        assert LONG[:200] in refused(*looking, "--runs", LONG)


def test_names_that_would_be_too_long_for_files(tmp_path: Path, refused: Refused) -> None:
    chosen = curriculum(tmp_path / "c.json", **{"c" * 3000: ["MiniGrid-Empty-5x5-v0"]})
    line = refused("--curriculum", chosen, "--runs", "runs", "--workspace", "workspace")
    assert line.endswith('"category_name" becomes part of file names: at most 100 bytes of UTF-8')


@pytest.mark.parametrize(
    ("what", "said"),
    MADE.values(),
    ids=MADE,
)
def test_an_env_file(
    tmp_path: Path, refused: Refused, monkeypatch: pytest.MonkeyPatch, what: Callable[[Path], object], said: str
) -> None:
    monkeypatch.delenv("PYTHON_DOTENV_DISABLED")
    what(tmp_path / ".env")
    line = refused("--runs", "runs", "--workspace", "workspace")
    assert f"/.env cannot be read: {said}" in line


@pytest.mark.parametrize(
    "command_line", [(), ("list",), ("models", "--no-preflight"), ("evaluate", "--agent", "agent.py")]
)
def test_a_misspelled_key_is_named(
    tmp_path: Path, refused: Refused, monkeypatch: pytest.MonkeyPatch, command_line: tuple[str, ...]
) -> None:
    monkeypatch.delenv("PYTHON_DOTENV_DISABLED")
    (tmp_path / ".env").write_text("# mine\nDATABASE_URL=x\nOPENAI_API_KY=sk-0123456789\n")
    shutil.copy(Path(__file__).parents[2] / "agent.py", tmp_path)
    where = () if command_line[:1] == ("models",) else ("--runs", "runs")
    line = refused(*command_line, *where)
    assert line == f"{tmp_path}/.env, line 3: OPENAI_API_KY is read by nothing here: write OPENAI_API_KEY"


@pytest.mark.long
def test_the_program_itself_waits_for_no_pipe(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / ".env")
    env = {name: text for name, text in environment().items() if name != "PYTHON_DOTENV_DISABLED"}
    done = subprocess.run(
        command("list"), cwd=tmp_path, env=env, capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"error: {tmp_path}/.env cannot be read: it is a pipe or a device, not a file\n"


def test_an_env_file_that_the_encoding_of_the_system_cannot_hold(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("A=\u20ac", encoding="utf-8")
    env = {name: text for name, text in environment().items() if name != "PYTHON_DOTENV_DISABLED"}
    env |= {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    done = subprocess.run(
        command("list"), cwd=tmp_path, env=env, capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert f"{tmp_path}/.env cannot be read: 'ascii' codec can't encode character '\\u20ac'" in done.stderr
    assert done.stderr.endswith(": set PYTHONUTF8=1\n")
    assert done.stderr.count("\n") == 1
