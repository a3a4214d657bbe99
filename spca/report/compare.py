"""Comparison of two runs, level by level (no input or output)."""

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
"""Figures that every run records."""
TOLD: Final = ("tokens", "reasoning", "steps")
"""Figures that only some runs record."""
_UNSANDBOXED: Final = ("unsafe", "none")


def compare(a: Run, b: Run) -> Comparison:
    """Compare two runs level by level. Levels are matched by category and environment id.

    If several levels of a run have the same category and id, the n-th of them is matched with the n-th in the other
    run.
    """
    of_a = _index_levels(a)
    of_b = _index_levels(b)
    levels = []
    for key in dict.fromkeys((*of_a, *of_b)):
        category, env_id, _ = key
        side_a = _side(a, of_a.get(key))
        side_b = _side(b, of_b.get(key))
        levels.append(ComparedLevel(category, env_id, side_a, side_b))

    notes = tuple(_notes(a, b, levels))
    comparison = Comparison(a.id, b.id, tuple(levels), notes, describe_differences(a, b))
    verdict, tone = _judge(pair_ended_levels(comparison))
    return replace(comparison, verdict=verdict, tone=tone)


def differs(level: ComparedLevel) -> bool:
    """Return whether both runs have the level and differ in its outcome or in a figure that both record.

    Times are ignored, because times always differ.
    """
    if level.a is None or level.b is None:
        return False
    for name in ("outcome", *KNOWN, *TOLD):
        in_a = getattr(level.a, name)
        in_b = getattr(level.b, name)
        if in_a is not None and in_b is not None and in_a != in_b:
            return True
    return False


def totals(sides: Sequence[Side]) -> dict[str, Any]:
    """Return the number of solved levels and the sum of each figure over levels of one run, by name.

    A sum is None if one of the levels does not record the figure.
    """
    sums: dict[str, Any] = {"solved": sum(map(_is_solved, sides))}
    for name in (*KNOWN, *TOLD, "seconds"):
        sums[name] = _sum([getattr(side, name) for side in sides])
    return sums


def pair_ended_levels(comparison: Comparison) -> list[tuple[Side, Side]]:
    """Return the pairs (side of A, side of B) of the levels that have ended in both runs."""
    pairs = []
    for level in comparison.levels:
        if level.a is None or level.b is None:
            continue
        if level.a.outcome in ENDED and level.b.outcome in ENDED:
            pairs.append((level.a, level.b))
    return pairs


def _judge(pairs: Sequence[tuple[Side, Side]]) -> tuple[str, str]:
    """Return the pair (verdict in words, tone) for the levels that ended in both runs.

    The tone is "good" if B solved more of these levels than A, "bad" if B solved fewer, and "" if both solved equally
    many.
    """
    if not pairs:
        return "No level has ended in both runs.", ""
    lost, gained = count_exclusive(pairs)
    outcomes = []
    if gained:
        outcomes.append(f"B solves {format_count(gained, 'level')} that A does not")
    if lost:
        outcomes.append(f"B fails {format_count(lost, 'level')} that A solves")
    solved_by_both = [pair for pair in pairs if all(map(_is_solved, pair))]
    parts = [" and ".join(outcomes) or "same outcome"]
    parts += _describe_changes(pairs, ("calls", "tokens"), "that ended in both")
    parts += _describe_changes(solved_by_both, ("steps",), "that both solved, in the last attempt")

    tone = ""
    if gained > lost:
        tone = "good"
    elif gained < lost:
        tone = "bad"
    return "; ".join(parts), tone


def _describe_changes(pairs: Sequence[tuple[Side, Side]], names: Sequence[str], which: str) -> list[str]:
    """Return a list with one text that says by how much B exceeds or falls below A; [] if no sum differs.

    Args:
        pairs: the levels, over which the figures are summed.
        names: names of the figures.
        which: words that follow the number of levels in the text, such as ``that ended in both``.
    """
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
    """Return the number of levels that only A solves, and the number of levels that only B solves."""
    only_a = sum(_is_solved(a) and not _is_solved(b) for a, b in pairs)
    only_b = sum(_is_solved(b) and not _is_solved(a) for a, b in pairs)
    return only_a, only_b


def _is_solved(side: Side) -> bool:
    """Return whether the run solved the level."""
    return side.outcome == "success"


def _sum(values: Sequence[float | None]) -> float | None:
    """Return the sum; None if a value is None."""
    known = [value for value in values if value is not None]
    return sum(known) if len(known) == len(values) else None


def _index_levels(run: Run) -> dict[tuple[str, str, int], LevelRow]:
    """Return the levels of a run by (category, environment id, n); n counts, from 1, the levels with this category and
    id.
    """
    indexed: dict[tuple[str, str, int], LevelRow] = {}
    occurrences = Counter[tuple[str, str]]()
    for row in run.levels:
        name = (row.category, row.env_id)
        occurrences[name] += 1
        indexed[*name, occurrences[name]] = row
    return indexed


def _side(run: Run, row: LevelRow | None) -> Side | None:
    """Return a level of a run as a side of a comparison; None if the run does not have the level."""
    if row is None:
        return None
    tokens: int | None = row.usage.input_tokens + row.usage.output_tokens
    reasoning: int | None = row.usage.reasoning_tokens
    number: int | None = row.number
    if run.published:  # the baseline records no tokens, and the page cannot link to its levels
        tokens = reasoning = number = None
    calls = row.planner_calls + row.coder_calls
    return Side(row.outcome, row.rounds, calls, tokens, reasoning, row.steps, row.seconds, number)


def _notes(a: Run, b: Run, levels: Sequence[ComparedLevel]) -> list[str]:
    """Return lines about circumstances that limit the comparison."""
    notes = []
    for run in (a, b):
        if run.sandbox in _UNSANDBOXED:
            notes.append(f"generated code of {run.id} ran without the sandbox")

    only_a = sum(level.b is None for level in levels)
    only_b = sum(level.a is None for level in levels)
    for run, exclusive in ((a, only_a), (b, only_b)):
        if exclusive:
            notes.append(f"{format_count(exclusive, 'level')} only in {run.id}")
        unfinished = sum(row.outcome not in ENDED for row in run.levels)
        if unfinished:
            notes.append(f"{format_count(unfinished, 'level')} of {run.id} not finished")
    return notes
