"""Episodes: what latches when, how they end, and what an agent may do wrong."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from explorer.agents.solver_agent import SolverAgent
from explorer.codes import MAX_LENGTH
from explorer.errors import ActionError
from explorer.evaluation.episode import DEFAULT_MAX_STEPS, TOLD_MAX_STEPS, Game, play
from explorer.evaluation.results import append_episode, read_episodes
from explorer.files import Loaded
from explorer.graph import Graph, Node
from explorer.milestones import AtLeast, Milestone, cell_offset
from explorer.rules.actions import Primitive, hold
from explorer.rules.items import item
from explorer.scene import STEEPEST, Pose
from explorer.worlds.state_hash import state_hash
from explorer.worlds.voxel import VoxelWorld
from spca.common.errors import BudgetReached
from tests.support.explorer.played import GOES_ROUND, WINS, Scripted, walk
from tests.support.explorer.scenes import hall, inside


def played(*answers: Any, loaded: Loaded | None = None, **how: Any) -> Any:
    return play(VoxelWorld(), loaded or walk(), Scripted(*answers), "scripted", **how)


def test_an_episode_ends_when_the_goal_latches() -> None:
    agent = Scripted(*WINS, Primitive.BACK)
    episode = play(VoxelWorld(), walk(), agent, "scripted", seed=7)
    assert agent.told == [("Go to the corner.", 7)]
    assert (episode.latched, episode.solved, episode.ended) == ({"emerald": 2, "corner": 3}, True, "goal")
    assert (episode.steps, episode.codes, episode.hops, episode.seed) == (3, WINS, 2, 7)
    assert (episode.calls, episode.tokens, episode.cost) == (3, 500, 0.25)
    assert (episode.out_of_order, episode.certificate_refuted, episode.error) == ((), False, "")
    assert (episode.scene, episode.source, episode.model) == ("walk", "scenes/walk", "scripted")


@pytest.mark.parametrize("certified", [True, False])
def test_a_goal_without_its_hops_refutes_a_certificate(certified: bool) -> None:
    episode = played(*GOES_ROUND, loaded=walk(certified=certified))
    assert (episode.latched, episode.solved, episode.ended) == ({"corner": 5}, False, "goal")
    assert episode.out_of_order == (("emerald", "corner"),)
    assert episode.certificate_refuted is certified


@pytest.mark.parametrize(
    ("answers", "how", "steps", "ended"),
    [
        ((Primitive.FORWARD, Primitive.DONE), {}, 2, "done"),
        ((Primitive.LEFT,), {"loaded": walk(lava=True)}, 1, "lava"),
        ((), {}, 20, "max_steps"),
        ((), {"max_steps": 4}, 4, "max_steps"),
        ((), {"loaded": walk(certified=False)}, DEFAULT_MAX_STEPS, "max_steps"),
    ],
)
def test_an_episode_ends_otherwise(answers: tuple[int, ...], how: dict[str, Any], steps: int, ended: str) -> None:
    episode = played(*answers, **how)
    assert (episode.steps, episode.ended, episode.solved, episode.error) == (steps, ended, False, "")


@pytest.mark.parametrize("max_steps", [7, 60])
def test_the_limit_that_is_told_says_nothing_of_the_solution(max_steps: int) -> None:
    """The certificate's own is for the judge, who ends the episode there as always."""
    loaded = walk()
    assert loaded.certificate is not None
    loaded = replace(loaded, certificate=replace(loaded.certificate, max_steps=max_steps))
    game = Game(VoxelWorld(), loaded)
    told = {game.view.max_steps}
    while not game.over:
        game.step(Primitive.WAIT)
        told.add(game.view.max_steps)
    assert told == {TOLD_MAX_STEPS}
    episode = game.episode("waits")
    assert (episode.steps, episode.ended, episode.latched) == (max_steps, "max_steps", {})
    with pytest.raises(ActionError, match="the episode is over: max_steps"):
        game.step(Primitive.WAIT)
    world = VoxelWorld(observe=False)
    world.reset(loaded.scene, max_steps)
    for _ in range(max_steps):
        world.step(Primitive.WAIT)
    assert episode.state_hash == state_hash(world.state())


