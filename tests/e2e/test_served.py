"""Runs on real protocols: an OpenAI-compatible server on loopback whose model is the reference model."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.conftest import Learned
from tests.fakes.reference_server import Line, ReferenceServer, Settings
from tests.fakes.serving import Asked, Reply
from tests.support.commands import curriculum, main_py, only_run, read, start, wait_for
from tests.support.spca.served import CHAT, DEFAULTS, book, calls, cost_of, imbalance, model_flags, results, to_provider
from tests.support.tiers import long
from tests.support.waiting import AGES, PATIENCE

pytestmark = pytest.mark.timeout(900)

FAULTS = Settings(faults=0.2, seed=9)
KEY = "sk-not-a-real-key-0123456789abcdef"


@dataclass(frozen=True, slots=True)
class Served:
    """A finished run, and what its server saw."""

    run: Path
    asked: list[Line]
    printed: str


def where(home: Path, chosen: Path) -> tuple[object, ...]:
    return ("--curriculum", chosen, "--runs", home / "runs", "--workspace", home / "workspace")


@pytest.fixture(scope="module")
def embedded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a run of three categories with the embedded model."""
    home = tmp_path_factory.mktemp("embedded")
    done = main_py(home, *where(home, three_categories(home)))
    assert (done.returncode, done.stderr) == (0, "")
    return only_run(home / "runs")


def three_categories(home: Path) -> Path:
    navigation = ("MiniGrid-Empty-5x5-v0", "MiniGrid-Empty-Random-5x5-v0")
    doors, hazards = ("MiniGrid-DoorKey-5x5-v0",), ("MiniGrid-LavaGapS5-v0",)
    return curriculum(home / "three.json", navigation=navigation, doors=doors, hazards=hazards)


@pytest.fixture(
    scope="module",
    params=["openai", *(long(each) for each in ("chat", *DEFAULTS) if each != "openai")],
)
def served(request: pytest.FixtureRequest, embedded: Path, tmp_path_factory: pytest.TempPathFactory) -> Served:
    """The run of ``embedded`` again, on a server that refuses a share of the requests: the defaults of a provider."""
    del embedded  # it comes first, so that nothing else runs beside it
    home = tmp_path_factory.mktemp("served")
    with ReferenceServer(FAULTS) as server:
        chat = (*model_flags(CHAT), "--base-url", server.base_url)
        flags = chat if request.param == "chat" else ()
        environ = {"OPENAI_API_KEY": KEY} if flags else to_provider(request.param, server)
        environ = {name: KEY if name.endswith("_KEY") else value for name, value in environ.items()}
        done = main_py(home, *where(home, three_categories(home)), *flags, **environ)
        assert (done.returncode, done.stderr) == (0, "")
        run = only_run(home / "runs")
        expected = CHAT if flags else DEFAULTS[request.param]
        assert tuple(read(run / "run.json")["models"].values()) == expected
        assert [line.method for line in server.lines[:1]] == ["GET"], "the models were looked up first"
        return Served(run, server.asked, done.stdout)


@pytest.mark.long
def test_a_server_gives_the_results_of_the_embedded_model_call_for_call(served: Served, embedded: Path) -> None:
    assert results(served.run) == results(embedded)
    assert calls(served.run) == calls(embedded)


@pytest.mark.long
def test_newer_models_of_openai_are_asked_through_the_responses_api(served: Served) -> None:
    for line in served.asked:
        if line.model and line.model.startswith("gpt-"):
            assert (line.path == "/v1/responses") == (line.model >= "gpt-5.4")


def test_the_books_are_those_of_the_server(served: Served) -> None:
    assert any(line.status == 429 for line in served.asked)
    assert any(line.status == 500 for line in served.asked)
    assert imbalance(served.run, served.asked) == []


def test_requests_tokens_and_cost_are_shown(served: Served) -> None:
    refused = sum(line.status != 200 for line in served.asked)
    tokens = sum((line.input_tokens or 0) + (line.output_tokens or 0) for line in served.asked)
    reasoned = sum(line.reasoning_tokens or 0 for line in served.asked)
    cost = sum(map(cost_of, served.asked))
    told = f" ({reasoned:,} reasoning)" if reasoned else ""
    spent = f"{tokens:,} tokens{told}, {cost:.4f} USD"
    said = f"{len(served.asked)} requests ({refused} rejected), {spent}"
    assert said in served.printed.splitlines()
    assert "trying again in 1 s (2 of 6)" in served.printed


