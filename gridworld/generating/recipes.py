"""Recipes, which describe the tasks of each tier as data, and the random drawing of a task from a recipe."""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

from gridworld.generating.decoys import DECOYS
from gridworld.generating.draft import Draft, UnfitError
from gridworld.generating.goals import ERRANDS, collect_goal, survive_goal
from gridworld.generating.locks import lay_chain
from gridworld.generating.plans import MAX_SIZE, MIN_SIZE, PLANS, draw_floor
from gridworld.generating.pushing import block_the_way, push_goal
from gridworld.rules.tilings import Tiling
from gridworld.task_spec import GoalType, Observability

Name = TypeVar("Name", bound=str)

MECHANISMS: Final = ("keys", "doors", "switches", "gates", "blocks", "teleporters", "hazards")
"""Kinds of mechanisms, named as the fields of ``mechanisms`` in a task."""

_NEEDS: Final[Mapping[str, frozenset[str]]] = {
    name: frozenset(kinds.split())
    for kinds, names in {
        "keys": "wrong_key fetch bring leave_alone collect_all survive_steps",
        "keys doors": "key_door master_key side_door trap_door put_down unlock keep_locked",
        "switches": "idle_switch switch_on switch_off",
        "switches gates": "toggle_gate one_shot_gate side_gate",
        "gates": "open_passage",
        "": "reach_position",
        "switches gates blocks": "hold_gate",
        "teleporters": "teleport side_teleporter",
        "blocks": "loose_block fixed_block push_aside clear_away block_the_way push_block_to",
        "hazards": "hazards",
    }.items()
    for name in names.split()
}
"""Kinds of mechanisms that each lock, decoy, errand or goal consists of, by name."""


@dataclass(frozen=True, slots=True)
class Recipe:
    """The choices from which the tasks of a tier are drawn.

    A name that appears twice in a tuple is drawn twice as often.

    Attributes:
        what: the subject of the tier, in words.
        sizes: least and greatest width and height, in cells.
        plans: names of floor plans.
        depths: possible numbers of locks.
        locks: names of locks.
        marks: names of locks, decoys and goals that mark the tier. If the set is not empty, a task has at least one of
            these names.
        goals: types of goals.
        obstacles: possible numbers of blocks that obstruct the path to the goal.
        errands, errand_counts: names of auxiliary conditions, and possible numbers of conditions.
        decoys, decoy_counts: names of decoys, which are mechanisms that are not needed, and possible numbers of decoys.
        observability: modes of observability.
        hidden_share: fraction of the tasks in which mechanisms are hidden, from 0 to 1.
        tells: whether the description of a task names the steps of its chain.
    """

    what: str
    sizes: tuple[int, int] = (8, MAX_SIZE)
    plans: tuple[str, ...] = ("rooms", "rooms", "rooms", "vaults", "vaults", "maze", "braided_maze", "serpentine")
    depths: tuple[int, ...] = (0,)
    locks: tuple[str, ...] = ()
    marks: frozenset[str] = frozenset()
    goals: tuple[GoalType, ...] = ("reach_position",)
    obstacles: tuple[int, ...] = (0,)
    errands: tuple[str, ...] = ()
    errand_counts: tuple[int, ...] = (0,)
    decoys: tuple[str, ...] = ()
    decoy_counts: tuple[int, ...] = (0,)
    observability: tuple[Observability, ...] = ("full",)
    hidden_share: float = 0.0
    tells: bool = True


_MOSTLY_REACH: Final[tuple[GoalType, ...]] = ("reach_position",) * 4 + ("collect_all",)
_KEYS: Final = ("key_door",) * 4 + ("master_key",)
_GATES: Final = ("toggle_gate", "toggle_gate", "one_shot_gate")
_KEY_ERRANDS: Final = ("fetch", "bring", "put_down", "unlock", "keep_locked", "leave_alone")
_SWITCH_ERRANDS: Final = ("switch_on", "switch_off")
_BLOCK_ERRANDS: Final = ("push_aside", "clear_away")
_KEY_DECOYS: Final = ("wrong_key", "wrong_key", "side_door")
_GATE_DECOYS: Final = ("side_gate", "idle_switch", "open_passage")

TIERS: Final[Mapping[int, Recipe]] = {
    1: Recipe("navigation", sizes=(MIN_SIZE, MAX_SIZE), plans=tuple(PLANS)),
    2: Recipe(
        "keys and doors",
        depths=(1, 1, 2, 2, 3, 4),
        locks=_KEYS,
        marks=frozenset(_KEYS),
        goals=_MOSTLY_REACH,
        errands=_KEY_ERRANDS,
        errand_counts=(0, 0, 0, 1),
        decoys=_KEY_DECOYS,
        decoy_counts=(0, 1, 1, 2),
    ),
    3: Recipe(
        "switches and gates",
        depths=(1, 2, 2, 3, 3, 4, 5),
        locks=(*_KEYS, *_GATES, *_GATES, "hold_gate"),
        marks=frozenset({*_GATES, "hold_gate"}),
        goals=_MOSTLY_REACH,
        errands=(*_KEY_ERRANDS, *_SWITCH_ERRANDS, *_SWITCH_ERRANDS),
        errand_counts=(0, 0, 0, 1),
        decoys=(*_KEY_DECOYS, *_GATE_DECOYS, *_GATE_DECOYS),
        decoy_counts=(0, 0, 1, 1, 2),
    ),
    4: Recipe(
        "what cannot be undone",
        plans=("rooms", "rooms", "rooms", "vaults", "vaults", "hall"),
        depths=(0, 1, 1, 2, 2, 3),
        locks=("key_door", "key_door", "hold_gate", "hold_gate", "one_shot_gate"),
        marks=frozenset({"hold_gate", "trap_door", "block_the_way", "push_block_to"}),
        goals=(*_MOSTLY_REACH, "push_block_to", "push_block_to"),
        obstacles=(0, 0, 1, 1, 2),
        errands=(*_KEY_ERRANDS, *_BLOCK_ERRANDS, *_BLOCK_ERRANDS),
        errand_counts=(0, 0, 0, 1),
        decoys=("trap_door", "trap_door", "fixed_block", "loose_block", "wrong_key"),
        decoy_counts=(0, 1, 1, 2),
    ),
    5: Recipe(
        "hidden information",
        plans=tuple(PLANS),
        depths=(0, 1, 1, 2, 2, 3, 4),
        locks=("key_door", "key_door", *_GATES, "teleport", "teleport", "hold_gate"),
        goals=(*_MOSTLY_REACH, "survive_steps"),
        errands=(*_KEY_ERRANDS, *_SWITCH_ERRANDS, *_BLOCK_ERRANDS),
        errand_counts=(0, 0, 0, 1),
        decoys=(
            *_KEY_DECOYS,
            *_GATE_DECOYS,
            "hazards",
            "hazards",
            "hazards",
            "hazards",
            "side_teleporter",
            "fixed_block",
        ),
        decoy_counts=(0, 1, 1, 2, 3),
        observability=("full", "view_cone", "view_cone", "fog_of_war", "fog_of_war"),
        hidden_share=0.5,
        tells=False,
    ),
}
"""The recipe of each tier."""


