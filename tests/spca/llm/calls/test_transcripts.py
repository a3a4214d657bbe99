"""A call's file: readable, complete, and found again."""

from __future__ import annotations

import base64
import json
import re
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spca.errors import BadAnswerError, ResumeError
from spca.llm.calls.call_keys import call_key, prompt_key
from spca.llm.calls.ledger import Place
from spca.llm.calls.transcripts import Answer, Call, Transcripts, read_all, unsent
from spca.llm.providers.base import Finish, Image, Message, Request, RequestOptions, Response, Tool, ToolCall
from tests.support.spca.call_requests import USAGE, Form, any_text, messages, ref, request, transcripts, usages

PLACE = Place("run-1", 3, "doors", "DoorKey", 7, 2, "planner", "fresh")


def write(store: Transcripts, asked: Request, answer: Answer, place: Place = PLACE, number: int = 0) -> Call:
    call = store.call(ref("any/model"), asked, place)
    name = store.name(call, place)
    store.write(call, replace(unsent(call, place, name), number=number), answer, "model")
    return call


def said(text: str, **more: Any) -> Answer:
    return Answer(Response(text, USAGE, **more))


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | any_text,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(any_text, inner, max_size=2),
    max_leaves=4,
)
tool_calls = st.builds(ToolCall, st.sampled_from(["move", "turn"]), st.dictionaries(any_text, json_values, max_size=2))
responses = st.builds(Response, any_text, usages, st.sampled_from(Finish), st.lists(tool_calls, max_size=2).map(tuple))


def utf16(value: object) -> bytes:
    """What a text means where lone halves of pairs may stand side by side."""
    return repr(value).encode() if not isinstance(value, str) else value.encode("utf-16", "surrogatepass")


@given(st.lists(messages, min_size=1, max_size=2), responses | any_text)
def test_what_was_answered_is_read_back(asked: list[Message], came: Response | str) -> None:
    answer = Answer(None, came) if isinstance(came, str) else Answer(came)
    with TemporaryDirectory() as folder:
        call = write(Transcripts(Path(folder)), Request("model", tuple(asked)), answer)
        (again,) = read_all(Path(folder) / "llm")
    assert (again.key, again.prompt_key, again.occurrence) == (call.key, prompt_key(call.request), 0)
    if answer.response is None:
        assert again.answer.response is None
        assert utf16(again.answer.error) == utf16(answer.error)
    else:
        got = again.answer.get()
        assert utf16(got.text) == utf16(answer.response.text)
        assert (got.usage, got.finish) == (answer.response.usage, answer.response.finish)
        assert [c.name for c in got.tool_calls] == [c.name for c in answer.response.tool_calls]
        if "\\ud" not in ascii(answer.response.tool_calls):
            assert got.tool_calls == answer.response.tool_calls


@pytest.mark.parametrize(
    "text",
    ["", "\n", "a\n", "\n\na", "a\r\nb\rc", "\u2028x\u2029\x85\x0b\x0c\x1c", "tab\t\x00\x1b[31m", "\ufeff", "🙂"],
)
def test_texts_come_back_as_they_were(text: str, tmp_path: Path) -> None:
    write(Transcripts(tmp_path), request(text), said(text))
    (again,) = read_all(tmp_path / "llm")
    assert again.answer.get().text == text
    (path,) = transcripts(tmp_path)
    content = json.loads(path.read_text(encoding="utf-8"))
    assert "\n".join(content["messages"][0]["text"]) == text


def test_a_file_holds_question_answer_and_place(tmp_path: Path) -> None:
    picture = Image("image/png", b"\x89PNG")
    asked = Request(
        "model",
        (Message("system", "Be brief.\nBe right."), Message("user", "Look.", (picture,))),
        schema=Form,
        limits=RequestOptions(100, 0.5),
    )
    call = write(Transcripts(tmp_path), asked, said('{"value":\n1}'), number=12)
    (path,) = transcripts(tmp_path)
    assert path.name == f"0001-planner-fresh-{call.key[:8]}-0.json"
    content = json.loads(path.read_text(encoding="utf-8"))
    assert content["messages"] == [
        {"role": "system", "text": ["Be brief.", "Be right."]},
        {
            "role": "user",
            "text": ["Look."],
            "images": [{"media_type": "image/png", "base64": base64.b64encode(picture.data).decode()}],
        },
    ]
    assert content["answer"] == {"text": ['{"value":', "1}"], "finish": "stop", "tool_calls": []}
    assert content["schema"] == Form.model_json_schema()
    assert content["parameters"] == {"max_output_tokens": 100, "temperature": 0.5}
    place = ("run", "index", "category", "level", "seed", "round", "phase", "mode")
    assert [content[name] for name in place] == ["run-1", 3, "doors", "DoorKey", 7, 2, "planner", "fresh"]
    assert (content["model"], content["key"], content["prompt_key"]) == (
        "any/model",
        call_key(ref("any/model"), asked),
        prompt_key(asked),
    )
    assert (content["occurrence"], content["source"], content["request"]) == (0, "model", 12)
    assert content["usage"]["input_tokens"] == USAGE.input_tokens
    assert re.search(r'^ +"Be right\."$', path.read_text(encoding="utf-8"), re.MULTILINE)  # a line is a line