def test_the_key_is_nowhere(served: Served) -> None:
    assert KEY not in served.printed
    kept = [path.read_text(encoding="utf-8") for path in served.run.rglob("*") if path.is_file()]
    assert kept
    assert not any(KEY in text for text in kept)


@pytest.fixture
def short(tmp_path: Path) -> tuple[object, ...]:
    """Flags for one small level, a call of the planner and one of the coder, on a server of one's own."""
    return where(tmp_path, curriculum(tmp_path / "c.json", navigation=("MiniGrid-Empty-5x5-v0",)))


@pytest.mark.long  # tests/test_main_calls.py has it in this process
@pytest.mark.parametrize(
    ("flag", "cap"),
    [
        ("--max-calls", "1"),
        ("--max-tokens", "1000"),
        ("--max-cost", "0.001"),
    ],
)
def test_a_budget_holds_to_one_call_and_a_higher_one_goes_on(
    flag: str, cap: str, short: tuple[object, ...], tmp_path: Path
) -> None:
    with ReferenceServer() as server:
        to_server = (*model_flags(CHAT), "--base-url", server.base_url)
        stopped = main_py(tmp_path, *short, *to_server, flag, cap)
        run = only_run(tmp_path / "runs")
        assert stopped.returncode == 3, stopped.stderr
        assert stopped.stderr.startswith("stopped: budget: ")
        assert f"go on with: python main.py --resume {run.name}" in stopped.stderr
        assert stopped.stderr.endswith(f"{flag} MORE\n")
        spent = _spent(server.asked, flag)
        assert spent >= float(cap) > _spent(server.asked[:-1], flag)
        (aborted,) = [s for s in map(read, run.glob("summaries/summary_*.json")) if s["outcome"] == "aborted"]
        assert aborted["reason"].startswith("budget: ")
        assert imbalance(run, server.asked) == []
        if flag != "--max-calls":  # one way of going on is enough
            return
        done = main_py(tmp_path, "--resume", run.name, "--runs", tmp_path / "runs", flag, "3")
        assert done.returncode == 0, done.stderr
        assert len({line.sha256 for line in server.asked}) == len(server.asked) == 2
        assert imbalance(run, server.asked) == []


def _spent(asked: list[Line], flag: str) -> float:
    if flag == "--max-calls":
        return len(asked)
    if flag == "--max-tokens":
        return sum((line.input_tokens or 0) + (line.output_tokens or 0) for line in asked)
    return sum(map(cost_of, asked))


@pytest.mark.long
def test_a_recorded_run_is_replayed_without_a_model(learned: Learned, tmp_path: Path) -> None:
    flags = ("--planner-model", f"replay/{learned.run}")
    done = main_py(tmp_path, *where(tmp_path, learned.curriculum), *flags)
    assert (done.returncode, done.stderr) == (0, "")
    run = only_run(tmp_path / "runs")
    assert results(run) == results(learned.run)
    assert calls(run) == calls(learned.run)


@pytest.mark.long
def test_a_packed_run_is_replayed_without_a_model(served: Served, tmp_path: Path) -> None:
    packed = main_py(tmp_path, "pack", served.run, "example")
    assert (packed.returncode, packed.stderr) == (0, "")
    again = packed.stdout.rpartition("main.py ")[2].split()
    assert again[:2] == ["--planner-model", "replay/example"]
    done = main_py(tmp_path, *where(tmp_path, three_categories(tmp_path)), *again)
    assert (done.returncode, done.stderr) == (0, "")
    assert "differ" not in done.stdout
    run = only_run(tmp_path / "runs")
    assert results(run) == results(served.run)
    assert calls(run) == calls(served.run)


def test_a_call_that_the_recorded_run_does_not_know_is_told(learned: Learned, tmp_path: Path) -> None:
    chosen = curriculum(tmp_path / "other.json", elsewhere=("MiniGrid-Empty-5x5-v0",))
    done = main_py(tmp_path, *where(tmp_path, chosen), "--planner-model", f"replay/{learned.run}")
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"error: replay/{learned.run}: the run was not asked what is asked now (")
    assert "--resume" not in line


@pytest.mark.long
def test_the_cache_serves_a_second_run(short: tuple[object, ...], tmp_path: Path) -> None:
    with ReferenceServer() as server:
        flags = (*short, *model_flags(CHAT), "--base-url", server.base_url, "--cache")
        assert main_py(tmp_path, *flags).returncode == 0
        first, asked = only_run(tmp_path / "runs"), len(server.asked)
        assert main_py(tmp_path, *flags).returncode == 0
        assert len(server.asked) == asked == 2
    (second,) = {path.parent for path in (tmp_path / "runs").glob("*/run.json")} - {first}
    assert calls(second) == calls(first)
    assert results(second) == results(first)
    assert book(second) == []


