"""The regression check in the loop: what a rewrite breaks is found before it is kept."""

from __future__ import annotations

from coderLLM import MAX_ROUNDS
from main import MAX_SEMANTIC_RETRY
from minigridenv import MiniGridEnv
from plannerLLM import MAX_RETRIES
from spca.code.regression import RegressionSuite, SolvedLevel
from spca.contracts import AgentSource, LevelSpec, TrustedPDDL
from tests.support.spca.scenes import DOOR_KEY, EMPTY, FETCH, OPEN, TO_GOAL, WALK, Scene, method, plan

GENERAL = '''def go(self, a):
    """Turn until the goal is in view, then towards it, along one axis after the other."""
    while True:
        row, column = next(zip(*(self.full_grid == "agent").nonzero()))
        seen = list(zip(*(self.full_grid == "goal green").nonzero()))
        down, right = (seen[0][0] - row, seen[0][1] - column) if seen else (0, 0)
        wanted = "East" if right > 0 else "West" if right < 0 else "South" if down > 0 else "North"
        yield 2 if seen and self.current_dir == wanted else 1
'''
RANDOM = "MiniGrid-Empty-Random-5x5-v0"
TO_RANDOM_GOAL = (0, 2, 0, 2)
"""What solves Empty-Random-5x5 on seed 5."""


def test_a_rewrite_that_breaks_a_solved_level_is_refused_and_a_better_one_kept() -> None:
    earlier = Scene(RANDOM, [plan("go")], [method("go", *TO_RANDOM_GOAL)], seed=5).run()
    assert earlier.plan is not None
    narrow = method("go", *TO_GOAL)
    assert Scene(EMPTY, [plan("go")], [narrow]).run().solved

    scene = Scene(EMPTY, [plan("go")], [narrow, GENERAL])
    scene.regression.extend([SolvedLevel(LevelSpec(RANDOM), 5, earlier.attempts[-1].start, earlier.plan)])
    result = scene.run(earlier.agent, TrustedPDDL(earlier.plan.domain, earlier.plan.problem))
    assert result.solved
    assert [a.outcome.status.value for a in result.attempts] == ["goal_not_reached", "success"]
    assert "wanted =" in result.agent.text
    assert [call["mode"] for call in scene.events.of("coder_call")] == ["semantic", "semantic"]
    refusal = scene.coder.requests[1].messages[-1].text
    assert "Regression: the rewritten go breaks a level that was solved before" in refusal
    assert "status: goal_not_reached" in refusal
    assert scene.coder.requests[1].messages[-2].text == narrow
    assert scene.events.count("simulation_runs") == 2  # re-runs of the regression are not simulations of the level


def test_a_rewrite_that_never_stops_breaking_a_solved_level_is_never_kept() -> None:
    earlier = Scene(RANDOM, [plan("go")], [method("go", *TO_RANDOM_GOAL)], seed=5).run()
    assert earlier.plan is not None
    refused = MAX_SEMANTIC_RETRY * (1 + MAX_ROUNDS)
    unusable = ["no"] * (2 + MAX_RETRIES)  # two to a question, which the second ends, until there are more than 8
    scene = Scene(EMPTY, [plan("go"), *unusable], [method("go", *TO_GOAL)] * refused)
    scene.regression.extend([SolvedLevel(LevelSpec(RANDOM), 5, earlier.attempts[-1].start, earlier.plan)])
    result = scene.run(earlier.agent)
    assert not result.solved
    assert result.agent == earlier.agent
    assert len(result.attempts) == 1
    assert not scene.coder.left


def test_a_level_solved_from_a_checkpoint_is_re_run_from_it() -> None:
    fetch, walk = method("fetch_key", *FETCH), method("reach_goal", *OPEN, *WALK)
    earlier = Scene(DOOR_KEY, [plan("fetch_key"), plan("reach_goal")], [fetch, fetch, walk]).run()
    assert earlier.plan is not None
    regression = RegressionSuite(MiniGridEnv)
    regression.extend([SolvedLevel(LevelSpec(DOOR_KEY), 1, earlier.attempts[-1].start, earlier.plan)])
    check = regression.against(earlier.agent)
    broken = AgentSource(earlier.agent.text.replace("        yield 5\n", ""))
    same = AgentSource(earlier.agent.text.replace("        yield 5\n", "        code = 5\n        yield code\n"))
    assert broken != earlier.agent
    assert "Regression" in (check(broken) or "")
    assert check(same) is None
