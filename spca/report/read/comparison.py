"""What a report shows of two runs side by side."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Side:
    """A level in one of two runs that are compared; ``reasoning`` is a part of ``tokens``. These two and ``steps`` are
    None where the run does not tell."""

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
    """A level in two runs; a run that does not have it has None."""

    category: str
    env_id: str
    a: Side | None
    b: Side | None


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two runs side by side; levels in the order of ``a``, then those that only ``b`` has. ``a`` and ``b`` are ids.

    ``differences`` say what differs before the first step, such as commit, models and seed; ``notes`` what else makes
    them hard to compare: no sandbox, levels that only one of them has. ``verdict`` says in words how ``b`` did beside
    ``a``; its ``tone`` is ``good`` or ``bad`` where ``b`` solved more or fewer of the levels of both.
    """

    a: str
    b: str
    levels: tuple[ComparedLevel, ...]
    notes: tuple[str, ...] = ()
    differences: tuple[str, ...] = ()
    verdict: str = ""
    tone: str = ""
