"""Which locked doors a task has to deal with, judged from the mission, the scene and the skill being learned (pure)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from spca.reference.mission import Clause, Description, GoTo, Open, PickUp, PutNear, PutNextTo, ReachGoal, Unlock
from spca.reference.scene import Scene


@dataclass(frozen=True, slots=True)
class Strategy:
    """A way to look at a task.

    ``stepwise``: approach and act apart; ``contrary``: the other view of what bars the way.
    """

    stepwise: bool = False
    contrary: bool = False


@dataclass(frozen=True, slots=True)
class Context:
    """What is known besides the mission: the scene, and the category of the level in lower case."""

    scene: Scene
    category: str

    @property
    def expects_locks(self) -> bool:
        """Whether the skill being learned is about doors that are locked or blocked."""
        return "lock" in self.category


@dataclass(frozen=True, slots=True)
class Lock:
    """A locked door with the key for it; ``bars``: it stands between the agent and what is wanted."""

    door: str
    key: str
    blocked: bool = False
    bars: bool = False


def symbol(what: Description) -> str:
    """Return the PDDL object, and Python argument, for a description: ``ball_any_left``."""
    parts = [what.kind, what.colour or "any"]
    if what.place:
        parts.append(what.place.value)
    return "_".join(parts)


def find_locks(
    clauses: Sequence[Clause], said: Sequence[Clause], context: Context, strategy: Strategy
) -> tuple[Lock, ...]:
    """Return the locked doors that the task deals with.

    They are those that the mission names, else one that seems to bar the way.

    Args:
        clauses: what has to be done.
        said: every clause of the mission; one that is not among ``clauses`` is a means to them.
    """
    named: dict[str, Lock] = {}
    for clause in said:
        match clause:
            case Unlock(door):
                bars = clause not in clauses
                if not any(thing.state != "locked" for thing in context.scene.fitting(door)):
                    named[symbol(door)] = replace(_lock(door, context.scene), bars=bars)
            case Open(what) if what.kind == "door" and _is_locked(what, context, strategy):
                named.setdefault(symbol(what), _lock(what, context.scene))
    if named or any(isinstance(clause, Unlock) for clause in said):
        return tuple(named.values())
    barring = _barring_door(clauses, context, strategy)
    return () if barring is None else (replace(_lock(barring, context.scene), bars=True),)


def _is_locked(door: Description, context: Context, strategy: Strategy) -> bool:
    """Return whether a door to be opened is locked: as far as is known, else as the level's skill suggests."""
    known = context.scene.fitting(door)
    if known:
        return all(thing.state == "locked" for thing in known)
    return (context.expects_locks and door.definite) != strategy.contrary


def _barring_door(clauses: Sequence[Clause], context: Context, strategy: Strategy) -> Description | None:
    """Return the locked door to deal with before the rest of the mission, if there seems to be one.

    Usually that is the only locked door known, or the only one whose key is, and only while what is wanted has not
    been seen; the contrary view is to deal with one where none would be, and with none where one would be.
    """
    scene = context.scene
    wanted = [what for what in map(_find_wanted, clauses) if what is not None]
    seen = all(map(scene.fitting, wanted))
    locked = [door.colour for door in scene.find_locked_doors()]
    with_key = [colour for colour in locked if key_in_reach(colour, scene)]
    likely = next((colours for colours in (with_key, locked) if len(set(colours)) == 1), None)
    usual = likely is not None and context.expects_locks and not seen
    if not wanted or usual == strategy.contrary:
        return None
    if locked:
        return Description("door", (likely or with_key or locked)[0])
    return Description("door") if context.expects_locks and not seen else None


def _find_wanted(clause: Clause) -> Description | None:
    """Return what the agent has to get at for a clause."""
    match clause:
        case GoTo(what) | PickUp(what) | PutNextTo(what, _) | PutNear(what, _) if what.kind != "door":
            return what
        case ReachGoal():
            return Description("goal", "green")
        case _:
            return None


def key_in_reach(colour: str, scene: Scene) -> bool:
    """Return whether a key of that colour is held or has been seen."""
    key = Description("key", colour)
    return scene.holds(key) or bool(scene.fitting(key))


def _lock(door: Description, scene: Scene) -> Lock:
    doors = [thing for thing in scene.fitting(door) if thing.state == "locked"]
    colours = {thing.colour for thing in doors}
    if door.colour:
        colours.add(door.colour)
    key = Description("key", colours.pop() if len(colours) == 1 else None)
    return Lock(symbol(door), symbol(key), any(map(scene.is_blocked, doors)))
