"""The SPCA agent as a model that gridworld evaluates.

When an episode begins, the sense-plan-code-act loop of :mod:`main` plays the task in a World of its own, as it plays a
level of the curriculum: from observations, with checkpoints and retries. The primitives of the last attempt are then
the model's actions. The evaluation plays these actions in its own backend, and only this backend decides whether the
task is solved. A run folder records everything that the loop does: every call of a model, every plan, and every version
of the growing agent.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any, Final

from gridworld.actions import Action
from gridworld.errors import BudgetSpentError, ModelError, ModelUnavailableError
from gridworld.evaluation.model_interface import ModelInput, ModelInterface, ModelOutput
from gridworld.evaluation.models.model_options import MAY_CHANGE_IF_PAID, SECONDS, ModelRequest, PaidOptions
from gridworld.evaluation.models.registry import ModelEntry
from gridworld.task_spec import TaskSpecification
from spca.common.installation import ApplicationFunction
from spca.common.options.values import FOLDER, MODEL, WORD, name_value

if TYPE_CHECKING:
    from gridworld.rules.layout import Layout
    from gridworldenv import GridTaskWorld
    from spca.contracts import LevelSpec
    from spca.runs.curriculum import Task
    from spca.runs.results import LevelResult
    from spca.runs.settings import Settings
    from spca.runs.startup import Prepared

_UNSAFE: Final = re.compile(r"[^A-Za-z0-9_-]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class SpcaOptions(PaidOptions):
    """Options of this model; without any the embedded model plays, or what the environment names.

    Caps hold for each process.

    Attributes:
        planner_model: plans, replans and repairs, such as openai/gpt-6.1-sol
        planner_small_model: adapts PDDL that worked before
        coder_model: writes actions
        planner_effort: how much it reasons: the same as --planner-model NAME@WORD
        planner_small_effort: how much it reasons: the same as --planner-small-model NAME@WORD
        coder_effort: how much it reasons: the same as --coder-model NAME@WORD
        spca_timeout: wait for an answer of a model
        spca_runs: where run folders lie (default runs)
        spca_workspace: folder of the growing agent (default: a temporary one)
    """

    planner_model: Annotated[str | None, MODEL] = None
    planner_small_model: Annotated[str | None, MODEL] = None
    coder_model: Annotated[str | None, MODEL] = None
    planner_effort: Annotated[str | None, WORD] = None
    planner_small_effort: Annotated[str | None, WORD] = None
    coder_effort: Annotated[str | None, WORD] = None
    spca_timeout: Annotated[float | None, SECONDS, name_value("S")] = None
    spca_runs: Annotated[str | None, FOLDER] = None
    spca_workspace: Annotated[str | None, FOLDER] = None

    def __reduce__(self) -> tuple[ApplicationFunction, tuple[dict[str, Any]]]:
        return ApplicationFunction("spca_model", "restore_options"), (asdict(self),)


def restore_options(values: Mapping[str, Any]) -> SpcaOptions:
    """Return the options from ``values``, which another process sent; unpickling calls this function.

    The receiving process may be unable to import this module before.
    """
    return SpcaOptions(**values)


def make(request: ModelRequest[SpcaOptions]) -> SpcaModel:
    """Return the model that a request describes."""
    return SpcaModel(request.options, request.seed)


ENTRY: Final = ModelEntry(
    ApplicationFunction("spca_model", "make"),
    "senses, plans, codes and acts in a world of its own",
    SpcaOptions,
    MAY_CHANGE_IF_PAID | {"spca_runs", "spca_workspace", "spca_timeout"},
)
"""The entry of ``--model spca`` in the registry of models."""


class SpcaModel(ModelInterface):
    """A model that plays tasks by sensing, planning, coding and acting; its library of actions grows from task to task.

    Args:
        options: the options of the model; None means the default options.
        seed: the seed of the worlds; None means the default seed.

    Raises:
        ModelError: an option cannot be used.
    """

    uses_images = False

    def __init__(self, options: SpcaOptions | None = None, seed: int | None = None) -> None:
        from spca.common.environment import load_environment
        from spca.common.errors import UserError
        from spca.runs.options import (
            CapOptions,
            DisplayOptions,
            KeptOptions,
            ModelOptions,
            RunOptions,
            SelectionOptions,
            ServerOptions,
        )
        from spca.runs.resolution import resolve_settings

        given = options or SpcaOptions()
        run_options = RunOptions(
            selection=SelectionOptions(seed=seed),
            kept=KeptOptions(runs=given.spca_runs, workspace=given.spca_workspace),
            models=ModelOptions(
                planner_model=given.planner_model,
                planner_small_model=given.planner_small_model,
                coder_model=given.coder_model,
                planner_effort=given.planner_effort,
                planner_small_effort=given.planner_small_effort,
                coder_effort=given.coder_effort,
                where=ServerOptions(
                    base_url=given.base_url,
                    servers=given.servers or (),
                    model_table=given.model_table,
                ),
                no_preflight=given.preflight is False,
                timeout=given.spca_timeout,
                max_output_tokens=given.max_output_tokens,
                caps=CapOptions(
                    max_cost=given.max_cost,
                    max_calls=given.max_calls,
                    max_tokens=given.max_tokens,
                ),
            ),
            display=DisplayOptions(quiet=True),
        )
        try:
            self._settings = resolve_settings(run_options, load_environment(run_options.models.where.servers))
        except UserError as error:
            raise ModelError(str(error)) from error
        self._keeps_workspace = given.spca_workspace is not None
        self._stack = ExitStack()
        self._session: _Session | None = None
        self._actions: list[tuple[int, str]] = []
        self._details: dict[str, Any] | None = None

    @property
    def model_name(self) -> str:
        models = self._settings.models
        if models.uses_reference:
            return "spca"
        names = dict.fromkeys(map(str, models.refs))
        return f"spca ({', '.join(names)})"

    def describe(self) -> Mapping[str, Any]:
        planner, small, coder = map(str, self._settings.models.refs)
        return {"planner": planner, "planner_small": small, "coder": coder}

    def setup(self, device: str = "cpu") -> None:
        """Open a run folder, prove that the sandbox holds, and start the solver.

        Raises:
            ModelError: one of these steps failed; the message names the reason.
        """
        del device
        from spca.common.errors import UserError, WorkspaceBusyError

        settings = self._settings
        with ExitStack() as stack:
            if not self._keeps_workspace:
                folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="spca-"))
                settings = replace(settings, workspace=folder)
            try:
                self._session = stack.enter_context(_open_session(settings))
            except WorkspaceBusyError as error:
                raise ModelError(f"{error}; with several --workers leave --spca-workspace out") from error
            except UserError as error:
                raise ModelError(str(error)) from error
            self._stack = stack.pop_all()

    def teardown(self) -> None:
        self._session = None
        self._stack.close()

    def begin_episode(
        self, task_spec: TaskSpecification, seed: int, *, backend: str = "minigrid", tiling: str = "square"
    ) -> None:
        """Play the whole task; afterwards, :meth:`predict` returns the actions one by one.

        Raises:
            ModelError: the task is not on the square tiling, its world cannot be created, or :meth:`setup` was not
                called.
            ModelUnavailableError: a model does not answer or gives no usable answers, so that every later task would
                fail. If a cap was reached, the error is a BudgetSpentError.
        """
        del seed, backend
        from gridworld.rules.layout import Layout
        from gridworld.rules.tilings import TILINGS
        from spca.common.errors import BudgetReached, SPCAError, UnusableModelError, UserError

        self._actions = []
        self._details = None
        if tiling != "square":
            raise ModelError(f"spca plays on the square tiling only, not on {tiling}: leave --tiling out")
        if self._session is None:
            raise ModelError("spca has to be set up before it plays: call setup()")
        try:
            self._actions, self._details = self._session.play(Layout(task_spec, TILINGS[tiling]))
        except UnusableModelError as error:
            raise ModelUnavailableError(f"spca: {error}") from error
        except BudgetReached as error:
            raise BudgetSpentError(f"spca: {error}", error.flag) from error
        except UserError as error:
            raise ModelUnavailableError(f"spca: {error}") from error
        except SPCAError as error:
            raise ModelError(f"spca: {error}") from error

    def predict(self, input: ModelInput) -> ModelOutput:
        """Return the next primitive of the last attempt; if all primitives are used up, return DONE, which waits."""
        if input.step_number > len(self._actions):
            return ModelOutput(int(Action.DONE), reasoning="the plan was carried out")
        code, reason = self._actions[input.step_number - 1]
        return ModelOutput(code, reasoning=reason)

    def episode_details(self) -> Mapping[str, Any] | None:
        """Return facts about the played task, or None if no task was played.

        The facts are: whether the task was solved in the model's own World, rounds, attempts, calls, costs, and run
        folder.
        """
        return self._details


@contextmanager
def _open_session(settings: Settings) -> Iterator[_Session]:
    """Yield the session of a new, opened run; at the end, write the summary of the run."""
    from spca.runs.startup import prepare_run

    with prepare_run(settings) as prepared:
        session = _Session(prepared)
        with session.run.open():
            try:
                yield session
            finally:
                finished = len(session.run.recorder.finished)
                session.run.recorder.report(settings.seed, finished)


class _Session:
    """A run of :mod:`main` in which each task that arrives becomes a level; open ``run`` before playing tasks."""

    def __init__(self, prepared: Prepared) -> None:
        import main
        from spca.runs.run import Run
        from spca.runs.screen.display import Display

        self._folder = prepared.folder
        self._executor = prepared.executor
        self._layouts: dict[str, Layout] = {}
        self._tasks: list[Task] = []
        self._world: GridTaskWorld | None = None
        self.run = Run(prepared, main.load_phases(), Display((), quiet=True), self._make_world)

    def play(self, layout: Layout) -> tuple[list[tuple[int, str]], dict[str, Any]]:
        """Play a task; return (primitives, details).

        Each primitive is a pair (code, text of the action of the plan that the primitive belongs to). The details are
        those of :meth:`SpcaModel.episode_details`.
        """
        from spca.runs.recording.folder import CURRICULUM

        if error := self.run.find_unusable_model():
            raise error  # before anything is asked: the tasks that it has failed are results of the evaluation
        task = self._task(layout)
        self._layouts[task.env_id] = layout
        self._world = None
        self._folder.write_json(CURRICULUM, _curriculum([*self._tasks, task]))
        result, summary = self.run.play_level(task.index + 1, task)
        self._tasks.append(task)
        return _describe_primitives(result), self._details(result, summary)

    def _task(self, layout: Layout) -> Task:
        """Return a task as a level with a unique name that is valid in file names.

        All tasks get the same level, so that the level does not reveal how hard the author thinks a task is.
        """
        from gridworldenv import skill
        from spca.contracts import GRIDWORLD
        from spca.runs.curriculum import Task

        name = _UNSAFE.sub("_", layout.spec.task_id)[:80].strip("_") or "task"
        env_id = name
        number = 1
        while env_id in self._layouts:
            number += 1
            env_id = f"{name}-{number}"
        return Task(len(self._tasks), GRIDWORLD, skill(layout.spec), "task", env_id)

    def _make_world(self, level: LevelSpec, _seed: int, **_settings: object) -> GridTaskWorld:
        from gridworldenv import GridTaskWorld

        world = GridTaskWorld(self._layouts[level.id], self._executor)
        self._world = self._world or world
        return world

    def _details(self, result: LevelResult, summary: Mapping[str, Any]) -> dict[str, Any]:
        counters = summary["counters"]
        return {
            "solved_in_own_world": result.solved,
            "reason": result.reason.partition("\n")[0][:300],
            "rounds": counters["spca_rounds"],
            "attempts": len(result.attempts),
            "restores": self._world.restore_count if self._world else 0,
            "steps_of_all_attempts": result.steps_total,
            "planner_calls": counters["planner_calls"],
            "coder_calls": counters["coder_calls"],
            "usage": summary["usage"],
            "run": str(self._folder.path),
            "level": summary["index"],
        }


def _describe_primitives(result: LevelResult) -> list[tuple[int, str]]:
    """Return the primitives from the start of the episode to the end of the last attempt, each as (code, text).

    The text is the call of the plan that the primitive belongs to. For primitives of earlier rounds, the text names the
    rounds.
    """
    if not result.attempts:
        return []
    last = result.attempts[-1]
    earlier = [(code, f"round {last.round - 1} or before") for code in last.start.primitives]
    calls = [str(call) for call in last.plan.steps]
    latest = [(step.code, calls[step.position]) for step in last.outcome.trace]
    return earlier + latest


def _curriculum(tasks: list[Task]) -> list[dict[str, Any]]:
    """Return the tasks so far in the form of a curriculum file, for readers of the run folder."""
    configs = [task.env_id for task in tasks]
    level = {"name": tasks[0].level, "configs": configs}
    return [{"category_name": tasks[0].category, "skill": "gridworld tasks", "levels": [level]}]
