"""A runner that plays episodes of tasks on any backend with any policy."""

from __future__ import annotations

import os
import random
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, SupportsIndex, TypeAlias

import numpy as np

from gridworld.actions import ACTION_NAMES, Action, as_action
from gridworld.backends.base import AbstractGridBackend, GridState
from gridworld.errors import EvaluationError
from gridworld.runner.encoding import file_stem, json_text
from gridworld.runner.episode_result import EpisodeResult, Trajectory
from gridworld.task_spec import TaskSpecification
from spca.common.files import replace_file

__all__ = ["EpisodeResult", "GridRunner", "PolicyFn", "Trajectory"]

PolicyFn: TypeAlias = Callable[[Any, GridState, str], "SupportsIndex | tuple[SupportsIndex, Mapping[str, Any]] | None"]
"""``policy(observation, state, mission)`` returns an action, a pair (action, notes), or None to stop the episode.

Notes are recorded in the ``info`` of the step.
"""


class GridRunner:
    """A runner of episodes on one backend.

    Args:
        backend: the backend; by default a new :class:`~gridworld.backends.minigrid_backend.MiniGridBackend`.
        render_mode: kind of the default backend's observations: "rgb_array" for images, None for the cheaper
            :class:`~gridworld.rules.observation.Observation`.
    """

    def __init__(self, backend: AbstractGridBackend | None = None, render_mode: str | None = "rgb_array") -> None:
        if backend is None:
            from gridworld.backends.minigrid_backend import MiniGridBackend

            backend = MiniGridBackend(render_mode=render_mode)
        self.backend = backend
        self.render_mode = render_mode

    def run_episode(
        self,
        task_spec: TaskSpecification,
        policy_fn: PolicyFn | None = None,
        seed: int | None = None,
        record_trajectory: bool = True,
        verbose: bool = False,
        record_observations: bool = True,
    ) -> EpisodeResult:
        """Play one episode and return its result.

        Args:
            task_spec: the task.
            policy_fn: chooses each action; None chooses random actions, which depend only on the seed.
            seed: seed of the episode; None takes the seed of the task. 0 is a valid seed.
            record_trajectory: whether to record every step.
            verbose: whether to print every step.
            record_observations: whether recorded steps hold their observations; images of long episodes need much
                memory.

        Raises:
            TaskError: the task is not valid.
            ActionError: the policy returned a value that is not an action.
        """
        self.backend.configure(task_spec)
        seed = task_spec.seed if seed is None else seed
        observation, state, _ = self.backend.reset(seed=seed)
        mission = self.backend.get_mission_text()
        policy = random_policy(seed) if policy_fn is None else policy_fn
        trajectory: list[Trajectory] = []
        total_reward = 0.0
        steps = 0
        terminated = truncated = False
        while not (terminated or truncated):
            answer = policy(observation, state, mission)
            if answer is None:
                break
            action, notes = _action_and_notes(answer)
            next_observation, reward, terminated, truncated, next_state, info = self.backend.step(action)
            steps += 1
            total_reward += reward
            name = ACTION_NAMES[action]
            if record_trajectory:
                recorded = observation if record_observations else None
                step_info = {**info, **notes}
                trajectory.append(Trajectory(steps, recorded, int(action), name, reward, state, step_info))
            if verbose:
                print(f"{task_spec.task_id!r} step {steps}: {name}, reward {reward:.3f}")
            observation = next_observation
            state = next_state
        return EpisodeResult(
            task_id=task_spec.task_id,
            success=state.goal_reached,
            total_reward=total_reward,
            steps_taken=steps,
            max_steps=task_spec.max_steps,
            terminated=terminated,
            truncated=truncated,
            trajectory=trajectory,
            final_state=state,
            seed=seed,
            mission=mission,
        )

    def run_batch(
        self, task_specs: Iterable[TaskSpecification], policy_fn: PolicyFn | None = None, verbose: bool = False
    ) -> list[EpisodeResult]:
        """Play one episode of each task, with the seed of the task; return the results in the order of the tasks."""
        return [self.run_episode(spec, policy_fn, verbose=verbose) for spec in task_specs]

    def collect_demonstrations(
        self, task_spec: TaskSpecification, actions: Sequence[SupportsIndex], seed: int | None = None
    ) -> EpisodeResult:
        """Play an episode with the given actions, record every step and return the result.

        If the actions run out before the episode ends, ``terminated`` and ``truncated`` are False. If the episode ends
        first, the remaining actions are ignored.

        Raises:
            ActionError: a value is not an action; no step was done.
        """
        remaining = iter([as_action(action) for action in actions])
        return self.run_episode(task_spec, lambda *_: next(remaining, None), seed=seed)

    def generate_observation_dataset(
        self,
        task_specs: Iterable[TaskSpecification],
        policy_fn: PolicyFn | None = None,
        output_dir: str | os.PathLike[str] = "observations",
        save_images: bool = True,
    ) -> list[dict[str, Any]]:
        """Play every task once; write one record per step to ``records.jsonl`` and one PNG per step beside it.

        A record holds task_id, tier, seed, mission, step (from 1), action, action_name, reward, agent_position and
        agent_direction. Position and direction are those before the action. If images are saved, a record also holds
        image_path, relative to ``output_dir``. ``records.jsonl`` is written last; a folder without this file holds an
        incomplete data set.

        Returns:
            The records.

        Raises:
            EvaluationError: the folder holds a data set already or cannot be written, or the backend gives no images.
        """
        folder = Path(output_dir)
        index = folder / "records.jsonl"
        if index.exists():
            raise EvaluationError(f"{index}: there is a data set already; choose another output_dir")
        records: list[dict[str, Any]] = []
        try:
            folder.mkdir(parents=True, exist_ok=True)
            occurrences: Counter[str] = Counter()
            for spec in task_specs:
                occurrences[spec.task_id] += 1
                occurrence = occurrences[spec.task_id]
                suffix = f"~{occurrence}" if occurrence > 1 else ""
                image_stem = folder / f"{file_stem(spec.task_id)}{suffix}" if save_images else None
                records += self._record_episode(spec, policy_fn, image_stem)
            lines = [json_text(record) + "\n" for record in records]
            replace_file(index, "".join(lines).encode())
        except OSError as error:
            raise EvaluationError(f"{folder}: cannot be written: {error.strerror or error}") from error
        return records

    def _record_episode(
        self, spec: TaskSpecification, policy_fn: PolicyFn | None, image_stem: Path | None
    ) -> list[dict[str, Any]]:
        """Play a task, write the image of each step to ``<image_stem>_step<number>.png``, and return the records."""
        result = self.run_episode(spec, policy_fn, record_observations=image_stem is not None)
        records = []
        for each in result.trajectory:
            record: dict[str, Any] = {
                "task_id": spec.task_id,
                "tier": spec.difficulty_tier,
                "seed": result.seed,
                "mission": result.mission,
                "step": each.step,
                "action": each.action,
                "action_name": each.action_name,
                "reward": each.reward,
            }
            if each.state is not None:
                record["agent_position"] = list(each.state.agent_position)
                record["agent_direction"] = each.state.agent_direction
            if image_stem is not None:
                path = image_stem.with_name(f"{image_stem.name}_step{each.step:04d}.png")
                _save_image(path, each.observation)
                record["image_path"] = path.name
            records.append(record)
        return records

    def close(self) -> None:
        """Release the backend."""
        self.backend.close()


def random_policy(seed: int) -> PolicyFn:
    """Return a policy that draws each action at random, with the same probability for all actions.

    Policies with equal seeds return equal actions.
    """
    generator = random.Random(seed)  # noqa: S311 - a baseline, not a secret
    return lambda *_: generator.randrange(len(Action))


def _action_and_notes(answer: Any) -> tuple[Action, Mapping[str, Any]]:
    """Return (action, notes) from a policy's answer; the notes are empty if the answer is only an action."""
    if isinstance(answer, tuple):
        action, *rest = answer
        notes = rest[0] if rest and rest[0] is not None else {}
        return as_action(action), notes
    return as_action(answer), {}


def _save_image(path: Path, image: Any) -> None:
    """Write an observation as a PNG; raise an :class:`EvaluationError` if the observation is no image."""
    if not isinstance(image, np.ndarray):
        raise EvaluationError("the backend gives no images: make it with render_mode='rgb_array'")
    from gridworld.drawing import png_bytes

    replace_file(path, png_bytes(image))
