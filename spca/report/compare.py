"""Two runs side by side, level by level (pure)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from spca.common.text import format_count
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
    of_a = _index_levels(a)
    of_b = _index_levels(b)
    levels = []
    for key in dict.fromkeys((*of_a, *of_b)):
        category, env_id, _ = key
        level = ComparedLevel(category, env_id, _side(a, of_a.get(key)), _side(b, of_b.get(key)))
        levels.append(level)

    notes = tuple(_notes(a, b, levels))
    unjudged = Comparison(a.id, b.id, tuple(levels), notes, describe_differences(a, b))
    verdict, tone = _judge(pair_ended_levels(unjudged))
    return replace(unjudged, verdict=verdict, tone=tone)


def differs(level: ComparedLevel) -> bool:
    """Return whether both runs have the level with different figures; times, which always differ, are ignored."""
    if level.a is None or level.b is None:
        return False
    for name in ("outcome", *KNOWN, *TOLD):
        in_a = getattr(level.a, name)
        in_b = getattr(level.b, name)
        if in_a is not None and in_b is not None and in_a != in_b:
            return True
    return False


def totals(sides: Sequence[Side]) -> dict[str, Any]:
    """Return sums over levels of one run by name; None where one of them does not tell."""
    sums: dict[str, Any] = {"solved": sum(map(_is_solved, sides))}
    for name in (*KNOWN, *TOLD, "seconds"):
        sums[name] = _sum([getattr(side, name) for side in sides])
    return sums


def pair_ended_levels(comparison: Comparison) -> list[tuple[Side, Side]]:
    """Return both sides of the levels that have ended in both runs."""
    pairs = []
    for level in comparison.levels:
        if level.a is None or level.b is None:
            continue
        if level.a.outcome in ENDED and level.b.outcome in ENDED:
            pairs.append((level.a, level.b))
    return pairs


def _judge(pairs: Sequence[tuple[Side, Side]]) -> tuple[str, str]:
    """Return the verdict on the levels that ended in both runs, and its tone."""
    if not pairs:
        return "No level has ended in both runs.", ""
    lost, gained = count_exclusive(pairs)
    outcomes = []
    if gained:
        outcomes.append(f"B solves {format_count(gained, 'level')} that A does not")
    if lost:
        outcomes.append(f"B fails {format_count(lost, 'level')} that A solves")
    solved = [pair for pair in pairs if all(map(_is_solved, pair))]
    parts = [" and ".join(outcomes) or "same outcome"]
    parts += _describe_changes(pairs, ("calls", "tokens"), "that ended in both")
    parts += _describe_changes(solved, ("steps",), "that both solved, in the last attempt")

    tone = ""
    if gained > lost:
        tone = "good"
    elif gained < lost:
        tone = "bad"
    return "; ".join(parts), tone


def _describe_changes(pairs: Sequence[tuple[Side, Side]], names: Sequence[str], which: str) -> list[str]:
    """Return what B took more or less than A, as one text or none."""
    of_a = totals([a for a, _ in pairs])
    of_b = totals([b for _, b in pairs])
    changes = []
    for name in names:
        if of_a[name] is None or of_b[name] is None:
            continue
        change = of_b[name] - of_a[name]
        if change:
            direction = "more" if change > 0 else "fewer"
            changes.append(f"{abs(change):,} {direction} {name}")
    if not changes:
        return []

    levels = f"{format_count(len(pairs), 'level')} {which}"
    return [f"B took {', '.join(changes)}, over {levels}"]


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


def _index_levels(run: Run) -> dict[tuple[str, str, int], LevelRow]:
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
    tokens = row.usage.input_tokens + row.usage.output_tokens
    return Side(
        outcome=row.outcome,
        rounds=row.rounds,
        calls=row.planner_calls + row.coder_calls,
        tokens=None if run.published else tokens,
        reasoning=None if run.published else row.usage.reasoning_tokens,
        steps=row.steps,
        seconds=row.seconds,
        number=None if run.published else row.number,
    )


def _notes(a: Run, b: Run, levels: Sequence[ComparedLevel]) -> list[str]:
    notes = []
    for run in (a, b):
        if run.sandbox in _UNSANDBOXED:
            notes.append(f"generated code of {run.id} ran without the sandbox")

    only_a = sum(level.b is None for level in levels)
    only_b = sum(level.a is None for level in levels)
    for run, exclusive in ((a, only_a), (b, only_b)):
        if exclusive:
            notes.append(f"{format_count(exclusive, 'level')} only in {run.id}")
        if open_levels := sum(row.outcome not in ENDED for row in run.levels):
            notes.append(f"{format_count(open_levels, 'level')} of {run.id} not finished")
    return notes
