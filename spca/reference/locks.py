"""Find the locked doors of a task, judging by the mission, the scene and the skill being learned (pure)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from spca.reference.mission import Clause, Description, GoTo, Open, PickUp, PutNear, PutNextTo, ReachGoal, Unlock
from spca.reference.scene import Scene


@dataclass(frozen=True, slots=True)
class Strategy:
    """A choice of how to formulate a planning task.

    Attributes:
        stepwise: approaching a thing and acting on the thing are separate actions.
        contrary: the guesses about locked doors, about rooms with keys and about the way to the goal are reversed.
    """

    stepwise: bool = False
    contrary: bool = False


@dataclass(frozen=True, slots=True)
class Context:
    """The scene, and the category of the level in lower case."""

    scene: Scene
    category: str

    @property
    def expects_locks(self) -> bool:
        """True if the level's category is about locked or blocked doors."""
        return "lock" in self.category


@dataclass(frozen=True, slots=True)
class Lock:
    """A locked door and the key that fits the door.

    Attributes:
        door: the PDDL object for the door.
        key: the PDDL object for the key.
        blocked: whether something lies in front of the door.
        bars: whether the agent has to pass the door to reach the things that the mission asks for.
    """

    door: str
    key: str
    blocked: bool = False
    bars: bool = False


def symbol(what: Description) -> str:
    """Return the name of a described thing, such as ``ball_any_left``.

    The name is used as a PDDL object and as an argument of the agent's methods.
    """
    parts = [what.kind, what.colour or "any"]
    if what.place:
        parts.append(what.place.value)
    return "_".join(parts)


def find_locks(
    clauses: Sequence[Clause], said: Sequence[Clause], context: Context, strategy: Strategy
) -> tuple[Lock, ...]:
    """Return the locked doors that the task deals with.

    If the mission names a locked door or has an Unlock clause, these are the locked doors that the mission names.
    Otherwise the only lock is a door that seems to bar the agent's way; without such a door, there is no lock.

    Args:
        clauses: the clauses that have to be done.
        said: all clauses of the mission; the clauses missing from ``clauses`` only describe how to do ``clauses``.
    """
    named: dict[str, Lock] = {}
    for clause in said:
        match clause:
            case Unlock(door):
                is_known_unlocked = any(thing.state != "locked" for thing in context.scene.fitting(door))
                if not is_known_unlocked:
                    lock = _make_lock(door, context.scene)
                    named[lock.door] = replace(lock, bars=clause not in clauses)
            case Open(what) if what.kind == "door" and _is_locked(what, context, strategy):
                lock = _make_lock(what, context.scene)
                named.setdefault(lock.door, lock)
    if named or any(isinstance(clause, Unlock) for clause in said):
        return tuple(named.values())

    barring_door = _find_barring_door(clauses, context, strategy)
    if barring_door is None:
        return ()
    return (replace(_make_lock(barring_door, context.scene), bars=True),)


def _is_locked(door: Description, context: Context, strategy: Strategy) -> bool:
    """Return whether all known doors that fit the description are locked.

    If no such door has been seen, guess. The usual guess is True if the level is about locks and the description is
    definite ("the door"). A contrary strategy reverses the guess.
    """
    known_doors = context.scene.fitting(door)
    if known_doors:
        return all(thing.state == "locked" for thing in known_doors)
    guess = context.expects_locks and door.definite
    return guess != strategy.contrary


def _find_barring_door(clauses: Sequence[Clause], context: Context, strategy: Strategy) -> Description | None:
    """Return the locked door that the agent has to unlock before doing the clauses, or None if there seems to be no
    such door.

    The usual guess is a door if three conditions hold, and None otherwise. The level is about locks, some wanted thing
    has not been seen, and :func:`_find_likely_colour` finds a colour. A contrary strategy guesses None instead of a
    door, and a door, if possible, instead of None.
    """
    scene = context.scene
    wanted = [what for what in map(_find_wanted, clauses) if what is not None]
    if not wanted:
        return None

    all_wanted_seen = all(scene.fitting(what) for what in wanted)
    may_be_barred = context.expects_locks and not all_wanted_seen
    locked = [door.colour for door in scene.find_locked_doors()]
    with_key = [colour for colour in locked if key_in_reach(colour, scene)]
    likely = _find_likely_colour(locked, with_key)

    usual_guess = may_be_barred and likely is not None
    if usual_guess == strategy.contrary:
        return None
    if likely is not None:
        return Description("door", likely)
    if locked:
        preferred = with_key or locked
        return Description("door", preferred[0])
    return Description("door") if may_be_barred else None


def _find_likely_colour(locked: Sequence[str], with_key: Sequence[str]) -> str | None:
    """Return the colour of the locked door that most likely bars the agent's way.

    If all colours in ``with_key`` are the same, return this colour. Otherwise, if all colours in ``locked`` are the
    same, return that colour. Return None in all other cases.

    Args:
        locked: the colours of all locked doors.
        with_key: the colours of the locked doors for which the agent holds or has seen a key.
    """
    for colours in (with_key, locked):
        if len(set(colours)) == 1:
            return colours[0]
    return None


def _find_wanted(clause: Clause) -> Description | None:
    """Return the thing that a clause asks to go to, pick up or put down, or the goal square.

    Return None if the thing is a door, and for all other clauses.
    """
    match clause:
        case GoTo(what) | PickUp(what) | PutNextTo(what, _) | PutNear(what, _) if what.kind != "door":
            return what
        case ReachGoal():
            return Description("goal", "green")
        case _:
            return None


def key_in_reach(colour: str, scene: Scene) -> bool:
    """Return whether the agent holds or has seen a key of this colour."""
    key = Description("key", colour)
    return scene.holds(key) or bool(scene.fitting(key))


def _make_lock(door: Description, scene: Scene) -> Lock:
    """Return the lock for a described door; the colour of the key is "any" if the door's colour is not certain."""
    locked_doors = [thing for thing in scene.fitting(door) if thing.state == "locked"]
    colours = {thing.colour for thing in locked_doors}
    if door.colour:
        colours.add(door.colour)
    key = Description("key", colours.pop() if len(colours) == 1 else None)
    is_blocked = any(map(scene.is_blocked, locked_doors))
    return Lock(symbol(door), symbol(key), is_blocked)