@pytest.mark.long
@pytest.mark.parametrize("counting", [{"usage": False}, long({"count": -1}), long({"count": "many"})])
def test_a_server_without_schemas_or_usage_does(
    counting: dict[str, Any], short: tuple[object, ...], tmp_path: Path
) -> None:
    with ReferenceServer(Settings(schema=False, **counting)) as server:
        done = main_py(tmp_path, *short, *model_flags(CHAT), "--base-url", server.base_url)
        assert (done.returncode, done.stderr) == (0, "")
        assert [line.status for line in server.asked] == [400, 200, 200]
    records = book(only_run(tmp_path / "runs"))
    assert [record["form"] for record in records] == ["json_schema", "json_object", ""]
    assert [record["estimated"] for record in records] == [False, True, True]
    assert "~" in done.stdout
    assert len(calls(only_run(tmp_path / "runs"))) == 2


@pytest.mark.long
def test_a_server_without_the_responses_api_does(short: tuple[object, ...], tmp_path: Path) -> None:
    with ReferenceServer(Settings(responses=False)) as server:
        done = main_py(tmp_path, *short, **to_provider("openai", server))
        assert (done.returncode, done.stderr) == (0, "")
        assert [(line.path.rpartition("/")[2], line.status) for line in server.asked] == [
            ("responses", 404),
            ("completions", 200),
        ] * 2
    records = book(only_run(tmp_path / "runs"))
    assert [record["outcome"] for record in records] == ["rejected", "answered"] * 2
    told = sum(line.output_tokens or 0 for line in server.asked)
    assert sum(record["output_tokens"] or 0 for record in records) == told > 0


def test_a_dead_model_is_refused_before_any_request_is_paid(short: tuple[object, ...], tmp_path: Path) -> None:
    with ReferenceServer(Settings(ends={"gpt-6.1-terra": "2026-01-01"})) as server:
        done = main_py(tmp_path, *short, **to_provider("openai", server))
        assert (done.returncode, done.stdout) == (2, "")
        (line,) = done.stderr.splitlines()
        assert line.startswith("error: openai/gpt-6.1-terra was shut down on 2026-01-01: ")
        assert [(each.method, each.path) for each in server.lines] == [("GET", "/v1/models")]
        assert not (tmp_path / "runs").exists()


@pytest.mark.long
def test_without_preflight_a_dead_model_is_asked(short: tuple[object, ...], tmp_path: Path) -> None:
    with ReferenceServer(Settings(ends={"gpt-6.1-terra": "2026-01-01"})) as server:
        begun = main_py(tmp_path, *short, "--no-preflight", **to_provider("openai", server))
        assert begun.returncode == 0, begun.stderr
        assert len(server.asked) == 2


class Stalling(ReferenceServer):
    """Takes ages for its second answer."""

    def reply_to(self, asked: Asked) -> Reply:
        reply = super().reply_to(asked)
        return replace(reply, delay=AGES) if asked.method == "POST" and len(self.asked) == 2 else reply


@pytest.fixture
def stalling() -> Iterator[ReferenceServer]:
    with Stalling() as server:
        yield server


@pytest.mark.long  # tests/e2e/test_asked_models.py kills an evaluation in a call
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_a_call_in_flight_is_in_the_books(
    number: signal.Signals, stalling: ReferenceServer, short: tuple[object, ...], tmp_path: Path
) -> None:
    given = ("--base-url", stalling.base_url, "--timeout", AGES)
    with start(tmp_path, *short, *model_flags(CHAT), *given) as process:
        wait_for(lambda: len(stalling.asked) == 2)
        os.killpg(process.pid, number)
        process.communicate(timeout=PATIENCE)  # the answer is not waited for
    run = only_run(tmp_path / "runs")
    assert (run / "state/call_in_flight.json").exists() is (number is signal.SIGKILL)
    done = main_py(tmp_path, "--resume", run.name, "--runs", tmp_path / "runs")
    assert done.returncode == 0, done.stderr
    assert [record["outcome"] for record in book(run)] == ["answered", "unknown", "answered"]
    assert [line.sha256 for line in stalling.asked][1] == [line.sha256 for line in stalling.asked][2]
    assert imbalance(run, stalling.asked) == []
    assert "3 requests (1 unknown)" in done.stdout
    assert "+1?" in done.stdout
