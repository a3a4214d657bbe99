"""The values of a comparison of two runs."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Side:
    """A level in one of the two runs of a comparison; None stands for a value that the run does not record.

    Attributes:
        tokens: input and output tokens.
        reasoning: reasoning tokens, which ``tokens`` includes.
        steps: primitives of the last attempt.
        number: position in the order of the run, from 1.
    """

    outcome: str
    rounds: int
    calls: int
    tokens: int | None
    reasoning: int | None
    steps: int | None
    seconds: float | None
    number: int | None


@dataclass(frozen=True, slots=True)
class ComparedLevel:
    """A level in the two runs ``a`` and ``b``; the side of a run without the level is None."""

    category: str
    env_id: str
    a: Side | None
    b: Side | None


@dataclass(frozen=True, slots=True)
class Comparison:
    """A comparison of two runs.

    Attributes:
        a, b: ids of the runs.
        levels: the levels of ``a`` in order, then the levels that only ``b`` has.
        notes: circumstances that limit the comparison, such as a missing sandbox or levels of one run only.
        differences: lines about what differed before the first step, such as commit, models and seed.
        verdict: results of ``b`` relative to ``a`` in words.
        tone: ``good`` if ``b`` solved more of the shared levels than ``a``, ``bad`` if ``b`` solved fewer, else "".
    """

    a: str
    b: str
    levels: tuple[ComparedLevel, ...]
    notes: tuple[str, ...] = ()
    differences: tuple[str, ...] = ()
    verdict: str = ""
    tone: str = ""
