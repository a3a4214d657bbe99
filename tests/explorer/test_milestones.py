"""Milestones latch when all their rules hold, by the true state, and not before."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from explorer.graph import Edge, Graph, Node
from explorer.milestones import (
    AtLeast,
    AtMost,
    InsideBox,
    InventoryHas,
    Milestone,
    NearWithFacing,
    Offset,
    Rule,
    Tracker,
    out_of_order,
)
from explorer.rules.blocks import BLOCKS, code
from explorer.scene import Cell, Mob, Pose, WorldState

SIZE: Cell = (6, 4, 5)
SPAWN = Pose((2, 1, 2))


def state(**changed: object) -> WorldState:
    x, y, z = SIZE
    start = WorldState(
        pose=SPAWN,
        blocks=np.full((y, z, x), code("air"), np.uint16),
        items={},
        chests={},
        mobs=(),
        inventory={},
        held=None,
        placed=frozenset(),
        timers={},
        step=0,
        over="",
    )
    return replace(start, **changed)  # type: ignore[arg-type]


def with_block(at: WorldState, cell: Cell, name: str, step: int) -> WorldState:
    blocks = at.blocks.copy()
    blocks[cell[1], cell[2], cell[0]] = code(name)
    return replace(at, blocks=blocks, step=step)


def tracker(*rules: Rule) -> Tracker:
    return Tracker([Milestone("task", f"m{at}", "", (rule,)) for at, rule in enumerate(rules)], SPAWN)


def holds(rule: Rule, at: WorldState) -> bool:
    return bool(tracker(rule).observe(at))


def test_an_item_counts_with_or_without_its_namespace() -> None:
    assert holds(InventoryHas("minecraft:stick", 2), state(inventory={"stick": 2}))
    assert not holds(InventoryHas("stick", 2), state(inventory={"stick": 1}))


def test_the_bounds_of_a_box_are_inside_it() -> None:
    box = InsideBox((1, 0, -1), (2, 1, 0))
    for cell, inside in (((3, 1, 1), True), ((4, 2, 2), True), ((5, 1, 2), False), ((3, 0, 2), False)):
        assert holds(box, state(pose=Pose(cell))) is inside


@pytest.mark.parametrize(
    ("pose", "expected"),
    [
        (Pose((2, 1, 2), facing=0), True),
        (Pose((2, 1, 2), facing=1), False),
        (Pose((2, 1, 2), facing=0, pitch=3), True),  # straight down, the body still faces the target
        (Pose((2, 1, 2), facing=2, pitch=-3), False),
        (Pose((2, 1, 2), facing=1, aim=(1, 0, 3)), True),  # the crosshair counts: 18 degrees off
        (Pose((2, 1, 2), facing=1, aim=(3, 0, 1)), False),
        (Pose((2, 1, 2), facing=1, aim=(0, -1, 0)), False),
        (Pose((2, 1, 0), facing=0), False),  # 6 away
    ],
)
def test_near_with_facing(pose: Pose, expected: bool) -> None:
    assert holds(NearWithFacing((0, 0, 4)), state(pose=pose)) is expected


def test_the_tolerance_is_the_full_angle() -> None:
    target = (math.tan(math.radians(30)), 0.0, 1.0)
    assert holds(NearWithFacing(target, facing_tolerance=60), state())
    assert not holds(NearWithFacing(target, facing_tolerance=59.9), state())


def test_the_distance_is_three_dimensional() -> None:
    assert holds(NearWithFacing((0, 4, 3)), state())
    assert not holds(NearWithFacing((0, 4, 3.1)), state())


def test_a_target_overhead_is_faced_from_anywhere() -> None:
    assert all(holds(NearWithFacing((0, 2, 0), 5, 1), state(pose=replace(SPAWN, facing=f))) for f in range(4))


def test_at_most_needs_more_to_have_been_there() -> None:
    rule = AtMost("block", "stone", (-9, -9, -9), (9, 9, 9), 0)
    empty = tracker(rule)
    assert not empty.observe(state())
    assert not empty.observe(state(step=1))
    full = tracker(rule)
    there = with_block(state(), (0, 1, 0), "stone", 0)
    assert not full.observe(there)
    assert full.observe(with_block(there, (0, 1, 0), "air", 1)) == ("m0",)


def test_at_least_needs_one_of_the_counted_to_have_been_seen() -> None:
    rule = AtLeast("block", "lever", (-1, -1, -1), (1, 1, 1))
    there = with_block(state(), (1, 1, 1), "lever", 4)
    blind = np.zeros_like(there.blocks)
    watched = tracker(rule)
    assert not watched.observe(there, blind)
    blind[1, 1, 1] = code("air")  # seen before it was placed
    assert not watched.observe(there, blind)
    blind[1, 1, 1] = code("lever", "on")
    assert watched.observe(there, blind) == ("m0",)
    assert dict(watched.latched) == {"m0": 4}


def test_a_mob_is_seen_where_its_cell_is() -> None:
    rule = AtLeast("mob", "cow", (-1, -1, -1), (1, 1, 1))
    there = state(mobs=(Mob("cow_1", "cow", (1, 1, 1)), Mob("cow_2", "cow", (4, 1, 4))))
    blind = np.zeros_like(there.blocks)
    assert not tracker(rule).observe(there, blind)
    blind[1, 4, 4] = code("air")  # the one outside the box
    assert not tracker(rule).observe(there, blind)
    blind[1, 1, 1] = code("air")
    assert tracker(rule).observe(there, blind)


def test_what_is_true_at_the_start_latches_at_step_0() -> None:
    watched = tracker(InventoryHas("stick"), InventoryHas("apple"))
    watched.observe(state(inventory={"stick": 1}))
    watched.observe(state(inventory={"apple": 1}, step=1))
    assert watched.complete
    assert dict(watched.latched) == {"m0": 0, "m1": 1}


def test_what_latched_stays_with_its_first_step() -> None:
    watched = tracker(InventoryHas("stick"))
    for step, count in enumerate((0, 1, 0, 1)):
        watched.observe(state(inventory={"stick": count}, step=step))
    assert dict(watched.latched) == {"m0": 1}


def test_all_rules_of_a_milestone_have_to_hold_at_once() -> None:
    both = Tracker([Milestone("task", "m", "", (InventoryHas("stick"), InsideBox((1, 0, 0), (1, 0, 0))))], SPAWN)
    assert not both.observe(state(inventory={"stick": 1}))
    assert not both.observe(state(pose=Pose((3, 1, 2)), step=1))
    assert both.observe(state(pose=Pose((3, 1, 2)), inventory={"stick": 1}, step=2)) == ("m",)


def test_edges_whose_end_came_first_are_out_of_order() -> None:
    edges = (Edge("a", "b", ""), Edge("b", "c", ""))
    graph = Graph(tuple(Node(name, "task") for name in "abc"), edges)
    assert out_of_order(graph, {"a": 1, "b": 2, "c": 3}) == ()
    assert out_of_order(graph, {"a": 2, "b": 2}) == ()
    assert out_of_order(graph, {"a": 3, "b": 2}) == edges[:1]
    assert out_of_order(graph, {"c": 1}) == edges[1:]


# The naive evaluator: every rule on the whole history, cell by cell.

Seen = NDArray[np.uint16] | None


@dataclass(frozen=True, slots=True)
class Moment:
    state: WorldState
    seen: Seen


def naive(milestones: Sequence[Milestone], history: Sequence[Moment]) -> Mapping[str, int]:
    latched: dict[str, int] = {}
    for end in range(1, len(history) + 1):
        for each in milestones:
            if each.milestone_id not in latched and all(_naive(rule, history[:end]) for rule in each.rules):
                latched[each.milestone_id] = history[end - 1].state.step
    return latched


def _naive(rule: Rule, history: Sequence[Moment]) -> bool:
    now = history[-1].state
    here = [a - b for a, b in zip(now.pose.position, SPAWN.position, strict=True)]
    match rule:
        case InventoryHas():
            return now.inventory.get(rule.item, 0) >= rule.min_count
        case InsideBox():
            return all(rule.min[axis] <= here[axis] <= rule.max[axis] for axis in range(3))
        case NearWithFacing():
            way = [to - at for to, at in zip(rule.target, here, strict=True)]
            looks = ((0, 1), (-1, 0), (0, -1), (1, 0))[now.pose.facing]
            if math.dist(rule.target, here) > rule.max_distance:
                return False
            length = math.hypot(way[0], way[2])
            cosine = (way[0] * looks[0] + way[2] * looks[1]) / length if length else 1.0
            return math.degrees(math.acos(max(-1.0, min(1.0, cosine)))) <= rule.facing_tolerance / 2 + 1e-5
        case AtLeast():
            cells = _counted(rule, now)
            seen = history[-1].seen
            return len(cells) >= rule.min_count and (seen is None or any(_seen(rule, seen, cell) for cell in cells))
        case AtMost():
            before = [len(_counted(rule, moment.state)) for moment in history[:-1]]
            return len(_counted(rule, now)) <= rule.max_count < max(before, default=-1)


def _inside(cell: Cell, low: Offset, high: Offset) -> bool:
    return all(low[axis] <= cell[axis] - SPAWN.cell[axis] <= high[axis] for axis in range(3))


def _counted(rule: AtLeast | AtMost, at: WorldState) -> list[Cell]:
    if rule.kind == "mob":
        return [mob.cell for mob in at.mobs if mob.kind == rule.object and _inside(mob.cell, rule.min, rule.max)]
    return [
        (x, y, z)
        for y in range(SIZE[1])
        for z in range(SIZE[2])
        for x in range(SIZE[0])
        if BLOCKS[at.blocks[y, z, x]].name == rule.object and _inside((x, y, z), rule.min, rule.max)
    ]


def _seen(rule: AtLeast, seen: NDArray[np.uint16], cell: Cell) -> bool:
    was = BLOCKS[seen[cell[1], cell[2], cell[0]]]
    return bool(was.code) if rule.kind == "mob" else was.name == rule.object


CELLS = st.tuples(*(st.integers(0, size - 1) for size in SIZE))
OFFSETS = st.tuples(*(st.one_of(st.integers(-8, 8), st.floats(-8, 8)) for _ in range(3)))
NAMES = st.sampled_from(["stone", "dirt", "lever"])
CODES = st.sampled_from([code("air"), code("stone"), code("dirt"), code("lever"), code("lever", "on")])


@st.composite
def rules(draw: st.DrawFn) -> Rule:
    low, high = draw(OFFSETS), draw(OFFSETS)
    low, high = (tuple(map(pick, low, high)) for pick in (min, max))
    kind, name = draw(st.one_of(st.tuples(st.just("block"), NAMES), st.just(("mob", "cow"))))
    counted = draw(st.integers(0, 3))
    every: tuple[Rule, ...] = (
        InventoryHas(draw(NAMES), counted),
        InsideBox(low, high),
        NearWithFacing(draw(OFFSETS), draw(st.floats(0, 9)), draw(st.floats(0, 350))),
        AtLeast(kind, name, low, high, counted),  # type: ignore[arg-type]
        AtMost(kind, name, low, high, counted),  # type: ignore[arg-type]
    )
    return draw(st.sampled_from(every))


@st.composite
def histories(draw: st.DrawFn) -> list[Moment]:
    moments: list[Moment] = []
    now = state(mobs=tuple(Mob(f"cow_{at}", "cow", draw(CELLS)) for at in range(draw(st.integers(0, 3)))))
    seen = np.zeros_like(now.blocks)
    for step in range(draw(st.integers(1, 8))):
        blocks, seen = now.blocks.copy(), seen.copy()
        for x, y, z in draw(st.lists(CELLS, max_size=4)):
            blocks[y, z, x] = draw(CODES)
        for x, y, z in draw(st.lists(CELLS, max_size=6)):
            seen[y, z, x] = blocks[y, z, x]
        mobs = now.mobs[draw(st.integers(0, 1)) :]
        pose = Pose(draw(CELLS), draw(st.integers(0, 3)))
        inventory = draw(st.dictionaries(NAMES, st.integers(1, 3), max_size=2))
        now = replace(now, blocks=blocks, mobs=mobs, pose=pose, inventory=inventory, step=step)
        moments.append(Moment(now, seen if draw(st.booleans()) else None))
    return moments


@pytest.mark.long
@given(st.lists(st.lists(rules(), min_size=1, max_size=2), min_size=1, max_size=4), histories())
def test_latches_what_the_naive_evaluator_latches(given_rules: list[list[Rule]], history: list[Moment]) -> None:
    milestones = [Milestone("task", f"m{at}", "", tuple(each)) for at, each in enumerate(given_rules)]
    watched = Tracker(milestones, SPAWN)
    for moment in history:
        before = dict(watched.latched)
        new = watched.observe(moment.state, moment.seen)
        assert set(watched.latched) == set(before) | set(new)
    assert dict(watched.latched) == naive(milestones, history)


@given(histories())
def test_a_world_that_changes_its_arrays_in_place_is_counted_alike(history: list[Moment]) -> None:
    rule = AtLeast("block", "stone", (-9, -9, -9), (9, 9, 9), 2)
    apart, shared = tracker(rule), tracker(rule)
    blocks = np.zeros_like(history[0].state.blocks)
    for moment in history:
        blocks[:] = moment.state.blocks
        assert apart.observe(moment.state) == shared.observe(replace(moment.state, blocks=blocks))


def test_who_ends_in_lava_achieves_nothing() -> None:
    tracked = tracker(InsideBox((0, 0, 0), (0, 0, 0)))
    assert tracked.observe(state(step=3, over="lava")) == ()
    assert tracked.observe(state(step=3, over="done")) == ("m0",)
