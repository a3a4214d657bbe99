"""The reference planner's vocabulary: types, predicates and actions, and the rules that refine the actions.

No predicate mentions cells, because only a part of the world is seen. An action stands for a whole skill, for example
"find the key and pick the key up". The conditions and effects of an action are the facts that decide the order of
skills. They say whether the hand is empty, which key fits which door, and which doors have to be unlocked or cleared.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from enum import Enum, auto
from typing import Final

from spca.reference.pddl_writer import Action, Atom, Signature

AGENT: Final = "a1"
"""The PDDL object for the agent, which is the first argument of every action."""

TYPES: Final[Signature] = (
    *((name, "object") for name in ("agent", "item", "goal")),
    *((name, "item") for name in ("thing", "door")),
    *((name, "thing") for name in ("key", "box", "cue")),
)

PREDICATES: Final[dict[str, Signature]] = {
    "hand_empty": (("?a", "agent"),),
    "holding": (("?a", "agent"), ("?o", "thing")),
    "fits": (("?k", "key"), ("?d", "door")),
    "unlocked": (("?d", "door"),),
    "clear": (("?d", "door"),),
    "way_open": (("?a", "agent"),),
    "informed": (("?a", "agent"),),
    "roaming": (("?a", "agent"),),
    "facing": (("?a", "agent"), ("?x", "item")),
    "visited": (("?x", "item"),),
    "announced": (("?x", "item"),),
    "picked": (("?o", "thing"),),
    "picked_alone": (("?o", "thing"),),
    "opened": (("?x", "item"),),
    "placed": (("?o", "thing"), ("?t", "item")),
    "placed_near": (("?o", "thing"), ("?t", "item")),
    "reached": (("?g", "goal"),),
    "noted": (("?c", "cue"),),
    "matched": (("?c", "cue"),),
}
"""The signature of each predicate. Up to ``facing``, the predicates describe the world. From ``visited`` on, they
record what the agent has done, and no action makes them false.
"""

_A: Final = ("?a", "agent")
_O: Final = ("?o", "thing")
_D: Final = ("?d", "door")
_G: Final = ("?g", "goal")
_HAND_EMPTY: Final[Atom] = ("hand_empty", "?a")
_HOLDING: Final[Atom] = ("holding", "?a", "?o")


def _go_to_goal(name: str) -> Action:
    """Return an action called ``name`` that reaches the goal square."""
    return Action(name, (_A, _G), adds=(("reached", "?g"),))


def _pick_up(name: str, picked: str) -> Action:
    """Return an action that takes an object into the empty hand; ``picked`` is the predicate that the action makes
    true.
    """
    adds = (_HOLDING, (picked, "?o"))
    return Action(name, (_A, _O), needs=(_HAND_EMPTY,), adds=adds, deletes=(_HAND_EMPTY,))


def _put(name: str, placed: str) -> Action:
    """Return an action that puts an object down at a target; ``placed`` is the predicate that the action makes true."""
    adds = ((placed, "?o", "?t"), _HAND_EMPTY)
    return Action(name, (_A, _O, ("?t", "item")), needs=(_HOLDING,), adds=adds, deletes=(_HOLDING,))


ACTIONS: Final[dict[str, Action]] = {
    action.name: action
    for action in (
        _go_to_goal("reach_goal"),
        _go_to_goal("cross_hazard"),
        _go_to_goal("cross_moving_obstacles"),
        _go_to_goal("traverse_rooms"),
        Action("go_to_object", (_A, _O), adds=(("visited", "?o"),)),
        Action("go_to_door", (_A, _D), adds=(("visited", "?d"),)),
        Action("announce", (_A, ("?x", "item")), needs=(("visited", "?x"),), adds=(("announced", "?x"),)),
        _pick_up("pick_up_object", "picked"),
        _pick_up("pick_up_alone", "picked_alone"),
        Action("drop_held", (_A, _O), needs=(_HOLDING,), adds=(_HAND_EMPTY,), deletes=(_HOLDING,)),
        Action("open_door", (_A, _D), needs=(("unlocked", "?d"),), adds=(("opened", "?d"),)),
        Action("open_box", (_A, ("?b", "box")), adds=(("opened", "?b"),)),
        Action(
            "fetch_key",
            (_A, ("?k", "key"), _D),
            needs=(_HAND_EMPTY, ("fits", "?k", "?d")),
            adds=(("holding", "?a", "?k"),),
            deletes=(_HAND_EMPTY,),
        ),
        Action(
            "unlock_door",
            (_A, _D, ("?k", "key")),
            needs=(("holding", "?a", "?k"), ("fits", "?k", "?d"), ("clear", "?d")),
            adds=(("unlocked", "?d"), ("opened", "?d")),
        ),
        Action("clear_blocker", (_A, _D), needs=(_HAND_EMPTY,), adds=(("clear", "?d"),)),
        _put("put_next_to", "placed"),
        _put("put_near", "placed_near"),
        Action("observe_cue", (_A, ("?c", "cue")), adds=(("noted", "?c"),)),
        Action("go_to_match", (_A, ("?c", "cue")), needs=(("noted", "?c"),), adds=(("matched", "?c"),)),
    )
}


class Rule(Enum):
    """A refinement of the plain actions, chosen if the mission, the scene or the strategy needs the refinement."""

    EMPTY_HANDED = auto()
    """The agent goes to objects with an empty hand, because the carried thing may be the thing to go to."""

    BARRED = auto()
    """A locked door bars the way to the things that the mission asks for."""

    KEY_IN_ROOM = auto()
    """The key lies behind a door, so this door has to be opened before the key is fetched."""

    KEY_IN_BOX = auto()
    """The key may lie in a box, so the box has to be opened before the key is fetched."""

    STEPWISE = auto()
    """Going to a thing and acting on the thing are separate actions."""


_APPROACHES: Final = frozenset({"go_to_object", "go_to_door"})
_ACTS_FACING: Final = frozenset({"pick_up_object", "pick_up_alone", "open_door", "announce"})
_NEEDS_WAY_OPEN: Final = frozenset(
    {
        "go_to_object",
        "pick_up_object",
        "pick_up_alone",
        "reach_goal",
        "cross_hazard",
        "cross_moving_obstacles",
        "traverse_rooms",
    }
)


_WAY_OPEN: Final[Atom] = ("way_open", "?a")
_INFORMED: Final[Atom] = ("informed", "?a")
_ROAMING: Final[Atom] = ("roaming", "?a")


def refine_actions(names: Iterable[str], rules: frozenset[Rule]) -> tuple[Action, ...]:
    """Return the actions called ``names``, refined by ``rules``, in the order of the vocabulary."""
    wanted = set(names)
    return tuple(_refine(action, rules) for name, action in ACTIONS.items() if name in wanted)


def _refine(action: Action, rules: frozenset[Rule]) -> Action:
    """Return the action with the conditions and effects that the rules add."""
    needs = list(action.needs)
    adds = list(action.adds)
    if Rule.EMPTY_HANDED in rules and action.name == "go_to_object":
        needs.append(_HAND_EMPTY)

    if Rule.BARRED in rules:
        if action.name in _NEEDS_WAY_OPEN:
            needs.append(_WAY_OPEN)
        elif action.name == "unlock_door":
            adds.append(_WAY_OPEN)

    for rule, key_search in ((Rule.KEY_IN_ROOM, "open_door"), (Rule.KEY_IN_BOX, "open_box")):
        if rule in rules and action.name == "fetch_key":
            needs.append(_INFORMED)
        elif rule in rules and action.name == key_search:
            adds.append(_INFORMED)

    refined = replace(action, needs=tuple(needs), adds=tuple(adds))
    return _separate_steps(refined) if Rule.STEPWISE in rules else refined


def _separate_steps(action: Action) -> Action:
    """Return the action, changed so that the agent has to approach a thing before acting on the thing.

    The agent is either roaming or facing a thing. An approach changes roaming into facing. An action on the faced thing
    changes facing into roaming. Every other action needs a roaming agent.
    """
    facing: Atom = ("facing", "?a", action.parameters[1][0])
    if action.name in _APPROACHES:
        deletes = (*action.deletes, _ROAMING)
        return replace(action, needs=(*action.needs, _ROAMING), adds=(*action.adds, facing), deletes=deletes)
    if action.name in _ACTS_FACING:
        deletes = (*action.deletes, facing)
        return replace(action, needs=(*action.needs, facing), adds=(*action.adds, _ROAMING), deletes=deletes)
    return replace(action, needs=(*action.needs, _ROAMING))


def find_used_predicates(actions: Iterable[Action]) -> Iterator[str]:
    """Yield the names of the predicates that occur in ``actions``, in the order of the vocabulary."""
    used: set[str] = set()
    for action in actions:
        used.update(atom[0] for atom in (*action.needs, *action.adds, *action.deletes))
    return (name for name in PREDICATES if name in used)
