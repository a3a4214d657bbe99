"""Goals other than reaching a cell, and errands.

An errand is an auxiliary condition of the goal. Its function adds the mechanism of the condition, where needed, and
returns the text of the condition.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

from gridworld.generating.decoys import dead_end
from gridworld.generating.draft import Draft, UnfitError
from gridworld.generating.pushing import push_line
from gridworld.task_spec import GoalSpec, SwitchType

Errand: TypeAlias = Callable[[Draft], str]


def collect_goal(draft: Draft) -> None:
    """Set a collect_all goal.

    The targets are a new key or switch at the end of the chain of locks, and up to 2 mechanisms of the chain.
    """
    mechanisms = draft.mechanisms
    if mechanisms.switches and draft.rng.random() < 0.5:
        targets = [draft.add_switch(draft.goal, [], "toggle")]
    else:
        targets = [draft.add_key(draft.choose_unused_color(), draft.goal)]
    in_chain = {name for link in draft.links for name in (link.element, link.unlocks)}
    groups = (mechanisms.keys, mechanisms.doors, mechanisms.switches, mechanisms.gates)
    names = [thing.id for group in groups for thing in group]
    candidates = [name for name in names if name in in_chain and name not in targets]
    count = min(len(candidates), draft.rng.randrange(3))
    targets += draft.rng.sample(candidates, count)
    draft.goal_spec = GoalSpec("collect_all", target_ids=sorted(targets))


def survive_goal(draft: Draft) -> None:
    """Set a survive_steps goal; its condition is to collect a new key at the end of the chain of locks."""
    key = draft.add_key(draft.choose_unused_color(), draft.goal)
    draft.goal_spec = GoalSpec("survive_steps", auxiliary_conditions=[f"collected:{key}"])


def fetch(draft: Draft) -> str:
    """Add a key that the agent must pick up; return the condition."""
    return f"collected:{draft.add_key(draft.choose_unused_color(), draft.take(draft.floor.cells))}"


def bring(draft: Draft) -> str:
    """Add a key that the agent must carry at the end; return the condition."""
    return f"carrying:{draft.add_key(draft.choose_unused_color(), draft.take(draft.floor.cells))}"


def put_down(draft: Draft) -> str:
    """Return the condition that the agent does not carry a key of the chain at the end.

    The rules of the task are changed so that doors do not consume keys, and the agent has to drop the key.

    Raises:
        UnfitError: the chain has no key.
    """
    keys = [link.element for link in draft.links if link.kind == "key-door"]
    if not keys:
        raise UnfitError("no key to put down")
    draft.rules.key_consumption = False
    return f"not carrying:{keys[-1]}"


def unlock(draft: Draft) -> str:
    """Add a locked door at the entrance of a dead end, and its key; return the condition that the door is open."""
    cut, behind = dead_end(draft)
    color = draft.choose_unused_color()
    draft.taken.update({cut, *behind})
    door = draft.add_door(color, cut)
    draft.add_key(color, draft.take(draft.floor.cells))
    return f"open:{door}"


def keep_locked(draft: Draft) -> str:
    """Add a locked door at the entrance of a dead end, and its key; return the condition that the door is not open."""
    return f"not {unlock(draft)}"


def switch_on(draft: Draft) -> str:
    """Add a switch that controls no gate; return the condition that the switch is on at the end."""
    cell = draft.take(draft.floor.cells)
    kind: SwitchType = draft.rng.choice(("toggle", "one_shot"))
    return f"active:{draft.add_switch(cell, [], kind)}"


def switch_off(draft: Draft) -> str:
    """Add a switch that controls no gate and is on at the start; return the condition that it is off at the end."""
    return f"not active:{draft.add_switch(draft.take(draft.floor.cells), [], 'toggle', on=True)}"


def leave_alone(draft: Draft) -> str:
    """Add a key that the agent must never pick up; return the condition."""
    return f"not collected:{draft.add_key(draft.choose_unused_color(), draft.take(draft.floor.cells))}"


def push_aside(draft: Draft) -> str:
    """Add a block; return the condition that it stands on a certain other cell at the end."""
    line = push_line(draft, draft.near)
    column, row = line.target
    return f"at:{draft.add_block(line.block)}:{column},{row}"


def clear_away(draft: Draft) -> str:
    """Add a block; return the condition that it does not stand on its initial cell at the end."""
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
