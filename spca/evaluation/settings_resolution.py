"""Conversion of command-line options into the settings of a new or a resumed evaluation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from spca.common.environment import load_environment
from spca.common.errors import SettingsError
from spca.evaluation.eval_folder import EvaluationSettings
from spca.evaluation.learned import Learned
from spca.evaluation.options import DEFAULT_SEEDS, EMBEDDED, NO_MODEL, EpisodeOptions, EvaluateOptions, PlannerOptions
from spca.evaluation.outside import CATEGORY
from spca.llm.catalogue.model_ref import ModelRef
from spca.plugins.registry import MINIGRID
from spca.runs.curriculum import Curriculum, Task
from spca.runs.options import AblationOptions, ModelOptions, RunOptions, SelectionOptions
from spca.runs.resolution import Claim, require_able_models, require_same, resolve_models, resolve_settings
from spca.runs.settings import Settings


def resolve_evaluation(options: EvaluateOptions, learned: Learned) -> EvaluationSettings:
    """Return the settings of a new evaluation.

    Environment variables cannot choose the model. Without options for renamed words and for the rules of judgement, the
    run's settings apply. If words are renamed, the default is to ask no model.

    Raises:
        SettingsError: an option is invalid, or more than one process would ask a model.
    """
    episodes = options.episodes
    run_settings = learned.settings
    words = run_settings.get("rename_words") if episodes.rename_words is None else episodes.rename_words
    world = run_settings.get("world", MINIGRID)
    default_model = EMBEDDED if words is None and world == MINIGRID else NO_MODEL
    model = options.planner.planner_model or default_model
    require_one_process(options.how.workers, model)
    if world != MINIGRID:
        _refuse_flags_of_minigrid(episodes, world)

    learned_categories = name_taught(learned.categories, learned.tasks, outside=episodes.outside)
    bare_prompt = run_settings.get("bare_prompt", False)
    recorded_prompts = run_settings.get("prompts")
    run_prompts = recorded_prompts if isinstance(recorded_prompts, str) else None
    planning = _resolve_planning(options.planner, model, words, run_prompts, world, bare_prompt=bare_prompt)
    if words is not None and planning.body.vocabulary is None:
        raise SettingsError(f"--rename-words: the body {planning.body.name} names no words to rename: leave it out")
    if model != NO_MODEL:
        require_able_models(planning)
    categories, ids = learned.curriculum.split_selection(episodes.only)
    if categories is None and ids is None:
        categories = learned_categories
    planner_name = model if model == NO_MODEL else str(planning.models.planner)
    return EvaluationSettings(
        agent=learned.source,
        seeds=episodes.seeds or DEFAULT_SEEDS,
        planner_model=planner_name,
        planning=planning,
        categories=categories,
        ids=ids,
        outside=episodes.outside,
        attempts=episodes.attempts or 1,
        versus=episodes.versus,
        rename_words=words,
        upstream_rules=episodes.upstream_rules or bool(run_settings.get("upstream_rules")),
    )


def _refuse_flags_of_minigrid(episodes: EpisodeOptions, world: str) -> None:
    """Raise SettingsError for the first flag that has no effect in the world of a plugin."""
    flags = {
        f"--versus {episodes.versus}": bool(episodes.versus),
        "--outside": episodes.outside,
        "--upstream-rules": episodes.upstream_rules,
    }
    given = next((flag for flag, is_given in flags.items() if is_given), None)
    if given is not None:
        raise SettingsError(
            f"{given}: it is of the world {MINIGRID}, and the agent plays the world {world}: leave it out"
        )


def _resolve_planning(
    planner: PlannerOptions, model: str, words: int | None, run_prompts: str | None, world: str, *, bare_prompt: bool
) -> Settings:
    """Return the settings of the model that plans, in the form of a run's settings.

    Args:
        model: the planner model, or :data:`NO_MODEL`.
        words: seed of the invented words for colours and kinds; None for the true words.
        run_prompts: folder of the run's own templates; None if it had none.
        world: name of the run's world.
    """
    # Settings of a run need a valid model for each role, so a model that is never asked gets an embedded model.
    name = EMBEDDED if model == NO_MODEL else model
    is_embedded = ModelRef.parse(name).is_embedded
    ablations = AblationOptions(
        compile=False,
        bare_prompt=bare_prompt and not is_embedded,  # embedded models do not read prompts
        rename_words=None if model == NO_MODEL else words,
    )
    models = ModelOptions(
        planner_model=name,
        planner_small_model=name,
        coder_model="reference/coder" if is_embedded else name,  # an evaluation never asks the coder
        planner_effort=planner.planner_effort,
        where=planner.where,
        prompts=planner.prompts or (None if is_embedded else run_prompts),
        caps=planner.caps,
    )
    environ = load_environment(planner.where.servers)
    selection = SelectionOptions(world=world)
    options = RunOptions(selection=selection, ablations=ablations, models=models, solver=planner.solver)
    return resolve_settings(options, environ)


def name_taught(categories: Sequence[str], tasks: Sequence[Task], *, outside: bool) -> str | None:
    """Return the learned categories, separated by commas, as the default of an evaluation's categories.

    Return None, which stands for all categories, if the run has learned in every category. Also return None if the
    learned categories are not known.

    Args:
        categories: the categories that a run has learned; () if they are not known.
        tasks: all levels of the curriculum.
        outside: whether ids outside the curriculum are also played.
    """
    if not categories or {task.category for task in tasks} <= {*categories}:
        return None
    names = [*categories, CATEGORY] if outside else categories
    return ",".join(names)


def resume_settings(options: EvaluateOptions, recorded: EvaluationSettings, known: Curriculum) -> EvaluationSettings:
    """Return the settings of a resumed evaluation: the recorded settings, with the caps and addresses of ``options``.

    Args:
        known: the curriculum of the evaluation.

    Raises:
        ResumeError: an option contradicts the recorded settings.
        SettingsError: an address is invalid, or more than one process would ask a model.
    """
    planner = options.planner
    planning = recorded.planning
    require_same(_list_claims(options, recorded, known), "evaluation")
    require_one_process(options.how.workers, recorded.planner_model)

    environ = load_environment((*planner.where.servers, *planning.models.key_variables))
    model_options = ModelOptions(planner_effort=planner.planner_effort, where=planner.where, caps=planner.caps)
    models = resolve_models(model_options, environ, Path.cwd(), planning.models, "evaluation")
    return replace(recorded, planning=replace(planning, models=models))


def _list_claims(options: EvaluateOptions, recorded: EvaluationSettings, known: Curriculum) -> list[Claim]:
    """Return, for each option that must agree with the recorded settings, its value (None if not set) and the recorded
    value.
    """
    episodes = options.episodes
    categories, ids = known.split_selection(episodes.only)
    # The settings record the file's name as the user gave it then; now the user may give a path of the same file.
    is_same_file = episodes.agent is not None and Path(episodes.agent).name == recorded.agent
    agent = None if is_same_file else episodes.agent
    given_prompts = options.planner.prompts
    prompts = None if given_prompts is None else str(Path.cwd() / given_prompts)
    solver = options.planner.solver
    unsafe = solver.unsafe_no_sandbox or None
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
        Claim("--prompts", prompts, recorded.planning.prompts),
        Claim("--engine", solver.engine, recorded.planning.engine),
        Claim("--unsafe-no-sandbox", unsafe, recorded.planning.unsafe_no_sandbox),
    ]


def require_one_process(given: int | None, model: str) -> None:
    """Raise an error if several processes would ask a model, because only one process can record its requests.

    Args:
        given: the number of processes that the user chose; None if the user chose no number.

    Raises:
        SettingsError: ``given`` is more than 1, and the model is not embedded.
    """
    asks_model = model not in (EMBEDDED, NO_MODEL)
    if asks_model and given not in (None, 1):
        raise SettingsError(f"--workers {given}: what is asked of {model} is counted by one process: leave it out")