def test_no_episode_is_longer_than_was_told_or_can_be_kept() -> None:
    endless = walk()
    assert endless.certificate is not None
    endless = replace(endless, certificate=replace(endless.certificate, max_steps=10**12))
    assert Game(VoxelWorld(), endless, MAX_LENGTH + 1).view.max_steps == MAX_LENGTH
    assert len(play(VoxelWorld(observe=False), endless, Scripted(), "waits").codes) == TOLD_MAX_STEPS


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (99, "code 99 is not a primitive"),
        (-1, "code -1 is not a primitive"),
        (70_000, "code 70000 is not a primitive"),
        (None, "TypeError: "),
        ("forward", "TypeError: "),
        (1.0, "TypeError: "),
        (ZeroDivisionError("one\nline\x1b"), "ZeroDivisionError: one line␛"),
    ],
)
def test_a_defect_of_an_agent_ends_its_episode(answer: Any, words: str) -> None:
    episode = played(Primitive.FORWARD, answer)
    assert episode.error.startswith(words)
    assert (episode.steps, episode.ended, episode.codes) == (1, "", (Primitive.FORWARD,))


def test_what_ends_everything_is_passed_on() -> None:
    with pytest.raises(BudgetReached):
        played(BudgetReached("1 USD is spent", "--max-cost"))


def test_codes_give_back_the_state() -> None:
    first = played(Primitive.FORWARD, Primitive.TURN_LEFT, Primitive.WAIT, Primitive.DONE)
    again = play(VoxelWorld(), walk(), SolverAgent(first.codes), "replay")
    assert again.state_hash == first.state_hash != played(Primitive.WAIT, Primitive.DONE).state_hash


def test_a_person_plays_into_the_same_results(tmp_path: Path) -> None:
    game = Game(VoxelWorld(), walk())
    assert not game.over
    assert [game.step(code) for code in WINS] == [(), ("emerald",), ("corner",)]
    assert (game.over, game.latched, game.view.last.done) == ("goal", {"emerald": 2, "corner": 3}, True)
    with pytest.raises(ActionError, match="the episode is over: goal"):
        game.step(Primitive.WAIT)
    append_episode(tmp_path / "human.jsonl", game.episode("human"))
    [episode] = read_episodes(tmp_path / "human.jsonl")
    assert (episode.model, episode.solved) == ("human", True)
    assert episode == game.episode("human")


def test_a_bridge_that_nobody_looked_at_counts() -> None:
    """Else an agent that looks up all the way would reach the goal without the hop before it."""
    build = hall(5, 10, 14, Pose((2, 4, 2), pitch=-STEEPEST))
    build.fill((1, 1, 1), (3, 3, 3)).fill((1, 1, 9), (3, 3, 12)).inventory["oak_planks"] = 5
    low, high = (cell_offset((x, 3, z), (2, 4, 2)) for x, z in ((1, 4), (3, 8)))
    bridge = Milestone("bridge_moat", "bridge", "", (AtLeast("block", "oak_planks", low, high, 5),))
    hops = (bridge, inside(build, "enter_vault", "far", (1, 4, 9), (3, 6, 12)))
    graph = Graph(tuple(Node(hop.milestone_id, hop.task) for hop in hops), ())
    loaded = Loaded(build.scene("moat"), hops, graph, "Cross.")
    crossing = (Primitive.PLACE_AHEAD, Primitive.FORWARD) * 5
    codes = (hold(item("oak_planks")), Primitive.FORWARD, *crossing, Primitive.FORWARD)
    episode = play(VoxelWorld(), loaded, SolverAgent(codes), "blind", max_steps=100)
    assert episode.ended == "goal"
    assert episode.latched == {"bridge": 11, "far": 13}


def test_an_agent_that_does_not_say_what_it_cost_keeps_its_episode() -> None:
    class Bare:
        def reset(self, *_: object) -> None:
            pass

        def act(self, _: object) -> int:
            return Primitive.DONE

    episode = play(VoxelWorld(), walk(), Bare(), "bare")  # type: ignore[arg-type]
    assert (episode.ended, episode.calls) == ("done", 0)
    assert "no attribute 'usage'" in episode.error
