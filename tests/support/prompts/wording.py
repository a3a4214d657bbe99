"""The words in which the adversarial prompts are written: levels, instructions, worlds and cases."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from minigrid.envs.babyai.core import verifier
from minigrid.envs.babyai.core.verifier import Instr

from spca.contracts import LevelInfo
from tests.support.prompts.answers import plan
from tests.support.prompts.drawn import Drawing
from tests.support.prompts.stage import Case, strict_source

FIND: Final = LevelInfo("pickup_only", "Find a described object and pick it up", "Pickup Dist")
GO: Final = LevelInfo("static_obstacle_navigation", "Reach a named object or door", "Go To")
DOORS: Final = LevelInfo("open_door", "Open doors that are not locked, alone or on the way to something", "Open Door")
UNLOCK: Final = LevelInfo("unlock_door", "Find the matching key and unlock a door", "Unlock")
BEYOND: Final = LevelInfo("unlock_pickup", "Get past a locked door to pick an object up", "Unlock Pickup")
BLOCKED: Final = LevelInfo(
    "obstacle_blocking", "Move what blocks the way before unlocking and fetching", "Blocked Unlock Pickup"
)
PLACE: Final = LevelInfo("object_placement", "Put one object down next to another", "Put Next")
STEPS: Final = LevelInfo("composite_skills", "Follow instructions made of several steps", "Synth Seq")
GOAL: Final = LevelInfo("goal_navigation", "Walk to the green goal square", "Crossing")

_PARTS: Final[Any] = verifier


def thing_of(words: str) -> Any:
    kind, _, colour = words.partition(" ")
    return _PARTS.ObjDesc(kind, colour or None)


def go_to(words: str) -> Any:
    return _PARTS.GoToInstr(thing_of(words))


def take(words: str, *, strict: bool = False) -> Any:
    return _PARTS.PickupInstr(thing_of(words), strict=strict)


def open_it(words: str, *, strict: bool = False) -> Any:
    return _PARTS.OpenInstr(thing_of(words), strict=strict)


def then(first: Instr, later: Instr) -> Any:
    return _PARTS.BeforeInstr(first, later)


def put(words: str, target: str) -> Any:
    return _PARTS.PutNextInstr(thing_of(words), thing_of(target))


def drawn(
    mission: str,
    rows: str,
    judge: Callable[[], Instr] | None = None,
    *,
    held: str = "",
    steps: int = 400,
    **things: str,
) -> Drawing:
    return Drawing(mission, tuple(rows.split()), things, judge, held, steps)


def planned(name: str, info: LevelInfo, world: Drawing, good: str, bad: str) -> Case:
    return Case(name, "planner", "fresh", world, info, plan(good), plan(bad))


def coded(name: str, info: LevelInfo, world: Drawing | tuple[str, int], steps: str, missing: str, bad: str) -> Case:
    """A case whose library lacks one action; it is good as the library has it."""
    good = strict_source(missing)
    return Case(name, "coder", "first", world, info, good, bad, without=(missing,), planner=(plan(steps),))
