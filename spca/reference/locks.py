"""Find the locked doors of a task, judging by the mission, the scene and the skill being learned (pure)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from spca.reference.mission import Clause, Description, GoTo, Open, PickUp, PutNear, PutNextTo, ReachGoal, Unlock
from spca.reference.scene import Scene


@dataclass(frozen=True, slots=True)
class Strategy:
    """A way to formulate a task.

    If ``stepwise``, approaching a thing and acting on the thing are separate actions. If ``contrary``, the guesses
    about locked doors, the rooms of keys and the way to the goal are reversed.
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
        """True if the skill being learned is about locked or blocked doors."""
        return "lock" in self.category


@dataclass(frozen=True, slots=True)
class Lock:
    """A locked door and the key that fits the door, both as PDDL objects.

    ``blocked`` says whether something lies in front of the door. ``bars`` says whether the door bars the agent's way to
    the things that the mission asks for.
    """

    door: str
    key: str
    blocked: bool = False
    bars: bool = False


def symbol(what: Description) -> str:
    """Return the name of a described thing, for PDDL and for arguments of methods: ``ball_any_left``."""
    parts = [what.kind, what.colour or "any"]
    if what.place:
        parts.append(what.place.value)
    return "_".join(parts)


def find_locks(
    clauses: Sequence[Clause], said: Sequence[Clause], context: Context, strategy: Strategy
) -> tuple[Lock, ...]:
    """Return the locked doors that the task deals with.

    These are the locked doors that the mission names. If the mission names no locked door, a door that seems to bar the
    way is the only lock. If no door seems to bar the way, the task has no lock.

    Args:
        clauses: the clauses that have to be done.
        said: all clauses of the mission; a clause outside of ``clauses`` is a means to do ``clauses``.
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
    """Return whether a door that has to be opened is locked.

    If no such door has been seen, guess: a definite door ("the door") is locked if the level is about locks.
    """
    known_doors = context.scene.fitting(door)
    if known_doors:
        return all(thing.state == "locked" for thing in known_doors)
    guess = context.expects_locks and door.definite
    return guess != strategy.contrary


def _find_barring_door(clauses: Sequence[Clause], context: Context, strategy: Strategy) -> Description | None:
    """Return the locked door that the agent has to unlock before doing the clauses, or None.

    The usual guess is a door only if three conditions hold: the level is about locks, some wanted thing has not been
    seen, and :func:`_find_likely_colour` finds a colour. The contrary strategy reverses the guess: None instead of a
    door, and a door instead of None.
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
    """Return the colour of the locked door that most likely bars the way.

    This is the only colour in ``with_key``, or else the only colour in ``locked``. Return None if neither sequence has
    exactly one colour.

    Args:
        locked: the colours of all locked doors.
        with_key: the colours of locked doors for which a key is in reach.
    """
    for colours in (with_key, locked):
        if len(set(colours)) == 1:
            return colours[0]
    return None


def _find_wanted(clause: Clause) -> Description | None:
    """Return the thing that the agent has to reach for a clause; None for doors and for clauses without a thing."""
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
    """Return the lock for a described door; the key's colour is "any" if the door may have several colours."""
    locked_doors = [thing for thing in scene.fitting(door) if thing.state == "locked"]
    colours = {thing.colour for thing in locked_doors}
    if door.colour:
        colours.add(door.colour)
    key = Description("key", colours.pop() if len(colours) == 1 else None)
    is_blocked = any(map(scene.is_blocked, locked_doors))
    return Lock(symbol(door), symbol(key), is_blocked)
