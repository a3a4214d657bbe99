"""From a mission and a scene to a planning task: which objects, facts, actions and goals (pure).

:mod:`spca.reference.sequencing` keeps the parts of a mission in order.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Final

from spca.reference import vocabulary
from spca.reference.locks import Context, Lock, Strategy, find_locks, key_in_reach, symbol
from spca.reference.mission import (
    Clause,
    Description,
    GetKey,
    GoTo,
    GoToMatch,
    Open,
    PickUp,
    PutNear,
    PutNextTo,
    ReachGoal,
    Stages,
    Unlock,
    Way,
)
from spca.reference.pddl_writer import Atom, Domain, Problem, Signature
from spca.reference.scene import Thing
from spca.reference.sequencing import list_counted_goals, sequence_action, sequence_predicates, wait_facts
from spca.reference.vocabulary import AGENT, Rule

DOMAIN_NAME: Final = "gridworld"
GOAL: Final = "goal_green"
CUE: Final = "object_any"


STRATEGIES: Final = (Strategy(), Strategy(stepwise=True), Strategy(contrary=True), Strategy(True, True))
"""In the order in which they are tried when plans fail."""


def formulate(stages: Stages, context: Context, strategy: Strategy) -> tuple[Domain, Problem]:
    """Return the planning task for a mission of at least one clause."""
    parts = _split_into_parts(stages)
    clauses = tuple(chain.from_iterable(parts))
    all_clauses = tuple(chain.from_iterable(stages))

    rooms: tuple[str, ...] = ()
    if not strategy.contrary:
        rooms = tuple(clause.room for clause in all_clauses if isinstance(clause, GetKey))

    locks = find_locks(clauses, all_clauses, context, strategy)
    task = _Task(context, strategy, parts, locks, rooms)
    return task.domain(), task.problem()


def _split_into_parts(stages: Stages) -> Stages:
    """Return the parts whose order has to be imposed.

    Stepping on the goal square ends everything, so it comes last. A key and a door that are named as the way to the
    goal need no part of their own: the actions' own conditions put them first.
    """
    clauses = tuple(chain.from_iterable(stages))
    goals = tuple(c for c in clauses if isinstance(c, ReachGoal))
    if not goals:
        return stages

    left_out: tuple[type[Clause], ...] = (ReachGoal,)
    unlocks = sum(isinstance(clause, Unlock) for clause in clauses)
    if unlocks == 1:
        left_out = (ReachGoal, GetKey, Unlock)

    parts = []
    for stage in stages:
        part = tuple(clause for clause in stage if not isinstance(clause, left_out))
        if part:
            parts.append(part)
    return (*parts, goals[:1])


class _Task:
    """Puts domain and problem together."""

    def __init__(
        self, context: Context, strategy: Strategy, parts: Stages, locks: Sequence[Lock], rooms: Sequence[str]
    ) -> None:
        self._scene = context.scene
        self._category = context.category
        self._strategy = strategy
        self._parts = parts
        self._locks = tuple(locks)
        self._clauses = tuple(chain.from_iterable(parts))

        lone_clause = self._clauses[0] if len(self._clauses) == 1 else None
        self._announces = isinstance(lone_clause, GoTo)
        self._picks_alone = isinstance(lone_clause, PickUp) and "pickup_only" in context.category
        self._held = self._name_held()

        self._rooms: tuple[str, ...] = ()
        if not self._key_at_hand():
            self._rooms = tuple(f"door_{room}" for room in rooms if self._is_shut(room))

        self._boxes = self._boxes_to_search()
        self._goals = tuple(map(self._list_goals, parts))
        self._waits = self._first_parts()
        self._rules = frozenset(self._choose_rules())

    def domain(self) -> Domain:
        plain = vocabulary.refine_actions(self._action_names(), self._rules)
        actions = tuple(sequence_action(action, self._goals, self._waits) for action in plain)
        predicates = {name: vocabulary.PREDICATES[name] for name in vocabulary.find_used_predicates(actions)}
        for action in actions:
            predicates.update(sequence_predicates(action, vocabulary.PREDICATES))
        return Domain(DOMAIN_NAME, vocabulary.TYPES, self._constants(), predicates, actions)

    def problem(self) -> Problem:
        constants = {name for name, _ in self._constants()}
        objects = tuple((name, kind) for name, kind in self._objects() if name not in constants)
        hand: Atom = ("holding", AGENT, self._held) if self._held else ("hand_empty", AGENT)
        facts = (hand, ("roaming", AGENT), *self._lock_facts(), *wait_facts(self._waits))

        spoken = self.domain().predicates
        init = tuple(fact for fact in facts if fact[0] in spoken)
        goals: list[Atom] = []
        for part in range(len(self._goals)):
            goals += list_counted_goals(self._goals, part)
        return Problem("mission", ((AGENT, "agent"), *objects), init, tuple(goals))

    def _list_goals(self, part: Iterable[Clause]) -> tuple[Atom, ...]:
        """Return the facts that say that a part has been carried out, each once."""
        facts = chain.from_iterable(map(self._done, part))
        return tuple(dict.fromkeys(facts))

    def _first_parts(self) -> dict[tuple[str, str], int]:
        """Return in which part an action on an object is asked for first."""
        first: dict[tuple[str, str], int] = {}
        for part, clauses in enumerate(self._parts):
            for clause in clauses:
                for action in sorted(self._list_actions(clause)):
                    first.setdefault((action, self._done(clause)[0][1]), part)
        return first

    def _list_actions(self, clause: Clause) -> set[str]:
        """Return the actions that a clause may take, but for fetching a key, which does no harm early."""
        actions = set(self._achievers(clause))
        if isinstance(clause, Open | Unlock) and self._done(clause)[0][1].startswith("door"):
            actions.add("unlock_door")
        if self._strategy.stepwise:
            actions |= {"go_to_object"} if actions & {"pick_up_object", "pick_up_alone"} else set()
            actions |= {"go_to_door"} if "open_door" in actions else set()
        return actions

    def _done(self, clause: Clause) -> tuple[Atom, ...]:
        """Return the facts that say that a clause has been carried out."""
        match clause:
            case GoTo(what):
                facts: tuple[Atom, ...] = (("announced" if self._announces else "visited", symbol(what)),)
            case PickUp(what) | GetKey(what, _):
                facts = (("picked_alone" if self._picks_alone else "picked", symbol(what)),)
            case Open(what) | Unlock(what):
                facts = (("opened", symbol(what)),)
            case PutNextTo(what, target):
                facts = (("placed", symbol(what), symbol(target)),)
            case PutNear(what, target):
                facts = (("placed_near", symbol(what), symbol(target)),)
            case ReachGoal():
                facts = (("reached", GOAL),)
            case GoToMatch():
                facts = (("matched", CUE),)
        return facts

    def _choose_rules(self) -> Iterator[Rule]:
        carried = [c.what for c in self._clauses if isinstance(c, PickUp | PutNextTo | PutNear)]
        carried += [Description(*self._scene.held)] if self._scene.held else []
        visited = [c.what for c in self._clauses if isinstance(c, GoTo)]
        if any(place.overlaps(thing) for place in visited for thing in carried):
            yield Rule.EMPTY_HANDED
        if any(lock.bars for lock in self._locks):
            yield Rule.BARRED
        if self._rooms:
            yield Rule.KEY_IN_ROOM
        elif self._boxes:
            yield Rule.KEY_IN_BOX
        if self._strategy.stepwise:
            yield Rule.STEPWISE

    def _action_names(self) -> frozenset[str]:
        names = set(chain.from_iterable(map(self._achievers, self._clauses)))
        names |= {"announce"} if self._announces else set()
        names |= {"fetch_key", "unlock_door"} if self._locks else set()
        names |= {"open_door"} if self._rooms else set()
        names |= {"open_box"} if Rule.KEY_IN_BOX in self._rules else set()
        names |= {"clear_blocker"} if any(lock.blocked for lock in self._locks) else set()
        names |= {"drop_held"} if self._held or names & {"fetch_key", "pick_up_object", "pick_up_alone"} else set()
        if self._strategy.stepwise:
            names |= {"go_to_object"} if names & {"pick_up_object", "pick_up_alone"} else set()
            names |= {"go_to_door"} if "open_door" in names else set()
            # Whoever has gone somewhere only to be there has to turn away again.
            names |= {"announce"} if any(isinstance(clause, GoTo) for clause in self._clauses) else set()
        return frozenset(names)

    def _achievers(self, clause: Clause) -> tuple[str, ...]:
        match clause:
            case GoTo(what):
                names: tuple[str, ...] = ("go_to_door" if what.kind == "door" else "go_to_object",)
            case PickUp() | GetKey():
                names = ("pick_up_alone" if self._picks_alone else "pick_up_object",)
            case PutNextTo():
                names = ("pick_up_object", "put_next_to")
            case PutNear():
                names = ("pick_up_object", "put_near")
            case Open(what):
                names = ("open_box" if what.kind == "box" else "open_door",)
            case Unlock():
                names = ("open_door",)
            case ReachGoal(way):
                names = (self._crossing(way),)
            case GoToMatch():
                names = ("observe_cue", "go_to_match")
        return names

    def _crossing(self, way: Way) -> str:
        """Return the action that leads to the goal square; the plain one when the telling one is not to be used."""
        if "dynamic" in self._category:
            telling = "cross_moving_obstacles"
        elif way is Way.LAVA or "hazard" in self._category or self._scene.lava:
            telling = "cross_hazard"
        elif way is Way.ROOMS:
            telling = "traverse_rooms"
        else:
            return "traverse_rooms" if self._strategy.contrary else "reach_goal"
        return "reach_goal" if self._strategy.contrary else telling

    def _objects(self) -> Signature:
        """Return everything that is spoken of, with the narrowest type."""
        names = [name for goal in chain.from_iterable(self._goals) for name in goal[1:]]
        names += [name for lock in self._locks for name in (lock.door, lock.key)]
        names += [*self._rooms, *([self._held] if self._held else [])]
        names += self._boxes if Rule.KEY_IN_BOX in self._rules else []
        return tuple((name, _type(name, self._clauses)) for name in dict.fromkeys(names))

    def _constants(self) -> Signature:
        """Return the objects that the actions of a mission of several parts speak of."""
        spoken = {name for goals in self._goals[:-1] for goal in goals for name in goal[1:]}
        return tuple((name, kind) for name, kind in self._objects() if name in spoken)

    def _lock_facts(self) -> Iterator[Atom]:
        locked = {lock.door for lock in self._locks}
        names = self._action_names()
        if "open_door" in names:
            for name, kind in self._objects():
                if kind == "door" and name not in locked:
                    yield ("unlocked", name)
        for lock in self._locks:
            yield ("fits", lock.key, lock.door)
            if not lock.blocked:
                yield ("clear", lock.door)

    def _name_held(self) -> str | None:
        """Return the name for what is carried: as the task calls it if it may be that, else by its own."""
        if self._scene.held is None:
            return None
        for clause in self._clauses:
            if isinstance(clause, PutNextTo | PutNear) and self._scene.holds(clause.what):
                return symbol(clause.what)

        kind, colour = self._scene.held
        if kind == "key":
            for lock in self._locks:
                if lock.key in {f"key_{colour}", "key_any"}:
                    return lock.key
        return f"{kind}_{colour}"

    def _key_at_hand(self) -> bool:
        colours = {lock.key.split("_")[1] for lock in self._locks}
        return any(key_in_reach(colour, self._scene) for colour in colours if colour != "any")

    def _is_shut(self, colour: str) -> bool:
        doors = self._scene.fitting(Description("door", colour))
        return bool(self._locks) and not any(door.state == "open" for door in doors)

    def _boxes_to_search(self) -> list[str]:
        """Return boxes in sight that may hold an unseen key, in a stepwise view; never one that the mission names."""
        if not (self._strategy.stepwise and self._locks) or self._key_at_hand():
            return []
        named = [d for clause in self._clauses for d in _descriptions(clause)]
        boxes = (t for t in self._scene.things if t.kind == "box" and not _is_named(t, named))
        return list(dict.fromkeys(f"box_{box.colour}" for box in boxes))


def _descriptions(clause: Clause) -> tuple[Description, ...]:
    match clause:
        case PutNextTo(what, target) | PutNear(what, target):
            return (what, target)
        case GoTo(what) | PickUp(what) | Open(what) | GetKey(what, _) | Unlock(what):
            return (what,)
        case _:
            return ()


def _is_named(thing: Thing, named: Iterable[Description]) -> bool:
    return any(description.matches(thing.kind, thing.colour) for description in named)


def _type(name: str, clauses: Sequence[Clause]) -> str:
    if name == CUE and GoToMatch() in clauses:
        return "cue"
    kind = name.partition("_")[0]
    return kind if kind in {"door", "key", "box", "goal"} else "thing"
