"""A recorded run as a model."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from llmclient import ChatGPTClient
from spca.errors import BadAnswerError, ProviderConfigError, ReplayMissError, TransientError
from spca.llm.calls.ledger import Record, sums
from spca.llm.calls.packed import PACKED, pack
from spca.llm.providers.base import Finish, Message, Request, RequestOptions, Response, Target, Tool, ToolCall
from spca.llm.providers.offline.replay import ReplayProvider
from tests.support.spca.call_requests import USAGE, Desk, Form, book, provider_for, ref, request, transcripts
from tests.support.spca.doubles import Scripted, ScriptedProvider


def recorded(folder: Path, *calls: tuple[str, Scripted], model: str = "paid/model") -> Path:
    desk = Desk(folder, model=model).level()
    for text, answer in calls:
        desk.ask(ScriptedProvider(answer), text)
    return folder


def replayed(folder: Path, texts: str, model: str = "", name: str = "again") -> list[str]:
    """The answers to these questions in a run that asks the recorded one."""
    model = model or f"replay/{folder}"
    (folder / name).mkdir(exist_ok=True)
    desk, (provider, _) = Desk(folder / name, model=model).level(), provider_for(model)
    return [desk.ask(provider, text).answer.get().text for text in texts]


def test_the_same_calls_get_the_same_answers(tmp_path: Path) -> None:
    answer = Response("a\r\n\u2028", USAGE, Finish.TOOL_CALL, (ToolCall("move", {"value": 1}),))
    recorded(tmp_path, ("a", answer), ("b", Response("cut", USAGE, Finish.LENGTH)), ("c", Response("no")))
    provider = ReplayProvider(Target(str(tmp_path)))
    assert provider.complete(request("a")) == answer
    assert provider.complete(request("b")) == Response("cut", USAGE, Finish.LENGTH)
    assert provider.complete(request("c")).text == "no"


def test_equal_calls_are_answered_in_order(tmp_path: Path) -> None:
    recorded(tmp_path, ("a", "1"), ("b", "2"), ("a", "3"), ("a", "4"))
    assert replayed(tmp_path, "aaba") == ["1", "3", "2", "4"]


def test_whoever_was_asked_then(tmp_path: Path) -> None:
    """Large and small planner, one after the other, were asked the same."""
    desk = Desk(tmp_path).level()
    desk.ask(ScriptedProvider("large"), "a", "x/large")
    desk.ask(ScriptedProvider("small"), "a", "x/small")
    assert replayed(tmp_path, "aa") == ["large", "small"]


def test_a_run_that_was_resumed_is_replayed_as_one(tmp_path: Path) -> None:
    recorded(tmp_path, ("a", "1"), ("a", "2"))
    recorded(tmp_path, ("a", "never asked"), ("a", "never asked"), ("a", "3"))
    assert replayed(tmp_path, "aaa") == ["1", "2", "3"]


def test_a_replay_can_be_replayed(tmp_path: Path) -> None:
    recorded(tmp_path, ("a", "1"), ("b", "2"), ("a", "3"))
    assert replayed(tmp_path, "aba") == ["1", "2", "3"]
    assert replayed(tmp_path / "again", "aba") == ["1", "2", "3"]


def test_a_replay_that_is_resumed_goes_on_in_order(tmp_path: Path) -> None:
    recorded(tmp_path, ("a", "1"), ("a", "2"), ("a", "3"))
    assert replayed(tmp_path, "aa") == ["1", "2"]
    assert replayed(tmp_path, "aaa") == ["1", "2", "3"]


def test_retries_then_leave_no_trace_now(tmp_path: Path) -> None:
    desk = Desk(tmp_path).level()
    desk.ask(ScriptedProvider(TransientError("busy"), TransientError("gone", lost=True), "1"), "a")
    assert replayed(tmp_path, "a") == ["1"]
    assert Desk(tmp_path / "again").outcomes == ["answered"]


def test_a_replay_costs_nothing(tmp_path: Path) -> None:
    recorded(tmp_path, ("a", Response("1", USAGE)))
    model = f"replay/{tmp_path}"
    client = ChatGPTClient[str](ref(model))
    assert client.chat_completion([Message("user", "a")]) == "1"
    assert (client.last_call()["cost"], client.last_call()["input_tokens"]) == (0.0, 1000)


def test_an_unreadable_answer_is_one_again(tmp_path: Path) -> None:
    recorded(tmp_path, ("a", BadAnswerError("x: the body is no JSON")))
    with pytest.raises(BadAnswerError, match="x: the body is no JSON"):
        ReplayProvider(Target(str(tmp_path))).complete(request("a"))


def test_a_call_that_was_never_made_is_a_miss_that_says_so(tmp_path: Path) -> None:
    recorded(tmp_path, ("a", "1"))
    provider = ReplayProvider(Target(str(tmp_path)))
    for asked in (
        request("b"),
        request("a", schema=Form),
        request("a", limits=RequestOptions(5)),
        request("a", tools=(Tool("t", "d", Form),)),
        Request("m", (Message("system", "a"),)),
    ):
        with pytest.raises(ReplayMissError, match="was not asked what is asked now") as caught:
            provider.complete(asked)
        assert "\n" not in str(caught.value)
        assert not caught.value.resumable


def test_one_occurrence_too_many_is_a_miss(tmp_path: Path) -> None:
    recorded(tmp_path, ("a", "1"), ("a", "2"))
    with pytest.raises(ReplayMissError, match=r"was not asked the 3\. time"):
        replayed(tmp_path, "aaa")


def test_a_miss_is_not_asked_again(tmp_path: Path) -> None:
    recorded(tmp_path, ("a", "1"))
    desk, (provider, _) = Desk().level(), provider_for(f"replay/{tmp_path}")
    with pytest.raises(ReplayMissError):
        desk.ask(provider, "b")
    assert (desk.outcomes, desk.waited) == (["rejected"], [])


def example(folder: Path, *calls: tuple[str, Scripted]) -> Path:
    """The same recording, packed."""
    (folder / "run").mkdir()
    recorded(folder / "run", *calls)
    (folder / PACKED).write_bytes(pack([json.loads(path.read_text()) for path in transcripts(folder / "run")]))
    return folder


def test_an_example_answers_other_prompts_by_their_turn(tmp_path: Path) -> None:
    example(tmp_path, ("a", "1"), ("b", "2"), ("c", "3"))
    assert replayed(tmp_path, "axc") == ["1", "2", "3"]
    assert [record.get("differs", False) for record in book(tmp_path / "again")] == [False, True, False]
    assert replayed(tmp_path, "bac", name="in another order") == ["2", "1", "3"]


def test_equal_prompts_of_an_example_are_told_apart_by_their_turn(tmp_path: Path) -> None:
    example(tmp_path, ("a", "1"), ("b", "2"), ("a", "3"))
    assert replayed(tmp_path, "xba") == ["1", "2", "3"]


def test_a_replay_of_an_example_that_is_resumed_counts_on(tmp_path: Path) -> None:
    example(tmp_path, ("a", "1"), ("b", "2"), ("c", "3"))
    assert replayed(tmp_path, "xy") == ["1", "2"]
    assert replayed(tmp_path, "xyz") == ["1", "2", "3"]
    assert sums(map(Record.from_dict, book(tmp_path / "again")))["differing"] == 3


def test_a_turn_that_an_example_lacks_is_a_miss(tmp_path: Path) -> None:
    example(tmp_path, ("a", "1"))
    said = r"did not ask the planner a 2\. time in doors/Level-1 with seed 7: replay it with the flags in about\.json"
    with pytest.raises(ReplayMissError, match=said):
        replayed(tmp_path, "xx")


def test_an_unreadable_answer_of_an_example_may_differ_too(tmp_path: Path) -> None:
    example(tmp_path, ("a", BadAnswerError("x: the body is no JSON")))
    with pytest.raises(BadAnswerError, match="x: the body is no JSON"):
        replayed(tmp_path, "x")
    assert [record["differs"] for record in book(tmp_path / "again")] == [True]


@pytest.mark.parametrize("kind", ["absent", "empty", "no transcripts", "a file"])
def test_a_folder_without_transcripts_is_a_users_mistake(tmp_path: Path, kind: str) -> None:
    folder = tmp_path / "run"
    if kind == "a file":
        folder.write_text("x")
    elif kind != "absent":
        (folder / "llm" if kind == "no transcripts" else folder).mkdir(parents=True)
    with pytest.raises(ProviderConfigError, match=r"run: no transcripts in llm/, and .*: give the folder of") as caught:
        provider_for(f"replay/{folder}")
    assert "\n" not in str(caught.value)


def test_a_spoiled_transcript_is_a_users_mistake(tmp_path: Path) -> None:
    recorded(tmp_path, ("a", "1"))
    (path,) = transcripts(tmp_path)
    path.write_text("{")
    with pytest.raises(ProviderConfigError, match=path.name):
        provider_for(f"replay/{tmp_path}")
