"""What the world of the explorer keeps: the rules of docs/explorer_rules.md, equal replays.

Derive a test class from :class:`WorldSuite`. The scenes are small halls.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import fields, replace

import numpy as np
import pytest

from explorer.errors import ActionError, SceneError
from explorer.rules.actions import Primitive, aim, craft, hold
from explorer.rules.blocks import AIR, BLOCKS, code
from explorer.rules.items import item
from explorer.rules.moves import move
from explorer.rules.recipes import recipe
from explorer.rules.state import Still, doors_of
from explorer.scene import Cell, Pose, Scene, StepResult, WorldState
from explorer.view import View
from explorer.worlds.state_hash import state_hash
from explorer.worlds.voxel import VoxelWorld
from tests.support.explorer.rule_cases import (
    AHEAD,
    ATTACK,
    BACK,
    BELOW,
    CASES,
    DIG,
    DONE,
    DROP,
    FORWARD,
    JUMP,
    LEFT,
    LOOK_DOWN,
    LOOK_UP,
    PLACE,
    RIGHT,
    TURN_LEFT,
    TURN_RIGHT,
    USE,
    WAIT,
)
from tests.support.explorer.scenes import Puzzle, emerald, hall, handle, moat, plug

MOVES = (FORWARD, BACK, LEFT, RIGHT, JUMP)
COMMON = (WAIT, *MOVES * 3, TURN_LEFT, TURN_RIGHT, LOOK_UP, LOOK_DOWN, USE, USE, DIG, ATTACK, PLACE, AHEAD, BELOW, DROP)
SCENES = {"emerald": emerald, "moat": moat, "plug": plug, "handle": handle}


def codes(count: int, seed: int) -> list[int]:
    """Primitives at random, some of them with an operand."""
    drawn = random.Random(seed)
    named = [hold(item(name)) for name in ("oak_planks", "oak_log", "lever", "wooden_pickaxe")]
    named += [craft(recipe(name)) for name in ("oak_planks", "stick", "wooden_pickaxe", "chest")]
    near = [(x, y, z) for x in (-1, 0, 1, 2) for y in (-1, 0, 1) for z in (-2, -1, 0, 1)]
    kinds = (lambda: drawn.choice(COMMON), lambda: drawn.choice(named), lambda: aim(*drawn.choice(near)))
    return [drawn.choices(kinds, (3, 1, 1))[0]() for _ in range(count)]


def unlike(before: WorldState, after: WorldState) -> str:
    """The hash of a state as if it were at the step of another."""
    return state_hash(replace(after, step=before.step))


def said(view: View) -> tuple[object, ...]:
    """All of a view but what is known."""
    return tuple(getattr(view, each.name) for each in fields(view) if each.name != "known")


class WorldSuite:
    """All the rules."""

    @pytest.fixture(params=SCENES)
    def scene(self, request: pytest.FixtureRequest) -> Scene:
        puzzle: Puzzle = SCENES[request.param]()
        return puzzle.scene

    @pytest.fixture
    def world(self) -> VoxelWorld:
        return VoxelWorld()

    def test_the_first_view(self, world: VoxelWorld, scene: Scene) -> None:
        view, state = world.reset(scene, 50), world.state()
        assert (view.pose, view.origin, view.step, view.max_steps) == (scene.spawn, scene.spawn.cell, 0, 50)
        assert view.known.shape == scene.blocks.shape
        assert view.known.dtype == np.uint16
        seen = view.known > 0
        assert 0 < seen.sum() < seen.size
        assert np.array_equal(view.known[seen], scene.blocks[seen])
        assert np.array_equal(state.blocks, scene.blocks)
        assert (state.pose, state.step, state.over, state.placed) == (scene.spawn, 0, "", frozenset())
        assert (dict(state.inventory), dict(state.items)) == (dict(scene.inventory), dict(scene.items))

    def test_what_is_known_is_true_or_was(self, world: VoxelWorld, scene: Scene) -> None:
        world.reset(scene)
        truths = [scene.blocks]
        for code_ in codes(80, 1):
            before = world.view().known
            self.play(world, [code_])
            if not np.array_equal(world.state().blocks, truths[-1]):
                truths.append(world.state().blocks)
            known = world.view().known
            assert not ((known == 0) & (before > 0)).any(), "forgotten"
            assert np.any([(known == 0) | (known == truth) for truth in truths], axis=0).all()
            now = known != before
            assert np.array_equal(known[now], truths[-1][now])

    def test_a_view_does_not_follow(self, world: VoxelWorld, scene: Scene) -> None:
        view, state = world.reset(scene), world.state()
        known, hashed = view.known.copy(), state_hash(state)
        self.play(world, codes(60, 2))
        assert np.array_equal(view.known, known)
        assert state_hash(state) == hashed
        assert view.step == 0 < world.view().step

    def test_what_is_refused_changes_nothing(self, world: VoxelWorld, scene: Scene) -> None:
        world.reset(scene)
        refused = 0
        for code_ in codes(150, 2):
            before = world.state()
            for happened in self.play(world, [code_]):
                assert happened.done == (happened.reason == "")
                assert world.view().last == happened
                if not happened.done:
                    refused += 1
                    assert happened.ticks == 0
                    assert not happened.changes
                    assert unlike(before, world.state()) == state_hash(before)
        assert refused

    def test_the_limit_of_steps(self, world: VoxelWorld, scene: Scene) -> None:
        world.reset(scene, 3)
        assert [world.step(WAIT).done for _ in range(3)] == [True] * 3
        assert (world.state().over, world.view().step) == ("max_steps", 3)

    def test_after_the_end_nothing_is_done(self, world: VoxelWorld, scene: Scene) -> None:
        world.reset(scene)
        world.step(DONE)
        state = state_hash(world.state())
        assert world.state().over == "done"
        with pytest.raises(ActionError):
            world.step(WAIT)
        assert state_hash(world.state()) == state
        world.reset(scene)
        assert world.step(WAIT).done

    @pytest.mark.parametrize("code_", [18, 99, 4331, -1, 65535])
    def test_a_code_that_means_nothing_is_no_step(self, world: VoxelWorld, scene: Scene, code_: int) -> None:
        world.reset(scene)
        before = state_hash(world.state())
        with pytest.raises(ActionError):
            world.step(code_)
        assert state_hash(world.state()) == before

    def test_equal_codes_make_equal_states(self, world: VoxelWorld, scene: Scene) -> None:
        played = codes(120, 3)
        assert self.hashes(world, scene, played) == self.hashes(VoxelWorld(), scene, played)

    @staticmethod
    def play(world: VoxelWorld, played: Sequence[int]) -> list[StepResult]:
        """Play until the end of the codes or of the episode."""
        happened = []
        for code_ in played:
            if world.state().over:
                break
            happened.append(world.step(code_))
        return happened

    def hashes(self, world: VoxelWorld, scene: Scene, played: Sequence[int]) -> list[str]:
        """The hash of the state after each step."""
        world.reset(scene)
        hashes = [state_hash(world.state())]
        for code_ in played:
            if not self.play(world, [code_]):
                break
            hashes.append(state_hash(world.state()))
        return hashes

    def test_a_door_hides_what_is_behind_it(self, world: VoxelWorld) -> None:
        view = world.reset(emerald().scene)
        assert {thing.name for thing in view.things} == {"iron_door_1"}
        assert view.known[1, 3, 5] == AIR
        assert not view.known[:, 9:].any()

    @pytest.mark.parametrize("name", CASES)
    def test_rule(self, world: VoxelWorld, name: str) -> None:
        case = CASES[name]
        scene = case.build.scene()
        world.reset(scene)
        reasons = [world.step(code_).reason for code_, _ in case.codes]
        state = world.state()
        assert reasons == [reason for _, reason in case.codes]
        assert tuple(np.subtract(state.pose.cell, scene.spawn.cell).tolist()) == case.cell
        assert dict(state.inventory) == dict(case.inventory)
        assert (state.over, state.held, state.step) == (case.over, case.held, len(case.codes))
        for offset, block in case.blocks.items():
            x, y, z = np.add(scene.spawn.cell, offset)
            assert BLOCKS[state.blocks[y, z, x]] == BLOCKS[code(*block.split())]

    def test_moves_end_where_the_lattice_says(self, world: VoxelWorld, scene: Scene) -> None:
        doors = doors_of(scene)
        world.reset(scene)
        drawn = random.Random(scene.name)
        for _ in range(120):
            before = world.state()
            if before.over:
                break
            primitive = Primitive(drawn.choice(MOVES))
            way = move(Still(before, doors), before.pose, primitive)
            happened = world.step(primitive)
            assert (happened.done, happened.reason) == (way.end != "refused", way.reason)
            assert world.state().pose.cell == way.cell
            assert (world.state().over == "lava") == (way.end == "lava")
            self.play(world, [drawn.choice((WAIT, TURN_LEFT))])

    @pytest.mark.parametrize("code_", [hold(1899), craft(999)])
    def test_an_operand_that_names_nothing_is_refused(self, world: VoxelWorld, code_: int) -> None:
        world.reset(hall().scene())
        assert world.step(code_).reason in ("no such item", "no such recipe")

    @pytest.mark.parametrize("cell", [(4, 2, 4), (4, 0, 4), (0, 1, 1), (40, 1, 4)])
    def test_a_spawn_where_nobody_can_stand_is_refused(self, world: VoxelWorld, cell: Cell) -> None:
        world.reset(hall().scene())
        before = state_hash(world.state())
        with pytest.raises(SceneError, match="spawn"):
            world.reset(hall(spawn=Pose(cell)).scene())
        assert state_hash(world.state()) == before