def test_tools_are_in_it(tmp_path: Path) -> None:
    asked = request("?", tools=(Tool("move", "Go.", Form),), tool_choice="move")
    write(Transcripts(tmp_path), asked, said("", finish=Finish.TOOL_CALL, tool_calls=(ToolCall("move", {"value": 1}),)))
    content = json.loads(transcripts(tmp_path)[0].read_text())
    assert (content["tool_choice"], content["tools"][0]["name"]) == ("move", "move")
    assert content["answer"]["tool_calls"] == [{"name": "move", "arguments": {"value": 1}}]


def test_nothing_half_written_is_left_or_read(tmp_path: Path) -> None:
    write(Transcripts(tmp_path), request("a"), said("b"))
    (tmp_path / "llm" / ".0002-planner-fresh-00000000-0.json.tmp").write_text("{")
    assert len(read_all(tmp_path / "llm")) == 1
    assert len(Transcripts(tmp_path).call(ref("any/model"), request("x"), PLACE).key) == 64


def test_files_are_numbered_in_order_over_processes(tmp_path: Path) -> None:
    for texts in ("ab", "cd"):
        store = Transcripts(tmp_path)
        for text in texts:
            write(store, request(text), said(text))
    assert [path.name[:4] for path in transcripts(tmp_path)] == ["0001", "0002", "0003", "0004"]
    assert [t.answer.get().text for t in read_all(tmp_path / "llm")] == list("abcd")


def test_the_order_is_that_of_the_numbers_however_many_digits_they_have(tmp_path: Path) -> None:
    write(Transcripts(tmp_path), request("a"), said("1"))
    (first,) = transcripts(tmp_path)
    first.rename(first.with_name("9999" + first.name[4:]))
    store = Transcripts(tmp_path)
    write(store, request("b"), said("2"))
    assert [t.number for t in read_all(tmp_path / "llm")] == [9999, 10000]


def test_of_two_files_for_the_same_call_the_newer_one_counts(tmp_path: Path) -> None:
    for asked, text in (("a", "old"), ("b", "between"), ("a", "new")):
        write(Transcripts(tmp_path), request(asked), said(text))  # a store that does not know of the other's call
    assert [t.answer.get().text for t in read_all(tmp_path / "llm")] == ["between", "new"]


def test_without_a_folder_nothing_is_kept_but_calls_are_counted() -> None:
    store = Transcripts()
    assert [write(store, request(text), said("x")).request.occurrence for text in "aab"] == [0, 1, 0]
    assert store.name(store.call(ref("m"), request("a"), PLACE), PLACE) == ""


def test_equal_calls_are_counted_and_the_provider_is_told() -> None:
    store = Transcripts()
    calls = [store.call(ref(model), request("a"), PLACE) for model in ("m", "m", "n", "m")]
    assert [call.request.occurrence for call in calls] == [0, 1, 0, 2]


