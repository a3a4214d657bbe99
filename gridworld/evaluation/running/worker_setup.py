"""The setup of a worker process: its model, its backend and its harness."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import ClassVar, Final

from gridworld.adapters.plugins import load_same_plugins
from gridworld.errors import EvaluationError, ModelError
from gridworld.evaluation.harness import EvaluationHarness
from gridworld.evaluation.metrics import TaskBenchmarkResult
from gridworld.evaluation.model_interface import ModelInterface
from gridworld.evaluation.models.model_options import ModelRequest
from gridworld.evaluation.models.registry import Factory
from gridworld.evaluation.running.settings import Settings
from gridworld.evaluation.running.tasks import EvaluationTask
from gridworld.runner.episode_result import EpisodeResult
from gridworld.search.optimum import optimum_of
from spca.common.jobs.work import TRIES, JobMessages, Setup
from spca.common.plugins.plugin_records import PluginRecord

LOST: Final = "lost"
"""Key in the ``info`` of an episode that was not played because its worker died."""


@dataclass(frozen=True, slots=True)
class WorkerSetup(Setup[EvaluationTask, TaskBenchmarkResult]):
    """The values from which each worker process makes its own model, backend and harness.

    The main process sends these values to the workers. Therefore, all fields must be picklable.

    Attributes:
        settings: settings of the evaluation.
        factory: function that makes the model.
        verbose: whether to print every step.
        answered: whether the model has answered in the finished part of the evaluation.
        books: absolute path of the folder in which a paid model records its calls; "" for no folder.
        plugins: the plugins of the main process.
    """

    terms: ClassVar[JobMessages] = JobMessages(
        error=EvaluationError, again="choose another --output to keep it, or --overwrite it"
    )
    unusable: ClassVar[type[ModelError]] = ModelError

    settings: Settings
    factory: Factory
    verbose: bool = False
    answered: bool = False
    books: str = ""
    plugins: tuple[PluginRecord, ...] = ()

    @contextmanager
    def start_worker(self) -> Iterator[Callable[[EvaluationTask], TaskBenchmarkResult]]:
        load_same_plugins(self.plugins)
        with closing(self.harness()) as harness:
            yield lambda task: harness.judge(task.spec, self.verbose)

    def model(self) -> ModelInterface:
        """Return a new model. If observations are text, the model is set to use no images."""
        model = self.factory(self.request())
        if self.settings.telling.observation == "text":
            model.uses_images = False
        return model

    def request(self) -> ModelRequest[object]:
        """Return the request for the factory of the model."""
        settings = self.settings
        return ModelRequest(settings.model, settings.options, settings.tasks.seed, settings.limit, self.books)

    def harness(self) -> EvaluationHarness:
        """Return a harness whose model is ready.

        Raises:
            ModelError: the model cannot be used.
        """
        from gridworld.backends import get_backend

        settings = self.settings
        tasks = settings.tasks
        model = self.model()
        options = {"tiling": tasks.tiling} if tasks.backend == "multigrid" else {}
        render_mode = "rgb_array" if model.uses_images else None
        backend = get_backend(tasks.backend, render_mode=render_mode, **options)
        harness = EvaluationHarness(model, backend, device=tasks.device, limit=settings.limit)
        harness.telling = settings.telling
        harness.answered = self.answered
        try:
            harness.set_up()
        except BaseException:  # release the model even after an interruption
            harness.close()
            raise
        return harness

    def make_lost_result(self, job: EvaluationTask, how: str) -> TaskBenchmarkResult:
        """Return a result without steps for a task whose worker died at every attempt; ``how`` describes the death."""
        from gridworld.rules.episode import Episode
        from gridworld.rules.layout import Layout
        from gridworld.rules.tilings import TILINGS

        spec = job.spec
        tiling = self.settings.tasks.tiling
        episode = EpisodeResult(
            task_id=spec.task_id,
            success=False,
            total_reward=0.0,
            steps_taken=0,
            max_steps=spec.max_steps,
            terminated=False,
            truncated=False,
            trajectory=[],
            final_state=Episode(Layout(spec, TILINGS[tiling])).grid_state(),
            seed=spec.seed,
            mission=spec.get_mission_text(),
            info={"model_error": f"{how}, {TRIES} times", LOST: True},
        )
        optimum = optimum_of(spec, tiling, self.settings.limit)
        return TaskBenchmarkResult.of(spec, episode, optimum.steps, optimum.bound)
