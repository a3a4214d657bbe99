"""Conversion of the answers of generated code to events of the executor contract (pure).

Answers come from untrusted code: this module checks numbers, cleans and shortens texts, and quotes source lines from
the host's own copy.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from spca.code.agent_source import split_lines
from spca.contracts import AgentSource, PlanStep, Status, TraceStep
from spca.protocols import Failed, Finished, Yielded
from spca.sandbox.process.runner import FILENAME, Asked, Done, Fault

MAX_MESSAGE: Final = 2000
_MAX_LINE: Final = 200
_INVISIBLE: Final = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)
"""Fillers and variation selectors: invisible characters that ``str.isprintable`` counts as printable."""

_EMPTY_LINES: Final = re.compile(r"\n{3,}")
_FRAME_NAME: Final = re.compile(r"<?\w{1,80}>?")


class ProtocolError(Exception):
    """The answer violates the contract; ``str(error)`` says how."""


def clean(text: str, limit: int) -> str:
    """Return the first ``limit`` characters of ``text`` without control, format, invisible and surrogate characters.

    Tabs are kept. Of several line feeds in a row, at most two are kept.
    """
    shown = "".join(c for c in text[:limit] if c.isprintable() or c in "\n\t")
    return _EMPTY_LINES.sub("\n\n", _INVISIBLE.sub("", shown))


def event(
    answer: Asked | Done | Fault, steps: Sequence[PlanStep], lines: Sequence[str], primitive_count: int
) -> Yielded | Finished | Failed:
    """Return an answer of generated code as an event of the executor contract.

    ``lines`` are the lines of the source.

    Raises:
        ProtocolError: the answer has an impossible primitive, position or line.
    """
    if isinstance(answer, Done):
        return Finished()
    if answer.position is not None and not 0 <= answer.position < len(steps):
        raise ProtocolError(f"an answer for step {answer.position} of {len(steps)}")
    if isinstance(answer, Fault):
        return _make_failed(answer, lines)
    if not 0 <= answer.code < primitive_count:
        raise ProtocolError(f"an answer with primitive {answer.code}")
    if not 0 <= answer.line <= len(lines):
        raise ProtocolError(f"an answer from line {answer.line}")
    return Yielded(TraceStep(answer.code, answer.position, steps[answer.position].action, answer.line))


def syntax_error(error: Exception, agent: AgentSource) -> Failed:
    """Return the failure for a source that does not compile."""
    line = error.lineno if isinstance(error, SyntaxError) else None
    frames = (("<module>", line),) if line else ()
    fault = Fault(Status.SYNTAX_ERROR, f"{type(error).__name__}: {error}", None, frames)
    return _make_failed(fault, split_lines(agent.text))


def render(frames: Iterable[tuple[str, int]], lines: Sequence[str], message: str) -> str:
    """Return a traceback: the frames, each with its line of source, then ``message``.

    Frames whose line number (from 1) does not exist in ``lines`` are omitted.
    """
    shown: list[str] = []
    for name, line in frames:
        if 0 < line <= len(lines):
            function = name if _FRAME_NAME.fullmatch(name) else "?"
            source = clean(lines[line - 1].strip(), _MAX_LINE)
            shown.append(f"  {FILENAME}, line {line}, in {function}\n    {source}")
    return "\n".join(["Traceback (most recent call last):", *shown, message])


def _make_failed(fault: Fault, lines: Sequence[str]) -> Failed:
    """Return a failure of generated code as an event with a cleaned message and a traceback."""
    message = clean(fault.message, MAX_MESSAGE)
    return Failed(fault.status, message, fault.position, render(fault.frames, lines, message))
