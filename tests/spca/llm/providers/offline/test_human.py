"""``human/...``: a person behind the door of a provider."""

from __future__ import annotations

import re
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from llmclient import ChatGPTClient
from spca.common.text import visible
from spca.errors import ProviderConfigError
from spca.llm.calls.desk import CallDesk
from spca.llm.providers.base import Finish, Image, Message, Request, Response, Target, ToolCall
from spca.llm.providers.offline import human
from spca.llm.providers.offline.human import HumanProvider
from spca.llm.providers.offline.reference import NO_TOKENS
from tests.support.contracts.providing import ARGUMENTS, GO_TO, LOOK, MESSAGES, PIXELS, Route
from tests.support.spca.call_requests import provider_for, ref
from tests.support.spca.student import studying

ROUTE = '{"name": "n", "path": [{"place": "a\nb", "steps": 2}], "note": null}'


class Clock:
    """Time that passes while it is waited; ``then`` is done, a part a wait."""

    def __init__(self, *then: Callable[[], object]) -> None:
        self.now, self._then = 0.0, list(then)

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        assert self.now < 60, "nobody answers"
        self.now += seconds
        if self._then:
            self._then.pop(0)()


Time = Callable[..., Clock]


@pytest.fixture
def time(monkeypatch: pytest.MonkeyPatch) -> Time:
    def begin(*then: Callable[[], object]) -> Clock:
        clock = Clock(*then)
        monkeypatch.setattr(human, "time", clock)
        return clock

    return begin


def request(*messages: Message, phase: str = "planner", **more: Any) -> Request:
    return Request("m", messages or MESSAGES, phase=phase, **more)


def asked(folder: Path, *messages: Message, **more: Any) -> Response:
    return HumanProvider(Target(str(folder))).complete(request(*messages, **more))


def test_the_answer_in_the_file_is_the_answer(tmp_path: Path, time: Time, capsys: pytest.CaptureFixture[str]) -> None:
    answer = tmp_path / "0001-planner.answer.md"
    time(lambda: answer.write_text("\ufeff\n# go\r\nEast. <!-- so -->\n\n"))
    response = asked(tmp_path)
    assert (response.text, response.finish, response.tool_calls) == ("# go\nEast. <!-- so -->", Finish.STOP, ())
    assert (response.usage.input_tokens, response.usage.output_tokens) == (0, 0)
    assert capsys.readouterr() == ("", f"waiting for {answer}, the answer to 0001-planner.prompt.md\n")


def test_the_question_holds_every_message_and_the_name_of_the_answer(tmp_path: Path, time: Time) -> None:
    time(lambda: (tmp_path / "0001-coder.answer.md").write_text("x"))
    asked(tmp_path, phase="coder")
    text = (tmp_path / "0001-coder.prompt.md").read_text()
    parts = [f"# {message.role}\n\n{message.text}" for message in MESSAGES]
    assert text.rstrip().endswith("\n\n".join(parts))
    assert "0001-coder.answer.md" in text


def test_a_file_that_is_being_written_is_not_read(tmp_path: Path, time: Time) -> None:
    answer = tmp_path / "0001-planner.answer.md"
    parts = [lambda text=text: answer.write_text(text) for text in ("", " \n", *("word " * n for n in range(1, 40)))]
    clock = time(*parts)
    assert asked(tmp_path).text == ("word " * 39).strip()
    assert clock.now >= 0.1 * len(parts) + human.SETTLED_S


def test_a_blank_file_is_no_answer(tmp_path: Path, time: Time) -> None:
    answer = tmp_path / "0001-planner.answer.md"
    pauses = [lambda: None] * 30
    time(answer.touch, *pauses, lambda: answer.write_text("now"))
    assert asked(tmp_path).text == "now"


def test_who_goes_on_finds_question_and_answer(tmp_path: Path, time: Time, capsys: pytest.CaptureFixture[str]) -> None:
    def leave() -> None:
        raise KeyboardInterrupt

    time(leave)
    with pytest.raises(KeyboardInterrupt):
        asked(tmp_path)
    before = sorted(tmp_path.iterdir())
    (tmp_path / "0001-planner.answer.md").write_text("one")
    capsys.readouterr()
    time()
    assert asked(tmp_path).text == "one"
    assert capsys.readouterr().err == "", "nobody is waited for"
    assert sorted(tmp_path.glob("*.prompt.md")) == before


def test_the_answer_to_a_question_that_is_gone_answers_no_other(tmp_path: Path, time: Time) -> None:
    (tmp_path / "0001-planner.answer.md").write_text("old")
    time(lambda: (tmp_path / "0002-planner.answer.md").write_text("new"))
    assert asked(tmp_path).text == "new"


@pytest.mark.long
def test_each_question_has_a_number_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(human, "SETTLED_S", 0.05)
    with studying(tmp_path, lambda role, text: f"{role} {text.count('# user')}") as answered:
        assert asked(tmp_path).text == "planner 2"
        assert asked(tmp_path, Message("user", "x"), phase="coder").text == "coder 1"
        assert asked(tmp_path, occurrence=1).text == "planner 2"
        assert asked(tmp_path).text == "planner 2"
    assert answered == [f"{name}.answer.md" for name in ("0001-planner", "0002-coder", "0003-planner")]


