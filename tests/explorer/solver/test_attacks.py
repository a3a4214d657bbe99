"""Closures against a body that is driven tick by tick: it gets nowhere that is not in them."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from explorer.scene import Pose, Scene
from explorer.solver import flood
from explorer.solver.closure import NOTHING, Arena, closure
from explorer.solver.forbid import restraint
from tests.support.explorer import scenes
from tests.support.explorer.opinions.attacker import Attacker
from tests.support.explorer.scenes import Puzzle, hall
from tests.support.explorer.tiny_scenes import tiny_scene
from tests.support.tiers import few, long


def parkour(seed: int) -> Scene:
    """Pillars of all heights over lava or a floor, and sometimes some blocks to place."""
    rng = random.Random(seed)
    side, height = rng.randint(14, 22), rng.randint(8, 14)
    build = hall(side, height, side, Pose((2, 3, 2))).fill(
        (1, 1, 1), (side - 2, 1, side - 2), rng.choice(("lava", "air"))
    )
    for _ in range(rng.randint(8, 30)):
        x, z = rng.randint(1, side - 2), rng.randint(1, side - 2)
        low, top = rng.choice((1, 1, 1, rng.randint(3, height - 2))), rng.randint(1, min(6, height - 3))
        far = min(side - 2, x + rng.randint(0, 2)), max(low, top), min(side - 2, z + rng.randint(0, 2))
        build.fill((x, low, z), far, rng.choice(("stone_bricks", "stone_bricks", "glass", "dirt")))
    build.fill((1, 1, 1), (3, 2, 3)).fill((1, 3, 1), (3, height - 2, 3), "air")
    build.inventory = {"oak_planks": rng.randint(1, 3)} if rng.random() < 0.4 else {}
    return build.scene()


def escapes(puzzle: Puzzle, ticks: int, seed: int) -> list[str]:
    """Attack a scene as it is and with each milestone kept open."""
    arena, found = Arena(puzzle.scene), []
    for kept_open in (None, *puzzle.milestones[:-1]):
        kept = NOTHING if kept_open is None else restraint(arena, kept_open)
        if kept is not None:
            attacker = Attacker(arena, closure(arena, kept), seed, kept_open)
            if not attacker.achieved():
                attacker.run(ticks)
            found += sorted(attacker.escapes)
    return found


def furthest(attacker: Attacker, ticks: int) -> int:
    """Attack for some more ticks; return the last row that was reached so far."""
    attacker.run(ticks)
    return max(z for _, _, z in attacker.visited)


@pytest.mark.parametrize("make", [scenes.emerald, scenes.moat, scenes.plug, scenes.handle])
def test_nothing_escapes_from_a_puzzle(make: Callable[[], Puzzle]) -> None:
    assert escapes(make(), 3_000, 1) == []


@pytest.mark.parametrize("seed", few(1, range(3)))
def test_nothing_escapes_over_pillars(seed: int) -> None:
    assert escapes(Puzzle(parkour(seed), ()), 10_000, seed) == []


@pytest.mark.parametrize("seed", range(4))
def test_nothing_escapes_from_whatever_is_drawn(seed: int) -> None:
    assert escapes(tiny_scene(seed), 3_000, seed) == []


@pytest.mark.long
@pytest.mark.parametrize("seed", range(100, 106))
def test_nothing_escapes_from_more(seed: int) -> None:
    assert escapes(Puzzle(parkour(seed), ()), 50_000, seed) == []
    assert escapes(tiny_scene(seed), 10_000, seed) == []


@pytest.mark.long
def test_the_attacker_gets_everywhere_in_an_easy_scene() -> None:
    arena = Arena(scenes.emerald().scene)
    attacker = Attacker(arena, closure(arena), 3)
    assert any(furthest(attacker, 2_000) == 13 for _ in range(20)), "it pulled the lever and went through the door"


@pytest.mark.parametrize(
    ("gap", "ticks", "over"), [(3, 20_000, True), (5, 10_000, False), long(4, 100_000, True), long(5, 100_000, False)]
)
def test_the_attacker_jumps_over_four_cells_and_not_over_five(gap: int, ticks: int, over: bool) -> None:
    build = hall(7, 10, 22, Pose((3, 4, 2))).fill((1, 1, 1), (5, 3, 6)).fill((1, 1, 7 + gap), (5, 3, 20))
    arena = Arena(build.fill((1, 1, 7), (5, 1, 6 + gap), "lava").scene())
    attacker = Attacker(arena, closure(arena), 1)
    assert any(furthest(attacker, 5_000) >= 7 + gap for _ in range(0, ticks, 5_000)) is over
    assert not attacker.escapes


@pytest.mark.parametrize(("standing", "risen"), few(1, [(8, 7), (12, 0)]))
def test_a_flight_that_is_too_short_is_found_out(standing: int, risen: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(flood, "_STANDING", standing)
    monkeypatch.setattr(flood, "_RISEN", risen)
    monkeypatch.setattr(flood, "_OVERHUNG", 0)
    build = hall(9, 8, 14, Pose((4, 3, 2))).fill((1, 1, 1), (7, 2, 4)).fill((1, 1, 5), (7, 1, 8), "lava")
    build.fill((1, 1, 9), (7, 2, 12)).fill((1, 3, 11), (7, 3, 12))
    assert escapes(Puzzle(build.scene(), ()), 20_000, 1)
