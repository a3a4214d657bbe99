"""The agents that can be named."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from explorer.agents.agent import Agent
from explorer.agents.random_agent import RandomAgent
from explorer.agents.solver_agent import SolverAgent
from explorer.codes import unpacked
from explorer.errors import EpisodeError
from explorer.files import Loaded


@dataclass(frozen=True, slots=True)
class AgentEntry:
    """An agent that can be named.

    Attributes:
        make: returns one for a scene; sent to worker processes, so a function of a module. What it is given beside the
            task is for agents that are none, such as ``solver``.
        help: one line.
    """

    make: Callable[[Loaded], Agent]
    help: str


def _random(loaded: Loaded) -> Agent:
    del loaded
    return RandomAgent()


def _solver(loaded: Loaded) -> Agent:
    if loaded.certificate is None:
        raise EpisodeError(f"{loaded.scene.name}: agent solver replays a certificate, and there is none")
    return SolverAgent(unpacked(loaded.certificate.witness.codes))


AGENTS: Final[Mapping[str, AgentEntry]] = {
    "random": AgentEntry(_random, "draws uniformly among what does something"),
    "solver": AgentEntry(_solver, "replays the certificate's witness: an upper bound, no agent"),
}


def find_agent(name: str, agents: Mapping[str, AgentEntry] = AGENTS) -> AgentEntry:
    """Return an agent by its name.

    Raises:
        EpisodeError: there is none; offers the nearest.
    """
    if name not in agents:
        near = difflib.get_close_matches(name[:80], agents, n=1)
        hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(agents)}"
        raise EpisodeError(f"no agent is called {name[:80]!a}; {hint}")
    return agents[name]
