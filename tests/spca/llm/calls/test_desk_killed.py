"""A process that dies between any two steps: nothing finished is paid twice, nothing sent is missing in the ledger."""

from __future__ import annotations

import json
import os
import shutil
import signal
import time
from collections.abc import Callable
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spca.errors import TransientError
from spca.llm.calls.ledger import BOOK, IN_FLIGHT, sums
from spca.llm.catalogue.catalogue import Catalogue
from spca.llm.providers.base import Request, Response, Usage
from tests.support.spca.call_requests import USAGE, Answers, Desk, book, transcripts
from tests.support.spca.doubles import ScriptedProvider

forks = pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")


def killed_while(work: Callable[[], object]) -> None:
    """Do it in a process of its own that is expected to be killed."""
    pid = os.fork()
    if pid == 0:
        try:
            work()
        finally:
            os._exit(99)
    _, status = os.waitpid(pid, 0)
    assert os.WIFSIGNALED(status)


def deadly(_text: str) -> Response:
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError("it survived")


@forks
def test_a_request_in_flight_when_the_process_is_killed_is_unknown(tmp_path: Path) -> None:
    def work() -> None:
        desk = Desk(tmp_path).level()
        desk.ask(Answers(), "a")
        desk.ask(Answers(deadly), "b")

    killed_while(work)
    desk, provider = Desk(tmp_path).level(), Answers()
    assert desk.outcomes == ["answered", "unknown"]
    assert [line["cost"] for line in book(tmp_path)] == [0.0022, None]
    assert [desk.ask(provider, text).source for text in "ab"] == ["resumed", "model"]
    assert provider.asked == ["b"]
    assert desk.outcomes == ["answered", "unknown", "answered"]
    assert [line["number"] for line in book(tmp_path)] == [1, 2, 3]
    assert [path.name[:4] for path in transcripts(tmp_path)] == ["0001", "0002"]


@forks
def test_a_process_killed_while_it_waits_leaves_its_failures(tmp_path: Path) -> None:
    def work() -> None:
        desk = Desk(tmp_path, sleep=lambda _seconds: os.kill(os.getpid(), signal.SIGKILL)).level()
        desk.ask(ScriptedProvider(TransientError("busy", lost=True)), "a")

    killed_while(work)
    assert Desk(tmp_path).outcomes == ["lost"]


class Steps:
    """The folder of a run as it was after each step of its third call."""

    def __init__(self, folder: Path) -> None:
        (folder / "done").mkdir()
        desk = Desk(folder / "done").level()
        for text in "ab":
            desk.ask(Answers(), text)
        (folder / "done" / BOOK).rename(folder / "book")
        shutil.copy(folder / "book", folder / "done" / BOOK)
        self.before = (folder / "book").read_bytes()

        def sent(text: str) -> Response:
            time.sleep(0.002)
            self.intent = (folder / "done" / IN_FLIGHT).read_bytes()
            return Response(f"re: {text}", USAGE)

        desk.ask(Answers(sent), "c")
        self.after = (folder / "done" / BOOK).read_bytes()
        self.file = transcripts(folder / "done")[-1]
        self._done, self._folder = folder / "done", folder
        self._count = 0

    def died(self, *, intent: bytes | None, answered: bool, line: int) -> Path:
        """A copy of the folder with the intent, the answer's file and so many bytes of the record's line."""
        self._count += 1
        copy = self._folder / str(self._count)
        shutil.copytree(self._done, copy)
        (copy / BOOK).write_bytes(self.after[: len(self.before) + line])
        if intent is not None:
            (copy / IN_FLIGHT).write_bytes(intent)
        if not answered:
            (copy / "llm" / self.file.name).unlink()
            (copy / "llm" / f".{self.file.name}.tmp").write_text('{"model"')
        return copy


@pytest.fixture(scope="module")
def steps(tmp_path_factory: pytest.TempPathFactory) -> Steps:
    return Steps(tmp_path_factory.mktemp("steps"))


def resumed(folder: Path) -> tuple[Desk, Answers]:
    """The run goes on: its three calls are made again."""
    desk, provider = Desk(folder).level(), Answers()
    assert [desk.ask(provider, text).answer.get().text for text in "abc"] == ["re: a", "re: b", "re: c"]
    assert not (folder / IN_FLIGHT).exists()
    assert [line["number"] for line in book(folder)] == list(range(1, len(book(folder)) + 1))
    assert list(Desk(folder).desk.ledger.records) == desk.desk.ledger.records
    return desk, provider


@settings(max_examples=30)
@given(st.data())
def test_the_books_are_whole_wherever_the_process_died(steps: Steps, data: st.DataObject) -> None:
    length = len(steps.after) - len(steps.before)
    step = data.draw(st.sampled_from(["intending", "sent", "answered", "entering", "entered", "tidy"]))
    if step == "intending":
        torn = steps.intent[: data.draw(st.integers(0, len(steps.intent) - 2))]
        desk, provider = resumed(steps.died(intent=torn, answered=False, line=0))
        assert (desk.outcomes, provider.asked) == (["answered"] * 3, ["c"])
    elif step == "sent":
        desk, provider = resumed(steps.died(intent=steps.intent, answered=False, line=0))
        assert (desk.outcomes, provider.asked) == (["answered", "answered", "unknown", "answered"], ["c"])
    else:
        line = {"answered": 0, "entering": data.draw(st.integers(1, length - 1))}.get(step, length)
        folder = steps.died(intent=None if step == "tidy" else steps.intent, answered=True, line=line)
        desk, provider = resumed(folder)
        assert (desk.outcomes, provider.asked) == (["answered"] * 3, [])
        last = book(folder)[-1]
        assert (last["cost"], last["input_tokens"], last["cached_tokens"]) == (0.0022, 1000, 400)
        assert last["transcript"] == f"llm/{steps.file.name}"
        assert last["latency_s"] == json.loads(steps.file.read_text())["latency_s"] > 0


