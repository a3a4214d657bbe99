"""Two runs side by side, level by level (pure)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from spca.common.text import counted
from spca.report.differences import describe_differences
from spca.report.read.comparison import ComparedLevel, Comparison, Side
from spca.report.read.model import LevelRow, Run
from spca.report.read.spans import ENDED

KNOWN: Final = ("rounds", "calls")
TOLD: Final = ("tokens", "reasoning", "steps")
"""Figures that not every run tells."""
_UNSANDBOXED: Final = ("unsafe", "none")


def compare(a: Run, b: Run) -> Comparison:
    """Match the levels of two runs by category and environment id; one that is there twice, in order."""
    of_a = _by_key(a)
    of_b = _by_key(b)
    levels = tuple(
        ComparedLevel(key[0], key[1], _side(a, of_a.get(key)), _side(b, of_b.get(key)))
        for key in dict.fromkeys((*of_a, *of_b))
    )
    found = Comparison(a.id, b.id, levels, tuple(_notes(a, b, levels)), describe_differences(a, b))
    verdict, tone = _judge(shared(found))
    return replace(found, verdict=verdict, tone=tone)


def differs(level: ComparedLevel) -> bool:
    """Whether both runs have the level and took it differently; times, which always differ, aside."""
    if level.a is None or level.b is None:
        return False
    pairs = [(getattr(level.a, name), getattr(level.b, name)) for name in ("outcome", *KNOWN, *TOLD)]
    return any(one != other for one, other in pairs if None not in (one, other))


def totals(sides: Sequence[Side]) -> dict[str, Any]:
    """Return sums over levels of one run by name; None where one of them does not tell."""
    sums = {name: _sum([getattr(side, name) for side in sides]) for name in (*KNOWN, *TOLD, "seconds")}
    return {"solved": sum(map(_is_solved, sides)), **sums}


def shared(comparison: Comparison) -> list[tuple[Side, Side]]:
    """The levels that have ended in both runs."""
    both = [(level.a, level.b) for level in comparison.levels]
    return [(a, b) for a, b in both if a is not None and b is not None and a.outcome in ENDED and b.outcome in ENDED]


def _judge(pairs: Sequence[tuple[Side, Side]]) -> tuple[str, str]:
    """Return the verdict on the levels that ended in both runs, and its tone."""
    if not pairs:
        return "No level has ended in both runs.", ""
    lost, gained = count_exclusive(pairs)
    outcomes = []
    if gained:
        outcomes.append(f"B solves {counted(gained, 'level')} that A does not")
    if lost:
        outcomes.append(f"B fails {counted(lost, 'level')} that A solves")
    solved = [pair for pair in pairs if all(map(_is_solved, pair))]
    parts = [" and ".join(outcomes) or "same outcome"]
    parts += _describe_changes(pairs, ("calls", "tokens"), "that ended in both")
    parts += _describe_changes(solved, ("steps",), "that both solved, in the last attempt")
    return "; ".join(parts), "good" if gained > lost else "bad" if gained < lost else ""


def _describe_changes(pairs: Sequence[tuple[Side, Side]], names: Sequence[str], which: str) -> list[str]:
    """Return what B took more or less than A, as one text or none."""
    of_a, of_b = (totals([pair[side] for pair in pairs]) for side in (0, 1))
    known = {name: of_b[name] - of_a[name] for name in names if None not in (of_a[name], of_b[name])}
    changes = [f"{abs(more):,} {'more' if more > 0 else 'fewer'} {name}" for name, more in known.items() if more]
    return [f"B took {', '.join(changes)}, over {counted(len(pairs), 'level')} {which}"] if changes else []


def count_exclusive(pairs: Sequence[tuple[Side, Side]]) -> tuple[int, int]:
    """Return how many levels only the first run solves, and how many only the second."""
    solved = [(_is_solved(a), _is_solved(b)) for a, b in pairs]
    return solved.count((True, False)), solved.count((False, True))


def _is_solved(side: Side) -> bool:
    """Return whether the run solved the level."""
    return side.outcome == "success"


def _sum(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) if len(known) == len(values) else None


def _by_key(run: Run) -> dict[tuple[str, str, int], LevelRow]:
    found: dict[tuple[str, str, int], LevelRow] = {}
    times = Counter[tuple[str, str]]()
    for row in run.levels:
        name = (row.category, row.env_id)
        times[name] += 1
        found[*name, times[name]] = row
    return found


def _side(run: Run, row: LevelRow | None) -> Side | None:
    if row is None:
        return None
    return Side(
        outcome=row.outcome,
        rounds=row.rounds,
        calls=row.planner_calls + row.coder_calls,
        tokens=None if run.published else row.usage.input_tokens + row.usage.output_tokens,
        reasoning=None if run.published else row.usage.reasoning_tokens,
        steps=row.steps,
        seconds=row.seconds,
        number=None if run.published else row.number,
    )


def _notes(a: Run, b: Run, levels: Sequence[ComparedLevel]) -> list[str]:
    notes = [f"generated code of {run.id} ran without the sandbox" for run in (a, b) if run.sandbox in _UNSANDBOXED]
    for run, alone in ((a, [x for x in levels if x.b is None]), (b, [x for x in levels if x.a is None])):
        if alone:
            notes.append(f"{counted(len(alone), 'level')} only in {run.id}")
        if open_levels := sum(row.outcome not in ENDED for row in run.levels):
            notes.append(f"{counted(open_levels, 'level')} of {run.id} not finished")
    return notes
