"""Small MiniGrid worlds, models that play their part in them, and a loop that is put on such a stage."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from contextlib import closing
from typing import Any

from coderLLM import CoderLLM
from main import Loop
from minigridenv import MiniGridEnv
from plannerLLM import PlannerLLM
from spca.code.regression import RegressionSuite
from spca.contracts import AgentSource, TrustedPDDL
from spca.llm.answer_tally import AnswerTally
from spca.runs.level.compiled_planning import Writers
from spca.runs.results import LevelResult
from tests.support.spca.call_requests import ref
from tests.support.spca.doubles import (
    AGENT,
    LEVEL,
    Events,
    Scripted,
    ScriptedProvider,
    answer,
    coder_client,
    pddl,
    planner_client,
    shared_solver,
)

EMPTY, DOOR_KEY, LAVA = (f"MiniGrid-{name}-v0" for name in ("Empty-5x5", "DoorKey-5x5", "LavaGapS5"))
TO_GOAL = (2, 2, 1, 2, 2)
"""What solves Empty-5x5."""
FETCH, OPEN, WALK = (3,), (0, 5), (2, 2, 1, 2)
"""What together solves DoorKey-5x5 on seed 1."""


def method(name: str, *codes: int, then: str = "") -> str:
    """A method that yields these primitives."""
    body = "".join(f"    yield {code}\n" for code in codes) + (f"    {then}\n" if then else "")
    return f"def {name}(self, a):\n{body}"


def plan(*actions: str) -> str:
    return answer(*pddl(*actions))


class Scene:
    """A loop on one world with scripted models, and everything that can be seen of it."""

    def __init__(
        self,
        env_id: str,
        planner: Sequence[Scripted],
        coder: Sequence[Scripted],
        seed: int = 1,
        writers: Writers | None = None,
    ) -> None:
        self.planner, self.coder = ScriptedProvider(*planner), ScriptedProvider(*coder)
        self.events = Events()
        self.regression = RegressionSuite(MiniGridEnv)
        self.world = MiniGridEnv(env_id, seed)
        self.before_attempts: list[tuple[Any, ...]] = []
        self.phases: list[tuple[int, str]] = []
        tally = AnswerTally()
        clients = planner_client(self.planner), coder_client(self.coder)
        large = PlannerLLM(ref("x/large"), ref("x/small"), shared_solver(), self.events, clients[0], tally=tally)
        coder_llm = CoderLLM(ref("x/coder"), self.events, clients[1], tally=tally)
        self.loop = Loop(large, coder_llm, self.regression, self.events, self._progress, self._remember, writers, tally)

    def run(self, known: AgentSource = AGENT, trusted: TrustedPDDL | None = None) -> LevelResult:
        with closing(self.world):
            return self.loop.run_level(self.world, LEVEL, known, trusted)

    def _progress(self, number: int, phase: str) -> None:
        self.phases.append((number, phase))

    def _remember(self, _agent: AgentSource) -> None:
        """The state that an attempt begins in: map, inventory, hash, and steps used in the simulator."""
        sim = self.world._sim
        self.before_attempts.append((self.world.sense(), self.world.checkpoint(), sim.step_count))

    def shown(self, request: int) -> dict[str, Any]:
        """The snapshot in the ``request``-th prompt of the planner."""
        (block,) = re.findall(
            r"^<snapshot>\n(.*?)\n</snapshot>$", self.planner.asked(request), re.DOTALL | re.MULTILINE
        )
        snapshot: dict[str, Any] = json.loads(block)
        return snapshot

    def tasks(self) -> list[tuple[str, list[str]]]:
        """Mode and actions of every request to the coder."""
        blocks = (
            re.findall(r"^<task>\n(.*)\n</task>$", r.messages[-1].text, re.MULTILINE)[-1] for r in self.coder.requests
        )
        return [(task["mode"], task["actions"]) for task in map(json.loads, blocks)]
