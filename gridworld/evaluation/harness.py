"""A harness that lets a model play tasks and computes the metrics."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import Any

from gridworld import library
from gridworld.backends.base import AbstractGridBackend
from gridworld.errors import ModelError, ModelUnavailableError
from gridworld.evaluation.metrics import BenchmarkEvaluationResult, EvaluationResult, TaskBenchmarkResult, TierMetrics
from gridworld.evaluation.model_interface import ModelInterface
from gridworld.evaluation.running.player import Player, Telling, backend_name
from gridworld.evaluation.running.tasks import DISTRIBUTIONS, EvaluationTask, check_tiling, tasks_in
from gridworld.runner.episode_result import EpisodeResult
from gridworld.runner.grid_runner import GridRunner
from gridworld.search.optimum import optimum_of
from gridworld.search.solver import DEFAULT_LIMIT
from gridworld.task_spec import TaskSpecification
from spca.common.installation import applications
from spca.common.jobs.versions import find_versions, utc_now
from spca.common.source_state import read_source_state


class EvaluationHarness:
    """A harness that lets a model play in a :class:`~gridworld.runner.grid_runner.GridRunner` and computes metrics.

    Folders of tasks may be named as in the repository (``gridworld/tasks``, ``mazes/validation_10``), whatever the
    current directory is.

    Most errors of the model end only the episode. Three kinds end the evaluation, because the model cannot be used: a
    :class:`~gridworld.errors.ModelUnavailableError`, a failed import, and a :class:`~gridworld.errors.ModelError`
    before the model's first answer.

    Args:
        model: the model that plays; ``model.setup`` is called before the first episode.
        backend: the backend; by default a new MiniGrid backend.
        render_mode: render mode of the default backend.
        history_images: the most earlier images that the model is shown.
        history_text: whether the input of the model describes the visible effects of its last actions.
        history_text_window: the number of last actions whose effects are described.
        text_observation: whether the model also gets the observation as text.
        device: argument of ``model.setup``; None if ``setup`` was called already.
        limit: number of states that the search for a shortest solution of a task may expand.

    Attributes:
        answered: whether the model has ever answered. If an evaluation is resumed and holds answers, the caller sets
            True.
    """

    def __init__(
        self,
        model: ModelInterface,
        backend: AbstractGridBackend | None = None,
        render_mode: str | None = "rgb_array",
        history_images: int = 2,
        history_text: bool = True,
        history_text_window: int = 3,
        text_observation: bool = False,
        device: str | None = "cpu",
        limit: int = DEFAULT_LIMIT,
    ) -> None:
        self.model = model
        self.runner = GridRunner(backend, render_mode)
        self.telling = Telling(history_images, history_text, history_text_window, text_observation)
        self._device = device
        self._limit = limit
        self._ready = device is None
        self.answered = False

    def evaluate_task(
        self,
        task_spec: TaskSpecification,
        seed: int | None = None,
        verbose: bool = False,
        record_observations: bool = True,
    ) -> EpisodeResult:
        """Let the model play one task and return the episode.

        Args:
            task_spec: the task.
            seed: seed of the episode; None takes the seed of the task.
            verbose: whether to print every step.
            record_observations: whether the trajectory holds every image.

        Returns:
            The episode. If the model raised an error, ``info["model_error"]`` describes the error.

        Raises:
            TaskError: the task is not valid, or was made for another tiling.
            ModelError: the model cannot be used.
        """
        check_tiling(task_spec, self.runner.backend.tiling)
        self.set_up()
        seed = task_spec.seed if seed is None else seed
        player = Player(self.model, self.runner.backend, task_spec, seed, self.telling)
        result = self.runner.run_episode(
            task_spec, player, seed=seed, verbose=verbose, record_observations=record_observations
        )
        self.answered = self.answered or player.answers > 0
        if isinstance(player.error, ModelUnavailableError):
            raise player.error
        never_answered = not self.answered
        if isinstance(player.error, ModelError) and never_answered:
            raise player.error
        player.finish(result)
        return result

    def judge(self, task_spec: TaskSpecification, verbose: bool = False) -> TaskBenchmarkResult:
        """Let the model play one task, and return the result of comparing the episode with the optimum.

        Images are not recorded. If the task's certificate is in doubt, ``episode.info["certificate"]`` gives the
        reason.

        Raises:
            TaskError: the task is not valid, or was made for another tiling.
            ModelError: the model cannot be used.
        """
        episode = self.evaluate_task(task_spec, verbose=verbose, record_observations=False)
        tiling = self.runner.backend.observe().tiling
        optimum = optimum_of(task_spec, tiling, self._limit)
        doubt = optimum.doubt
        if episode.success and episode.steps_taken < (optimum.steps or 0):
            doubt = f"says {optimum.steps} steps, but {episode.steps_taken} were enough"
        if doubt:
            episode.info["certificate"] = doubt
        return TaskBenchmarkResult.of(task_spec, episode, optimum.steps, optimum.bound)

    def evaluate_tier(
        self, tier: int, task_dir: str | os.PathLike[str] = library.TASKS, verbose: bool = False
    ) -> TierMetrics:
        """Let the model play every task in ``task_dir/tier<tier>``; return the metrics of the tier.

        Raises:
            TaskError: the folder does not exist, or a file in the folder is not a valid task or was made for another
                tiling.
            ModelError: the model cannot be used.
        """
        files = library.task_files(library.tier_dir(tier, task_dir))
        tasks = tasks_in([(file, tier) for file in files], self.runner.backend.tiling)
        episodes = [self.evaluate_task(task.spec, verbose=verbose, record_observations=False) for task in tasks]
        return TierMetrics.of(tier, episodes)

    def evaluate_all(
        self,
        task_dir: str | os.PathLike[str] = library.TASKS,
        tiers: Sequence[int] | None = None,
        verbose: bool = False,
    ) -> EvaluationResult:
        """Let the model play every task of the given tiers; return the metrics.

        Args:
            task_dir: folder that holds the folders ``tier1``, ``tier2``, ...
            tiers: numbers of the tiers; None for every folder that exists.
            verbose: whether to print every step.

        Raises:
            TaskError: a folder does not exist, or a file is not a valid task.
            ModelError: the model cannot be used.
        """
        chosen = library.tiers(task_dir) if tiers is None else tiers
        metrics = {tier: self.evaluate_tier(tier, task_dir, verbose) for tier in chosen}
        return EvaluationResult.of(self.model.model_name, metrics)

    def evaluate_task_set(
        self, task_specs: Iterable[TaskSpecification], benchmark_name: str = "custom", verbose: bool = False
    ) -> BenchmarkEvaluationResult:
        """Let the model play tasks; return the metrics, including the points.

        Raises:
            TaskError: a task is not valid, or was made for another tiling. A wrong tiling is found before any task is
                played.
            ModelError: the model cannot be used.
        """
        tasks = [EvaluationTask(index, spec.task_id, spec=spec) for index, spec in enumerate(task_specs)]
        for task in tasks:
            check_tiling(task.spec, self.runner.backend.tiling)
        return self._evaluate(tasks, benchmark_name, verbose)

    def evaluate_task_dir(
        self, task_dir: str | os.PathLike[str], benchmark_name: str | None = None, verbose: bool = False
    ) -> BenchmarkEvaluationResult:
        """Let the model play every task in a folder; return the metrics, including the points.

        Args:
            task_dir: folder of the tasks.
            benchmark_name: name of the benchmark in the results; by default the name of the folder.
            verbose: whether to print every step.

        Raises:
            TaskError: the folder does not exist, or a file in the folder is not a valid task or was made for another
                tiling.
            ModelError: the model cannot be used.
        """
        files = library.task_files(task_dir)
        tasks = tasks_in([(file, None) for file in files], self.runner.backend.tiling)
        return self._evaluate(tasks, benchmark_name or library.name_of(task_dir), verbose)

    def close(self) -> None:
        """Release the model and the backend."""
        self.model.teardown()
        self.runner.close()

    def set_up(self) -> None:
        """Call the model's ``setup`` if it was not called before.

        Raises:
            ModelError: the model cannot be used.
        """
        if not self._ready:
            self.model.setup(self._device or "cpu")
            self._ready = True

    def _evaluate(
        self, tasks: Sequence[EvaluationTask], benchmark_name: str, verbose: bool
    ) -> BenchmarkEvaluationResult:
        self.set_up()
        run = self._run_metadata(tasks)
        results = [self.judge(task.spec, verbose) for task in tasks]
        run["finished"] = utc_now()
        return BenchmarkEvaluationResult.of(benchmark_name, self.model.model_name, results, run)

    def _run_metadata(self, tasks: Sequence[EvaluationTask]) -> dict[str, Any]:
        """Return the settings, tasks, versions and start time that the results file holds under ``run``."""
        backend = self.runner.backend
        played = {"backend": backend_name(backend), "tiling": backend.tiling}
        return {
            "settings": {**played, "limit": self._limit, **asdict(self.telling)},
            "tasks": [task.to_dict() for task in tasks],
            "started": utc_now(),
            **read_source_state(applications()).to_dict(),
            "versions": find_versions(*DISTRIBUTIONS),
            "model": dict(self.model.describe()),
        }
