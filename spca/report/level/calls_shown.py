"""Calls of models as a report shows them. Each call is read from an event of the log and from a transcript."""

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
"""Largest length, in characters, of an answer that is searched for code."""

_ABOUT: Final = re.compile(r"<(?:snapshot|task)>\s*(?=\{)")
"""Tag before the JSON object that describes the task: a planner's snapshot, or a coder's task."""
_TRUSTED: Final = re.compile(r"<trusted_pddl>\s*(?=\{)")
"""Tag before the JSON object with the domain that a planner may keep."""
_NOTHING: Final[Mapping[str, Any]] = {}


class _PDDL(BaseModel):
    """The form of a planner's answer."""

    domain: str | None
    problem: str
    writer: Any = ""


@dataclass(frozen=True, slots=True)
class ShownCall:
    """A call of a model, with facts about its level.

    Attributes:
        answered: whether the answer has text, which a later call could repair.
        plan, mission: plan and mission in the prompt; () for no plan, "" for no mission.
    """

    call: Call
    answered: bool
    plan: tuple[Action, ...]
    mission: str


Transcripts: TypeAlias = Callable[[str], Mapping[str, Any] | None]
"""Function that returns the transcript in the file with a given name, or None if the file cannot be read."""


def read_call(transcripts: Transcripts, shelf: Shelf, event: Mapping[str, Any]) -> ShownCall:
    """Return the call that an event records, and store the texts of the call in ``shelf``.

    Args:
        transcripts: function that reads a transcript.
        shelf: the store of texts.
        event: an event ``planner_call`` or ``coder_call`` of the log.
    """
    phase = text(event.get("event")).removesuffix("_call")
    name = text(event.get("transcript"))
    transcript = (transcripts(name) if name else None) or _NOTHING
    answer = table(transcript.get("answer"))
    full_text = _join(answer.get("text"))
    answer_text = answers.plain(full_text)
    if phase == PLANNER:
        pddl, code = _read_plan_answer(answer_text, transcript)
    else:
        pddl, code = (), _code(answer_text)

    # Store the texts in the order in which the page shows them.
    messages = [_read_message(shelf, message) for message in map(table, items(transcript.get("messages")))]
    language = "python" if code == full_text else _name_language(full_text)
    answer_id = shelf.put(full_text, language)
    pddl_ids = [shelf.put(each, "pddl") for each in pddl]
    objection = text(event.get("objection"))
    code_id = "" if objection else shelf.put(code, "python")

    error = text(event.get("error")) or text(transcript.get("error"))
    cost = None if is_recorded(event) else number(event.get("cost"))
    call = Call(
        file=name,
        phase=phase,
        model=strip_folders(text(event.get("model"))),
        ok=event.get("ok") is True,
        error=strip_folders(error),
        objection=objection,
        seconds=number(event.get("seconds")) or 0.0,
        solve_s=number(event.get("solve_s")) or 0.0,
        cost=cost,
        finish=text(answer.get("finish")),
        messages=tuple(messages),
        answer=answer_id,
        pddl=tuple(pddl_ids),
        code=code_id,
        **texts(event, "mode", "source"),
        **counts(event, "requests", "input_tokens", "output_tokens", "reasoning_tokens"),
    )
    task = _read_question_object(transcript, _ABOUT)
    has_answer = bool(answer_text.strip())
    return ShownCall(call, has_answer, _plan(task), text(task.get("mission")))


def _read_message(shelf: Shelf, message: Mapping[str, Any]) -> ChatMessage:
    words = _join(message.get("text"))
    text_id = shelf.put(words, _name_language(words))
    return ChatMessage(text(message.get("role")), text_id)


def _join(lines: object) -> str:
    """Return the lines of a recorded text as one string."""
    return "\n".join(map(text, items(lines)))


def _name_language(words: str) -> str:
    return "json" if words.lstrip().startswith("{") else "text"


def _read_plan_answer(answer: str, transcript: Mapping[str, Any]) -> tuple[tuple[str, ...], str]:
    """Return the parts of a planner's answer as ((domain, problem), problem writer); ((), "") for an invalid answer.

    If the answer keeps the trusted domain of the prompt, return that domain.
    """
    try:
        parsed = answers.parse_answer(answer, _PDDL)
    except BadAnswerError:
        return (), ""
    domain = parsed.domain
    if domain is None:
        domain = text(_read_question_object(transcript, _TRUSTED).get("domain"))
    return (domain, parsed.problem), text(parsed.writer)


def _code(answer: str) -> str:
    """Return the code in a coder's answer, extracted by the same rules as for the merge into the agent.

    Return "" if the answer is blank, or is longer than :data:`_MAX_CODE`.
    """
    return extract_code(answer) if answer.strip() and len(answer) <= _MAX_CODE else ""


def _read_question_object(transcript: Mapping[str, Any], tag: re.Pattern[str]) -> Mapping[str, Any]:
    """Return the JSON object after a tag in the first user message with the tag; {} if there is no valid object."""
    for message in map(table, items(transcript.get("messages"))):
        if message.get("role") != "user":
            continue
        words = _join(message.get("text"))
        match = tag.search(words)
        if match:
            try:
                value, _ = json.JSONDecoder().raw_decode(words, match.end())
            except (ValueError, RecursionError):
                return _NOTHING
            return table(value)
    return _NOTHING


def _plan(task: Mapping[str, Any]) -> tuple[Action, ...]:
    """Return the plan in a description of a task; () if the description has no valid plan."""
    try:
        steps = parse_plan(text(task.get("plan")))
    except PlanTextError:
        return ()
    return tuple(Action(step.action, step.args) for step in steps)