@settings(max_examples=25)
@given(phase=st.text(), text=st.text(), model=st.text())
def test_names_come_from_role_and_number_only(
    tmp_path_factory: pytest.TempPathFactory, phase: str, text: str, model: str
) -> None:
    folder = tmp_path_factory.mktemp("f")
    asked = Request(model, (Message("user", text),), phase=phase)
    path = HumanProvider(Target(str(folder)))._write_question(asked, ".prompt.md", "", "STEM")
    assert re.fullmatch(r"0001-[a-z]{1,20}\.prompt\.md", path.name)
    assert [path] == list(folder.iterdir())
    said, end, after = path.read_text().rpartition("\f")
    assert (visible(said), end, after.strip()) == (said, "\f", "")
    assert after.count("\n") >= 5, "no line of the question is among those in which Vim looks for options"


@pytest.mark.parametrize("images", [(), (Image("image/png", PIXELS),)])
def test_two_who_ask_at_once_share_neither_number_nor_picture(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, images: tuple[Image, ...]
) -> None:
    provider, made = HumanProvider(Target(str(tmp_path))), human._create_file

    def late(path: Path, content: str | bytes) -> bool:
        monkeypatch.setattr(human, "_create_file", made)
        path.write_text("another's")
        return made(path, content)

    monkeypatch.setattr(human, "_create_file", late)
    asked = request(Message("user", "x", images))
    assert provider._write_question(asked, ".prompt.md", "", "").name == "0002-planner.prompt.md"
    assert [path.read_text() for path in tmp_path.glob("0001-*")] == ["another's"]
    assert [path.read_bytes() for path in tmp_path.glob("0002-*.png")] == [image.data for image in images]


def test_pictures_lie_beside_the_question_byte_for_byte(tmp_path: Path, time: Time) -> None:
    time(lambda: (tmp_path / "0001-model.answer.md").write_text("a door"))
    images = (Image("image/png", PIXELS), Image("image/jpeg", PIXELS[::-1]))
    asked(tmp_path, Message("user", "What is this?", images), phase="")
    names = ["0001-model-1.png", "0001-model-2.jpg"]
    assert [(tmp_path / name).read_bytes() for name in names] == [PIXELS, PIXELS[::-1]]
    assert all(f"(picture: {name})" in (tmp_path / "0001-model.prompt.md").read_text() for name in names)


@pytest.mark.long
def test_an_answer_that_is_not_of_the_form_goes_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(human, "SETTLED_S", 0.05)
    answers = iter(['{"name": 3}', ROUTE])
    with studying(tmp_path, lambda _role, _text: next(answers)):
        client = ChatGPTClient(ref(f"human/{tmp_path}"), Route)
        assert client.chat_completion(MESSAGES, phase="planner").path[0].place == "a\nb"
    assert client.last_call()["cost"] == 0
    first, second = (path.read_text() for path in sorted(tmp_path.glob("*.prompt.md")))
    assert all(f'"{name}"' in first for name in ("name", "path", "note", "place", "steps"))
    assert '{"name": 3}' in second


@pytest.mark.parametrize("choice", ["auto", "required", "go_to"])
def test_a_call_of_a_tool(tmp_path: Path, time: Time, choice: str) -> None:
    said = '```json\n{"tool": "go_to", "arguments": {"place": "door", "steps": 3}}\n```'
    time(lambda: (tmp_path / "0001-navigate.answer.md").write_text(said))
    response = asked(tmp_path, phase="navigate", tools=(GO_TO, LOOK), tool_choice=choice)
    assert (response.text, response.finish) == ("", Finish.TOOL_CALL)
    assert response.tool_calls == (ToolCall("go_to", ARGUMENTS),)
    told = (tmp_path / "0001-navigate.prompt.md").read_text()
    assert all(word in told for word in ("go_to", "look", "Go to a place.", '"steps"'))


def test_words_instead_of_a_call(tmp_path: Path, time: Time) -> None:
    time(lambda: (tmp_path / "0001-planner.answer.md").write_text("I see no door {"))
    assert asked(tmp_path, tools=(GO_TO,), tool_choice="auto") == Response("I see no door {", NO_TOKENS)


def test_an_answer_that_is_not_text_is_told(tmp_path: Path, time: Time) -> None:
    time(lambda: (tmp_path / "0001-planner.answer.md").write_bytes(b"\xff"))
    with pytest.raises(ProviderConfigError, match=r"0001-planner\.answer\.md cannot be read: it is not UTF-8"):
        asked(tmp_path)


def test_a_folder_that_cannot_be_one_is_told_before_anything(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ProviderConfigError, match=r"human/.*file: cannot use folder .*not a folder"):
        provider_for(f"human/{tmp_path}/file")
    provider_for(f"human/{tmp_path}/new")
    assert not (tmp_path / "new").exists()


