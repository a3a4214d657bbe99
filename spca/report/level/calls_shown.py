"""A model's calls as they are shown: an event of the log with its transcript."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from pydantic import BaseModel

from spca.code.merge import extract_code
from spca.common.text import strip_folders
from spca.errors import BadAnswerError, PlanTextError
from spca.llm.calls import answers
from spca.plan.pddl import parse_plan
from spca.report.level.texts import Shelf
from spca.report.read.lenient import counts, items, number, table, text, texts
from spca.report.read.model import Action, Call, ChatMessage
from spca.report.read.runs import is_recorded

PLANNER: Final = "planner"
CODER: Final = "coder"

_MAX_CODE: Final = 200_000
"""Characters of an answer in which code is looked for."""

_ABOUT: Final = re.compile(r"<(?:snapshot|task)>\s*(?=\{)")
_TRUSTED: Final = re.compile(r"<trusted_pddl>\s*(?=\{)")
_NOTHING: Final[Mapping[str, Any]] = {}


class _PDDL(BaseModel):
    """The form of a planner's answer."""

    domain: str | None
    problem: str
    writer: Any = ""


@dataclass(frozen=True, slots=True)
class ShownCall:
    """A call, and what can be told of its level from it.

    Attributes:
        answered: there is a text that can be repaired.
        plan, mission: in the question.
    """

    call: Call
    answered: bool
    plan: tuple[Action, ...]
    mission: str


Transcripts: TypeAlias = Callable[[str], Mapping[str, Any] | None]
"""Reads the transcript of a name, None where it cannot be read."""


def read_call(transcripts: Transcripts, shelf: Shelf, event: Mapping[str, Any]) -> ShownCall:
    """Read the call that a ``planner_call`` or ``coder_call`` event tells of; its texts are put on the shelf."""
    phase = text(event.get("event")).removesuffix("_call")
    name = text(event.get("transcript"))
    transcript = (transcripts(name) if name else None) or _NOTHING
    answer = table(transcript.get("answer"))
    told = _join(answer.get("text"))
    said = answers.plain(told)
    pddl, code = _read_plan_answer(said, transcript) if phase == PLANNER else ((), _code(said))
    about = _read_question_object(transcript, _ABOUT)
    objection = text(event.get("objection"))
    error = text(event.get("error")) or text(transcript.get("error"))
    messages = map(table, items(transcript.get("messages")))

    call = Call(
        file=name,
        phase=phase,
        model=strip_folders(text(event.get("model"))),
        ok=event.get("ok") is True,
        error=strip_folders(error),
        objection=objection,
        seconds=number(event.get("seconds")) or 0.0,
        solve_s=number(event.get("solve_s")) or 0.0,
        cost=None if is_recorded(event) else number(event.get("cost")),
        finish=text(answer.get("finish")),
        messages=tuple(_read_message(shelf, message) for message in messages),
        answer=shelf.put(told, "python" if code == told else _name_language(told)),
        pddl=tuple(shelf.put(each, "pddl") for each in pddl),
        code="" if objection else shelf.put(code, "python"),
        **texts(event, "mode", "source"),
        **counts(event, "requests", "input_tokens", "output_tokens", "reasoning_tokens"),
    )
    return ShownCall(call, bool(said.strip()), _plan(about), text(about.get("mission")))


def _read_message(shelf: Shelf, message: Mapping[str, Any]) -> ChatMessage:
    words = _join(message.get("text"))
    return ChatMessage(text(message.get("role")), shelf.put(words, _name_language(words)))


def _join(lines: object) -> str:
    return "\n".join(map(text, items(lines)))


def _name_language(words: str) -> str:
    return "json" if words.lstrip().startswith("{") else "text"


def _read_plan_answer(answer: str, transcript: Mapping[str, Any]) -> tuple[tuple[str, ...], str]:
    """Return domain and problem, and the problem writer; a domain that is kept is the one in the question."""
    try:
        found = answers.parse_answer(answer, _PDDL)
    except BadAnswerError:
        return (), ""
    domain = found.domain
    if domain is None:
        domain = text(_read_question_object(transcript, _TRUSTED).get("domain"))
    return (domain, found.problem), text(found.writer)


def _code(answer: str) -> str:
    """Return the code in a coder's answer, as the merge takes it."""
    return extract_code(answer) if answer.strip() and len(answer) <= _MAX_CODE else ""


def _read_question_object(transcript: Mapping[str, Any], tag: re.Pattern[str]) -> Mapping[str, Any]:
    """Return the JSON object that follows a tag in a question, {} if there is none.

    Such an object describes the task: a planner's snapshot, a coder's task.
    """
    for message in items(transcript.get("messages")):
        words = _join(table(message).get("text"))
        if table(message).get("role") == "user" and (found := tag.search(words)):
            try:
                return table(json.JSONDecoder().raw_decode(words, found.end())[0])
            except (ValueError, RecursionError):
                return _NOTHING
    return _NOTHING


def _plan(about: Mapping[str, Any]) -> tuple[Action, ...]:
    try:
        steps = parse_plan(text(about.get("plan")))
    except PlanTextError:
        return ()
    return tuple(Action(step.action, step.args) for step in steps)
