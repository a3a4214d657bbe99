"""Write the jobs of a gridworld task as PDDL: the conditions of each job, and the order of the jobs (pure).

A job *settles* a thing if its action adds the fact ``(settled thing)``. The fact ``(after x y)`` says that ``y`` has to
be settled before ``x``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, pairwise
from typing import Final

from spca.reference.mechanisms.strategy import Job
from spca.reference.pddl_writer import Action, Atom, Domain, Problem, Signature, Universal

AGENT: Final = "a1"
TYPES: Final[Signature] = (
    *((name, "object") for name in ("agent", "item")),
    *((name, "item") for name in ("key", "door", "gate", "block", "place", "goal")),
    *((name, "place") for name in ("switch", "mark")),
)
PREDICATES: Final[dict[str, Signature]] = {
    "hand_empty": (("?a", "agent"),),
    "holding": (("?a", "agent"), ("?k", "key")),
    "fits": (("?k", "key"), ("?d", "door")),
    "opens": (("?s", "switch"), ("?g", "gate")),
    "wanted_at": (("?b", "block"), ("?p", "place")),
    "wanted_off": (("?s", "switch"),),
    "after": (("?x", "item"), ("?y", "item")),
    "settled": (("?x", "item"),),
    "survived": (("?a", "agent"),),
}
_A: Final = ("?a", "agent")
_K: Final = ("?k", "key")
_D: Final = ("?d", "door")
_S: Final = ("?s", "switch")
_G: Final = ("?g", "gate")
_HAND_EMPTY: Final[Atom] = ("hand_empty", "?a")
_HOLDING: Final[Atom] = ("holding", "?a", "?k")


def _make_settling_action(
    name: str,
    *things: tuple[str, str],
    needs: tuple[Atom, ...] = (),
    adds: tuple[Atom, ...] = (),
    deletes: tuple[Atom, ...] = (),
    settled: int = 0,
) -> Action:
    """Return an action that settles the thing ``things[settled]``.

    The precondition requires that every item that has to come before the thing is already settled.

    Args:
        things: the pairs (variable, type) of the action's parameters after the agent.
        settled: an index of ``things``.
    """
    variable = things[settled][0]
    order = Universal(("?y", "item"), ("after", variable, "?y"), ("settled", "?y"))
    effects: tuple[Atom, ...] = (("settled", variable), *adds)
    return Action(name, (_A, *things), needs, effects, deletes, universals=(order,))


_USE_KEY: Final = _make_settling_action(
    "use_key", _D, _K, needs=(_HOLDING, ("fits", "?k", "?d")), adds=(_HAND_EMPTY,), deletes=(_HOLDING,)
)
_USE_AND_KEEP_KEY: Final = _make_settling_action("use_key", _D, _K, needs=_USE_KEY.needs)
ACTIONS: Final = (
    _make_settling_action("take_key", _K, needs=(_HAND_EMPTY,), adds=(_HOLDING,), deletes=(_HAND_EMPTY,)),
    Action("put_down", (_A, _K), needs=(_HOLDING,), adds=(_HAND_EMPTY,), deletes=(_HOLDING,)),
    _USE_KEY,
    _make_settling_action("press_switch", _S, _G, needs=(("opens", "?s", "?g"),), adds=(("settled", "?g"),)),
    _make_settling_action("turn_off", _S, needs=(("wanted_off", "?s"),)),
    _make_settling_action("find_switch", _G),
    _make_settling_action(
        "push_block_to", ("?b", "block"), ("?p", "place"), needs=(("wanted_at", "?b", "?p"),), settled=1
    ),
    _make_settling_action("walk_to_goal", ("?g", "goal")),
    Action("survive", (_A,), adds=(("survived", "?a"),)),
)
"""The actions of the domain, in order. If keys stay in hand, ``_USE_AND_KEEP_KEY`` replaces ``_USE_KEY``."""


def formulate(jobs: Sequence[Job], held: str | None, *, keeps_keys: bool) -> tuple[Domain, Problem]:
    """Return a planning domain and problem whose solution is to do ``jobs`` in order.

    Args:
        held: the colour of the key in hand, or None if the hand is empty.
        keeps_keys: whether a key stays in hand after opening a door.
    """
    names = list(chain.from_iterable(job.things for job in jobs))
    hand: Atom = ("hand_empty", AGENT)
    if held:
        key = _name_key_in_hand(jobs, held)
        hand = ("holding", AGENT, key)
        names.append(key)
    objects = ((AGENT, "agent"), *((name, _find_type(name)) for name in dict.fromkeys(names)))
    facts = tuple(dict.fromkeys((hand, *_list_facts(jobs))))
    problem = Problem("task", objects, facts, tuple(_list_goals(jobs)))

    actions: tuple[Action, ...] = ACTIONS
    if keeps_keys:
        actions = tuple(_USE_AND_KEEP_KEY if action is _USE_KEY else action for action in ACTIONS)
    return Domain("mechanisms", TYPES, (), PREDICATES, actions), problem


def _name_key_in_hand(jobs: Sequence[Job], held: str | None) -> str:
    """Return the name of the key in hand, whose colour is ``held``.

    This is the name of the first key of this colour that a job uses or puts down. If there is no such key, it is the
    name without a number.
    """
    for job in jobs:
        for name in job.things:
            if job.action in ("use_key", "put_down") and name.startswith(f"key_{held}"):
                return name
    return f"key_{held}"


def _list_facts(jobs: Sequence[Job]) -> Iterator[Atom]:
    """Yield the facts about the things of the jobs, followed by the facts about the order of the things."""
    for job in jobs:
        if job.action == "use_key":
            door, key = job.things
            yield ("fits", key, door)
        elif job.action == "press_switch":
            switch, gate = job.things
            yield ("opens", switch, gate)
        elif job.action == "push_block_to":
            block, place = job.things
            yield ("wanted_at", block, place)
        elif job.action == "turn_off":
            yield ("wanted_off", *job.things)

    settled = [job.settles for job in jobs if job.settles]
    for earlier, later in pairwise(dict.fromkeys(settled)):
        yield ("after", later, earlier)


def _list_goals(jobs: Sequence[Job]) -> Iterator[Atom]:
    """Yield the facts that have to hold after the last job."""
    hand_actions = [job.action for job in jobs if job.action in ("take_key", "put_down")]
    ends_with_empty_hand = hand_actions[-1:] == ["put_down"]
    if ends_with_empty_hand:
        yield ("hand_empty", AGENT)
    for job in jobs:
        if job.action == "survive":
            yield ("survived", AGENT)
        elif job.settles:
            yield ("settled", job.settles)


def _find_type(name: str) -> str:
    """Return the PDDL type of an object, judged by the first word of the object's name."""
    kind = name.partition("_")[0]
    return "mark" if kind in ("target", "cell") else kind
