"""A model's calls as they are shown: an event of the log with its transcript."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from pydantic import BaseModel

from spca.code.merge import extract_code
from spca.common.text import strip_folders, visible
from spca.errors import BadAnswerError, PlanTextError
from spca.llm.calls import answers
from spca.plan.pddl import parse_plan
from spca.report.level.texts import Shelf
from spca.report.read.lenient import count, items, number, table, text
from spca.report.read.model import Action, Call, ChatMessage
from spca.report.read.outline import lines_in_strings
from spca.report.read.run_files import RunFiles
from spca.report.read.runs import is_recorded

PLANNER: Final = "planner"
CODER: Final = "coder"

_MAX_CODE: Final = 200_000
"""Characters of an answer in which code is looked for."""

_ABOUT: Final = re.compile(r"<(?:snapshot|task)>\s*(?=\{)")
_TRUSTED: Final = re.compile(r"<trusted_pddl>\s*(?=\{)")
_TOP_LEVEL: Final = re.compile(r"(?:def|class|async def|import|from) \w|@\w|\w+ = |[#)\]}\"']")
"""What begins a line of code that is not indented."""

_NOTHING: Final[Mapping[str, Any]] = {}


class _PDDL(BaseModel):
    """The form of a planner's answer."""

    domain: str | None
    problem: str
    writer: Any = ""


@dataclass(frozen=True, slots=True)
class ShownCall:
    """A call, and what can be told of its level from it: domain and problem in the answer (a domain that is kept is the
    one in the question), plan and mission in the question. ``answered``: there is a text that can be repaired."""

    call: Call
    answered: bool
    pddl: tuple[str, str] | None = None
    plan: tuple[Action, ...] = ()
    mission: str = ""


class CallReader:
    """Reads the calls of a level; each transcript once, however often the log names it."""

    def __init__(self, files: RunFiles, shelf: Shelf) -> None:
        self._files, self._shelf = files, shelf
        self._read: dict[tuple[str, str], ShownCall] = {}

    def shown(self, event: Mapping[str, Any]) -> ShownCall:
        """The call that a ``planner_call`` or ``coder_call`` event tells of; its texts are put on the shelf."""
        phase, name = text(event.get("event")).removesuffix("_call"), text(event.get("transcript"))
        known = self._read.get((phase, name))
        if known is None:
            transcript = (self._files.transcript(name) if name else None) or _NOTHING
            known = self._read[phase, name] = _of_transcript(self._shelf, phase, name, transcript)
        call = replace(
            known.call,
            mode=visible(text(event.get("mode"))),
            model=strip_folders(visible(text(event.get("model")))),
            ok=event.get("ok") is True,
            error=strip_folders(visible(text(event.get("error"))) or known.call.error),
            objection=visible(text(event.get("objection"))),
            code="" if event.get("objection") else known.call.code,
            seconds=number(event.get("seconds")) or 0.0,
            solve_s=number(event.get("solve_s")) or 0.0,
            source=visible(text(event.get("source"))),
            requests=count(event.get("requests")),
            input_tokens=count(event.get("input_tokens")),
            output_tokens=count(event.get("output_tokens")),
            reasoning_tokens=count(event.get("reasoning_tokens")),
            cost=None if is_recorded(event) else number(event.get("cost")),
        )
        return ShownCall(call, known.answered, known.pddl, known.plan, known.mission)


def _of_transcript(shelf: Shelf, phase: str, name: str, transcript: Mapping[str, Any]) -> ShownCall:
    """What a transcript tells of its call; the rest is in the log."""
    answer = table(transcript.get("answer"))
    told = _joined(answer.get("text"))
    said = answers.plain(told)
    parts = _parts(said) if phase == PLANNER else None
    pddl = _pddl(parts, transcript) if parts else None
    code = _code(said) if phase == CODER else text(parts.writer) if parts else ""
    about = _asked(transcript, _ABOUT)
    call = Call(
        file=visible(name),
        phase=phase,
        mode="",
        model="",
        ok=False,
        error=visible(text(transcript.get("error"))),
        seconds=0.0,
        solve_s=0.0,
        source="",
        requests=0,
        input_tokens=0,
        output_tokens=0,
        reasoning_tokens=0,
        cost=None,
        finish=visible(text(answer.get("finish"))),
        messages=tuple(_message(shelf, phase, each) for each in items(transcript.get("messages"))),
        answer=shelf.put(told, _language(told, phase, code)) if told else "",
        pddl=tuple(shelf.put(each, "pddl") for each in pddl or ()),
        code=shelf.put(code, "python") if code else "",
    )
    return ShownCall(call, bool(said.strip()), pddl, _plan(about), visible(text(about.get("mission"))))


def _message(shelf: Shelf, phase: str, message: object) -> ChatMessage:
    role, words = text(table(message).get("role")), _joined(table(message).get("text"))
    return ChatMessage(visible(role), shelf.put(words, _language(words, phase, "") if role == "assistant" else "text"))


def _joined(lines: object) -> str:
    return "\n".join(map(text, items(lines)))


def _language(answer: str, phase: str, code: str) -> str:
    """The language of an answer: that of the code that it is nothing but, or of a JSON object."""
    if code and code == answer:
        return "python"
    return "json" if phase == PLANNER and answer.lstrip().startswith("{") else "text"


def _parts(answer: str) -> _PDDL | None:
    try:
        return answers.parsed(answer, _PDDL)
    except BadAnswerError:
        return None


def _pddl(found: _PDDL, transcript: Mapping[str, Any]) -> tuple[str, str]:
    kept = text(_asked(transcript, _TRUSTED).get("domain")) if found.domain is None else found.domain
    return kept, found.problem


def _code(answer: str) -> str:
    """The code in a coder's answer, as the merge takes it."""
    if not answer.strip() or len(answer) > _MAX_CODE:
        return ""
    return answer if _is_code(answer) else extract_code(answer)


def _is_code(answer: str) -> bool:
    """Whether an answer is nothing but code, as far as can be told without compiling it, which takes long."""
    lines = zip(answer.split("\n"), lines_in_strings(answer), strict=True)
    return all(in_string or not line or line[0] in " \t" or _TOP_LEVEL.match(line) for line, in_string in lines)


def _asked(transcript: Mapping[str, Any], tag: re.Pattern[str]) -> Mapping[str, Any]:
    """The JSON object in a question behind a tag, such as what tells of the task: a planner's snapshot, a coder's task.

    {} where there is none."""
    for message in items(transcript.get("messages")):
        words = _joined(table(message).get("text"))
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
    return tuple(Action(visible(step.action), tuple(map(visible, step.args))) for step in steps)
