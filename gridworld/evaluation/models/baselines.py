"""Baseline models: random actions, exact search, and greedy search one step ahead."""

from __future__ import annotations

import hashlib
import random
from typing import TYPE_CHECKING

from gridworld.actions import Action
from gridworld.errors import ModelError, SearchLimitError
from gridworld.evaluation.model_interface import ModelInput, ModelInterface, ModelOutput
from gridworld.rules.layout import Layout, State
from gridworld.rules.tilings import TILINGS
from gridworld.search.solver import DEFAULT_LIMIT
from gridworld.task_spec import TaskSpecification

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["BFSModelInterface", "GreedyModelInterface", "RandomModelInterface"]


class RandomModelInterface(ModelInterface):
    """A model that draws each action at random, with the same probability for all actions.

    Every episode has its own random stream, which depends on the model's seed, the episode's seed and the task's id.
    Results therefore depend neither on the order of the tasks nor on the number of processes.

    Args:
        seed: seed of the model.
    """

    uses_images = False

    def __init__(self, seed: int = 42) -> None:
        self.seed = seed
        self._random = random.Random(seed)  # noqa: S311 - a baseline, not a secret

    @property
    def model_name(self) -> str:
        return "random"

    def begin_episode(
        self, task_spec: TaskSpecification, seed: int, *, backend: str = "minigrid", tiling: str = "square"
    ) -> None:
        del backend, tiling
        text = f"{self.seed}:{seed}:{task_spec.task_id}".encode("utf-8", "surrogatepass")
        self._random.seed(int.from_bytes(hashlib.sha256(text).digest(), "big"))

    def predict(self, input: ModelInput) -> ModelOutput:
        actions = sorted(input.action_space)
        return ModelOutput(self._random.choice(actions), 1 / len(actions), "drawn at random")


class _PerfectKnowledgeModel(ModelInterface):
    """A model that knows the task. It ignores the observations and computes the true state from its own actions."""

    uses_images = False

    def __init__(self) -> None:
        self._layout: Layout | None = None
        self._state: State | None = None

    def begin_episode(
        self, task_spec: TaskSpecification, seed: int, *, backend: str = "minigrid", tiling: str = "square"
    ) -> None:
        del seed, backend
        self._layout = Layout(task_spec, TILINGS[tiling])
        self._state = self._layout.start()

    def predict(self, input: ModelInput) -> ModelOutput:
        from gridworld.rules.transition import transition

        if self._layout is None or self._state is None:
            raise ModelError(f"{self.model_name} has to know the task: call begin_episode(task_spec, seed) first")
        action, why = self._choose(self._layout, self._state, input.step_number)
        self._state = transition(self._layout, self._state, action)
        return ModelOutput(int(action), reasoning=why)

    def _choose(self, layout: Layout, state: State, step: int) -> tuple[Action, str]:
        """Return (next action, reason in words); ``step`` is the number of the step, from 1."""
        raise NotImplementedError


class BFSModelInterface(_PerfectKnowledgeModel):
    """A model that follows a shortest solution, which comes from the task's certificate or from an exact search.

    If the task has no solution, the model waits.

    Args:
        limit: number of states that the search may expand.
    """

    def __init__(self, limit: int = DEFAULT_LIMIT) -> None:
        super().__init__()
        self.limit = limit
        self._plan: Sequence[Action] | None = None

    @property
    def model_name(self) -> str:
        return "bfs"

    def begin_episode(
        self, task_spec: TaskSpecification, seed: int, *, backend: str = "minigrid", tiling: str = "square"
    ) -> None:
        from gridworld.search.optimum import optimum_of

        super().begin_episode(task_spec, seed, backend=backend, tiling=tiling)
        optimum = optimum_of(task_spec, tiling, self.limit)
        if not optimum.known:
            raise SearchLimitError(
                f"task {task_spec.task_id!a} is not decided after {self.limit} states: raise --limit, or give it a "
                "certificate (certify --write)",
                optimum.bound or 1,
            )
        self._plan = optimum.actions

    def _choose(self, layout: Layout, state: State, step: int) -> tuple[Action, str]:
        del layout, state
        if not self._plan:
            return Action.DONE, "there is no way to the goal"
        if step > len(self._plan):
            return Action.DONE, "the way is used up"
        return self._plan[step - 1], f"step {step} of {len(self._plan)}"


class GreedyModelInterface(_PerfectKnowledgeModel):
    """A model that takes the action after which the goal is nearest.

    :func:`gridworld.search.planning.greedy_action` measures the distance. The model looks only one step ahead and may
    walk in circles. If the model fails on a task, the task therefore needs a plan.
    """

    @property
    def model_name(self) -> str:
        return "greedy"

    def _choose(self, layout: Layout, state: State, step: int) -> tuple[Action, str]:
        from gridworld.search.planning import greedy_action

        del step
        return greedy_action(layout, state), "nearest to the goal"
