"""Registry of agents by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from explorer.agents.agent import Agent
from explorer.agents.random_agent import RandomAgent
from explorer.agents.solver_agent import SolverAgent
from explorer.codes import unpacked
from explorer.errors import EpisodeError
from explorer.files import Loaded, certificate_file
from spca.common.names import find_nearest


@dataclass(frozen=True, slots=True)
class AgentEntry:
    """An agent in the registry.

    Attributes:
        make: function that returns an agent for a scene. It must be a module-level function, because the entry is sent
            to worker processes. Only baselines such as ``solver`` may use more of the scene than the task.
        help: one line of help.
    """

    make: Callable[[Loaded], Agent]
    help: str


def _make_random(loaded: Loaded) -> Agent:
    del loaded
    return RandomAgent()


def _make_solver(loaded: Loaded) -> Agent:
    """Return the agent that replays the witness; raise EpisodeError if the scene has no certificate."""
    certificate = loaded.certificate
    if certificate is None:
        where = loaded.source or loaded.scene.name
        raise EpisodeError(f"{where}: agent solver needs a certificate to replay, and there is none")
    codes = unpacked(certificate.witness.codes, certificate_file(loaded), "witness.codes")
    return SolverAgent(codes)


AGENTS: Final[Mapping[str, AgentEntry]] = {
    "random": AgentEntry(_make_random, "acts at random: a lower baseline"),
    "solver": AgentEntry(_make_solver, "replays the certificate's witness: an upper bound, not an agent"),
}


def find_agent(name: str, agents: Mapping[str, AgentEntry] = AGENTS) -> AgentEntry:
    """Return the entry of an agent.

    Raises:
        EpisodeError: the name is unknown; the error suggests the closest name.
    """
    if name not in agents:
        near = find_nearest(name[:80], agents, 1)
        hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(agents)}"
        raise EpisodeError(f"unknown agent {name[:80]!a}; {hint}")
    return agents[name]