def test_an_estimate_is_marked_as_one_when_its_record_is_recovered(tmp_path: Path) -> None:
    intent = b""

    def sent(_text: str) -> Response:
        nonlocal intent
        intent = (tmp_path / IN_FLIGHT).read_bytes()
        return Response("x" * 30, Usage())

    Desk(tmp_path).level().ask(Answers(sent), "a" * 300)
    (tmp_path / BOOK).unlink()
    (tmp_path / IN_FLIGHT).write_bytes(intent)
    (record,) = Desk(tmp_path).desk.ledger.records
    assert (record.outcome, record.estimated, record.cost) == ("answered", True, Decimal("0.00028"))
    assert record.usage == Usage(100, 10)


def test_a_call_of_a_finished_level_is_never_served(tmp_path: Path) -> None:
    desk = Desk(tmp_path).level(1)
    desk.ask(Answers(), "a")
    desk.level(2).ask(Answers(), "a")
    later = Desk(tmp_path).level(3)
    provider = ScriptedProvider("third")
    answered = later.ask(provider, "a")
    assert (answered.source, answered.answer.get().text, provider.requests[0].occurrence) == ("model", "third", 2)


def test_finished_calls_come_back_in_order_and_the_next_one_is_asked(tmp_path: Path) -> None:
    desk = Desk(tmp_path).level(1)
    first = ScriptedProvider("1", "2", "3")
    for _ in range(3):
        desk.ask(first, "same")
    again, provider = Desk(tmp_path).level(1), ScriptedProvider("4")
    answers = [again.ask(provider, "same") for _ in range(4)]
    assert [answered.answer.get().text for answered in answers] == ["1", "2", "3", "4"]
    assert [answered.source for answered in answers] == ["resumed"] * 3 + ["model"]
    assert [len(answered.records) for answered in answers] == [0, 0, 0, 1]
    assert provider.requests[0].occurrence == 3


@settings(max_examples=30)
@given(
    st.lists(st.lists(st.sampled_from("abc"), max_size=3), min_size=1, max_size=2),
    st.lists(st.integers(0, 6), min_size=1, max_size=4),
)
def test_however_often_a_run_dies_each_call_is_paid_once(
    tmp_path_factory: pytest.TempPathFactory, levels: list[list[str]], deaths: list[int]
) -> None:
    """Each try dies within its n-th request; a level is finished when all of its calls are."""
    folder, finished, sent = tmp_path_factory.mktemp("run"), 0, list[tuple[str, int]]()

    class Mortal:
        def __init__(self, after: int) -> None:
            self.left = after

        def complete(self, asked: Request) -> Response:
            sent.append((asked.messages[-1].text, asked.occurrence))
            self.left -= 1
            if self.left < 0:
                raise SystemExit
            return Response(f"{asked.messages[-1].text}{asked.occurrence}", USAGE)

    heard = dict[int, list[str]]()
    for after in [*deaths, 99]:
        desk, provider = Desk(folder), Mortal(after)
        try:
            while finished < len(levels):
                desk.level(finished + 1)
                asked = levels[finished]
                heard[finished] = [desk.ask(provider, text).answer.get().text for text in asked]
                finished += 1
        except SystemExit:
            continue
        break
    whole = [text for level in levels for text in level]
    expected = [f"{text}{whole[:place].count(text)}" for place, text in enumerate(whole)]
    assert [text for level in sorted(heard) for text in heard[level]] == expected
    total = sums(Desk(folder).desk.ledger.records)
    assert total["requests"] == len(sent)
    assert total["answered"] == len(whole)
    assert total["unknown"] == len(sent) - len(whole)
    assert len(list(folder.glob("llm/*.json"))) == len(whole)


def test_a_request_costs_what_it_cost_on_the_day_on_which_it_was_sent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    intent = b""

    def sent(_text: str) -> Response:
        nonlocal intent
        intent = (tmp_path / IN_FLIGHT).read_bytes()
        now.append(datetime(2026, 12, 1, tzinfo=UTC).timestamp())  # the price doubles while the model thinks
        return Response("yes", Usage(10**6, 10**6))

    now = [datetime(2026, 11, 30, 23, 59, tzinfo=UTC).timestamp()]
    monkeypatch.setattr(time, "time", lambda: now[-1])
    dated: dict[str, Any] = {"model": "google/gemini-4-argon", "catalogue": Catalogue()}
    Desk(tmp_path, **dated).level().ask(Answers(sent))
    assert [line["cost"] for line in book(tmp_path)] == [12]
    (tmp_path / BOOK).write_bytes(b"")  # killed before it was entered
    (tmp_path / IN_FLIGHT).write_bytes(intent)
    Desk(tmp_path, **dated)
    assert [line["cost"] for line in book(tmp_path)] == [12]
    Desk(tmp_path, **dated).level().ask(Answers(sent), "later")
    assert [line["cost"] for line in book(tmp_path)] == [12, 24]
