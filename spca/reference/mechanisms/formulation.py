"""A gridworld task as PDDL: which jobs there are, what each needs, and which has to come before which (pure)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
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
_HAND: Final[Atom] = ("hand_empty", "?a")
_HOLDING: Final[Atom] = ("holding", "?a", "?k")


def _job(
    name: str, *things: tuple[str, str], needs: tuple[Atom, ...] = (), adds: tuple[Atom, ...] = (), main: int = 0
) -> Action:
    """Return an action that settles one of its things, once everything that comes before that is settled."""
    first = things[main][0]
    deletes: tuple[Atom, ...] = ()
    if name == "use_key":
        deletes = (_HOLDING,)
    elif name == "take_key":
        deletes = (_HAND,)

    turn = Universal(("?y", "item"), ("after", first, "?y"), ("settled", "?y"))
    effects: tuple[Atom, ...] = (("settled", first), *adds)
    return Action(name, (_A, *things), needs, effects, deletes, universals=(turn,))


_K = ("?k", "key")
_D = ("?d", "door")
_S = ("?s", "switch")
_G = ("?g", "gate")
_USE_KEY: Final = _job("use_key", _D, _K, needs=(_HOLDING, ("fits", "?k", "?d")), adds=(_HAND,))
ACTIONS: Final = (
    _job("take_key", _K, needs=(_HAND,), adds=(_HOLDING,)),
    Action("put_down", (_A, _K), (_HOLDING,), (_HAND,), (_HOLDING,)),
    _USE_KEY,
    _job("press_switch", _S, _G, needs=(("opens", "?s", "?g"),), adds=(("settled", "?g"),)),
    _job("turn_off", _S, needs=(("wanted_off", "?s"),)),
    _job("find_switch", _G),
    _job("push_block_to", ("?b", "block"), ("?p", "place"), needs=(("wanted_at", "?b", "?p"),), main=1),
    _job("walk_to_goal", ("?g", "goal")),
    Action("survive", (_A,), adds=(("survived", "?a"),)),
)
"""In the order in which the domain lists them; every task has the same domain, but for what becomes of keys."""


def formulate(jobs: Sequence[Job], held: str | None, *, keeps_keys: bool) -> tuple[Domain, Problem]:
    """Return the planning task whose solution is these jobs.

    Args:
        held: the colour of the key in hand.
        keeps_keys: a key stays in hand when it opens a door.
    """
    names = tuple(dict.fromkeys(chain.from_iterable(job.things for job in jobs)))
    hand: Atom = ("hand_empty", AGENT)
    if held:
        key = _name_key_in_hand(jobs, held)
        hand = ("holding", AGENT, key)
        names = tuple(dict.fromkeys((*names, key)))
    objects = ((AGENT, "agent"), *((name, _type(name)) for name in names))
    facts = tuple(dict.fromkeys((hand, *_facts(jobs))))
    problem = Problem("task", objects, facts, tuple(_goals(jobs)))

    actions: tuple[Action, ...] = ACTIONS
    if keeps_keys:
        keeping = replace(_USE_KEY, adds=_USE_KEY.adds[:1], deletes=())
        actions = tuple(keeping if action is _USE_KEY else action for action in ACTIONS)
    return Domain("mechanisms", TYPES, (), PREDICATES, actions), problem


def _name_key_in_hand(jobs: Sequence[Job], held: str | None) -> str:
    """Return the name of the key in hand, as the first job that needs a key of that colour calls it."""
    for job in jobs:
        for name in job.things:
            if job.action in ("use_key", "put_down") and name.startswith(f"key_{held}"):
                return name
    return f"key_{held}"


def _facts(jobs: Sequence[Job]) -> Iterator[Atom]:
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
    ordered = [job.settles for job in jobs if job.settles]
    for earlier, later in pairwise(dict.fromkeys(ordered)):
        yield ("after", later, earlier)


def _goals(jobs: Sequence[Job]) -> Iterator[Atom]:
    by_hand = [job.action for job in jobs if job.action in ("take_key", "put_down")]
    if by_hand[-1:] == ["put_down"]:
        yield ("hand_empty", AGENT)
    for job in jobs:
        if job.action == "survive":
            yield ("survived", AGENT)
        elif job.settles:
            yield ("settled", job.settles)


def _type(name: str) -> str:
    kind = name.partition("_")[0]
    return "mark" if kind in ("target", "cell") else kind
