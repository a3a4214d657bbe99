"""What generated code answered, as events of the executor contract (pure).

Answers come from untrusted code: numbers are checked, text is cleaned and cut, source lines are our own copy.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from spca.code.agent_source import split_lines
from spca.contracts import PRIMITIVE_METHODS, AgentSource, PlanStep, Status, TraceStep
from spca.protocols import Failed, Finished, Yielded
from spca.sandbox.process.runner import FILENAME, Asked, Done, Fault

MAX_MESSAGE: Final = 2000
_MAX_LINE: Final = 200
_INVISIBLE: Final = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)
"""Printable by their category, and yet nothing is seen of them: fillers and variation selectors."""

_EMPTY_LINES: Final = re.compile(r"\n{3,}")
_FRAME_NAME: Final = re.compile(r"<?\w{1,80}>?")


class ProtocolError(Exception):
    """An answer that the contract does not know; ``str(error)`` says what was wrong with it."""


def clean(text: str, limit: int) -> str:
    """At most ``limit`` characters of ``text``, without any that control, format or show nothing, and surrogates.

    Tabs stay, and up to two line feeds in a row.
    """
    shown = "".join(c for c in text[:limit] if c.isprintable() or c in "\n\t")
    return _EMPTY_LINES.sub("\n\n", _INVISIBLE.sub("", shown))


def event(answer: Asked | Done | Fault, steps: Sequence[PlanStep], lines: Sequence[str]) -> Yielded | Finished | Failed:
    """The contract's event for an answer; ``lines`` are those of the source.

    Raises:
        ProtocolError: it names a primitive, position, line or status that cannot be.
    """
    if isinstance(answer, Done):
        return Finished()
    if answer.position is not None and not 0 <= answer.position < len(steps):
        raise ProtocolError(f"an answer for step {answer.position} of {len(steps)}")
    if isinstance(answer, Fault):
        return _failed(answer, lines)
    if not 0 <= answer.code < len(PRIMITIVE_METHODS):
        raise ProtocolError(f"an answer with primitive {answer.code}")
    if not 0 <= answer.line <= len(lines):
        raise ProtocolError(f"an answer from line {answer.line}")
    return Yielded(TraceStep(answer.code, answer.position, steps[answer.position].action, answer.line))


def syntax_error(error: Exception, agent: AgentSource) -> Failed:
    """Return how an attempt ends whose source does not compile."""
    line = (getattr(error, "lineno", None) or 0) if isinstance(error, SyntaxError) else 0
    frames = (("<module>", line),) if line else ()
    return _failed(
        Fault(Status.SYNTAX_ERROR, f"{type(error).__name__}: {error}", None, frames), split_lines(agent.text)
    )


def render(frames: Iterable[tuple[str, int]], lines: Sequence[str], message: str) -> str:
    """A traceback of frames that lie in the source, each with its line."""
    shown = [
        f"  {FILENAME}, line {line}, in {name if _FRAME_NAME.fullmatch(name) else '?'}\n"
        f"    {clean(lines[line - 1].strip(), _MAX_LINE)}"
        for name, line in frames
        if 0 < line <= len(lines)
    ]
    return "\n".join(["Traceback (most recent call last):", *shown, message])


def _failed(fault: Fault, lines: Sequence[str]) -> Failed:
    message = clean(fault.message, MAX_MESSAGE)
    return Failed(fault.status, message, fault.position, render(fault.frames, lines, message))
