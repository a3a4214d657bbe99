"""Proofs against an exhaustive search of the lattice: what can be played to is in the closure, and takes its steps."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from explorer.solver import flood, touch
from explorer.solver.closure import Arena
from explorer.solver.proving import prove
from tests.support.explorer import scenes
from tests.support.explorer.opinions.comparing import disagreements
from tests.support.explorer.opinions.exhaustive import Search
from tests.support.explorer.scenes import Puzzle
from tests.support.explorer.tiny_scenes import tiny_scene
from tests.support.tiers import few

PICKAXE = frozenset(("oak_planks", "stick", "wooden_pickaxe"))


@pytest.mark.long
@pytest.mark.parametrize(
    ("make", "most", "placing"),
    few(
        1,
        [(scenes.moat, 100, True), (scenes.emerald, 500, False), (scenes.plug, 200, False), (scenes.handle, 200, True)],
    ),
)
def test_a_search_agrees_on_the_puzzles(make: Callable[[], Puzzle], most: int, placing: bool) -> None:
    assert not list(disagreements(make(), most, placing=placing, crafts=PICKAXE))


@pytest.mark.parametrize("make", [scenes.emerald, scenes.handle])
def test_a_search_finds_no_more_than_what_is_proven(make: Callable[[], Puzzle]) -> None:
    scene, (first, goal) = make()
    without = Search(scene, (first, goal), first).run()
    assert without.complete
    assert without.achieved == {}
    assert prove(Arena(scene), (first, goal)).without[first.milestone_id] == frozenset()


@pytest.mark.parametrize("seed", few(3, range(12)))
def test_a_search_agrees_on_whatever_is_drawn(seed: int) -> None:
    assert not list(disagreements(tiny_scene(seed), 60))


@pytest.mark.long
@pytest.mark.parametrize("seed", range(100, 115))
def test_a_search_agrees_on_more(seed: int) -> None:
    assert not list(disagreements(tiny_scene(seed), 1_000))


def test_a_closure_that_lacks_something_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(touch, "_FAR", 1)
    monkeypatch.setattr(touch, "_SURE", 1)
    build = scenes.hall(9, 8, 9).chest((4, 6, 6), emerald=1)
    assert list(disagreements(Puzzle(build.scene(), (scenes.having("take", "it", "emerald"),)), 100, placing=False))


def test_a_flood_that_lacks_something_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(flood, "_RISEN", 0)
    monkeypatch.setattr(flood, "_OVERHUNG", 0)
    build = scenes.hall(9, 6, 9).fill((1, 1, 6), (7, 1, 7))
    assert list(disagreements(Puzzle(build.scene(), (scenes.having("take", "it", "stick"),)), 100, placing=False))