Editing = Callable[[str], HumanProvider]


@pytest.fixture
def editing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Editing:
    """A provider whose editor is a script; ``$1`` is the file that it opens."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.delenv("VISUAL", raising=False)

    def edit(script: str) -> HumanProvider:
        program = tmp_path / "an editor"
        program.write_text(f"#!/bin/sh\n{script}\n")
        program.chmod(program.stat().st_mode | stat.S_IXUSR)
        monkeypatch.setenv("EDITOR", f"'{program}' --wait")
        provider, _ = provider_for("human/editor")
        assert isinstance(provider, HumanProvider)
        return provider

    return edit


def drafts(folder: Path) -> list[Path]:
    return sorted((folder / "state").rglob("*.md"))


ABOVE = '{ printf "# go\\n\\nEast\\n"; cat "$2"; } > "$2.new"; mv "$2.new" "$2"'


def test_the_editor_opens_the_question_and_what_stands_above_it_is_the_answer(editing: Editing, tmp_path: Path) -> None:
    provider = editing(f'cp "$2" {tmp_path}/shown; {ABOVE}')
    assert provider.complete(request(Message("user", "Where is the door?"))).text == "# go\n\nEast"
    room, mark, question = (tmp_path / "shown").read_text().partition("<!-- 8<")
    assert (room, bool(mark)) == ("\n\n", True)
    assert question.rstrip().endswith("# user\n\nWhere is the door?")
    assert drafts(tmp_path) == []


def test_who_deletes_the_question_has_answered_all_the_same(editing: Editing) -> None:
    assert editing('echo East > "$2"').complete(request()).text == "East"


@pytest.mark.parametrize("script", ["true", 'printf " \\n" > "$2"'])
def test_an_editor_left_without_an_answer_is_one_line(editing: Editing, tmp_path: Path, script: str) -> None:
    with pytest.raises(ProviderConfigError, match=r"^human/editor: the editor was closed without an answer") as caught:
        editing(script).complete(request())
    assert str(drafts(tmp_path)[0]) in str(caught.value)
    assert caught.value.resumable


def test_an_editor_that_fails_loses_nothing(editing: Editing, tmp_path: Path) -> None:
    with pytest.raises(ProviderConfigError, match=r"the editor ended with exit code 3; what it saved is in .*0001"):
        editing(f"{ABOVE}; exit 3").complete(request())
    assert editing("true").complete(request()).text == "# go\n\nEast"
    assert drafts(tmp_path) == []


def test_a_draft_that_is_not_utf_8_is_told_and_found_again(editing: Editing, tmp_path: Path) -> None:
    latin = ABOVE.replace("# go", "\\351")
    with pytest.raises(ProviderConfigError, match=r"0001-planner\.md cannot be read: it is not UTF-8"):
        editing(latin).complete(request())
    for other in (Message("user", "another"), Message("user", "a third")):
        assert editing('echo x > "$2"').complete(request(other)).text == "x", "the draft is in nobody's way"
    assert editing('echo East > "$2"').complete(request()).text == "East"
    assert drafts(tmp_path) == []


def test_an_interrupt_in_the_editor_is_the_editors(editing: Editing) -> None:
    script = f"trap 'caught=1' INT; kill -INT $PPID; kill -INT $$; [ -n \"$caught\" ] && {ABOVE}"
    assert editing(script).complete(request()).text == "# go\n\nEast"
    with pytest.raises(ProviderConfigError, match="exit code -2"):
        editing("kill -INT $PPID; kill -INT $$").complete(request())


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({}, "neither VISUAL nor EDITOR is set: give one such as EDITOR=nano"),
        ({"EDITOR": "no-such-program -w"}, r"there is no program no-such-program \(EDITOR\): give one"),
        ({"VISUAL": "'vi", "EDITOR": "true"}, "VISUAL='vi is no command"),
    ],
)
def test_an_editor_that_cannot_be_had_is_told_before_anything(
    monkeypatch: pytest.MonkeyPatch, values: dict[str, str], said: str
) -> None:
    for name in ("VISUAL", "EDITOR"):
        monkeypatch.setenv(name, values.get(name, " "))
    with pytest.raises(ProviderConfigError, match=said):
        provider_for("human/editor")


def test_the_display_steps_aside_for_the_editor_only(editing: Editing) -> None:
    desk, seen = CallDesk(), list[str]()

    @contextmanager
    def aside() -> Iterator[None]:
        seen.append("away")
        yield
        seen.append("back")

    desk.step_aside = aside
    desk.ask(editing(ABOVE), ref("human/editor"), request())
    assert seen == ["away", "back"]
    asked = request(Message("user", "y"))
    desk.ask(SimpleNamespace(complete=lambda _request: Response("x")), ref("paid/model"), asked)
    assert seen == ["away", "back"]


def test_the_state_folder_of_the_user_is_the_usual_one(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    for value in ("", "relative"):
        monkeypatch.setenv("XDG_STATE_HOME", value)
        assert human._drafts() == tmp_path / ".local/state/spca/answers"