@pytest.mark.long
@settings(max_examples=20)
@given(st.lists(st.lists(st.sampled_from("ab"), max_size=3), max_size=3), st.integers(0, 3), st.integers(0, 2))
def test_a_resumed_run_counts_on(levels: list[list[str]], begun: int, deep: int) -> None:
    """However a run is cut, its calls have the occurrences and turns that they have without a cut."""

    def play(store: Transcripts, first: int, last: int, calls: int | None = None) -> list[tuple[int, str, Request]]:
        seen = []
        for index in range(first, last + 1):
            store.begin_level(index)
            for text in levels[index - 1][: calls if index == last else None]:
                place = replace(PLACE, index=index, seed=index % 2)
                call = store.call(ref("m"), request(text), place)
                if store.find_finished(call) is None:
                    store.write(call, unsent(call, place, store.name(call, place)), said(text), "model")
                seen.append((index, text, call.request))
        return seen

    with TemporaryDirectory() as whole, TemporaryDirectory() as cut:
        unbroken = play(Transcripts(Path(whole)), 1, len(levels))
        begun = min(begun, len(levels))
        play(Transcripts(Path(cut)), 1, begun, deep)
        resumed = play(Transcripts(Path(cut)), max(1, begun), len(levels))
        names = [sorted(path.name for path in Path(each).glob("llm/*")) for each in (whole, cut)]
    assert resumed == [each for each in unbroken if each[0] >= max(1, begun)]
    assert names[0] == names[1]


def test_only_the_unfinished_level_is_served_again(tmp_path: Path) -> None:
    store = Transcripts(tmp_path)
    for index, texts in ((1, "ab"), (2, "ac")):
        store.begin_level(index)
        for text in texts:
            write(store, request(text), said(f"{index}{text}"), replace(PLACE, index=index))
    again = Transcripts(tmp_path)
    again.begin_level(2)
    got = [again.find_finished(again.call(ref("any/model"), request(text), PLACE)) for text in "acb"]
    assert [t and t.answer.get().text for t in got] == ["2a", "2c", None]


def test_a_role_that_is_asked_anew_is_served_only_what_came_later(tmp_path: Path) -> None:
    store = Transcripts(tmp_path)
    store.begin_level(3)
    write(store, request("a"), said("plan"))
    write(store, request("b"), said("prose"), replace(PLACE, phase="coder"))
    later = Transcripts(tmp_path, {"coder": store.count})
    later.begin_level(3)
    places = {"a": PLACE, "b": replace(PLACE, phase="coder")}

    def served(store: Transcripts) -> list[str | None]:
        got = [
            store.find_finished(store.call(ref("any/model"), request(text), place)) for text, place in places.items()
        ]
        return [each.answer.get().text if each else None for each in got]

    assert served(later) == ["plan", None]
    rewritten = Transcripts(tmp_path, {"coder": store.count})
    rewritten.begin_level(3)
    write(rewritten, request("b"), said("code"), places["b"])
    killed = Transcripts(tmp_path, {"coder": store.count})
    killed.begin_level(3)
    assert served(killed) == ["plan", "code"], "what it was answered anew is not asked a third time"


def test_the_transcript_of_a_request_is_found_by_its_number(tmp_path: Path) -> None:
    write(Transcripts(tmp_path), request("a"), said("x"), number=5)
    found = Transcripts(tmp_path).find_by_request(5)
    assert found is not None
    assert found.answer.get().text == "x"
    assert Transcripts(tmp_path).find_by_request(4) is None


def test_an_unreadable_answer_is_an_error_again() -> None:
    with pytest.raises(BadAnswerError, match="the body is no JSON"):
        Answer(None, "the body is no JSON").get()


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("0001-a-0.json", ""),
        ("0001-a-0.json", "{}"),
        ("0001-a-0.json", "[]"),
        ("0001-a-0.json", '"x"'),
        ("0001-a-0.json", "[" * 100_000),
    ],
)
def test_a_file_that_is_no_transcript_is_named(name: str, content: str, tmp_path: Path) -> None:
    write(Transcripts(tmp_path), request("a"), said("x"))
    (tmp_path / "llm" / name).write_text(content)
    with pytest.raises(ResumeError, match=name) as caught:
        read_all(tmp_path / "llm")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "change",
    [{"answer": 1}, {"answer": {}}, {"usage": 3}, {"request": "x"}, {"usage": {"a": 1}}],
)
def test_a_spoiled_transcript_is_named(change: dict[str, Any], tmp_path: Path) -> None:
    write(Transcripts(tmp_path), request("a"), said("x"))
    (path,) = transcripts(tmp_path)
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    with pytest.raises(ResumeError, match=path.name):
        read_all(tmp_path / "llm")


@pytest.mark.parametrize("name", ["0001.json", "12ab-c.json", "notes.json", "0001-a-0.txt", "README.md"])
def test_files_with_other_names_are_somebody_elses(name: str, tmp_path: Path) -> None:
    write(Transcripts(tmp_path), request("a"), said("x"))
    (tmp_path / "llm" / name).write_text("mine")
    assert len(read_all(tmp_path / "llm")) == 1
