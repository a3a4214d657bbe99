"""The reference planner's vocabulary: types, predicates and actions, and the rules that refine them.

The world is only partly seen, so no predicate speaks of cells. An action stands for a whole skill ("find the key and
pick it up"); what it needs and what it brings about are the facts that decide the order of the skills: one hand,
which key fits which door, what has to be unlocked or cleared first.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from enum import Enum, auto
from typing import Final

from spca.reference.pddl_writer import Action, Atom, Signature

AGENT: Final = "a1"
"""The agent, first argument of every action."""

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
"""Facts of the world first, then what has been done, which stays true."""

_A: Final = ("?a", "agent")
_O: Final = ("?o", "thing")
_D: Final = ("?d", "door")
_G: Final = ("?g", "goal")
_HAND: Final[Atom] = ("hand_empty", "?a")


def _to_goal(name: str) -> Action:
    return Action(name, (_A, _G), adds=(("reached", "?g"),))


def _put(name: str, done: str) -> Action:
    holding: Atom = ("holding", "?a", "?o")
    adds: tuple[Atom, ...] = ((done, "?o", "?t"), _HAND)
    return Action(name, (_A, _O, ("?t", "item")), (holding,), adds, (holding,))


ACTIONS: Final[dict[str, Action]] = {
    action.name: action
    for action in (
        _to_goal("reach_goal"),
        _to_goal("cross_hazard"),
        _to_goal("cross_moving_obstacles"),
        _to_goal("traverse_rooms"),
        Action("go_to_object", (_A, _O), adds=(("visited", "?o"),)),
        Action("go_to_door", (_A, _D), adds=(("visited", "?d"),)),
        Action("announce", (_A, ("?x", "item")), (("visited", "?x"),), (("announced", "?x"),)),
        Action("pick_up_object", (_A, _O), (_HAND,), (("holding", "?a", "?o"), ("picked", "?o")), (_HAND,)),
        Action("pick_up_alone", (_A, _O), (_HAND,), (("holding", "?a", "?o"), ("picked_alone", "?o")), (_HAND,)),
        Action("drop_held", (_A, _O), (("holding", "?a", "?o"),), (_HAND,), (("holding", "?a", "?o"),)),
        Action("open_door", (_A, _D), (("unlocked", "?d"),), (("opened", "?d"),)),
        Action("open_box", (_A, ("?b", "box")), adds=(("opened", "?b"),)),
        Action(
            "fetch_key",
            (_A, ("?k", "key"), _D),
            (_HAND, ("fits", "?k", "?d")),
            (("holding", "?a", "?k"),),
            (_HAND,),
        ),
        Action(
            "unlock_door",
            (_A, _D, ("?k", "key")),
            (("holding", "?a", "?k"), ("fits", "?k", "?d"), ("clear", "?d")),
            (("unlocked", "?d"), ("opened", "?d")),
        ),
        Action("clear_blocker", (_A, _D), (_HAND,), (("clear", "?d"),)),
        _put("put_next_to", "placed"),
        _put("put_near", "placed_near"),
        Action("observe_cue", (_A, ("?c", "cue")), adds=(("noted", "?c"),)),
        Action("go_to_match", (_A, ("?c", "cue")), (("noted", "?c"),), (("matched", "?c"),)),
    )
}


class Rule(Enum):
    """Refinements of the plain actions, chosen by what a mission or a scene calls for."""

    EMPTY_HANDED = auto()
    """What is carried may be the very thing to go to: go there with an empty hand."""

    BARRED = auto()
    """A locked door bars the way to what is wanted."""

    KEY_IN_ROOM = auto()
    """The key lies behind a door that is to be opened first."""

    KEY_IN_BOX = auto()
    """The key may lie in a box that is to be opened first."""

    STEPWISE = auto()
    """Going somewhere and acting there are steps of their own."""


_APPROACHES: Final = frozenset({"go_to_object", "go_to_door"})
_ACTS_FACING: Final = frozenset({"pick_up_object", "pick_up_alone", "open_door", "announce"})
_BARRED: Final = frozenset(
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


def refine_actions(names: Iterable[str], rules: frozenset[Rule]) -> tuple[Action, ...]:
    """Return the named actions in the order of the vocabulary, refined by ``rules``."""
    wanted = set(names)
    return tuple(_refine(action, rules) for name, action in ACTIONS.items() if name in wanted)


def _refine(action: Action, rules: frozenset[Rule]) -> Action:
    needs = list(action.needs)
    adds = list(action.adds)
    deletes = list(action.deletes)
    if Rule.EMPTY_HANDED in rules and action.name == "go_to_object":
        needs.append(_HAND)
    if Rule.BARRED in rules:
        needs += [("way_open", "?a")] * (action.name in _BARRED)
        adds += [("way_open", "?a")] * (action.name == "unlock_door")
    for rule, search in ((Rule.KEY_IN_ROOM, "open_door"), (Rule.KEY_IN_BOX, "open_box")):
        if rule in rules:
            needs += [("informed", "?a")] * (action.name == "fetch_key")
            adds += [("informed", "?a")] * (action.name == search)
    if Rule.STEPWISE in rules:
        roaming: Atom = ("roaming", "?a")
        facing: Atom = ("facing", "?a", action.parameters[1][0])
        if action.name in _APPROACHES:
            needs = [*needs, roaming]
            adds = [*adds, facing]
            deletes = [*deletes, roaming]
        elif action.name in _ACTS_FACING:
            needs = [*needs, facing]
            adds = [*adds, roaming]
            deletes = [*deletes, facing]
        else:
            needs.append(roaming)
    return replace(action, needs=tuple(needs), adds=tuple(adds), deletes=tuple(deletes))


def find_used_predicates(actions: Iterable[Action]) -> Iterator[str]:
    """Return the names of the predicates that occur in ``actions``, in the order of the vocabulary."""
    used = {atom[0] for action in actions for atom in (*action.needs, *action.adds, *action.deletes)}
    return (name for name in PREDICATES if name in used)
