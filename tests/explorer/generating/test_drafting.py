"""Drafts are sound scenes before anything is proven: what the closure would refuse is rare, and nothing is broken."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest

from explorer.generating.drafting import Drafted
from explorer.generating.knobs import SHAPES
from explorer.generating.plans.keys import tasks_of
from explorer.milestones import Tracker
from explorer.rules.blocks import BLOCKS
from explorer.solver.closure import Arena, closure
from explorer.solver.forbid import possible, restraint
from explorer.solver.proving import faults, prove
from explorer.solver.witness import carry_out
from explorer.tasks.pool import task
from explorer.worlds.voxel import VoxelWorld
from tests.support.explorer.drafts import drafts


@pytest.fixture(scope="module")
def made() -> list[Drafted]:
    return list(drafts(seed=3, count=36))


def test_every_index_has_a_draft_of_its_hops(made: list[Drafted]) -> None:
    assert [len(each.milestones) for each in made] == [each.knobs.hops for each in made]
    assert {each.knobs.shape for each in made} == set(SHAPES)


def test_nothing_is_achieved_at_the_spawn(made: list[Drafted]) -> None:
    for each in made:
        world = VoxelWorld(observe=False)
        world.reset(each.scene)
        tracker = Tracker(each.milestones, each.scene.spawn)
        assert tracker.observe(world.state()) == ()


def test_the_spawn_stands_on_what_cannot_be_dug(made: list[Drafted]) -> None:
    for each in made:
        x, y, z = each.scene.spawn.cell
        around = each.scene.blocks[y - 1, z - 1 : z + 2, x - 1 : x + 2]
        assert not any(BLOCKS[int(code)].breakable for code in around.flat)


def test_milestones_are_tasks_of_the_pool(made: list[Drafted]) -> None:
    for each in made:
        assert all(task(milestone.task).text == milestone.description for milestone in each.milestones)
        assert len({milestone.task for milestone in each.milestones}) == len(each.milestones)


def test_edges_say_why_in_15_to_25_words(made: list[Drafted]) -> None:
    reasons = {edge.reason for each in made for edge in each.graph.edges}
    assert reasons
    assert len(reasons) > 20
    assert all(15 <= len(reason.split()) <= 25 for reason in reasons), reasons


def test_nodes_come_before_what_needs_them(made: list[Drafted]) -> None:
    for each in made:
        place = {node.id: number for number, node in enumerate(each.graph.nodes)}
        assert all(place[edge.before] < place[edge.after] for edge in each.graph.edges)
        assert [node.id for node in each.graph.nodes] == [milestone.milestone_id for milestone in each.milestones]


@pytest.mark.long
def test_the_closure_confirms_nearly_every_draft(made: list[Drafted]) -> None:
    refused = 0
    for each in made:
        arena = Arena(each.scene)
        everything = closure(arena)
        held = all(possible(arena, everything, milestone) for milestone in each.milestones)
        for milestone in each.milestones[:-1]:
            kept = restraint(arena, milestone)
            assert kept is not None
            held &= not possible(arena, closure(arena, kept), each.milestones[-1])
        refused += not held
    assert refused <= 3


def test_the_shell_of_the_arena_is_solid(made: list[Drafted]) -> None:
    solid = np.array([block.solid and not block.breakable for block in BLOCKS])
    for each in made:
        walls = solid[each.scene.blocks]
        assert walls[[0, -1]].all()
        assert walls[:, [0, -1]].all()
        assert walls[:, :, [0, -1]].all()


def test_a_draft_is_the_same_again(made: list[Drafted]) -> None:
    again = next(drafts(seed=3, count=1))
    digests = [hashlib.sha256(each.scene.blocks.tobytes()).hexdigest() for each in (made[0], again)]
    assert digests[0] == digests[1]
    assert (again.text, again.steps, again.milestones) == (made[0].text, made[0].steps, made[0].milestones)


def test_named_rooms_have_a_floor_of_their_own(made: list[Drafted]) -> None:
    assert tasks_of("enter_room")
    floors = {"red": "red_concrete", "blue": "blue_concrete", "brick": "bricks", "quartz": "quartz_block"}
    found = 0
    for each in made:
        for milestone in each.milestones:
            look = milestone.task.removeprefix("enter_room_")
            if look in floors:
                names = {BLOCKS[int(code)].name for code in np.unique(each.scene.blocks)}
                found += floors[look] in names
                assert floors[look] in names
    assert found


def test_every_gadget_is_used_and_proven() -> None:
    wanted = {
        *("lever_door", "button_door", "plate_door", "two_device_door", "timed_door", "handle_door", "wooden_door"),
        *("moat", "chasm", "ledge", "plug", "curtain", "leaves", "trench", "stairs_up", "stairs_down", "maze", "room"),
        "recipe",
    }
    for each in drafts(seed=8, count=150):
        fresh = wanted.intersection(each.gadgets)
        if not fresh:
            continue
        carried = carry_out(each.scene, each.steps)
        if carried.failed is None:
            proven = prove(Arena(each.scene), each.milestones)
            if not list(faults(proven, each.milestones, each.graph)):
                wanted -= fresh
        if not wanted:
            break
    assert not wanted
