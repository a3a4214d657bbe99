"""Goals other than reaching a cell, and errands: auxiliary conditions, each with the thing that it is about."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

from gridworld.generating.decoys import dead_end
from gridworld.generating.draft import Draft, UnfitError
from gridworld.generating.pushing import push_line
from gridworld.task_spec import GoalSpec, SwitchType

Errand: TypeAlias = Callable[[Draft], str]


def collect_goal(draft: Draft) -> None:
    """Make it the goal to collect or work several things: one where the chain of locks leads, others of the chain."""
    made = draft.made
    if made.switches and draft.rng.random() < 0.5:
        wanted = [draft.add_switch(draft.goal, [], "toggle")]
    else:
        wanted = [draft.add_key(draft.choose_unused_color(), draft.goal)]
    in_chain = {name for link in draft.links for name in (link.element, link.unlocks)}
    groups = (made.keys, made.doors, made.switches, made.gates)
    names = [thing.id for group in groups for thing in group]
    others = [name for name in names if name in in_chain and name not in wanted]
    count = min(len(others), draft.rng.randrange(3))
    wanted += draft.rng.sample(others, count)
    draft.goal_spec = GoalSpec("collect_all", target_ids=sorted(wanted))


def survive_goal(draft: Draft) -> None:
    """Make it the goal to be alive at the end, with a key in the pocket that lies where the chain of locks leads."""
    key = draft.add_key(draft.choose_unused_color(), draft.goal)
    draft.goal_spec = GoalSpec("survive_steps", auxiliary_conditions=[f"collected:{key}"])


def fetch(draft: Draft) -> str:
    """Add a key that must have been picked up; return the condition."""
    return f"collected:{draft.add_key(draft.choose_unused_color(), draft.take(draft.floor.cells))}"


def bring(draft: Draft) -> str:
    """Add a key that must be in hand at the end; return the condition."""
    return f"carrying:{draft.add_key(draft.choose_unused_color(), draft.take(draft.floor.cells))}"


def put_down(draft: Draft) -> str:
    """Ask that a key of the chain is not in hand at the end though it is not used up."""
    keys = [link.element for link in draft.links if link.kind == "key-door"]
    if not keys:
        raise UnfitError("no key to put down")
    draft.rules.key_consumption = False
    return f"not carrying:{keys[-1]}"


def unlock(draft: Draft) -> str:
    """Add a door to a dead end that must be open; return the condition."""
    cut, behind = dead_end(draft)
    color = draft.choose_unused_color()
    draft.taken.update({cut, *behind})
    door = draft.add_door(color, cut)
    draft.add_key(color, draft.take(draft.floor.cells))
    return f"open:{door}"


def keep_locked(draft: Draft) -> str:
    """Add a door to a dead end that must stay locked though its key is at hand; return the condition."""
    return f"not {unlock(draft)}"


def switch_on(draft: Draft) -> str:
    """Add a switch for nothing else that must be on; return the condition."""
    cell = draft.take(draft.floor.cells)
    kind: SwitchType = draft.rng.choice(("toggle", "one_shot"))
    return f"active:{draft.add_switch(cell, [], kind)}"


def switch_off(draft: Draft) -> str:
    """Add a switch for nothing else that is on and must be off; return the condition."""
    return f"not active:{draft.add_switch(draft.take(draft.floor.cells), [], 'toggle', on=True)}"


def leave_alone(draft: Draft) -> str:
    """Add a key that must never have been picked up; return the condition."""
    return f"not collected:{draft.add_key(draft.choose_unused_color(), draft.take(draft.floor.cells))}"


def push_aside(draft: Draft) -> str:
    """Add a block that must stand on a certain cell; return the condition."""
    line = push_line(draft, draft.near)
    column, row = line.target
    return f"at:{draft.add_block(line.block)}:{column},{row}"


def clear_away(draft: Draft) -> str:
    """Add a block that must not stay where it is; return the condition."""
    line = push_line(draft, draft.near)
    column, row = line.block
    return f"not at:{draft.add_block(line.block)}:{column},{row}"


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
