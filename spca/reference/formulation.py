"""Turn a mission and a scene into a planning task: choose the objects, facts, actions and goals (pure).

A *part* is a group of the mission's clauses; the parts have to be done in order. :mod:`spca.reference.sequencing` adds
this order to the planning task.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Set
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

STRATEGIES: Final = (
    Strategy(),
    Strategy(stepwise=True),
    Strategy(contrary=True),
    Strategy(stepwise=True, contrary=True),
)
"""The strategies in the order of use; after each failed plan, the next strategy is tried."""


def formulate(stages: Stages, context: Context, strategy: Strategy) -> tuple[Domain, Problem]:
    """Return the planning domain and problem for a mission of at least one clause."""
    parts = _split_into_parts(stages)
    clauses = tuple(chain.from_iterable(parts))
    all_clauses = tuple(chain.from_iterable(stages))

    key_rooms: tuple[str, ...] = ()
    if not strategy.contrary:
        key_rooms = tuple(clause.room for clause in all_clauses if isinstance(clause, GetKey))

    locks = find_locks(clauses, all_clauses, context, strategy)
    task = _Task(context, strategy, parts, locks, key_rooms)
    return task.make_domain(), task.make_problem()


def _split_into_parts(stages: Stages) -> Stages:
    """Return the parts of the mission, in the order in which they have to be done.

    If the mission asks for the goal square, reaching the square is the last part, because it ends the episode. If such
    a mission has exactly one Unlock clause, the Unlock and GetKey clauses are left out. These clauses only describe the
    way to the goal. The preconditions of the actions already require the key and the door before the goal.
    """
    clauses = tuple(chain.from_iterable(stages))
    goals = tuple(clause for clause in clauses if isinstance(clause, ReachGoal))
    if not goals:
        return stages

    left_out: tuple[type[Clause], ...] = (ReachGoal,)
    unlock_count = sum(isinstance(clause, Unlock) for clause in clauses)
    if unlock_count == 1:
        left_out = (ReachGoal, GetKey, Unlock)

    parts = []
    for stage in stages:
        part = tuple(clause for clause in stage if not isinstance(clause, left_out))
        if part:
            parts.append(part)
    return (*parts, goals[:1])


class _Task:
    """The planning task for a mission in a scene; makes the domain and the problem."""

    def __init__(
        self, context: Context, strategy: Strategy, parts: Stages, locks: Sequence[Lock], key_rooms: Sequence[str]
    ) -> None:
        """Choose the goals of the task and the rules that refine the actions.

        Args:
            parts: the clauses of each part of the mission, in the order of the parts.
            locks: the locked doors that the task deals with.
            key_rooms: the colours of the doors behind which, according to the mission, a key lies.
        """
        self._scene = context.scene
        self._category = context.category
        self._strategy = strategy
        self._parts = parts
        self._locks = tuple(locks)
        self._clauses = tuple(chain.from_iterable(parts))

        # The next attributes depend on the attributes before them.
        only_clause = self._clauses[0] if len(self._clauses) == 1 else None
        self._announces = isinstance(only_clause, GoTo)
        self._picks_alone = isinstance(only_clause, PickUp) and "pickup_only" in context.category
        self._held = self._name_held()

        self._key_room_doors: tuple[str, ...] = ()
        if not self._is_key_in_reach():
            self._key_room_doors = tuple(f"door_{colour}" for colour in key_rooms if self._is_shut(colour))

        self._boxes = self._list_boxes_to_search()
        self._goals = tuple(map(self._list_goals, parts))
        self._waits = self._find_first_parts()
        self._rules = frozenset(self._choose_rules())

    def make_domain(self) -> Domain:
        plain_actions = vocabulary.refine_actions(self._choose_actions(), self._rules)
        actions = tuple(sequence_action(action, self._goals, self._waits) for action in plain_actions)
        predicates = {name: vocabulary.PREDICATES[name] for name in vocabulary.find_used_predicates(actions)}
        for action in actions:
            predicates.update(sequence_predicates(action, vocabulary.PREDICATES))
        return Domain(DOMAIN_NAME, vocabulary.TYPES, self._list_constants(), predicates, actions)

    def make_problem(self) -> Problem:
        """Return the problem; its initial facts use only predicates that the domain declares."""
        constants = {name for name, _ in self._list_constants()}
        objects = tuple((name, kind) for name, kind in self._list_objects() if name not in constants)
        hand: Atom = ("holding", AGENT, self._held) if self._held else ("hand_empty", AGENT)
        facts = (hand, ("roaming", AGENT), *self._list_lock_facts(), *wait_facts(self._waits))

        predicates = self.make_domain().predicates
        init = tuple(fact for fact in facts if fact[0] in predicates)
        goals: list[Atom] = []
        for part in range(len(self._goals)):
            goals += list_counted_goals(self._goals, part)
        return Problem("mission", ((AGENT, "agent"), *objects), init, tuple(goals))

    def _list_goals(self, part: Iterable[Clause]) -> tuple[Atom, ...]:
        """Return the facts that hold once all clauses of the part are done, without duplicates."""
        facts = map(self._goal_fact, part)
        return tuple(dict.fromkeys(facts))

    def _find_first_parts(self) -> dict[tuple[str, str], int]:
        """Return the first part that needs an action on an object, keyed by (action, object).

        The parts are counted from 0.
        """
        first_parts: dict[tuple[str, str], int] = {}
        for part, clauses in enumerate(self._parts):
            for clause in clauses:
                thing = self._goal_fact(clause)[1]
                for action in sorted(self._list_actions(clause)):
                    first_parts.setdefault((action, thing), part)
        return first_parts

    def _list_actions(self, clause: Clause) -> set[str]:
        """Return the names of the actions that may be needed to do a clause.

        ``fetch_key`` is left out, because a key may be fetched before the clause's part begins.
        """
        actions = set(self._list_achievers(clause))
        if isinstance(clause, Open | Unlock) and self._goal_fact(clause)[1].startswith("door"):
            actions.add("unlock_door")
        if self._strategy.stepwise:
            actions |= _list_approaches(actions)
        return actions

    def _goal_fact(self, clause: Clause) -> Atom:
        """Return the fact that holds once the clause is done; the first argument of the fact is the clause's object."""
        match clause:
            case GoTo(what):
                fact: Atom = ("announced" if self._announces else "visited", symbol(what))
            case PickUp(what) | GetKey(what, _):
                fact = ("picked_alone" if self._picks_alone else "picked", symbol(what))
            case Open(what) | Unlock(what):
                fact = ("opened", symbol(what))
            case PutNextTo(what, target):
                fact = ("placed", symbol(what), symbol(target))
            case PutNear(what, target):
                fact = ("placed_near", symbol(what), symbol(target))
            case ReachGoal():
                fact = ("reached", GOAL)
            case GoToMatch():
                fact = ("matched", CUE)
        return fact

    def _choose_rules(self) -> Iterator[Rule]:
        """Yield the rules that refine the actions for this mission, scene and strategy."""
        if self._may_visit_carried_thing():
            yield Rule.EMPTY_HANDED
        if any(lock.bars for lock in self._locks):
            yield Rule.BARRED
        if self._key_room_doors:
            yield Rule.KEY_IN_ROOM
        elif self._boxes:
            yield Rule.KEY_IN_BOX
        if self._strategy.stepwise:
            yield Rule.STEPWISE

    def _may_visit_carried_thing(self) -> bool:
        """Return whether the mission may ask to go to a thing that the agent carries or has to pick up."""
        carried = [clause.what for clause in self._clauses if isinstance(clause, PickUp | PutNextTo | PutNear)]
        if self._scene.held:
            carried.append(Description(*self._scene.held))
        visited = [clause.what for clause in self._clauses if isinstance(clause, GoTo)]
        return any(target.overlaps(thing) for target in visited for thing in carried)

    def _choose_actions(self) -> frozenset[str]:
        """Return the names of the actions that the domain declares."""
        names = set(chain.from_iterable(map(self._list_achievers, self._clauses)))
        if self._announces:
            names.add("announce")
        if self._locks:
            names |= {"fetch_key", "unlock_door"}
        if self._key_room_doors:
            names.add("open_door")
        if Rule.KEY_IN_BOX in self._rules:
            names.add("open_box")
        if any(lock.blocked for lock in self._locks):
            names.add("clear_blocker")
        if self._held or names & {"fetch_key", "pick_up_object", "pick_up_alone"}:
            names.add("drop_held")
        if self._strategy.stepwise:
            names |= _list_approaches(names)
            if any(isinstance(clause, GoTo) for clause in self._clauses):
                # If no other action ends a visit, announcing the visited thing lets the agent roam again.
                names.add("announce")
        return frozenset(names)

    def _list_achievers(self, clause: Clause) -> tuple[str, ...]:
        """Return the names of the actions that do a clause, in the order in which the actions are used."""
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
                names = (self._choose_crossing(way),)
            case GoToMatch():
                names = ("observe_cue", "go_to_match")
        return names

    def _choose_crossing(self, way: Way) -> str:
        """Return the name of the action that reaches the goal square.

        Usually this is ``reach_goal`` if the way to the goal is plain. Ways with hazards, with moving obstacles or
        through rooms each have their own action. A contrary strategy uses ``traverse_rooms`` for a plain way, and
        ``reach_goal`` for every other way.
        """
        is_hazardous = way is Way.LAVA or "hazard" in self._category or self._scene.lava
        if "dynamic" in self._category:
            special = "cross_moving_obstacles"
        elif is_hazardous:
            special = "cross_hazard"
        elif way is Way.ROOMS:
            special = "traverse_rooms"
        else:
            return "traverse_rooms" if self._strategy.contrary else "reach_goal"
        return "reach_goal" if self._strategy.contrary else special

    def _list_objects(self) -> Signature:
        """Return the pair (object, most specific type) for each object of the task, without the agent.

        These are the objects of the goals and locks, the doors of key rooms, the carried thing and the boxes to search.
        """
        names: list[str] = []
        for fact in chain.from_iterable(self._goals):
            names += fact[1:]
        for lock in self._locks:
            names += [lock.door, lock.key]
        names += self._key_room_doors
        if self._held:
            names.append(self._held)
        if Rule.KEY_IN_BOX in self._rules:
            names += self._boxes
        return tuple((name, _find_type(name, self._clauses)) for name in dict.fromkeys(names))

    def _list_constants(self) -> Signature:
        """Return the pair (object, type) for each object that the domain declares as a constant.

        These are the objects in the goals of all parts except the last, because actions for later parts refer to these
        goals.
        """
        names: set[str] = set()
        for fact in chain.from_iterable(self._goals[:-1]):
            names.update(fact[1:])
        return tuple((name, kind) for name, kind in self._list_objects() if name in names)

    def _list_lock_facts(self) -> Iterator[Atom]:
        """Yield the initial facts about doors.

        The facts say which doors are unlocked, which key fits which locked door, and which locked doors are clear (not
        blocked).
        """
        locked_doors = {lock.door for lock in self._locks}
        if "open_door" in self._choose_actions():
            for name, kind in self._list_objects():
                if kind == "door" and name not in locked_doors:
                    yield ("unlocked", name)
        for lock in self._locks:
            yield ("fits", lock.key, lock.door)
            if not lock.blocked:
                yield ("clear", lock.door)

    def _name_held(self) -> str | None:
        """Return the PDDL object for the carried thing, or None if the hand is empty.

        If a clause may ask to put the thing somewhere, use the clause's name for the thing. Otherwise, if the thing may
        be the key of a lock, use the lock's name for the key.
        """
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

    def _is_key_in_reach(self) -> bool:
        """Return whether the agent holds or has seen a key for one of the task's locks.

        Locks whose key has no known colour are ignored.
        """
        colours = {lock.key.split("_")[1] for lock in self._locks}
        return any(key_in_reach(colour, self._scene) for colour in colours if colour != "any")

    def _is_shut(self, colour: str) -> bool:
        """Return whether the task has locks, and no door of this colour is known to be open."""
        doors = self._scene.fitting(Description("door", colour))
        return bool(self._locks) and not any(door.state == "open" for door in doors)

    def _list_boxes_to_search(self) -> list[str]:
        """Return the names of the known boxes in which a key may lie, without the boxes that the mission may mean.

        Return an empty list if the strategy is not stepwise, if the task has no locks, or if a key is in reach.
        """
        if not self._strategy.stepwise or not self._locks or self._is_key_in_reach():
            return []
        descriptions = [description for clause in self._clauses for description in _list_descriptions(clause)]
        names: list[str] = []
        for thing in self._scene.things:
            if thing.kind == "box" and not _is_described(thing, descriptions):
                names.append(f"box_{thing.colour}")
        return list(dict.fromkeys(names))


def _list_approaches(actions: Set[str]) -> set[str]:
    """Return the names of the actions that go to the things which ``actions`` pick up or open.

    Only stepwise strategies need these actions.
    """
    approaches = set()
    if actions & {"pick_up_object", "pick_up_alone"}:
        approaches.add("go_to_object")
    if "open_door" in actions:
        approaches.add("go_to_door")
    return approaches


def _list_descriptions(clause: Clause) -> tuple[Description, ...]:
    """Return the descriptions of things in a clause."""
    match clause:
        case PutNextTo(what, target) | PutNear(what, target):
            return (what, target)
        case GoTo(what) | PickUp(what) | Open(what) | GetKey(what, _) | Unlock(what):
            return (what,)
        case _:
            return ()


def _is_described(thing: Thing, descriptions: Iterable[Description]) -> bool:
    return any(description.matches(thing.kind, thing.colour) for description in descriptions)


def _find_type(name: str, clauses: Sequence[Clause]) -> str:
    """Return the PDDL type of an object, judged by the first word of the object's name."""
    if name == CUE and GoToMatch() in clauses:
        return "cue"
    kind = name.partition("_")[0]
    return kind if kind in {"door", "key", "box", "goal"} else "thing"
