"""A scene that is won by three steps forward, and agents for it, as the evaluation takes them."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

from explorer.agents.agent import Usage
from explorer.agents.registry import AGENTS, AgentEntry
from explorer.agents.solver_agent import SolverAgent
from explorer.certificate import Certificate, Proof, ProvenEdge, Witness
from explorer.codes import packed
from explorer.files import Loaded
from explorer.graph import Edge, Graph, Node
from explorer.rules.actions import Primitive
from explorer.scene import Scene
from explorer.solver.certificate import fingerprint
from explorer.view import View
from tests.support.explorer.scenes import hall, having, inside
from tests.support.waiting import AGES

WINS: Final = (Primitive.FORWARD,) * 3
GOES_ROUND: Final = (Primitive.RIGHT, *WINS, Primitive.LEFT)
"""Past the emerald into the corner: the goal without the hop before it."""


def walk(name: str = "walk", *, certified: bool = True, codes: Iterable[int] = WINS, lava: bool = False) -> Loaded:
    """Two hops: an emerald two steps ahead and a corner behind it. It can be had without, whatever it says.

    Args:
        codes: of the witness.
        lava: to the left of the spawn.
    """
    build = hall().item((4, 1, 6), "emerald")
    if lava:
        build.put("lava", (5, 1, 4))
    scene: Scene = build.scene(name)
    hops = (having("take_emerald", "emerald", "emerald"), inside(build, "enter_vault", "corner", (4, 1, 7), (4, 1, 7)))
    nodes = tuple(Node(hop.milestone_id, hop.task) for hop in hops)
    graph = Graph(nodes, (Edge("emerald", "corner", "because it says so"),))
    proofs = (Proof("emerald", True, (), 2), Proof("corner", True, ("emerald",), 3))
    certificate = Certificate(
        rules="1",
        fingerprint=fingerprint(scene, hops, graph),
        milestones=proofs,
        edges=(ProvenEdge("emerald", "corner", True),),
        true_at_start=(),
        witness=Witness(packed(codes), 3, 18, ""),
        lower_bound=3,
        max_steps=20,
        seen_at_start=(),
        states=0,
    )
    return Loaded(scene, hops, graph, "Go to the corner.", certificate if certified else None, source=f"scenes/{name}")


class Scripted:
    """Answers one thing after the other, then waits; what is an exception is raised.

    Attributes:
        told: text and seed of each episode.
    """

    usage = Usage(calls=3, tokens=500, cost=0.25)

    def __init__(self, *answers: Any) -> None:
        self.told: list[tuple[str, int]] = []
        self._answers = answers

    def reset(self, view: View, task_text: str, seed: int) -> None:
        assert view.step == 0
        self.told.append((task_text, seed))
        self._left = iter(self._answers)

    def act(self, view: View) -> int:
        del view
        answer = next(self._left, Primitive.WAIT)
        if isinstance(answer, Exception):
            raise answer
        return answer


class Deadly(SolverAgent):
    """Its process is killed in the scene ``deadly``, and stalls in ``stalls``, where the environment says so."""

    def __init__(self, name: str) -> None:
        super().__init__(WINS)
        self._name = name

    def act(self, view: View) -> int:
        once = Path(os.environ["DIES_ONCE"]) if "DIES_ONCE" in os.environ else None
        if self._name == "deadly" and not (once and once.exists()):
            if once:
                once.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        if self._name == "stalls" and "STALLS" in os.environ:
            time.sleep(AGES)
        return super().act(view)


def deadly(loaded: Loaded) -> Deadly:
    return Deadly(loaded.scene.name)


ENTRIES: Final[Mapping[str, AgentEntry]] = {**AGENTS, "deadly": AgentEntry(deadly, "dies")}


def main(output: str, workers: str) -> None:
    """Play three scenes in a program of its own."""
    from explorer.evaluation.harness import Evaluation, EvaluationOptions

    scenes = [walk(name) for name in ("one", "two", "stalls")]
    Evaluation(scenes, "deadly", Path(output), EvaluationOptions(workers=int(workers)), ENTRIES).run()


if __name__ == "__main__":
    # By its own name, so that worker processes find the agents.
    from tests.support.explorer.played import main as of_module

    of_module(*sys.argv[1:])
