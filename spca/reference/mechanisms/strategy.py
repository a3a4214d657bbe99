"""What to do next in a gridworld task: the cheapest way to its goal, or else to where more may be learned (pure)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import zip_longest
from typing import Final

from spca.reference.mechanisms.errands import Errand
from spca.reference.mechanisms.search import Event, Search, Test, Way
from spca.reference.mechanisms.terrain import Terrain, Thing

GOAL: Final = "goal_green"
ANY_GATE: Final = "gate_any"
_CALL: Final = re.compile(r"(\w+)\(([^()]*)\)")


@dataclass(frozen=True, slots=True)
class Job:
    """One action of a plan with its objects, the agent left out."""

    action: str
    things: tuple[str, ...] = ()

    @property
    def settles(self) -> str:
        """What the job settles: the place that a block is pushed to, else the first thing; "" for none."""
        if not self.things or self.action == "put_down":
            return ""
        return self.things[1] if self.action == "push_block_to" else self.things[0]


@dataclass(frozen=True, slots=True)
class History:
    """Plans of this task that were carried out and did not solve it, oldest first, as jobs."""

    plans: tuple[tuple[Job, ...], ...] = ()

    @classmethod
    def read(cls, texts: Sequence[str]) -> History:
        """Read plans from text: ``[walk_to_goal(a1, goal_green)]``."""
        return cls(tuple(tuple(_jobs(text)) for text in texts))

    def has_tried(self, action: str) -> bool:
        """Return whether an action was part of a plan."""
        return any(job.action == action for plan in self.plans for job in plan)

    def find_pressed(self) -> frozenset[str]:
        """Return the switches that were surely pressed: the first of a plan, and those of several plans.

        The agent may have skipped later ones.
        """
        plans: list[list[str]] = []
        for plan in self.plans:
            plans.append([job.things[0] for job in plan if job.action == "press_switch"])

        times = Counter(name for switches in plans for name in set(switches))
        pressed: set[str] = set()
        for switches in plans:
            pressed.update(switches[:1])
            pressed.update(name for name in switches if times[name] > 1)
        return frozenset(pressed)


def jobs(terrain: Terrain, errands: Sequence[Errand], history: History, *, keeps_keys: bool) -> tuple[Job, ...]:
    """Return what to do, in order; at least one job."""
    last = tuple(_last(errands))
    test = _make_end_test(terrain, errands)
    held_down = history.find_pressed()  # one that is off again in spite of that
    off = frozenset(e.thing for e in errands if e.verb == "turn on" and e.forbidden)
    same = partial(Search, terrain, keeps_keys=keeps_keys, held_down=held_down, turned_off=off)
    searches = [same(blocks_hold=hold, generous=generous) for generous in (False, True) for hold in (False, True)]
    goals = frozenset(thing.cell for thing in terrain.find_kind("goal"))
    towards = goals if any(errand.verb == "get" for errand in errands) else frozenset()
    if test is not None:
        for search in searches:
            way = search.way(test(search), towards)
            if way is not None:
                return (*_work(terrain, way, errands), *last) or (Job("survive"),)
    wanted = tuple(_iterate_wanted(errands))
    scouting = _scouting(terrain, searches[0], history)
    if Job("survive") in last:  # what is not known may have been done, used up or never be found: then time decides
        tried = all(history.has_tried(job.action) for job in wanted)
        return last if tried and not scouting else (*scouting, *wanted)
    return (*scouting, *wanted, *last) or (Job("walk_to_goal", (GOAL,)),)


def _scouting(terrain: Terrain, search: Search, history: History) -> tuple[Job, ...]:
    """Return what to open or search for where the way to the goal is not known.

    Nothing is opened before everything was explored.
    """
    if not history.plans:
        return ()
    gates = [gate.name for gate in terrain.find_kind("gate", "closed")]
    sweep = tuple(Job("find_switch", (gate,)) for gate in gates[:1])
    tests: list[Test] = [
        lambda state: bool(state.opened) and terrain.borders_on_unseen(state.cell),
        lambda state: state.cell in state.opened,
    ]
    swept = history.has_tried("find_switch")
    for number, test in enumerate(tests):
        way = search.way(test)
        if way is not None:
            return tuple(_work(terrain, way, ()))
        if sweep and not number and not swept:
            return sweep
    return sweep


def _last(errands: Sequence[Errand]) -> Iterator[Job]:
    """Yield the job that ends the task, if there is one."""
    if any(errand.verb == "get" for errand in errands):
        yield Job("walk_to_goal", (GOAL,))
    elif any(errand.verb == "survive" for errand in errands):
        yield Job("survive")


def _iterate_wanted(errands: Sequence[Errand]) -> Iterator[Job]:
    """Yield jobs for errands whose things are not all known; each action looks for its thing."""
    made: dict[str, Callable[[str], Job]] = {
        "pick up": lambda name: Job("take_key", (name,)),
        "carry": lambda name: Job("take_key", (name,)),
        "turn on": lambda name: Job("press_switch", (name, ANY_GATE)),
        "push": lambda name: Job("push_block_to", (name, "target")),
        "open": lambda name: Job("use_key", (name, name.replace("door", "key", 1))),
    }
    for errand in errands:
        if errand.verb in made and not errand.forbidden and not errand.thing.startswith("gate"):
            yield made[errand.verb](errand.thing)


def _make_end_test(terrain: Terrain, errands: Sequence[Errand]) -> Callable[[Search], Test] | None:
    """Return a test for the end of the task; None while something that it is about is not known."""
    if any(not _is_known(terrain, errand) for errand in errands):
        return None
    if any(e.verb == "get" for e in errands) and not terrain.find_kind("goal"):
        return None

    targets = len(terrain.find_kind("target"))
    if any(errand.verb == "push" and errand.target > targets for errand in errands):
        return None

    def make_test(search: Search) -> Test:
        checks = [_check(search, errand) for errand in errands]
        gates = [terrain.things[name] for name in _gates_to_open(errands)]
        shut = {gate.cell for gate in gates if gate.state == "closed"}
        return lambda state: all(check(state) for check in checks) and search.opens(state, shut)

    return make_test


def _gates_to_open(errands: Sequence[Errand]) -> list[str]:
    return [e.thing for e in errands if e.verb == "open" and e.thing.startswith("gate") and not e.forbidden]


def _is_known(terrain: Terrain, errand: Errand) -> bool:
    """Return whether completion of the errand is observable; a key may be in hand."""
    if errand.forbidden:
        return True
    if errand.offset is not None:
        return False
    return not errand.thing or terrain.find_thing(errand.thing) is not None or _is_key_in_hand(terrain, errand)


def _is_key_in_hand(terrain: Terrain, errand: Errand) -> bool:
    return terrain.held is not None and errand.thing.startswith(f"key_{terrain.held}")


def _check(search: Search, errand: Errand) -> Test:
    terrain = search.terrain
    if errand.verb == "get":
        goals = {thing.cell for thing in terrain.find_kind("goal")}
        return lambda state: state.cell in goals
    if not errand.thing:
        return lambda _: True
    thing = terrain.find_thing(errand.thing)
    if thing is None:
        if errand.verb != "carry" or not _is_key_in_hand(terrain, errand):
            return lambda _: True
        colour = terrain.held
        return lambda state: (state.held == colour) != errand.forbidden
    holds = _holds(search, errand, thing)
    return (lambda state: not holds(state)) if errand.forbidden else holds


def _holds(search: Search, errand: Errand, thing: Thing) -> Test:
    """Return a test for what the errand speaks of, be it wanted or forbidden."""
    if errand.verb in ("pick up", "carry") and thing.kind == "key":
        index = [key.name for key in search.keys].index(thing.name)
        if errand.verb == "pick up":
            return lambda state: state.keys[index] is None
        return lambda state: state.keys[index] is None and state.held == thing.colour
    if errand.verb == "turn on":
        return lambda state: (thing.state == "on") != (thing.cell in state.pressed)
    if errand.verb == "push" and thing.kind == "block":
        return _block_at_place(search, errand, thing)
    if thing.kind == "gate" and not errand.forbidden:
        return lambda _: True
    return lambda state: thing.state == "open" or thing.cell in state.opened


def _block_at_place(search: Search, errand: Errand, thing: Thing) -> Test:
    """Return a test for the block being where the errand speaks of; a fixed block stays where it is."""
    places = [target.cell for target in search.terrain.find_kind("target")]
    # A forbidden place that cannot be told any more is taken for the one where the block is now.
    place = errand.cell or (places[errand.target - 1] if errand.target else thing.cell)

    movable = [block.name for block in search.blocks]
    if thing.name not in movable:
        return lambda _: thing.cell == place
    number = movable.index(thing.name)
    return lambda state: state.blocks[number] == place


def _work(terrain: Terrain, way: Way, errands: Sequence[Errand]) -> Iterator[Job]:
    """Yield the jobs that a way consists of, walking left out."""
    passed = [event.thing for event in way.events if event.verb == "pass"]
    closed = [name for name in _gates_to_open(errands) if terrain.things[name].state == "closed"]
    gates = iter(dict.fromkeys([*passed, *closed]))
    held = f"key_{terrain.held}" if terrain.held else ""
    for event, following in zip_longest(way.events, way.events[1:]):
        match event:
            case Event("take", key):
                held = key
                yield Job("take_key", (key,))
            case Event("drop", _):
                yield Job("put_down", (held,))
            case Event("unlock", door):
                yield Job("use_key", (door, held))
            case Event("press", switch):
                yield Job("press_switch", (switch, next(gates, ANY_GATE)))
            case Event("turn off", switch):
                yield Job("turn_off", (switch,))
            case Event("push", block, place) if not (following and following[:2] == ("push", block)):
                yield Job("push_block_to", (block, place))


def _jobs(text: str) -> Iterator[Job]:
    for name, arguments in _CALL.findall(text):
        _agent, *things = (part.strip() for part in arguments.split(","))
        yield Job(name, tuple(things))
