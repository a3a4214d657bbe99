"""Models, addresses and caps of a run."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pytest

from spca.common.errors import SettingsError
from spca.llm.calls.budget import Caps
from spca.llm.calls.cache import find_place
from spca.llm.catalogue.catalogue import Catalogue
from spca.llm.catalogue.model_table import ModelTable
from spca.llm.catalogue.servers import VARIABLES, Server
from spca.llm.providers.base import RequestOptions
from spca.runs import default_models
from spca.runs.models import Models
from spca.runs.screen.lines import describe_models
from spca.runs.settings import Settings
from tests.support.spca.call_requests import ref
from tests.support.spca.doubles import ROOT
from tests.support.spca.starting import resolve_words

CWD = Path("/here")
BUILT_IN = ModelTable.load()
SOL, TERRA = "openai/gpt-6.1-sol", "openai/gpt-6.1-terra"
KEYS = {"OPENAI_API_KEY": "very-secret", "GEMINI_API_KEY": "very-secret"}
UNPRICED = ("--planner-model", "openai/new", "--planner-small-model", "openai/new", "--coder-model", "openai/new")
NOT_OPENAI = [f"--{name}=x/y" for name in ("planner-model", "planner-small-model", "coder-model")]


def settings(*argv: str, **environ: str) -> Settings:
    return resolve_words(*argv, environ=environ)


def names(*argv: str, **environ: str) -> tuple[str, ...]:
    """The models of the large and the small planner and of the coder."""
    return tuple(map(str, settings(*argv, **environ).models.refs))


def load_models(*argv: str, **environ: str) -> Models:
    return Models.load(settings(*argv, **environ).models)


def place(chosen: Settings, model: str) -> str:
    return find_place(ref(model), chosen.models.servers)


def greeting(*argv: str, **environ: str) -> str:
    chosen = load_models(*argv, **environ)
    return describe_models(chosen, environ, chosen.caps())


def caps(*argv: str, **environ: str) -> Caps:
    return load_models(*argv, **environ).caps()


def refused(*argv: str, **environ: str) -> str:
    with pytest.raises(SettingsError) as caught:
        settings(*argv, **environ)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize(
    ("environ", "prefixes"),
    [
        ({}, ["reference"]),
        ({"OPENAI_API_KEY": ""}, ["reference"]),
        ({"OPENAI_API_KEY": "k"}, ["openai", "reference"]),
        ({"OPENAI_BASE_URL": "http://x/v1"}, ["openai", "reference"]),
        ({"ANTHROPIC_API_KEY": "k"}, ["anthropic", "reference"]),
        ({"ANTHROPIC_BASE_URL": "http://x"}, ["reference"]),
        ({"GOOGLE_API_KEY": "k"}, ["google", "reference"]),
        ({"GEMINI_API_KEY": "k"}, ["google", "reference"]),
        ({"OLLAMA_HOST": "x"}, ["ollama", "reference"]),
        (
            {"OLLAMA_HOST": "x", "GEMINI_API_KEY": "k", "ANTHROPIC_API_KEY": "k", "OPENAI_API_KEY": "k"},
            ["openai", "anthropic", "google", "ollama", "reference"],
        ),
    ],
)
def test_the_default_is_the_first_that_is_configured(environ: dict[str, str], prefixes: list[str]) -> None:
    assert [default.prefix for default in default_models.list_configured(environ)] == prefixes
    assert all(model.startswith(f"{prefixes[0]}/") for model in names(**environ))


def test_a_flag_goes_before_the_environment_before_the_default() -> None:
    environ = {"SPCA_PLANNER_MODEL": "x/env", "SPCA_CODER_MODEL": "x/env", **KEYS}
    assert names("--planner-model", "x/flag", **environ) == ("x/flag", "x/flag", "x/env")


def test_a_planner_that_is_chosen_plays_both_planners_unless_the_small_one_is_chosen_too() -> None:
    assert names("--planner-model", "x/l", **KEYS) == ("x/l", "x/l", "x/l")
    assert names(SPCA_PLANNER_MODEL="x/l", SPCA_PLANNER_SMALL_MODEL="x/s", **KEYS) == ("x/l", "x/s", "x/l")
    assert names("--planner-small-model", "x/s", **KEYS) == (SOL, "x/s", SOL)
    assert names("--coder-model", "x/c", **KEYS) == (SOL, TERRA, "x/c")


@pytest.mark.parametrize(
    ("large", "small", "coder"),
    [
        ("openai/gpt-6.2-sol", TERRA, SOL),
        (TERRA, TERRA, SOL),
        ("anthropic/claude-haiku-5-5", "anthropic/claude-sonnet-5-5", "anthropic/claude-opus-5-5"),
        ("google/gemini-4-argon", "google/gemini-3.5-flash-lite", "google/gemini-3.8-flash"),
        ("reference/planner", "reference/planner", "reference/coder"),
        ("faulty/planner", "faulty/planner", "faulty/coder"),
        ("ollama/gpt-oss:20b", "ollama/gpt-oss:20b", "ollama/gpt-oss:20b"),
        ("llamacpp//m.gguf", "llamacpp//m.gguf", "llamacpp//m.gguf"),
        ("replay//run", "replay//run", "replay//run"),
    ],
)
@pytest.mark.parametrize("environ", [{}, KEYS, {"GEMINI_API_KEY": "k", "OLLAMA_HOST": "h:1"}])
def test_a_role_that_is_not_chosen_takes_the_planners_provider(
    large: str, small: str, coder: str, environ: dict[str, str]
) -> None:
    assert names("--planner-model", large, **environ) == (large, small, coder)
    assert names(SPCA_PLANNER_MODEL=large, **environ) == (large, small, coder)
    settings("--planner-model", large, **environ)


@pytest.mark.parametrize("url", ["http://localhost:8000/v1", "https://api.openai.com.example.net/v1"])
def test_a_server_of_ones_own_has_the_model_that_is_chosen_there(url: str) -> None:
    assert set(names("--planner-model", "openai/m", "--base-url", url, **KEYS)) == {"openai/m"}
    assert set(names("--planner-model", "openai/m", OPENAI_BASE_URL=url)) == {"openai/m"}
    assert set(names("--planner-model", "anthropic/m", ANTHROPIC_BASE_URL=url)) == {"anthropic/m"}
    assert set(names("--planner-model", "google/m", GOOGLE_GEMINI_BASE_URL=url)) == {"google/m"}
    assert names("--planner-model", "google/m", OPENAI_BASE_URL=url)[2] == "google/gemini-3.8-flash"


def test_an_address_of_openais_has_its_defaults() -> None:
    for url in ("https://api.openai.com/v1", "https://eu.api.openai.com/v1"):
        assert names("--planner-model", "openai/m", "--base-url", url) == ("openai/m", TERRA, SOL)


def test_the_defaults_are_those_of_the_docs() -> None:
    page = (ROOT / "docs" / "models.md").read_text(encoding="utf-8")
    table = ModelTable.load()
    for default in default_models.DEFAULTS:
        assert all(f"`{model}`" in page for model in default.models)
        assert not any(table.info(model).shutdown for model in default.models)


def test_a_recorded_run_plays_every_part_that_is_not_chosen() -> None:
    assert set(names("--planner-model", "replay/runs/1", **KEYS)) == {"replay//here/runs/1"}
    chosen = settings("--planner-model", "replay/runs/1", "--coder-model", "reference/coder")
    assert tuple(map(str, chosen.models.refs)) == ("replay//here/runs/1", "replay//here/runs/1", "reference/coder")
    assert names(SPCA_PLANNER_MODEL="replay//abs") == ("replay//abs",) * 3


def test_an_address_that_is_given_is_meant_to_be_used() -> None:
    assert names("--base-url", "http://x/v1") == names(OPENAI_BASE_URL="http://x/v1")
    assert names("--base-url", "http://x/v1")[0].startswith("openai/")


def test_a_model_that_is_a_file_is_found_from_anywhere() -> None:
    assert names("--coder-model", "llamacpp/m.gguf")[2] == "llamacpp//here/m.gguf"
    assert names("--coder-model", "llamacpp//m.gguf")[2] == "llamacpp//m.gguf"
    assert names("--coder-model", "openai/m.gguf")[2] == "openai/m.gguf"


def test_every_address_goes_to_its_provider() -> None:
    environ = {"OPENAI_BASE_URL": "http://o", "ANTHROPIC_BASE_URL": "http://a", "GOOGLE_GEMINI_BASE_URL": "http://g"}
    chosen = settings(**environ, OLLAMA_HOST="h")
    assert {p: s.url for p, s in chosen.models.servers.items()} == {
        "openai": "http://o",
        "anthropic": "http://a",
        "google": "http://g",
        "ollama": "h",
    }
    assert {server.url for server in settings().models.servers.values()} == {None}


LAB = ("--planner-model", "lab/m", "--coder-model", "openai/gpt-6.1-sol", "--server", "lab=http://h:1/v1,LAB_KEY")


def test_a_server_of_ones_own_stands_beside_a_provider() -> None:
    chosen = settings(*LAB, OPENAI_API_KEY="k", SPCA_SERVERS="lab=http://env/v1,unused=http://u/v1")
    assert tuple(map(str, chosen.models.refs)) == ("lab/m", "lab/m", SOL)
    assert chosen.record()["servers"] == "lab=http://h:1/v1|LAB_KEY"
    servers = chosen.models.servers
    assert servers["lab"] == Server("http://h:1/v1", "LAB_KEY", is_named=True)
    assert "unused" not in servers


def test_its_models_are_counted_and_kept_apart_like_those_of_any_server() -> None:
    with pytest.raises(SettingsError, match="the price of lab/m is unknown"):
        caps(*LAB)
    said = greeting(*LAB, "--max-calls", "9", OPENAI_API_KEY="k")
    assert said.startswith(f"Models: planner lab/m, coder {SOL}; lab at http://h:1/v1; capped at 9 requests")
    assert place(settings(*LAB), "lab/m@high") == "http://h:1/v1"


def test_limits_of_answers() -> None:
    assert settings("--timeout", "9", "--max-output-tokens", "8").models.limits == RequestOptions(8, None, 9.0)
    assert settings().models.limits == RequestOptions()


@pytest.mark.parametrize(
    ("argv", "expected"),
    [
        ((), Caps(5.0)),
        (("--max-cost", "0.5"), Caps(0.5)),
        (("--max-calls", "7"), Caps(5.0, 7)),
        (("--max-cost", "9", "--max-calls", "7", "--max-tokens", "8"), Caps(9.0, 7, 8)),
    ],
)
def test_where_prices_are_known_the_cost_is_always_capped(argv: tuple[str, ...], expected: Caps) -> None:
    assert caps(*argv, **KEYS) == caps(*argv) == expected


@pytest.mark.parametrize(
    ("argv", "fix"),
    [
        (
            (),
            "the cost cap of 5 USD cannot hold: give --max-calls N or --max-tokens N, or its price with --model-table",
        ),
        (
            ("--max-cost", "1"),
            "--max-cost cannot hold: leave it out and give --max-calls N or --max-tokens N, or its price",
        ),
        (("--max-cost", "1", "--max-calls", "7"), "--max-cost cannot hold: leave it out"),
    ],
)
def test_an_unknown_price_is_refused_with_the_fix(argv: tuple[str, ...], fix: str) -> None:
    with pytest.raises(SettingsError) as caught:
        caps(*UNPRICED, *argv)
    assert str(caught.value).startswith("the price of openai/new is unknown, so ")
    assert fix in str(caught.value)
    assert "\n" not in str(caught.value)


def test_no_money_at_all_is_for_free_models() -> None:
    assert caps("--max-cost", "0") == Caps(0.0)
    for argv in ((), ("--planner-model", "reference/planner", "--coder-model", SOL)):
        with pytest.raises(
            SettingsError, match=r"^--max-cost 0 leaves no call of openai/.*, which is paid for: give an"
        ):
            caps("--max-cost", "0", *argv, **KEYS)


def test_one_unpriced_model_is_enough() -> None:
    with pytest.raises(SettingsError, match="the price of x/y is unknown"):
        caps("--planner-small-model", "x/y", **KEYS)
    half = ModelTable({"*": {"input": 1, "output": None}})
    with pytest.raises(SettingsError, match=f"the price of {SOL} is unknown"):
        replace(load_models(**KEYS), catalogue=Catalogue(half)).caps()


def test_an_unknown_price_can_be_capped_otherwise_or_told(tmp_path: Path) -> None:
    assert caps(*UNPRICED, "--max-calls", "7") == Caps(None, 7)
    assert caps(*UNPRICED, "--max-tokens", "7") == Caps(None, None, 7)
    (tmp_path / "t.json").write_text(json.dumps({"models": {"openai/new": {"input": 1, "output": 2}}}))
    chosen = settings(*UNPRICED, "--model-table", str(tmp_path / "t.json"))
    assert Models.load(chosen.models).caps() == Caps(5.0)


def test_a_table_that_cannot_be_read_is_a_users_mistake(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"absent\.json"):
        load_models("--model-table", str(tmp_path / "absent.json"))


OLLAMA = [f"--{name}=ollama/big" for name in ("planner-model", "planner-small-model", "coder-model")]


@pytest.mark.parametrize("host", ["https://ollama.com", "ollama.com", "https://ollama.com:443/api"])
def test_what_runs_at_ollamas_own_service_has_no_known_price(host: str, tmp_path: Path) -> None:
    chosen = settings(*OLLAMA, OLLAMA_HOST=host)
    assert Models.load(chosen.models).catalogue.price(ref("ollama/big")) is None
    with pytest.raises(SettingsError, match="the price of ollama/big is unknown"):
        Models.load(chosen.models).caps()
    (tmp_path / "t.json").write_text(json.dumps({"models": {"ollama/big": {"input": 1, "output": 2}}}))
    told = load_models(*OLLAMA, "--model-table", str(tmp_path / "t.json"), OLLAMA_HOST=host).catalogue
    price = told.price(ref("ollama/big"))
    assert price is not None
    assert [price.tiers[0].input, price.tiers[0].output] == [Decimal(1), Decimal(2)]
    assert told.price(ref("ollama/other")) is None
    assert told.info(ref(SOL)) == BUILT_IN.info(ref(SOL))


@pytest.mark.parametrize("environ", [{}, {"OLLAMA_HOST": "127.0.0.1:11434"}, {"OLLAMA_HOST": "http://gpu-server"}])
def test_what_runs_at_home_is_free(environ: dict[str, str]) -> None:
    price = load_models(*OLLAMA, **environ).catalogue.price(ref("ollama/big"))
    assert price is not None
    assert price.is_free


def test_a_models_place_is_its_server_or_the_state_of_its_file(tmp_path: Path) -> None:
    chosen = settings(OPENAI_BASE_URL="http://o", OLLAMA_HOST="h")
    places = [place(chosen, model) for model in ("openai/m", "ollama/m", "google/m", "reference/planner")]
    assert places == ["http://o", "h", "", ""]
    file = tmp_path / "m.gguf"
    model = f"llamacpp/{file}"
    assert place(chosen, model) == ""
    seen = {""}
    for content, moment in (("a", 1), ("a", 2), ("ab", 2)):
        file.write_text(content)
        os.utime(file, ns=(moment, moment))
        seen.add(place(chosen, model))
        assert place(settings(), model) in seen
    assert len(seen) == 4


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (("--planner-model", "reference/coder"), "--planner-model reference/coder: the embedded model for this is ref"),
        (
            ("--planner-small-model", "faulty/x"),
            "--planner-small-model faulty/x: the embedded model for this is faulty/p",
        ),
        (("--coder-model", "reference/planner"), "the embedded model for this is reference/coder"),
    ],
)
def test_models_that_cannot_be_meant(argv: tuple[str, ...], said: str) -> None:
    assert said in refused(*argv)


@pytest.mark.parametrize("model", ["faulty", "reference"])
def test_embedded_models_in_their_parts(model: str) -> None:
    settings("--planner-model", f"{model}/planner", "--coder-model", f"{model}/coder")


@pytest.mark.parametrize(
    "url", ["localhost", "localhost:8000", "ftp://x/v1", "http://", "http://x:port/", "http://[::1/v1"]
)
def test_an_address_that_is_none(url: str) -> None:
    for name in ("OPENAI_BASE_URL", "ANTHROPIC_BASE_URL", "GOOGLE_GEMINI_BASE_URL"):
        said = refused(**{"OPENAI_API_KEY": "k", name: url})
        assert said.startswith("--base-url" if name == "OPENAI_BASE_URL" else name)
        assert "http://localhost:8000/v1" in said


@pytest.mark.parametrize("url", ["http://localhost:8000/v1", "https://x.example/", "http://[::1]:80/v1"])
def test_good_addresses(url: str) -> None:
    settings(**KEYS, OPENAI_BASE_URL=url, GOOGLE_GEMINI_BASE_URL=url, OLLAMA_HOST="127.0.0.1:11434")
    settings(OLLAMA_HOST="localhost")
    settings(OLLAMA_HOST=url)


@pytest.mark.parametrize(
    "url",
    [
        "http://user:very-secret@localhost/v1",
        "http://very-secret@localhost/v1",
        "http://localhost/v1?key=very-secret",
        "http://user:very-secret@localhost:port/v1",
        "http://user:very-secret@[::1/v1",
        "user:very-secret@localhost",
        "ftp://user:very-secret@localhost",
        "localhost?key=very-secret",
        "http://localhost/v1#very-secret",
    ],
)
@pytest.mark.parametrize("name", sorted(VARIABLES.values()))
def test_no_key_in_an_address_is_taken_or_told(url: str, name: str) -> None:
    said = refused(**{"OPENAI_API_KEY": "k", name: url})
    assert "very-secret" not in said
    assert "keys belong into .env" in said


def test_the_greeting_is_one_line_on_models_and_caps() -> None:
    assert "embedded reference model (no key needed)" in greeting()
    assert "python main.py models lists what there is" in greeting()
    assert "OPENAI_API_KEY" in greeting()
    paid = greeting(OPENAI_API_KEY="very-secret")
    roles = f"planner {SOL}, small planner {TERRA}, coder {SOL}"
    assert paid == f"Models: {roles}; capped at 5 USD."
    assert greeting("--planner-model", "replay//r") == "Models: planner replay//r, coder replay//r."
    assert "\n" not in paid


def test_the_greeting_tells_servers_and_all_caps() -> None:
    told = greeting("--max-cost", "0.5", "--max-calls", "7", "--max-tokens", "8", OPENAI_BASE_URL="http://x:1/v1")
    assert "; openai at http://x:1/v1; capped at 0.5 USD and 7 requests and 8 tokens." in told
    other = greeting("--coder-model", TERRA, OPENAI_API_KEY="k", OLLAMA_HOST="h:1")
    assert "h:1" not in other


def test_the_greeting_tells_what_else_could_be_used() -> None:
    told = greeting(**KEYS, OLLAMA_HOST="h")
    assert told.startswith(f"Models: planner {SOL}, ")
    assert "google and ollama could be used too (docs/models.md)" in told
    assert "could be used" not in greeting("--planner-model", "openai/gpt-6-astra", **KEYS)
    assert "very-secret" not in told


def test_a_server_is_told_where_its_models_are_used() -> None:
    models = [f"--{name}=ollama/google/gemma" for name in ("planner-model", "planner-small-model", "coder-model")]
    told = greeting(*models, GOOGLE_GEMINI_BASE_URL="http://g", OLLAMA_HOST="h:1", GEMINI_API_KEY="k")
    assert "ollama at h:1" in told
    assert "http://g" not in told


def test_an_address_without_models_is_no_complaint() -> None:
    assert "x:1" not in greeting("--base-url", "http://x:1/v1", "--max-calls", "3", *NOT_OPENAI)


@pytest.mark.parametrize(
    ("argv", "paid"),
    [
        ((), False),
        (("--planner-model", "ollama/qwen3-coder:30b"), False),
        (("--planner-model", "reference/planner", "--coder-model", "human/editor"), False),
        (("--coder-model", SOL), True),
        (UNPRICED, True),
    ],
)
def test_a_cap_on_the_cost_is_told_where_models_cost_money(argv: tuple[str, ...], paid: bool) -> None:
    chosen = load_models(*argv)
    assert chosen.cost_money is paid
    assert ("capped at 5 USD" in describe_models(chosen, {}, Caps(5.0))) is paid
