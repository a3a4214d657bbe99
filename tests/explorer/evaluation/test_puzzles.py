"""Agents in certified scenes built by hand: the goal comes last whatever they do, and codes give an episode back."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from itertools import pairwise
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from explorer.agents.random_agent import RandomAgent
from explorer.agents.registry import AGENTS
from explorer.agents.solver_agent import SolverAgent
from explorer.codes import unpacked
from explorer.evaluation.episode import play
from explorer.files import Loaded
from explorer.graph import Edge, Graph, Node
from explorer.solver.certificate import certify
from explorer.solver.witness import carry_out
from explorer.worlds.voxel import VoxelWorld
from tests.support.explorer.adversaries import mistaken
from tests.support.explorer.plans import PLANS
from tests.support.explorer.scenes import Puzzle

PUZZLES = list(PLANS)


@cache
def loaded(make: Callable[[], Puzzle]) -> Loaded:
    scene, hops = make()
    nodes = tuple(Node(hop.milestone_id, hop.task) for hop in hops)
    graph = Graph(nodes, tuple(Edge(before.id, after.id, "") for before, after in pairwise(nodes)))
    certificate = certify(scene, hops, graph, carry_out(scene, PLANS[make]).codes)
    return Loaded(scene, hops, graph, hops[-1].description, certificate)


@pytest.mark.parametrize("make", PUZZLES)
def test_the_solver_wins_as_the_certificate_says(make: Callable[[], Puzzle]) -> None:
    puzzle = loaded(make)
    assert puzzle.certificate is not None
    episode = play(VoxelWorld(), puzzle, AGENTS["solver"].make(puzzle), "solver")
    assert (episode.solved, episode.ended, episode.out_of_order) == (True, "goal", ())
    assert episode.latched == {proof.milestone_id: proof.at_step for proof in puzzle.certificate.milestones}
    assert episode.state_hash == puzzle.certificate.witness.state_hash


@pytest.mark.long
@given(st.sampled_from(PUZZLES), st.integers(0, 10**6))
@settings(max_examples=2)
def test_what_is_random_is_played_again_by_its_codes(make: Callable[[], Puzzle], seed: int) -> None:
    world, puzzle = VoxelWorld(), loaded(make)
    episode = play(world, puzzle, RandomAgent(), "random", seed=seed, max_steps=150)
    assert episode.error == ""
    assert episode.ended in ("goal", "lava", "max_steps")
    again = play(world, puzzle, SolverAgent(episode.codes), "random", seed=seed, max_steps=150)
    assert again == episode
    assert play(world, puzzle, RandomAgent(), "random", seed=seed, max_steps=150) == episode


@pytest.mark.long
@given(st.sampled_from(PUZZLES), st.integers(0, 10**6))
@settings(max_examples=25)
def test_a_witness_with_mistakes_never_refutes_the_certificate(make: Callable[[], Puzzle], seed: int) -> None:
    """The goal may be missed, but not had without its hops."""
    puzzle = loaded(make)
    assert puzzle.certificate is not None
    codes = mistaken(unpacked(puzzle.certificate.witness.codes), Random(seed))
    episode = play(VoxelWorld(), puzzle, SolverAgent(codes), "mistaken")
    assert not episode.certificate_refuted
    assert episode.out_of_order == ()
    assert (episode.ended == "goal") == episode.solved
