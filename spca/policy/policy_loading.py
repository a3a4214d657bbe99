"""Load what a run has learned as a policy; :func:`spca.load_policy` is its public name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Final

from spca.common.errors import SettingsError
from spca.common.files import make_folder
from spca.common.installation import ApplicationFunction, applications, find_runs
from spca.common.text import one_line
from spca.contracts import LevelInfo, Plan, Snapshot
from spca.evaluation.episodes import Episode
from spca.evaluation.eval_folder import RECORD, EvaluationFolder, EvaluationSettings
from spca.evaluation.learned import Learned, read_learned
from spca.evaluation.options import NO_MODEL, EpisodeOptions, EvaluateOptions, PlannerOptions
from spca.evaluation.playing.frozen_planning import ModelAsker, StoredPlanner, make_stored_planner
from spca.evaluation.playing.player import Asker, Planning
from spca.evaluation.settings_resolution import resolve_evaluation
from spca.plan.solver import Solver
from spca.plugins.loaded import require_plugins
from spca.plugins.named import load_named_plugins
from spca.policy.learned_policy import LearnedPolicy
from spca.policy.level_choice import choose_level, list_categories
from spca.policy.observed_worlds import find_world_starter
from spca.policy.policy_episode import PolicyLevel
from spca.runs.curriculum import load
from spca.runs.models import require_usable
from spca.runs.options import SolverOptions
from spca.sandbox.executor import SandboxExecutor
from spca.writers.library import WriterLibrary
from spca.writers.stored import WriterFailure

_NO_CALLS: Final = "calls=DIR is missing: the folder in which the requests to the model are recorded and counted"


def load_policy(
    run: str | Path | None = None,
    level: LevelInfo | str | None = None,
    *,
    runs: str | Path | None = None,
    plugins: str | Iterable[str] = (),
    model: str = NO_MODEL,
    calls: str | Path | None = None,
    engine: str | None = None,
    unsafe_no_sandbox: bool = False,
) -> LearnedPolicy:
    """Return what a run has learned as a policy for a loop of one's own.

    The policy has the run's library and problem writers. It starts a sandbox and a solver; close it, or use it in a
    ``with`` statement. No simulator is imported.

    Args:
        run: folder or id of a run, an evaluation's folder, the folder ``learned`` of an exported program, or an
            agent's file; None for the latest finished run in ``runs``.
        level: what is played: an environment id, a category or a level of the run's curriculum, or a
            :class:`~spca.contracts.LevelInfo`. Writers ask for these words, and they are tried in the order in which
            they fit. Without them all writers are tried, for each category of the curriculum.
        runs: the folder of runs; by default as for the command line.
        plugins: modules or files, as for ``--plugin``; a run that used plugins needs the same ones.
        model: the model that is asked for what no writer plans; ``none`` for none.
        calls: folder for the requests to ``model``; embedded models need none. Answers that it has are used again.
        engine: planning engine, as for ``--engine``.
        unsafe_no_sandbox: as ``--unsafe-no-sandbox``.

    Raises:
        ResumeError: the run does not exist or cannot be read.
        SettingsError: an argument is invalid, or the run's world needs more than observations.
        PluginError: the run used a plugin that is not loaded.
        SandboxError: generated code cannot be executed safely here.
    """
    load_named_plugins((plugins,) if isinstance(plugins, str) else tuple(plugins))
    learned = read_agent(run, runs)
    options = EvaluateOptions(
        episodes=EpisodeOptions(),
        planner=PlannerOptions(
            planner_model=model, solver=SolverOptions(engine=engine, unsafe_no_sandbox=unsafe_no_sandbox)
        ),
    )
    settings = resolve_evaluation(options, learned)
    with ExitStack() as opened:
        executor = opened.enter_context(SandboxExecutor(unsafe=settings.planning.unsafe_no_sandbox))
        executor.begin()
        solver = opened.enter_context(Solver(settings.planning.engine))
        solver.warm()
        executor.verify()

        writers = WriterLibrary(executor, solver.solve, settings.planning.body)
        opened.callback(writers.close)
        writers.load(learned.stored)
        ask_none = Planning(lambda *_: (), "", _refuse_to_ask)
        find_level = partial(
            _find_level,
            learned=learned,
            settings=settings,
            executor=executor,
            writers=writers,
            planning=_add_model(ask_none, settings, solver, calls),
        )
        resources = ExitStack()
        policy = LearnedPolicy(settings.planning.body, find_level, level, resources.close)
        resources.push(opened.pop_all())
        return policy


def _find_level(
    level: LevelInfo | str | None,
    *,
    learned: Learned,
    settings: EvaluationSettings,
    executor: SandboxExecutor,
    writers: WriterLibrary,
    planning: Planning,
) -> PolicyLevel:
    """Return what a policy plays a level with."""
    choice = choose_level(level, learned.tasks)
    info = choice.info
    only_category = learned.of_category if choice.is_known else None
    stored_planner = make_stored_planner(writers, settings.renaming, only_category)
    if not choice.is_known:
        stored_planner = partial(_plan_any_level, infos=list_categories(learned.tasks), plan=stored_planner)
    start_world = find_world_starter(settings.planning.world, choice.spec, executor, settings.renaming)
    return PolicyLevel(
        episode=Episode(0, choice.spec.id, 0, info.category, info.skill, info.level),
        agent=learned.agents.get(info.category, learned.agents[""]),
        planning=replace(planning, stored=stored_planner),
        start_world=start_world,
    )


def _plan_any_level(
    snapshot: Snapshot, level: LevelInfo, *, infos: Iterable[LevelInfo], plan: StoredPlanner
) -> Iterator[Plan | WriterFailure]:
    """Yield what writers answer to a level of which nothing is known, then to each category of the curriculum.

    Some writers refuse a level whose category is not theirs.
    """
    for info in (level, *infos):
        yield from plan(snapshot, info)


def read_agent(run: str | Path | None, runs: str | Path | None) -> Learned:
    """Return what a run, an evaluation or an exported program has kept; see :func:`load_policy`.

    Raises:
        ResumeError: there is no such folder, or it cannot be read.
        PluginError: it used a plugin that is not loaded.
    """
    given = None if run is None else str(run)
    path = Path.cwd() / (given or "")
    if given and (path / RECORD).is_file():
        return _read_evaluation(path)
    return read_learned(given, find_runs(None if runs is None else str(runs)), Path.cwd(), applications())


def _read_evaluation(path: Path) -> Learned:
    folder = EvaluationFolder.load(path)
    require_plugins(folder.record, f"the folder {path}")
    settings = folder.settings
    world = settings.planning.world
    stored, of_category = folder.writers()
    curriculum = load(folder.curriculum).play_in(world)
    recorded = {"rename_words": settings.rename_words, "world": world}
    return Learned(
        source=str(path),
        agents=folder.agents(),
        text="",
        curriculum=curriculum,
        tasks=curriculum.tasks(),
        settings=recorded,
        stored=stored,
        of_category=of_category,
    )


def _add_model(planning: Planning, settings: EvaluationSettings, solver: Solver, calls: str | Path | None) -> Planning:
    """Return a planning that also asks the model of the settings, if there is one.

    Raises:
        SettingsError: requests are not recorded.
    """
    if settings.planner_model == NO_MODEL:
        return planning
    is_recorded = not settings.planning.models.uses_reference
    if is_recorded and calls is None:
        raise SettingsError(f"model {one_line(settings.planner_model)}: {_NO_CALLS}")
    if is_recorded:
        require_usable(settings.planning.models)
    folder = Path.cwd() / (calls or "")
    if is_recorded:
        make_folder(folder / "state")
    phases = ApplicationFunction("main", "load_phases")()
    asker = ModelAsker(settings, phases, solver, folder)
    return replace(planning, model=settings.planner_model, asker=asker.begin_episode)


def _refuse_to_ask(*_: object) -> Asker:
    raise AssertionError("a planning without a model asks none")
