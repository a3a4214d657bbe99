"""Agents by name."""

from __future__ import annotations

import pytest

from explorer.agents.registry import AGENTS, find_agent
from explorer.errors import EpisodeError
from tests.support.explorer.bare_view import BARE
from tests.support.explorer.played import WINS, walk


def test_agents_are_made_for_a_scene() -> None:
    made = {name: entry.make(walk()) for name, entry in AGENTS.items()}
    for agent in made.values():
        agent.reset(BARE, "", 0)
    assert tuple(made["solver"].act(BARE) for _ in WINS) == WINS
    assert {agent.usage.calls for agent in made.values()} == {0}


def test_the_solver_needs_a_certificate() -> None:
    with pytest.raises(EpisodeError, match="walk: agent solver needs a certificate to replay, and there is none"):
        AGENTS["solver"].make(walk(certified=False))


@pytest.mark.parametrize(
    ("name", "words"), [("solvr", "did you mean solver"), ("x\n", r"'x\\n'; there are random, solver")]
)
def test_an_unknown_agent_is_named(name: str, words: str) -> None:
    with pytest.raises(EpisodeError, match=words):
        find_agent(name)
