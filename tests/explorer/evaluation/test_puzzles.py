"""The random agent in scenes built by hand: whatever it does, the goal comes last, and its codes give it back."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from explorer.agents.random_agent import RandomAgent
from explorer.agents.solver_agent import SolverAgent
from explorer.evaluation.episode import play
from explorer.files import Loaded
from explorer.graph import Edge, Graph, Node
from explorer.worlds.voxel import VoxelWorld
from tests.support.explorer import scenes

PUZZLES = (scenes.emerald, scenes.moat, scenes.plug, scenes.handle)


def loaded(make: Callable[[], scenes.Puzzle]) -> Loaded:
    scene, hops = make()
    nodes = tuple(Node(hop.milestone_id, hop.task) for hop in hops)
    edges = (Edge(before.id, after.id, "") for before, after in pairwise(nodes))
    return Loaded(scene, hops, Graph(nodes, tuple(edges)), hops[-1].description)


@given(st.sampled_from(PUZZLES), st.integers(0, 10**6))
@settings(max_examples=10)
def test_what_is_random_is_played_again_by_its_codes(make: Callable[[], scenes.Puzzle], seed: int) -> None:
    world, puzzle = VoxelWorld(), loaded(make)
    episode = play(world, puzzle, RandomAgent(), "random", seed=seed, max_steps=150)
    assert episode.error == ""
    assert episode.ended in ("goal", "lava", "max_steps")
    assert (episode.ended == "goal") == episode.solved
    assert episode.out_of_order == ()
    again = play(world, puzzle, SolverAgent(episode.codes), "random", seed=seed, max_steps=150)
    assert again == episode
    assert play(world, puzzle, RandomAgent(), "random", seed=seed, max_steps=150) == episode
