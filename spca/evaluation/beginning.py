"""From what a user says of an evaluation to its folder, new or begun before."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from spca.common.command import complain
from spca.common.environment import load_environment
from spca.common.errors import SettingsError
from spca.common.installation import applications, find_runs
from spca.evaluation import selection
from spca.evaluation.episodes import Episode
from spca.evaluation.eval_folder import EvaluationFolder, EvaluationSettings
from spca.evaluation.learned import Learned, learned
from spca.evaluation.options import DEFAULT_SEEDS, EMBEDDED, NO_MODEL, EvaluateOptions
from spca.evaluation.outside import outside_ids
from spca.evaluation.seeds import read_seeds
from spca.llm.catalogue.model_ref import ModelRef
from spca.plan.solver import Solver
from spca.runs import curriculum
from spca.runs.models import require_usable
from spca.runs.options import AblationOptions, ModelOptions, RunOptions
from spca.runs.phases import Phases
from spca.runs.provenance import check_versions, note_continuation, run_info
from spca.runs.resolution import Claim, require_same, resolve_models, resolve_settings
from spca.runs.settings import Settings
from spca.sandbox.executor import SandboxExecutor


def begin_evaluation(options: EvaluateOptions, phases: Phases) -> EvaluationFolder:
    """Return the folder of a new evaluation, once nothing speaks against it.

    Raises:
        UserError: an option that cannot be meant, or what was learned cannot be read.
    """
    runs = find_runs(options.how.runs)
    frozen = learned(options.episodes.agent, runs, Path.cwd(), applications())
    words = options.episodes.rename_words
    if words is None:
        words = frozen.settings.get("rename_words")
    model = options.planner.planner_model or (EMBEDDED if words is None else NO_MODEL)
    seeds = options.episodes.seeds or DEFAULT_SEEDS
    _warn(frozen, model, seeds, words)

    planning = resolve_planning(options, model, frozen)
    require_one_process(options.how.workers, model)
    settings = _make_settings(options, frozen, seeds, model, planning, words)
    learned_on = curriculum.parse(frozen.curriculum, frozen.source)
    episodes = _select_episodes(settings, learned_on, phases)
    phases.check_ids(dict.fromkeys(each.env_id for each in episodes))
    Solver(planning.engine)
    models, caps = require_usable(planning.models)
    if not (planning.models.uses_reference or options.how.quiet):
        print(models.greet(os.environ, caps))

    with SandboxExecutor(unsafe=planning.unsafe_no_sandbox) as executor:
        sandbox = executor.verify()
    info = run_info(planning, applications(), sandbox, frozen.curriculum)
    made_with = {name: info[name] for name in ("versions", "git_commit", "git_dirty", "hashes", "sandbox")}
    if settings.outside:
        ids = outside_ids(phases.known_ids(), (task.env_id for task in learned_on.tasks()))
        causes = ids.unplayable.items()
        made_with["unplayable"] = {name: why for name, why in causes if selection.matches(name, settings.ids)}
    return EvaluationFolder.create(runs, settings, frozen, made_with)


def resume_evaluation(options: EvaluateOptions, name: str) -> EvaluationFolder:
    """Return the folder of an evaluation to go on with; caps and addresses of its model may be others now.

    Raises:
        ResumeError: there is none of this name, or an option contradicts it.
        SettingsError: an address that cannot be meant.
    """
    folder = EvaluationFolder.open(find_runs(options.how.runs), name)
    settings = folder.settings()
    require_same(_list_claims(options, folder), "evaluation")
    check_versions(folder.record()["versions"])
    folder.agents()

    planning = _resume_planning(options, settings.planning)
    if not folder.is_finished:
        record = note_continuation(folder.record(), planning, applications())
        folder.change(replace(settings, planning=planning), record)
    return folder


def list_episodes(folder: EvaluationFolder, phases: Phases) -> tuple[Episode, ...]:
    """Return the episodes of an evaluation, in order."""
    return _select_episodes(folder.settings(), curriculum.load(folder.curriculum), phases)


def count_workers(given: int | None, model: str) -> int:
    """Return how many processes play; the requests to a model have one ledger, which one process keeps.

    Raises:
        SettingsError: more than one process would ask a model.
    """
    require_one_process(given, model)
    return given or (len(os.sched_getaffinity(0)) if model in (EMBEDDED, NO_MODEL) else 1)


def require_one_process(given: int | None, model: str) -> None:
    """Refuse several processes that would ask a model.

    Raises:
        SettingsError: names the option.
    """
    if model not in (EMBEDDED, NO_MODEL) and given not in (None, 1):
        raise SettingsError(f"--workers {given}: what is asked of {model} is counted by one process: leave it out")


def resolve_planning(options: EvaluateOptions, model: str, frozen: Learned) -> Settings:
    """Return the settings of a run whose planner is ``model``; a model of the environment is never taken."""
    name = EMBEDDED if model == NO_MODEL else model
    is_embedded = ModelRef.parse(name).is_embedded
    words = options.episodes.rename_words
    if words is None:
        words = frozen.settings.get("rename_words")
    environ = load_environment(options.planner.where.servers)
    return resolve_settings(
        RunOptions(
            ablations=AblationOptions(
                compile=False,
                bare_prompt=frozen.settings.get("bare_prompt", False) and not is_embedded,  # which it does not read
                rename_words=None if model == NO_MODEL else words,  # nobody is asked in any words
            ),
            models=ModelOptions(
                planner_model=name,
                planner_small_model=name,
                coder_model="reference/coder" if is_embedded else name,  # it is never asked
                planner_effort=options.planner.planner_effort,
                where=options.planner.where,
                caps=options.planner.caps,
            ),
            solver=options.planner.solver,
        ),
        environ,
    )


def _make_settings(
    options: EvaluateOptions, frozen: Learned, seeds: str, model: str, planning: Settings, words: int | None
) -> EvaluationSettings:
    learned_on = curriculum.parse(frozen.curriculum, frozen.source)
    categories, ids = learned_on.split_selection(options.episodes.only)
    if categories is None and ids is None:
        categories = selection.taught(frozen.categories, learned_on.tasks(), outside=options.episodes.outside)
    return EvaluationSettings(
        agent=frozen.source,
        seeds=seeds,
        planner_model=model if model == NO_MODEL else str(planning.models.planner),
        planning=planning,
        categories=categories,
        ids=ids,
        outside=options.episodes.outside,
        attempts=options.episodes.attempts or 1,
        versus=options.episodes.versus,
        rename_words=words,
        upstream_rules=options.episodes.upstream_rules or bool(frozen.settings.get("upstream_rules")),
    )


def _select_episodes(
    settings: EvaluationSettings, learned_on: curriculum.Curriculum, phases: Phases
) -> tuple[Episode, ...]:
    tasks = learned_on.tasks()
    others: Sequence[curriculum.Task] = ()
    if settings.outside:
        others = outside_ids(phases.known_ids(), (task.env_id for task in tasks)).tasks
    return selection.episodes(tasks, others, read_seeds(settings.seeds), settings.categories, settings.ids)


def _warn(frozen: Learned, model: str, seeds: str, words: int | None) -> None:
    """Print what makes the evaluation less than its user may think."""
    if model == NO_MODEL and not frozen.writers:
        complain(f"warning: {frozen.source} has no problem writers, and no model is asked: nobody has a plan")
    warnings = (
        frozen.warning_of_levels(),
        frozen.warning_of_seeds(read_seeds(seeds)),
        frozen.warning_of_words(words),
    )
    for warning in filter(None, warnings):
        complain(f"warning: {warning}")


def _list_claims(options: EvaluateOptions, folder: EvaluationFolder) -> list[Claim]:
    """Return what options say of what an evaluation cannot change."""
    recorded = folder.settings()
    episodes = options.episodes
    agent = episodes.agent
    if agent and Path(agent).name == recorded.agent:
        agent = recorded.agent
    categories, ids = curriculum.load(folder.curriculum).split_selection(episodes.only)
    planning = recorded.planning
    solver = options.planner.solver
    return [
        Claim("--agent", agent, recorded.agent),
        Claim("--seeds", episodes.seeds, recorded.seeds),
        Claim("--only", categories, recorded.categories),
        Claim("--only", ids, recorded.ids),
        Claim("--outside", episodes.outside or None, recorded.outside),
        Claim("--attempts", episodes.attempts, recorded.attempts),
        Claim("--versus", episodes.versus, recorded.versus),
        Claim("--rename-words", episodes.rename_words, recorded.rename_words),
        Claim("--upstream-rules", episodes.upstream_rules or None, recorded.upstream_rules),
        Claim("--planner-model", options.planner.planner_model, recorded.planner_model),
        Claim("--engine", solver.engine, planning.engine),
        Claim("--unsafe-no-sandbox", solver.unsafe_no_sandbox or None, planning.unsafe_no_sandbox),
    ]


def _resume_planning(options: EvaluateOptions, recorded: Settings) -> Settings:
    """Return the settings of the model, with the caps and addresses of today."""
    where = options.planner.where
    environ = load_environment((*where.servers, *recorded.models.key_variables))
    said = ModelOptions(planner_effort=options.planner.planner_effort, where=where, caps=options.planner.caps)
    return replace(recorded, models=resolve_models(said, environ, Path.cwd(), recorded.models, "evaluation"))
