"""How a worker makes what it needs, whichever engine runs it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import ClassVar, Final

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

LOST: Final = "lost"
"""In the ``info`` of an episode that was not played."""


@dataclass(frozen=True, slots=True)
class WorkerSetup(Setup[EvaluationTask, TaskBenchmarkResult]):
    """How a worker makes its harness, with a model and a backend of its own.

    Attributes:
        answered: the model has answered in the part of the evaluation that is finished.
        books: folder in which a model that is paid for keeps its calls, an absolute path; "" for none.
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

    @contextmanager
    def opened(self) -> Iterator[Callable[[EvaluationTask], TaskBenchmarkResult]]:
        with closing(self.harness()) as harness:
            yield lambda task: harness.judge(task.spec, self.verbose)

    def model(self) -> ModelInterface:
        """Make the model; it shows itself no images where it is to be told what there is to see."""
        model = self.factory(self.request())
        if self.settings.telling.observation == "text":
            model.uses_images = False
        return model

    def request(self) -> ModelRequest[object]:
        """Return what the model is made from."""
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
        except BaseException:  # the model is released, whatever happened
            harness.close()
            raise
        return harness

    def lost(self, job: EvaluationTask, how: str) -> TaskBenchmarkResult:
        """Return the result of a task whose worker died each time, with no steps done."""
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
