"""Choose the next jobs of a gridworld task: follow the cheapest way to the end of the task, or else explore (pure).

A *job* is an action of a plan. An *errand* is one thing that the mission asks for or forbids. A *way* is a sequence of
primitives that a :class:`.Search` found.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Final

from spca.reference.mechanisms.errands import Errand
from spca.reference.mechanisms.search import Event, Search, Test, Way
from spca.reference.mechanisms.terrain import Cell, Terrain, Thing

GOAL: Final = "goal_green"
ANY_GATE: Final = "gate_any"
_CALL: Final = re.compile(r"(\w+)\(([^()]*)\)")


@dataclass(frozen=True, slots=True)
class Job:
    """An action of a plan; ``things`` are the arguments of the action after the agent."""

    action: str
    things: tuple[str, ...] = ()

    @property
    def settles(self) -> str:
        """The name of the thing or place that the job marks as ``settled`` in PDDL, or "" if there is none.

        A job that pushes a block settles the place of the block. Every other job settles the first of ``things``.
        """
        if not self.things or self.action == "put_down":
            return ""
        return self.things[1] if self.action == "push_block_to" else self.things[0]


@dataclass(frozen=True, slots=True)
class History:
    """The plans that were carried out without solving the task, oldest first; each plan is a tuple of jobs."""

    plans: tuple[tuple[Job, ...], ...] = ()

    @classmethod
    def read(cls, texts: Sequence[str]) -> History:
        """Return the history for a sequence of plans such as ``[walk_to_goal(a1, goal_green)]``."""
        return cls(tuple(tuple(_parse_jobs(text)) for text in texts))

    def has_tried(self, action: str) -> bool:
        """Return whether any plan contains a job with this action."""
        return any(job.action == action for plan in self.plans for job in plan)

    def find_pressed(self) -> frozenset[str]:
        """Return the names of the switches that the agent has certainly pressed.

        These are the first switch of each plan, and every switch that several plans press. The agent may have skipped
        any other switch.
        """
        plans: list[list[str]] = []  # the switches that each plan presses
        for plan in self.plans:
            plans.append([job.things[0] for job in plan if job.action == "press_switch"])

        plan_counts = Counter(name for switches in plans for name in set(switches))
        pressed: set[str] = set()
        for switches in plans:
            pressed.update(switches[:1])
            pressed.update(name for name in switches if plan_counts[name] > 1)
        return frozenset(pressed)


def jobs(terrain: Terrain, errands: Sequence[Errand], history: History, *, keeps_keys: bool) -> tuple[Job, ...]:
    """Return the next jobs in order; the result is never empty.

    If a way to the end of the task is known, the jobs follow this way. Otherwise, the jobs explore the map and look for
    the things of the errands.
    """
    final_jobs = tuple(_list_final_jobs(errands))
    searches = _make_searches(terrain, errands, history, keeps_keys=keeps_keys)
    way = _find_way_to_end(terrain, errands, searches)
    if way is not None:
        work = (*_list_jobs_of_way(terrain, way, errands), *final_jobs)
        return work if work else (Job("survive"),)

    wanted = tuple(_list_wanted_jobs(errands))
    scouting = _scout(terrain, searches[0], history)
    if Job("survive") in final_jobs:
        # An unknown thing may have been used up, may have served its errand, or may never be found. Once all jobs
        # were tried, only surviving until the time is over is left.
        all_tried = all(history.has_tried(job.action) for job in wanted)
        return final_jobs if all_tried and not scouting else (*scouting, *wanted)

    work = (*scouting, *wanted, *final_jobs)
    return work if work else (Job("walk_to_goal", (GOAL,)),)


def _make_searches(terrain: Terrain, errands: Sequence[Errand], history: History, *, keeps_keys: bool) -> list[Search]:
    """Return a search for each combination of assumptions about blocks and gates, the most cautious search first."""
    turned_off = frozenset(errand.thing for errand in errands if errand.verb == "turn on" and errand.forbidden)
    # If a switch was surely pressed and is off again, the switch has to be held down.
    held_down = history.find_pressed()
    searches = []
    for generous in (False, True):
        for blocks_hold in (False, True):
            search = Search(
                terrain,
                keeps_keys=keeps_keys,
                held_down=held_down,
                blocks_hold=blocks_hold,
                turned_off=turned_off,
                generous=generous,
            )
            searches.append(search)
    return searches


def _find_way_to_end(terrain: Terrain, errands: Sequence[Errand], searches: Sequence[Search]) -> Way | None:
    """Return a way that completes all errands, found by the first of ``searches`` that succeeds.

    Return None if no search succeeds, or if a thing that the errands need is unknown.
    """
    make_test = _make_end_test(terrain, errands)
    if make_test is None:
        return None
    towards: frozenset[Cell] = frozenset()
    if any(errand.verb == "get" for errand in errands):
        towards = frozenset(thing.cell for thing in terrain.find_kind("goal"))
    for search in searches:
        way = search.way(make_test(search), towards)
        if way is not None:
            return way
    return None


def _scout(terrain: Terrain, search: Search, history: History) -> tuple[Job, ...]:
    """Return jobs that help to see more of the map: open doors and gates, or search for a switch.

    Return an empty tuple if no plan has been carried out yet, so that the agent first explores what it can reach
    without opening anything.
    """
    if not history.plans:
        return ()

    closed_gates = terrain.find_kind("gate", "closed")
    switch_search = tuple(Job("find_switch", (gate.name,)) for gate in closed_gates[:1])
    way = search.way(lambda state: bool(state.opened) and terrain.borders_on_unseen(state.cell))
    if way is not None:
        return tuple(_list_jobs_of_way(terrain, way, ()))
    if switch_search and not history.has_tried("find_switch"):
        return switch_search

    way = search.way(lambda state: state.cell in state.opened)
    if way is not None:
        return tuple(_list_jobs_of_way(terrain, way, ()))
    return switch_search


def _list_final_jobs(errands: Sequence[Errand]) -> Iterator[Job]:
    """Yield the job that ends the task, which is to reach the goal square or to survive.

    Yield nothing if no errand asks for either.
    """
    if any(errand.verb == "get" for errand in errands):
        yield Job("walk_to_goal", (GOAL,))
    elif any(errand.verb == "survive" for errand in errands):
        yield Job("survive")


def _list_wanted_jobs(errands: Sequence[Errand]) -> Iterator[Job]:
    """Yield a job for each errand that names a thing and is not forbidden.

    If the thing is unknown, the action of the job also looks for the thing. Errands about gates have no job, because
    gates are opened by switches.
    """
    for errand in errands:
        if errand.forbidden or errand.thing.startswith("gate"):
            continue
        match errand.verb:
            case "pick up" | "carry":
                yield Job("take_key", (errand.thing,))
            case "turn on":
                yield Job("press_switch", (errand.thing, ANY_GATE))
            case "push":
                yield Job("push_block_to", (errand.thing, "target"))
            case "open":
                key = errand.thing.replace("door", "key", 1)
                yield Job("use_key", (errand.thing, key))


def _make_end_test(terrain: Terrain, errands: Sequence[Errand]) -> Callable[[Search], Test] | None:
    """Return a function that takes a search and returns the test whether the task is complete.

    Return None if the errands need a thing, a target or a goal square that is unknown.
    """
    if any(not _is_known(terrain, errand) for errand in errands):
        return None
    if any(errand.verb == "get" for errand in errands) and not terrain.find_kind("goal"):
        return None

    target_count = len(terrain.find_kind("target"))
    if any(errand.verb == "push" and errand.target > target_count for errand in errands):
        return None

    def make_test(search: Search) -> Test:
        tests = [_make_errand_test(search, errand) for errand in errands]
        gates = [terrain.things[name] for name in _list_gates_to_open(errands)]
        closed_gates = {gate.cell for gate in gates if gate.state == "closed"}
        return lambda state: all(test(state) for test in tests) and search.opens(state, closed_gates)

    return make_test


def _list_gates_to_open(errands: Sequence[Errand]) -> list[str]:
    """Return the names of the gates that the errands ask to open."""
    names: list[str] = []
    for errand in errands:
        asks_to_open = errand.verb == "open" and not errand.forbidden
        if asks_to_open and errand.thing.startswith("gate"):
            names.append(errand.thing)
    return names


def _is_known(terrain: Terrain, errand: Errand) -> bool:
    """Return whether the map shows enough to tell if the errand is done; always True for a forbidden errand."""
    if errand.forbidden:
        return True
    if errand.offset is not None:
        return False
    if not errand.thing or terrain.find_thing(errand.thing) is not None:
        return True
    return _is_key_in_hand(terrain, errand)


def _is_key_in_hand(terrain: Terrain, errand: Errand) -> bool:
    """Return whether the key in hand may be the errand's key, judged by the colour."""
    return terrain.held is not None and errand.thing.startswith(f"key_{terrain.held}")


