"""What options make of a model, and which models are refused before anything is paid."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from gridworld.adapters.admission import make_asking, require_usable
from gridworld.adapters.asking import Asking
from gridworld.errors import ModelError
from gridworld.evaluation.models import asked
from gridworld.evaluation.models.model_options import AskedOptions, ModelRequest
from gridworld.evaluation.models.registry import ASKED, MODELS, find_model
from spca.common.errors import SettingsError, SPCAError
from spca.llm.calls.budget import Caps
from spca.llm.catalogue.servers import Server
from tests.fakes.reference_server import ReferenceServer, Settings
from tests.support.spca.call_requests import ref

KNOWN, FREE, UNKNOWN = "openai/gpt-6.1-sol", "ollama/qwen3-coder:30b", "lab/m"
LAB: dict[str, Any] = {"servers": ("lab=http://127.0.0.1:9/v1",)}


def request(model: str = KNOWN, books: str = "", **given: Any) -> ModelRequest[AskedOptions]:
    return ModelRequest(model, AskedOptions(**given), seed=42, limit=1, books=books)


def ask_as(given: ModelRequest[AskedOptions]) -> Asking:
    return make_asking(ref(given.name), given)


def test_every_name_with_a_prefix_is_asked() -> None:
    assert find_model(KNOWN, MODELS) is find_model("lab/x", MODELS) is MODELS[ASKED]
    assert MODELS[ASKED].options is AskedOptions


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "a-key-0123456789")


def test_options_reach_the_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPCA_SERVERS", "box=http://127.0.0.1:9/v1|BOX_KEY")
    there = {"base_url": "http://127.0.0.1:9/v1", **LAB}
    given = request(
        books=str(tmp_path / "o.calls"), max_output_tokens=7, timeout=9.0, actions_per_call=3, cache=True, **there
    )
    asking = ask_as(given)
    assert (asking.limits.max_output_tokens, asking.limits.timeout_s, asking.limits.temperature) == (7, 9.0, None)
    assert (asking.actions_per_call, asking.caps) == (3, Caps(5.0))
    assert (asking.books, asking.cache) == (tmp_path / "o.calls", tmp_path / "llm_cache")
    assert asking.catalogue.servers["openai"] == Server("http://127.0.0.1:9/v1")
    assert asking.catalogue.servers["box"] == Server("http://127.0.0.1:9/v1", "BOX_KEY", is_named=True)
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:7/v1")
    assert ask_as(given).catalogue.servers["openai"] == Server("http://127.0.0.1:9/v1"), "the option goes first"
    asking = ask_as(request())
    assert (asking.limits.timeout_s, asking.catalogue.servers["openai"]) == (300, Server("http://127.0.0.1:7/v1"))
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "nowhere")
    with pytest.raises(SettingsError, match="ANTHROPIC_BASE_URL nowhere: an address looks like"):
        ask_as(request())


@pytest.mark.parametrize(
    ("model", "given", "caps"),
    [
        (KNOWN, {}, Caps(5.0)),
        (KNOWN, {"max_cost": 1.5, "max_calls": 3}, Caps(1.5, 3)),
        (FREE, {"max_cost": 0.0}, Caps(0.0)),
        (UNKNOWN, {"max_calls": 3}, Caps(None, 3)),
        (UNKNOWN, {"max_tokens": 9}, Caps(None, None, 9)),
    ],
)
def test_caps(model: str, given: dict[str, Any], caps: Caps) -> None:
    assert ask_as(request(model, **LAB, **given)).caps == caps


@pytest.mark.parametrize(
    ("model", "given", "words"),
    [
        (UNKNOWN, {}, r"price of lab/m is unknown, so the cost cap of 5 USD cannot hold: give --max-calls N"),
        (UNKNOWN, {"max_cost": 1.0, "max_calls": 3}, r"so --max-cost cannot hold: leave it out"),
        (KNOWN, {"max_cost": 0.0}, "--max-cost 0 leaves no call"),
        (KNOWN, {"base_url": "nowhere"}, "--base-url nowhere: an address looks like"),
        (KNOWN, {"servers": ("openai=http://x/v1",)}, "models already"),
        (KNOWN, {"model_table": "/no/table.json"}, "/no/table.json"),
    ],
)
def test_what_cannot_be_meant_names_the_option(model: str, given: dict[str, Any], words: str) -> None:
    with pytest.raises(SettingsError, match=words):
        ask_as(request(model, **(LAB | given)))


def test_a_price_of_ones_own_lets_the_cost_be_capped(tmp_path: Path) -> None:
    table = tmp_path / "table.json"
    table.write_text(json.dumps({"models": {"lab/*": {"input": 1, "output": 2}}}), encoding="utf-8")
    assert ask_as(request(UNKNOWN, model_table=str(table), **LAB)).caps == Caps(5.0)


def test_the_service_of_ollama_has_no_known_price(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OLLAMA_HOST", "https://ollama.com")
    with pytest.raises(SettingsError, match="price of ollama/"):
        ask_as(request(FREE))


def test_an_effort_is_part_of_the_name() -> None:
    assert asked.named(KNOWN, "high") == asked.named(f"{KNOWN}@high", "high") == f"{KNOWN}@high"
    assert asked.named(KNOWN, None) == KNOWN
    for model, effort in ((f"{KNOWN}@low", "high"), (KNOWN, "hihg"), ("human/editor", "high")):
        with pytest.raises(SettingsError, match="--effort"):
            asked.named(model, effort)


def test_a_model_is_looked_up_once_and_nothing_is_paid() -> None:
    with ReferenceServer(Settings(models=("gpt-6.1-sol",), ends={})) as server:
        there = {"base_url": server.base_url}
        assert list(require_usable(request(**there))) == []
        assert [line.method for line in server.lines] == ["GET"]
        (warning,) = require_usable(request("openai/gpt-6.1-terra", **there))
        assert "gpt-6.1-terra is not in the list of models" in warning
        assert list(require_usable(request("openai/gpt-6.1-terra", preflight=False, **there))) == []
        assert len(server.lines) == 2
        with pytest.raises(ModelError, match="was shut down on 2026-02-12: use openai/"):
            require_usable(request("openai/codex-mini-latest", max_calls=1, **there))


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (KNOWN, "set OPENAI_API_KEY in the environment or in .env"),
        ("nowhere/x", "unknown model 'nowhere/x': the name must begin with one of"),
        ("openai/", "lacks the name of a model"),
        ("anthropic/claude-sonnet-5-5@hihg", "@hihg is no effort: it is one of none, minimal, low"),
        ("anthropic/claude-sonnet-5-5@minimal", "does not take the effort minimal"),
    ],
)
def test_a_model_that_cannot_be_asked_is_refused(model: str, words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "a-key-0123456789")
    with pytest.raises(ModelError) as caught:
        require_usable(request(model, max_calls=3))
    assert words in str(caught.value)
    assert "--planner-model" not in str(caught.value)


def test_a_server_that_is_not_there_is_refused_at_once() -> None:
    with pytest.raises(ModelError) as caught:
        require_usable(request("lab/m", max_calls=1, **LAB))
    line = str(caught.value)
    assert line.startswith("lab/m: no server at http://127.0.0.1:9/v1 (")
    assert line.endswith("; offline, --model bfs plays without one (--no-preflight starts all the same)")
    assert list(require_usable(request("lab/m", max_calls=1, preflight=False, **LAB))) == []


@pytest.mark.parametrize("given", [{}, {"max_calls": 1, "preflight": False}])
def test_a_misspelled_model_names_the_nearest(given: dict[str, Any]) -> None:
    with pytest.raises(SPCAError, match=r"(did you mean|use) openai/gpt-6\.1-sol\b(?!l)"):
        require_usable(request("openai/gpt-6.1-soll", **given))
