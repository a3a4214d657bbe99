"""Scenes about which the solver once proved something false; each of those proofs is refuted here by a play."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from math import sqrt
from typing import NamedTuple

import pytest

from explorer.certificate import Certificate
from explorer.errors import RefutedError
from explorer.findings import FaultKind
from explorer.graph import Edge, Graph, Node
from explorer.milestones import AtLeast, Milestone, NearWithFacing, Tracker, cell_offset
from explorer.rules.actions import Primitive, aim, hold
from explorer.rules.items import item
from explorer.scene import Pose, Wire
from explorer.solver.certificate import certify
from explorer.solver.closure import Arena, closure
from explorer.worlds.body import FORWARD, JUMPING, SPRINTING, Body, Solids
from explorer.worlds.voxel import VoxelWorld
from tests.support.explorer.scenes import Builder, Puzzle, hall, having, inside

REASON = "nobody gets to the goal without the key, or so the solver once said of a scene like this one"
AHEAD, RIGHT, LEFT = Primitive.FORWARD, Primitive.RIGHT, Primitive.LEFT
EAST = 270.0
UP_TO_THE_TRAP = (AHEAD,) * 3


class Refuted(NamedTuple):
    """A puzzle of a key and a goal; the codes of a play that needs the key, and of one that does without."""

    puzzle: Puzzle
    witness: tuple[int, ...]
    trick: tuple[int, ...]


def trench(dug: bool) -> Refuted:
    """A trench leads past the room with the door. It is so deep that its ground is the edge of the world."""
    build = hall(7, 6, 24, Pose((3, 1, 2))).fill((1, 1, 5), (2, 4, 17)).fill((3, 1, 10), (5, 4, 10))
    if dug:
        build.fill((1, 0, 5), (1, 1, 17), "air").put("air", (1, 2, 5), (1, 2, 17))
    build.door((4, 1, 10), (5, 1, 4)).put("lever", (5, 1, 4)).item((4, 1, 20), "compass")
    key, goal = inside(build, "open", "key", (3, 1, 11), (5, 4, 16)), having("take", "goal", "compass")
    witness = LEFT, aim(1, 0, 2), Primitive.USE, *(AHEAD,) * 18
    past = RIGHT, RIGHT, *(AHEAD,) * 15, Primitive.JUMP, *(LEFT,) * 3, AHEAD, AHEAD
    return Refuted(Puzzle(build.scene(), (key, goal)), witness, past)


def torch(counted: bool) -> Refuted:
    """The key is a torch, to be placed where a block of earth has to lie: that one has torches takes no earth away."""
    build = hall(9, 8, 12, Pose((4, 1, 2))).fill((1, 1, 7), (7, 2, 10)).item((4, 3, 9), "compass")
    build.inventory = {"dirt": 1, "torch": 4}
    low, high = (cell_offset(cell, build.spawn.cell) for cell in ((1, 1, 1), (7, 5, 6)))
    key = Milestone("place", "key", "", (AtLeast("block", "torch" if counted else "dirt", low, high, 1),))
    step = *(AHEAD,) * 3, hold(item("dirt")), aim(0, 0, 2), Primitive.PLACE
    climb = *step, Primitive.JUMP, Primitive.JUMP, AHEAD, AHEAD
    light = hold(item("torch")), aim(1, -1, 1), Primitive.PLACE
    return Refuted(Puzzle(build.scene(), (key, having("take", "goal", "compass"))), (*light, *climb), climb)


def door_on_a_door(touch: bool) -> Refuted:
    """A door without a wire stands on a door with one, of the same wood: a hand opens both."""
    build = hall(9, 7, 12, Pose((4, 1, 2))).fill((1, 1, 7), (7, 5, 7)).item((4, 1, 9), "compass")
    build.door((4, 1, 7), (1, 1, 4), block="oak_door").put("oak_door", (4, 3 if touch else 4, 7))
    build.fill((1, 1, 3), (2, 5, 5)).fill((2, 1, 4), (2, 3, 4), "dirt").fill((1, 1, 4), (1, 3, 4), "air")
    build.put("lever", (1, 1, 4))
    dig = AHEAD, AHEAD, aim(-2, 1, 0), Primitive.DIG, aim(-2, 0, 0), Primitive.DIG
    witness = *dig, aim(-3, 0, 0), Primitive.USE, *(LEFT,) * 5
    by_hand = *(AHEAD,) * 3, aim(0, 2, 2), Primitive.USE, *(AHEAD,) * 4
    key, goal = having("dig", "key", "dirt"), having("take", "goal", "compass")
    return Refuted(Puzzle(build.scene(), (key, goal)), witness, by_hand)


def trap(opens: bool) -> Builder:
    """A room 2 wide: where one enters, a plate lies on an iron door, with a corridor below."""
    build = hall(9, 10, 16, Pose((4, 5, 2))).fill((1, 1, 1), (7, 4, 14)).fill((1, 5, 5), (7, 8, 14))
    build.fill((3, 5, 5), (4, 6, 7), "air").fill((4, 1, 6), (4, 3, 6), "air").fill((4, 1, 7), (4, 2, 13), "air")
    if opens:
        build.put("iron_door", (4, 4, 6)).wires.append(Wire("trap", ((4, 4, 6),), ((4, 5, 6),), "any", None))
    return build.put("stone_pressure_plate", (4, 5, 6))


def in_the_room(build: Builder, item_name: str, *beyond: int) -> Refuted:
    """What enters the room of :func:`trap` beside its plate, or on it."""
    key = inside(build, "enter", "key", (3, 5, 6), (4, 6, 7))
    puzzle = Puzzle(build.scene(), (key, having("take", "goal", item_name)))
    return Refuted(puzzle, (*UP_TO_THE_TRAP, RIGHT, AHEAD, LEFT, *beyond), (*UP_TO_THE_TRAP, AHEAD, *beyond))


def item_on_a_trap(opens: bool) -> Refuted:
    """An item lies on the plate: one takes it in the middle of a step, which ends below the room."""
    return in_the_room(trap(opens).item((4, 5, 6), "emerald"), "emerald")


def vault_of_a_trap() -> Refuted:
    """The plate also opens a vault in the corridor for good."""
    build = trap(True).door((4, 1, 9), (4, 5, 6)).item((4, 1, 12), "compass")
    return in_the_room(build, "compass", *(AHEAD,) * 6)


def plate_to_place() -> Refuted:
    """One lays the plate on the door oneself, below an item."""
    build = trap(True).put("air", (4, 5, 6)).item((4, 5, 6), "emerald")
    build.wires.clear()
    build.inventory = {"stone_pressure_plate": 1}
    puzzle, witness, trick = in_the_room(build, "emerald")
    lay = hold(item("stone_pressure_plate")), aim(0, -1, 1), Primitive.PLACE
    return Refuted(puzzle, witness, (*trick[:-1], *lay, trick[-1]))


TWINS = trench, torch, door_on_a_door, item_on_a_trap
REFUTED = {make.__name__: make(True) for make in TWINS} | {
    make.__name__: make() for make in (vault_of_a_trap, plate_to_place)
}


def latched(puzzle: Puzzle, codes: Sequence[int]) -> list[str]:
    """Return what a play achieves."""
    world, tracker = VoxelWorld(), Tracker(puzzle.milestones, puzzle.scene.spawn)
    world.reset(puzzle.scene)
    for code in codes:
        world.step(code)
        tracker.observe(world.state(), world.view().known)
    return list(tracker.latched)


def certified(puzzle: Puzzle, codes: Sequence[int]) -> Certificate:
    nodes = [Node(each.milestone_id, each.task) for each in puzzle.milestones]
    edges = tuple(Edge(before.id, after.id, REASON) for before, after in pairwise(nodes))
    return certify(puzzle.scene, puzzle.milestones, Graph(tuple(nodes), edges), codes)


@pytest.mark.parametrize("case", REFUTED.values(), ids=REFUTED)
def test_a_goal_that_is_reached_without_the_key_is_refused(case: Refuted) -> None:
    puzzle, witness, trick = case
    assert latched(puzzle, witness) == ["key", "goal"]
    assert latched(puzzle, trick) == ["goal"]
    with pytest.raises(RefutedError) as caught:
        certified(puzzle, witness)
    assert (FaultKind.UNNECESSARY, "key") in [(each.kind, each.milestone) for each in caught.value.findings]


@pytest.mark.parametrize("make", TWINS, ids=lambda make: make.__name__)
def test_its_honest_twin_is_certified(make: Callable[[bool], Refuted]) -> None:
    puzzle, witness, trick = make(False)
    assert latched(puzzle, trick) != ["goal"]
    assert certified(puzzle, witness).milestones[-1].after == ("key",)


def test_a_plan_of_a_single_step_that_achieves_both_is_not_below_the_bound() -> None:
    build = hall(9, 16, 9, Pose((4, 11, 4), 0, 3)).fill((1, 10, 1), (7, 14, 7)).put("clay", (4, 10, 4))
    build.put("air", (4, 11, 4), (4, 12, 4))
    key, goal = having("dig", "key", "clay_ball"), inside(build, "fall", "goal", (1, 1, 1), (7, 3, 7))
    puzzle = Puzzle(build.scene(), (key, goal))
    assert latched(puzzle, (Primitive.DIG,)) == ["key", "goal"]
    assert certified(puzzle, (Primitive.DIG,)).lower_bound == 1


def test_a_place_that_is_exactly_near_enough_counts_for_the_bound() -> None:
    build = Builder((5, 6, 12), Pose((2, 1, 1))).fill((1, 1, 2), (3, 4, 10)).fill((2, 1, 2), (2, 4, 8), "air")
    goal = Milestone("find", "goal", "", (NearWithFacing((1.0, 1.0, 8.0), sqrt(3), 360.0),))
    puzzle = Puzzle(build.scene(), (goal,))
    walk = (AHEAD,) * 7
    assert latched(puzzle, walk) == ["goal"]
    assert certified(puzzle, walk).lower_bound <= len(walk)


@pytest.mark.parametrize("gap", [1, 2, 3])
def test_a_body_rises_beyond_the_edge_of_a_low_corridor(gap: int) -> None:
    top, edge, landing = 3, 21, 21 + gap
    build = Builder((landing + 6, 10, 3), Pose((2, top, 1))).fill((1, 1, 1), (edge - 1, top - 1, 1))
    build.fill((1, top + 2, 1), (edge - 1, top + 2, 1)).fill((landing, 1, 1), (landing + 4, top, 1))
    scene = build.scene()
    body = Body(Solids(scene.blocks), scene.spawn.cell)
    for _ in range(160):
        jumps = not edge - 2.5 <= body.x < edge - 0.8
        body.tick(FORWARD | SPRINTING | JUMPING * jumps, EAST)
        if body.on_ground and body.x >= landing:
            break
    x, y, z = body.cell
    assert (x >= landing, y) == (True, top + 1)
    assert closure(Arena(scene)).cells[y, z, x]
