"""``llamacpp/PATH.gguf`` on a model of one layer with random weights, made here."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, create_model

from spca.errors import BadAnswerError, ProviderConfigError, TransientError
from spca.llm.providers.base import (
    Finish,
    Form,
    Image,
    Message,
    ModelInfo,
    Request,
    RequestOptions,
    Response,
    Target,
    Tool,
    Usage,
)
from spca.llm.providers.llamacpp import llamacpp, server
from spca.llm.providers.llamacpp.llamacpp import LlamacppProvider
from tests.support.spca.tiny_gguf import write_tiny_gguf

ROOT = Path(__file__).resolve().parents[5]
MESSAGES = (Message("system", "Be brief."), Message("user", "Plan."))
ENDLESS = RequestOptions(max_output_tokens=16_000)
SOON = 5.0
"""Seconds of processor time, of which ENDLESS takes five times as many to its end."""


class Paint(BaseModel):
    colour: Literal["red", "blue"]
    coats: Literal[1, 2]


class Note(BaseModel):
    text: str


class Move(BaseModel):
    to: Literal["left", "right"]


TOOLS = (Tool("paint", "Paints the wall.", Paint), Tool("move", "Moves.", Move))


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    yield str(write_tiny_gguf(tmp_path_factory.mktemp("model") / "tiny.gguf"))
    server.close()


def ask(model: str, *, info: ModelInfo | None = None, limit: int = 400, **more: Any) -> Response:
    request = Request(model, MESSAGES, **{"limits": RequestOptions(limit), **more})
    return LlamacppProvider(Target(model, info=info or ModelInfo())).complete(request)


def test_free_text_ends_at_its_limit(model: str) -> None:
    answer = ask(model, limit=20)
    assert answer.finish is Finish.LENGTH
    assert answer.text
    assert answer.usage.output_tokens == 20
    assert answer.usage.input_tokens
    assert answer.usage.reasoning_tokens is None


def test_an_answer_nobody_limits_ends_at_the_limit_of_the_model_table(model: str) -> None:
    assert ask(model, info=ModelInfo(max_output=7), limits=RequestOptions()).usage.output_tokens == 7


@pytest.mark.parametrize("counts", [{"prompt_tokens": -1, "completion_tokens": "7"}, [7], "many", -1, None], ids=str)
def test_counts_that_cannot_be_are_unknown(model: str, monkeypatch: pytest.MonkeyPatch, counts: object) -> None:
    take = server.Answer.take

    def miscounting(answer: server.Answer, chunk: Mapping[str, Any]) -> bool:
        return take(answer, {**chunk, "usage": counts})

    monkeypatch.setattr(server.Answer, "take", miscounting)
    answer = ask(model, limit=5)
    assert answer.text
    assert answer.usage == Usage()


def test_equal_requests_have_equal_answers(model: str) -> None:
    assert len({ask(model, limit=30).text for _ in range(3)}) == 1


def test_a_temperature_is_passed_on(model: str) -> None:
    hot = {ask(model, limits=RequestOptions(20, temperature=2.0)).text for _ in range(3)}
    assert len(hot) > 1


def test_planner_and_coder_share_what_is_loaded(model: str) -> None:
    ask(model, limit=5)
    assert (ask(model, limit=5).usage.cached_tokens or 0) > 0


def test_a_schema_binds_the_answer(model: str) -> None:
    answer = ask(model, schema=Paint)
    Paint.model_validate_json(answer.text)
    assert answer.finish is Finish.STOP


words = st.lists(st.text(st.characters(codec="utf-8", exclude_categories=["C"]), min_size=1, max_size=5), min_size=1)


@pytest.mark.long
@settings(max_examples=25)
@given(words)
def test_any_schema_binds_the_answer(model: str, choices: list[str]) -> None:
    kind: Any = Literal[tuple(choices)]
    made = create_model("Made", chosen=(kind, ...), moves=(list[Move], ...))
    answer = ask(model, schema=made, limit=4000)
    assert answer.finish is Finish.STOP
    made.model_validate_json(answer.text)


def test_an_answer_of_a_schema_may_be_cut_off_too(model: str) -> None:
    answer = ask(model, schema=Paint, limit=3)
    assert (answer.finish, answer.usage.output_tokens) == (Finish.LENGTH, 3)


def test_characters_that_are_none_make_a_bad_answer(model: str) -> None:
    """What this model writes between quotes is mostly not Unicode, over which llama.cpp stumbles."""

    def ask_for_more_and_more() -> None:
        for limit in range(20, 60):
            assert ask(model, schema=Note, limit=limit).finish is Finish.LENGTH

    with pytest.raises(BadAnswerError, match="the answer broke off"):
        ask_for_more_and_more()


def test_weaker_forms_tell_the_schema_in_words(model: str) -> None:
    free, told = ask(model, limit=1), ask(model, schema=Paint, form=Form.TEXT, limit=1)
    assert (told.usage.input_tokens or 0) > (free.usage.input_tokens or 0) + 50
    assert ask(model, schema=Paint, form=Form.JSON, limit=60).text.startswith("{")


def test_a_required_tool_is_called(model: str) -> None:
    answer = ask(model, tools=TOOLS)
    (call,) = answer.tool_calls
    assert (answer.finish, answer.text) == (Finish.TOOL_CALL, "")
    chosen = {tool.name: tool.parameters for tool in TOOLS}[call.name]
    chosen.model_validate(call.arguments)


@pytest.mark.parametrize("name", ["paint", "move"])
def test_a_tool_named_is_the_one_called(model: str, name: str) -> None:
    assert [call.name for call in ask(model, tools=TOOLS, tool_choice=name).tool_calls] == [name]


def test_with_a_free_choice_words_are_words(model: str) -> None:
    answer = ask(model, tools=TOOLS, tool_choice="auto", limit=5)
    assert (answer.finish, answer.tool_calls) == (Finish.LENGTH, ())


def test_a_call_that_was_cut_off_is_none(model: str) -> None:
    answer = ask(model, tools=TOOLS, limit=4)
    assert (answer.finish, answer.tool_calls) == (Finish.LENGTH, ())


def test_an_answer_that_takes_too_long_is_given_up(model: str) -> None:
    began = time.process_time()
    with pytest.raises(TransientError, match=r"no answer within 0\.1 s") as caught:
        ask(model, limits=replace(ENDLESS, timeout_s=0.1))
    assert time.process_time() - began < SOON
    assert caught.value.lost
    assert ask(model, limit=5).usage.output_tokens == 5


def test_an_interrupt_ends_the_computation(model: str) -> None:
    ask(model, limit=1)

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    def ask_and_be_interrupted() -> None:
        signal.setitimer(signal.ITIMER_REAL, 0.1)
        ask(model, limits=ENDLESS)

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        began = time.process_time()
        with pytest.raises(KeyboardInterrupt):
            ask_and_be_interrupted()
        assert time.process_time() - began < SOON
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert ask(model, limit=5).usage.output_tokens == 5


def test_a_program_that_asked_ends_in_silence(model: str) -> None:
    program = (
        "from spca.llm.providers.base import *; from spca.llm.providers.llamacpp.llamacpp import *\n"
        f"request = Request('', (Message('user', 'hi'),), limits=RequestOptions(5))\n"
        f"print(LlamacppProvider(Target({model!r})).complete(request).usage.output_tokens)"
    )
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100, cwd=ROOT, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "5\n", "")


def test_a_prompt_longer_than_the_context_is_refused(model: str) -> None:
    messages = (Message("user", "x" * 3000),)
    provider = LlamacppProvider(Target(model, info=ModelInfo(context=1024)))
    with pytest.raises(ProviderConfigError, match="give the model a larger context") as caught:
        provider.complete(Request(model, messages))
    assert "\n" not in str(caught.value)


def test_pictures_are_refused(model: str) -> None:
    with pytest.raises(ProviderConfigError, match="no pictures"):
        LlamacppProvider(Target(model)).complete(Request(model, (Message("user", "", (Image("image/png", b""),)),)))


def test_a_relative_path_is_relative_to_the_working_directory(model: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(Path(model).parent)
    assert ask(Path(model).name, limit=1).usage != Usage()


def test_a_missing_package_is_named_with_the_fix(model: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "xllamacpp", None)
    with pytest.raises(ProviderConfigError, match="pip install xllamacpp"):
        LlamacppProvider(Target(model))


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    for path in (tmp_path / "none.gguf", tmp_path):
        with pytest.raises(ProviderConfigError, match=f"{path} cannot be read: "):
            LlamacppProvider(Target(str(path)))


def test_another_kind_of_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "model.safetensors"
    path.write_text("no")
    with pytest.raises(ProviderConfigError, match="is not a GGUF file"):
        LlamacppProvider(Target(str(path)))


def test_a_broken_file_is_refused_in_silence(model: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "half.gguf"
    path.write_bytes(Path(model).read_bytes()[:60_000])
    with pytest.raises(ProviderConfigError, match=r"cannot load .*: is the file whole"):
        ask(str(path))
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("threads", ["0", "many", "-1", ""])
def test_threads_that_are_no_number_are_refused(model: str, threads: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(llamacpp.THREADS_VARIABLE, threads)
    with pytest.raises(ProviderConfigError, match=llamacpp.THREADS_VARIABLE):
        LlamacppProvider(Target(model))


def test_the_tiny_model_is_always_the_same(model: str, tmp_path: Path) -> None:
    again = write_tiny_gguf(tmp_path / "again.gguf")
    assert again.read_bytes() == Path(model).read_bytes()
    assert again.stat().st_size < 200_000
    assert json.dumps(ask(str(again), limit=5).text) == json.dumps(ask(model, limit=5).text)
