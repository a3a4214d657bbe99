"""GridRunner: one episode after another on any backend."""

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
"""``policy(observation, state, mission)``: an action, or (action, what to note about it), or None to stop here."""


class GridRunner:
    """Plays episodes.

    Args:
        backend: where; by default a :class:`~gridworld.backends.minigrid_backend.MiniGridBackend` of its own.
        render_mode: of that default backend: "rgb_array" for images as observations, None for the cheap
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
        """Play one episode.

        Args:
            task_spec: the task.
            policy_fn: decides; None acts at random, the same for the same seed.
            seed: of the episode; None takes the task's own. 0 is a seed.
            record_trajectory: keep every step.
            verbose: print every step.
            record_observations: keep what was seen in each step; images of long episodes take much room.

        Raises:
            TaskError: the task is not valid.
            ActionError: the policy answered with no action.
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
            following, reward, terminated, truncated, new_state, info = self.backend.step(action)
            steps += 1
            total_reward += reward
            if record_trajectory:
                seen = observation if record_observations else None
                noted = {**info, **notes}
                trajectory.append(Trajectory(steps, seen, int(action), ACTION_NAMES[action], reward, state, noted))
            if verbose:
                print(f"{task_spec.task_id!r} step {steps}: {ACTION_NAMES[action]}, reward {reward:.3f}")
            observation = following
            state = new_state
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
        """Run one episode of each task, in their order, each with the task's own seed."""
        return [self.run_episode(spec, policy_fn, verbose=verbose) for spec in task_specs]

    def collect_demonstrations(
        self, task_spec: TaskSpecification, actions: Sequence[SupportsIndex], seed: int | None = None
    ) -> EpisodeResult:
        """Do ``actions`` one after another and keep what happened.

        The episode stops when they are used up, neither terminated nor truncated then, so that a demonstration holds
        nothing that nobody demonstrated; what is left of them when it ends before is not done.

        Raises:
            ActionError: one of them is no action; nothing has been done.
        """
        chosen = iter([as_action(action) for action in actions])
        return self.run_episode(task_spec, lambda *_: next(chosen, None), seed=seed)

    def generate_observation_dataset(
        self,
        task_specs: Iterable[TaskSpecification],
        policy_fn: PolicyFn | None = None,
        output_dir: str | os.PathLike[str] = "observations",
        save_images: bool = True,
    ) -> list[dict[str, Any]]:
        """Play every task once and write what was seen: ``records.jsonl`` and, beside it, one PNG per step.

        A record holds task_id, tier, seed, mission, step (from 1), action, action_name, reward, agent_position and
        agent_direction (before the action), and image_path, relative to ``output_dir``, if there are images.
        ``records.jsonl`` is written last; while it is not there, the set is not complete.

        Returns:
            the records.

        Raises:
            EvaluationError: the folder holds a data set already, cannot be written, or the backend gives no images.
        """
        folder = Path(output_dir)
        index = folder / "records.jsonl"
        if index.exists():
            raise EvaluationError(f"{index}: there is a data set already; choose another output_dir")
        records: list[dict[str, Any]] = []
        try:
            folder.mkdir(parents=True, exist_ok=True)
            times: Counter[str] = Counter()
            for spec in task_specs:
                times[spec.task_id] += 1
                occurrence = times[spec.task_id]
                again = f"~{occurrence}" if occurrence > 1 else ""
                images = folder / f"{file_stem(spec.task_id)}{again}" if save_images else None
                records += self._observations(spec, policy_fn, images)
            lines = [json_text(record) + "\n" for record in records]
            replace_file(index, "".join(lines).encode())
        except OSError as error:
            raise EvaluationError(f"{folder}: cannot be written: {error.strerror or error}") from error
        return records

    def _observations(
        self, spec: TaskSpecification, policy_fn: PolicyFn | None, images: Path | None
    ) -> list[dict[str, Any]]:
        result = self.run_episode(spec, policy_fn, record_observations=images is not None)
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
            if images is not None:
                path = images.with_name(f"{images.name}_step{each.step:04d}.png")
                _save_image(path, each.observation)
                record["image_path"] = path.name
            records.append(record)
        return records

    def close(self) -> None:
        """Release the backend."""
        self.backend.close()


def random_policy(seed: int) -> PolicyFn:
    """Return a policy of random actions, the same for the same seed."""
    generator = random.Random(seed)  # noqa: S311 - a baseline, not a secret
    return lambda *_: generator.randrange(len(Action))


def _action_and_notes(answer: Any) -> tuple[Action, Mapping[str, Any]]:
    if isinstance(answer, tuple):
        action, *rest = answer
        notes = rest[0] if rest and rest[0] is not None else {}
        return as_action(action), notes
    return as_action(answer), {}


def _save_image(path: Path, image: Any) -> None:
    if not isinstance(image, np.ndarray):
        raise EvaluationError("the backend gives no images: make it with render_mode='rgb_array'")
    from gridworld.drawing import png_bytes

    replace_file(path, png_bytes(image))
