"""From what a user says of an evaluation to its settings, new or of one that goes on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from spca.common.environment import load_environment
from spca.common.errors import SettingsError
from spca.evaluation.eval_folder import EvaluationSettings
from spca.evaluation.learned import Learned
from spca.evaluation.options import DEFAULT_SEEDS, EMBEDDED, NO_MODEL, EvaluateOptions
from spca.evaluation.outside import CATEGORY
from spca.llm.catalogue.model_ref import ModelRef
from spca.runs.curriculum import Curriculum, Task
from spca.runs.options import AblationOptions, ModelOptions, RunOptions
from spca.runs.resolution import Claim, require_same, resolve_models, resolve_settings


def resolve_evaluation(options: EvaluateOptions, learned: Learned) -> EvaluationSettings:
    """Return the settings of a new evaluation; a model of the environment is never taken.

    Raises:
        SettingsError: an option that cannot be meant, or more than one process would ask a model.
    """
    episodes = options.episodes
    known = learned.settings
    words = known.get("rename_words") if episodes.rename_words is None else episodes.rename_words
    model = options.planner.planner_model or (EMBEDDED if words is None else NO_MODEL)
    require_one_process(options.how.workers, model)

    taught = name_taught(learned.categories, learned.tasks, outside=episodes.outside)

    name = EMBEDDED if model == NO_MODEL else model
    is_embedded = ModelRef.parse(name).is_embedded
    ablations = AblationOptions(
        compile=False,
        bare_prompt=known.get("bare_prompt", False) and not is_embedded,  # which it does not read
        rename_words=None if model == NO_MODEL else words,  # nobody is asked in any words
    )
    models = ModelOptions(
        planner_model=name,
        planner_small_model=name,
        coder_model="reference/coder" if is_embedded else name,  # it is never asked
        planner_effort=options.planner.planner_effort,
        where=options.planner.where,
        caps=options.planner.caps,
    )
    environ = load_environment(options.planner.where.servers)
    planning = resolve_settings(RunOptions(ablations=ablations, models=models, solver=options.planner.solver), environ)

    categories, ids = learned.curriculum.split_selection(episodes.only)
    if categories is None and ids is None:
        categories = taught
    return EvaluationSettings(
        agent=learned.source,
        seeds=episodes.seeds or DEFAULT_SEEDS,
        planner_model=model if model == NO_MODEL else str(planning.models.planner),
        planning=planning,
        categories=categories,
        ids=ids,
        outside=episodes.outside,
        attempts=episodes.attempts or 1,
        versus=episodes.versus,
        rename_words=words,
        upstream_rules=episodes.upstream_rules or bool(known.get("upstream_rules")),
    )


def name_taught(categories: Sequence[str], tasks: Sequence[Task], *, outside: bool) -> str | None:
    """Return ``categories`` of a curriculum, which a run has learned, as an evaluation takes them.

    None means all: the run has learned something in each category, or what it has learned is not known.

    Args:
        outside: whether ids outside the curriculum are played, too.
    """
    if not categories or {task.category for task in tasks} <= {*categories}:
        return None
    return ",".join([*categories, *[CATEGORY] * outside])


def resume_settings(options: EvaluateOptions, recorded: EvaluationSettings, known: Curriculum) -> EvaluationSettings:
    """Return the settings of an evaluation that goes on: as recorded, but for caps and addresses of its model.

    Args:
        known: the curriculum of the evaluation.

    Raises:
        ResumeError: an option contradicts the evaluation.
        SettingsError: an address that cannot be meant, or more than one process would ask a model.
    """
    episodes = options.episodes
    planner = options.planner
    planning = recorded.planning
    is_same_file = episodes.agent is not None and Path(episodes.agent).name == recorded.agent
    categories, ids = known.split_selection(episodes.only)
    claims = [
        Claim("--agent", None if is_same_file else episodes.agent, recorded.agent),
        Claim("--seeds", episodes.seeds, recorded.seeds),
        Claim("--only", categories, recorded.categories),
        Claim("--only", ids, recorded.ids),
        Claim("--outside", episodes.outside or None, recorded.outside),
        Claim("--attempts", episodes.attempts, recorded.attempts),
        Claim("--versus", episodes.versus, recorded.versus),
        Claim("--rename-words", episodes.rename_words, recorded.rename_words),
        Claim("--upstream-rules", episodes.upstream_rules or None, recorded.upstream_rules),
        Claim("--planner-model", planner.planner_model, recorded.planner_model),
        Claim("--engine", planner.solver.engine, planning.engine),
        Claim("--unsafe-no-sandbox", planner.solver.unsafe_no_sandbox or None, planning.unsafe_no_sandbox),
    ]
    require_same(claims, "evaluation")
    require_one_process(options.how.workers, recorded.planner_model)

    environ = load_environment((*planner.where.servers, *planning.models.key_variables))
    said = ModelOptions(planner_effort=planner.planner_effort, where=planner.where, caps=planner.caps)
    models = resolve_models(said, environ, Path.cwd(), planning.models, "evaluation")
    return replace(recorded, planning=replace(planning, models=models))


def require_one_process(given: int | None, model: str) -> None:
    """Refuse several processes that would ask a model: its requests have one ledger, which one process keeps.

    Raises:
        SettingsError: names the option.
    """
    if model not in (EMBEDDED, NO_MODEL) and given not in (None, 1):
        raise SettingsError(f"--workers {given}: what is asked of {model} is counted by one process: leave it out")
