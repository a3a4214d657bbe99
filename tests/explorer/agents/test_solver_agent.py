"""The solver replays, then ends."""

from __future__ import annotations

from explorer.agents.solver_agent import SolverAgent
from explorer.rules.actions import Primitive
from tests.support.explorer.bare_view import BARE


def test_the_witness_is_replayed_in_every_episode() -> None:
    agent = SolverAgent([1, 6, 3000])
    for _ in range(2):
        agent.reset(BARE, "", 0)
        assert [agent.act(BARE) for _ in range(5)] == [1, 6, 3000, Primitive.DONE, Primitive.DONE]
