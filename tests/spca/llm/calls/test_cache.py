"""``--cache``: what was answered well in any run is not asked for again."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from llmclient import ChatGPTClient
from spca.common.errors import SettingsError
from spca.errors import BadAnswerError
from spca.llm.calls.cache import Cache
from spca.llm.catalogue.servers import Server
from spca.llm.providers.base import Message, Response, ToolCall
from tests.support.spca.call_requests import PAID, USAGE, Answers, Desk, Form, book, ref, request, transcripts
from tests.support.spca.doubles import Scripted, ScriptedProvider

GOOD, BAD = '{"value": 1}', "no JSON"
ASKED = [Message("user", "?")]


class Run:
    """A run with a cache that others share, and its scripted model."""

    def __init__(self, folder: Path, name: str, *answers: Scripted, model: str = PAID, reasks: int = 0) -> None:
        self.folder = folder / name
        self.folder.mkdir(exist_ok=True)
        self.desk = Desk(self.folder, cache=Cache(folder / "cache")).level()
        self.model = ScriptedProvider(*answers)
        self._client = ChatGPTClient(ref(model), Form, provider=self.model, desk=self.desk.desk, reasks=reasks)

    def ask(self, text: str = "?") -> int:
        return self._client.chat_completion([Message("user", text)]).value

    @property
    def source(self) -> object:
        return self._client.last_call()["source"]


def test_the_same_call_in_another_run_sends_nothing(tmp_path: Path) -> None:
    Run(tmp_path, "1", Response(GOOD, USAGE)).ask()
    other = Run(tmp_path, "2")
    assert (other.ask(), other.source) == (1, "cache")
    assert not (other.folder / "calls.jsonl").exists()
    (path,) = transcripts(other.folder)
    content = json.loads(path.read_text())
    assert (content["source"], content["request"], content["cost"], content["index"]) == ("cache", 0, 0.0, 1)
    assert content["usage"]["input_tokens"] == USAGE.input_tokens


def test_within_a_run_the_same_call_is_sent_once(tmp_path: Path) -> None:
    run = Run(tmp_path, "1", GOOD)
    assert [(run.ask(), run.source) for _ in range(3)] == [(1, "model"), (1, "cache"), (1, "cache")]
    assert len(book(run.folder)) == 1
    assert len(transcripts(run.folder)) == 3


def test_another_call_is_another_call(tmp_path: Path) -> None:
    Run(tmp_path, "1", GOOD).ask("a")
    for other in (Run(tmp_path, "2", GOOD), Run(tmp_path, "3", GOOD, model="other/model")):
        other.ask("b" if other.folder.name == "2" else "a")
        assert other.source == "model"


@pytest.mark.parametrize("bad", [BAD, "", '{"value": "x"}', BadAnswerError("broken off")])
def test_a_bad_answer_is_never_kept(tmp_path: Path, bad: Scripted) -> None:
    first = Run(tmp_path, "1", bad)
    with pytest.raises(BadAnswerError):
        first.ask()
    other = Run(tmp_path, "2", GOOD)
    assert (other.ask(), other.source) == (1, "model")


def test_after_a_bad_answer_the_same_call_is_sent_again(tmp_path: Path) -> None:
    run = Run(tmp_path, "1", BAD, GOOD)
    with pytest.raises(BadAnswerError):
        run.ask()
    assert (run.ask(), run.source) == (1, "model")


def test_a_kept_answer_that_turns_out_bad_is_not_served_twice(tmp_path: Path) -> None:
    Run(tmp_path, "1", GOOD).ask()
    (kept,) = (tmp_path / "cache").iterdir()
    kept.write_text(kept.read_text().replace('{\\"value\\": 1}', BAD))
    run = Run(tmp_path, "2", '{"value": 2}')
    with pytest.raises(BadAnswerError):
        run.ask()
    assert (run.source, run.ask(), run.source) == ("cache", 2, "model")
    assert Run(tmp_path, "3").ask() == 2


def test_what_was_asked_again_is_kept_with_its_own_question(tmp_path: Path) -> None:
    Run(tmp_path, "1", BAD, GOOD, reasks=1).ask()
    other = Run(tmp_path, "2", BAD, reasks=1)
    assert (other.ask(), other.source) == (1, "cache")
    assert not other.model.left


def test_a_resumed_run_has_its_own_answers_first(tmp_path: Path) -> None:
    run = Run(tmp_path, "1", GOOD)
    run.ask()
    (kept,) = (tmp_path / "cache").iterdir()
    kept.write_text(kept.read_text().replace("1}", "3}"))
    again = Run(tmp_path, "1")
    assert (again.ask(), again.source) == (1, "resumed")


def test_calls_of_tools_are_kept_too(tmp_path: Path) -> None:
    cache = Cache(tmp_path / "cache")
    desk = Desk(cache=cache)
    answered = desk.ask(ScriptedProvider(Response("", USAGE, tool_calls=(ToolCall("a", {"b": "\ud800"}),))))
    desk.desk.accept(answered)
    assert Desk(cache=cache).ask(ScriptedProvider()).answer.get().tool_calls == (ToolCall("a", {"b": "\ud800"}),)


@pytest.mark.parametrize("content", ["", "{", "[]", '{"answer": 3}', "[" * 100_000])
def test_a_spoiled_file_is_named(tmp_path: Path, content: str) -> None:
    Run(tmp_path, "1", GOOD).ask()
    (kept,) = (tmp_path / "cache").iterdir()
    kept.write_text(content)
    with pytest.raises(SettingsError, match=rf"{kept.name} cannot be read .*: delete it"):
        Run(tmp_path, "2").ask()


def test_an_answer_is_served_only_at_the_place_where_it_was_given(tmp_path: Path) -> None:
    """The same name may be another model elsewhere."""

    def ask(place: str) -> tuple[str, str]:
        cache = Cache(tmp_path / "cache", {"a": Server(place)} if place else {})
        desk = Desk(model="a/m", cache=cache)
        answered = desk.ask(Answers(lambda _text: Response(f"at {place}", USAGE)))
        desk.desk.accept(answered)
        return answered.source, answered.answer.get().text

    assert ask("http://one/v1") == ("model", "at http://one/v1")
    assert ask("http://two/v1") == ("model", "at http://two/v1")
    assert ask("") == ("model", "at ")
    assert [ask(place)[0] for place in ("http://one/v1", "http://two/v1", "")] == ["cache"] * 3
    assert Desk(cache=Cache(tmp_path / "cache")).ask(ScriptedProvider(), model="a/m").answer.get().text == "at "
    assert len(list((tmp_path / "cache").glob("*.json"))) == 3


def test_without_the_flag_nothing_is_kept(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    desk.desk.accept(desk.ask(ScriptedProvider(GOOD), request("?", schema=Form)))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["calls.jsonl", "llm", "state"]