def needs(recipe: Recipe) -> list[frozenset[str]]:
    """Return the minimal sets of kinds of mechanisms; at least one of the sets must be allowed as a whole.

    The list is empty if the recipe needs no mechanism.
    """
    candidates = {_NEEDS[name] for name in recipe.marks}
    minimal = (kinds for kinds in candidates if not any(other < kinds for other in candidates))
    return sorted(minimal, key=sorted)


def cook(rng: random.Random, tiling: Tiling, recipe: Recipe, allowed: Collection[str]) -> Draft:
    """Draw the draft of a task from a recipe.

    Changing the order of the random draws would change every generated task.

    Args:
        allowed: kinds of mechanisms that may occur.

    Raises:
        UnfitError: this draw does not give a task; another draw may give one.
    """
    floor = draw_floor(rng, tiling, rng.choice(recipe.plans), *recipe.sizes)
    draft = Draft.begin(rng, floor)
    draft.rules.switch_type = rng.choice(("toggle", "toggle", "hold", "one_shot"))
    goal = _draw_goal(rng, recipe, allowed)
    locks = _draw_names(rng, recipe.locks, recipe.depths, allowed)
    blocks = rng.choice(recipe.obstacles) if "blocks" in allowed else 0
    errands = _draw_names(rng, recipe.errands, recipe.errand_counts, allowed)
    decoys = _draw_names(rng, recipe.decoys, recipe.decoy_counts, allowed)
    decoys += _select_allowed(_DECOYS_OF_GOALS.get(goal, ()), allowed)

    drawn = {goal, *locks, *decoys}
    if blocks:
        drawn.add("block_the_way")
    if recipe.marks and recipe.marks.isdisjoint(drawn):
        raise UnfitError("nothing that marks the tier")
    if goal == "push_block_to":
        push_goal(draft, rng.choice((1, 1, 2)))
    lay_chain(draft, locks)
    for _ in range(blocks):
        block_the_way(draft)
    if goal in _LATE_GOALS:
        _LATE_GOALS[goal](draft)
    for name in errands:
        draft.goal_spec.auxiliary_conditions.append(ERRANDS[name](draft))
    for name in decoys:
        DECOYS[name](draft)
    _draw_visibility(draft, recipe)
    return draft


_LATE_GOALS: Final[Mapping[str, Callable[[Draft], None]]] = {"collect_all": collect_goal, "survive_steps": survive_goal}

_DECOYS_OF_GOALS: Final[Mapping[str, tuple[str, ...]]] = {"survive_steps": ("hazards", "hazards")}
"""By type of goal: the decoys that are added to every task with this goal."""


def _draw_goal(rng: random.Random, recipe: Recipe, allowed: Collection[str]) -> GoalType:
    return rng.choice(_select_allowed(recipe.goals, allowed))


def _draw_names(rng: random.Random, names: Sequence[str], counts: Sequence[int], allowed: Collection[str]) -> list[str]:
    """Draw a number from ``counts``; return as many random names that ``allowed`` permits, with repetition.

    The list is empty if no name is permitted.
    """
    fitting = _select_allowed(names, allowed)
    return rng.choices(fitting, k=rng.choice(counts)) if fitting else []


def _select_allowed(names: Iterable[Name], allowed: Collection[str]) -> list[Name]:
    """Return the names of those locks, decoys, errands or goals whose mechanisms are all of allowed kinds."""
    return [name for name in names if _NEEDS[name] <= set(allowed)]


def _draw_visibility(draft: Draft, recipe: Recipe) -> None:
    """Draw the observability and the hidden mechanisms.

    Hazards are never hidden, because the agent would learn of a hidden hazard only by dying.
    """
    rng = draft.rng
    rules = draft.rules
    rules.observability = rng.choice(recipe.observability)
    if rules.observability != "full":
        rules.view_size = rng.choice((3, 5, 5, 7, 7, 9))
    hazards = {hazard.id for hazard in draft.mechanisms.hazards}
    names = [name for name in draft.list_ids() if name not in hazards]
    if names and rng.random() < recipe.hidden_share:
        count = min(len(names), rng.randint(1, 2))
        rules.hidden_mechanisms = sorted(rng.sample(names, count))