def _make_errand_test(search: Search, errand: Errand) -> Test:
    """Return the test that a state passes if it agrees with the errand.

    The state that a forbidden errand describes must not hold; the state of any other errand has to hold. If the map
    does not show the errand's thing, every state passes. There is one exception: for a key to carry whose colour is in
    hand, the test checks the hand.
    """
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
        # The key was taken before, so the map shows no key; the key in hand is taken for the errand's key.
        colour = terrain.held
        return lambda state: (state.held == colour) != errand.forbidden

    test = _make_thing_test(search, errand, thing)
    return (lambda state: not test(state)) if errand.forbidden else test


def _make_thing_test(search: Search, errand: Errand, thing: Thing) -> Test:
    """Return the test that a state passes if ``thing`` is as the errand describes, whether wanted or forbidden.

    For a gate to be opened, every state passes, because :meth:`.Search.opens` tests these gates.
    """
    if errand.verb in ("pick up", "carry") and thing.kind == "key":
        index = [key.name for key in search.keys].index(thing.name)
        if errand.verb == "pick up":
            return lambda state: state.keys[index] is None
        return lambda state: state.keys[index] is None and state.held == thing.colour
    if errand.verb == "turn on":
        # Pressing a switch changes the switch from on to off, or from off to on.
        return lambda state: (thing.state == "on") != (thing.cell in state.pressed)
    if errand.verb == "push" and thing.kind == "block":
        return _make_block_test(search, errand, thing)
    if thing.kind == "gate" and not errand.forbidden:
        # Search.opens tests the gates that are to be opened.
        return lambda _: True
    return lambda state: thing.state == "open" or thing.cell in state.opened


