"""What an exhaustive search finds that the proofs of a scene deny; of sound proofs, nothing."""

from __future__ import annotations

from collections.abc import Iterator

from explorer.solver.bounds import lower_bound
from explorer.solver.closure import NOTHING, Arena, closure
from explorer.solver.forbid import restraint
from explorer.solver.proving import prove
from tests.support.explorer.opinions.exhaustive import Search
from tests.support.explorer.scenes import Puzzle


def disagreements(
    puzzle: Puzzle, most_states: int, *, placing: bool = True, crafts: frozenset[str] | None = None
) -> Iterator[str]:
    """Yield what can be played to and is not in the closure, for each milestone that stays open and for none.

    Args:
        most_states: of a search; what it has found until then counts too.
        placing, crafts: of :class:`tests.support.explorer.opinions.exhaustive.Search`.
    """
    scene, milestones = puzzle
    arena = Arena(scene)
    proven = prove(arena, milestones)
    least = lower_bound(arena, milestones, proven)
    for kept_open in (None, *milestones[:-1]):
        kept = NOTHING if kept_open is None else restraint(arena, kept_open)
        search = Search(scene, milestones, kept_open, placing=placing, crafts=crafts)
        if kept is None or search.begins_with(kept_open):
            continue
        found, all_ = search.run(most_states), closure(arena, kept)
        name = kept_open.milestone_id if kept_open else "none"
        allowed = proven.without[name] if kept_open else proven.possible
        yield from (f"{name}: at {cell}" for cell in sorted(found.cells) if not all_.cells[cell[1], cell[2], cell[0]])
        yield from (f"{name}: {n} of {item}" for item, n in found.most.items() if n > all_.most.get(item, 0))
        yield from (f"{name}: {each}" for each in sorted(found.achieved) if each not in allowed)
        steps = found.achieved.get(milestones[-1].milestone_id, 0)
        if not kept_open and 0 < steps < least:
            yield f"{steps} steps, not {least}"
