"""Goals other than reaching a cell, and errands: auxiliary conditions, each with the thing that it is about."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

from gridworld.generating.decoys import dead_end
from gridworld.generating.draft import Draft, UnfitError
from gridworld.generating.pushing import push_line
from gridworld.task_spec import GoalSpec

Errand: TypeAlias = Callable[[Draft], str]


def collect_goal(draft: Draft) -> None:
    """Make it the goal to collect or work several things: one where the chain of locks leads, others of the chain."""
    made = draft.made
    if made.switches and draft.rng.random() < 0.5:
        wanted = [draft.switch(draft.goal, [], "toggle")]
    else:
        wanted = [draft.key(draft.unused_color(), draft.goal)]
    others = [thing.id for group in (made.keys, made.doors, made.switches, made.gates) for thing in group]
    others = [
        name
        for name in others
        if name not in wanted and any(name in (link.element, link.unlocks) for link in draft.links)
    ]
    wanted += draft.rng.sample(others, min(len(others), draft.rng.randrange(3)))
    draft.goal_spec = GoalSpec("collect_all", target_ids=sorted(wanted))


def survive_goal(draft: Draft) -> None:
    """Make it the goal to be alive at the end, with a key in the pocket that lies where the chain of locks leads."""
    key = draft.key(draft.unused_color(), draft.goal)
    draft.goal_spec = GoalSpec("survive_steps", auxiliary_conditions=[f"collected:{key}"])


def fetch(draft: Draft) -> str:
    """A key that must have been picked up."""
    return f"collected:{draft.key(draft.unused_color(), draft.take(draft.floor.cells))}"


def bring(draft: Draft) -> str:
    """A key that must be in hand at the end."""
    return f"carrying:{draft.key(draft.unused_color(), draft.take(draft.floor.cells))}"


def put_down(draft: Draft) -> str:
    """A key of the chain that must not be in hand at the end though it is not used up."""
    keys = [link.element for link in draft.links if link.kind == "key-door"]
    if not keys:
        raise UnfitError("no key to put down")
    draft.rules.key_consumption = False
    return f"not carrying:{keys[-1]}"


def unlock(draft: Draft) -> str:
    """A door to a dead end that must be open."""
    cut, behind = dead_end(draft)
    color = draft.unused_color()
    draft.taken.update({cut, *behind})
    door = draft.door(color, cut)
    draft.key(color, draft.take(draft.floor.cells))
    return f"open:{door}"


def keep_locked(draft: Draft) -> str:
    """A door to a dead end that must stay locked though its key is at hand."""
    return f"not {unlock(draft)}"


def switch_on(draft: Draft) -> str:
    """A switch for nothing else that must be on."""
    return f"active:{draft.switch(draft.take(draft.floor.cells), [], draft.rng.choice(('toggle', 'one_shot')))}"


def switch_off(draft: Draft) -> str:
    """A switch for nothing else that is on and must be off."""
    return f"not active:{draft.switch(draft.take(draft.floor.cells), [], 'toggle', on=True)}"


def leave_alone(draft: Draft) -> str:
    """A key that must never have been picked up."""
    return f"not collected:{draft.key(draft.unused_color(), draft.take(draft.floor.cells))}"


def push_aside(draft: Draft) -> str:
    """A block that must stand on a certain cell."""
    line = push_line(draft, draft.near)
    return f"at:{draft.block(line.block)}:{line.target[0]},{line.target[1]}"


def clear_away(draft: Draft) -> str:
    """A block that must not stay where it is."""
    line = push_line(draft, draft.near)
    return f"not at:{draft.block(line.block)}:{line.block[0]},{line.block[1]}"


ERRANDS: Final[Mapping[str, Errand]] = {
    errand.__name__: errand
    for errand in (
        fetch,
        bring,
        put_down,
        unlock,
        keep_locked,
        switch_on,
        switch_off,
        leave_alone,
        push_aside,
        clear_away,
    )
}
"""Errands by name."""