def _make_block_test(search: Search, errand: Errand, block: Thing) -> Test:
    """Return the test that a state passes if the block is at the place that the errand names; a fixed block never
    moves.
    """
    place = _find_push_place(search.terrain, errand, block)
    movable = [thing.name for thing in search.blocks]
    if block.name not in movable:
        return lambda _: block.cell == place
    index = movable.index(block.name)
    return lambda state: state.blocks[index] == place


def _find_push_place(terrain: Terrain, errand: Errand, block: Thing) -> Cell:
    """Return the cell that the errand names, either directly or as the cell of a numbered target.

    The cell of a forbidden errand may be unknown, because it is an offset from an unknown start. In this case, return
    the block's present cell.
    """
    if errand.cell is not None:
        return errand.cell
    if errand.target:
        return terrain.find_kind("target")[errand.target - 1].cell
    return block.cell


def _list_jobs_of_way(terrain: Terrain, way: Way, errands: Sequence[Errand]) -> Iterator[Job]:
    """Yield the jobs that follow a way, in order; walking and passing gates need no job.

    Which switch opens which gate is unknown, so the presses are assigned to the gates in order. The gates that the way
    passes come first, followed by the closed gates that the errands ask to open.
    """
    passed_gates = [event.thing for event in way.events if event.verb == "pass"]
    closed_gates = [name for name in _list_gates_to_open(errands) if terrain.things[name].state == "closed"]
    gates = iter(dict.fromkeys([*passed_gates, *closed_gates]))
    held_key = f"key_{terrain.held}" if terrain.held else ""
    for event, following in zip_longest(way.events, way.events[1:]):
        # Successive pushes of a block are a single job, whose place is that of the last push.
        is_continued = following is not None and (following.verb, following.thing) == (event.verb, event.thing)
        match event:
            case Event("take", key):
                held_key = key
                yield Job("take_key", (key,))
            case Event("drop", _):
                yield Job("put_down", (held_key,))
            case Event("unlock", door):
                yield Job("use_key", (door, held_key))
            case Event("press", switch):
                yield Job("press_switch", (switch, next(gates, ANY_GATE)))
            case Event("turn off", switch):
                yield Job("turn_off", (switch,))
            case Event("push", block, place) if not is_continued:
                yield Job("push_block_to", (block, place))


def _parse_jobs(text: str) -> Iterator[Job]:
    """Yield the jobs in the text of a plan."""
    for name, arguments in _CALL.findall(text):
        _agent, *things = (part.strip() for part in arguments.split(","))
        yield Job(name, tuple(things))
