"""Beginning or resumption of an evaluation: options are turned into an evaluation folder and a list of episodes."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import TypeAlias

from spca.bodies.recorded import require_same_body
from spca.common.command import complain
from spca.common.installation import applications, find_runs
from spca.errors import WorldError
from spca.evaluation.episodes import Episode
from spca.evaluation.eval_folder import EvaluationFolder
from spca.evaluation.learned import read_learned
from spca.evaluation.options import NO_MODEL, EvaluateOptions
from spca.evaluation.outside import find_outside
from spca.evaluation.selection import list_warnings, select_episodes
from spca.evaluation.settings_resolution import resolve_evaluation, resume_settings
from spca.plan.solver import Solver
from spca.plugins.loaded import record_plugins, require_plugins
from spca.runs.curriculum import load
from spca.runs.models import require_usable
from spca.runs.phases import Phases
from spca.runs.provenance import check_versions, note_continuation, run_info
from spca.runs.screen.lines import describe_models
from spca.sandbox.executor import SandboxExecutor

Prepared: TypeAlias = tuple[EvaluationFolder, Sequence[Episode]]
"""The folder of an evaluation, and all its episodes, including those already played."""


def begin_evaluation(options: EvaluateOptions, phases: Phases) -> Prepared:
    """Check the options, models and sandbox of a new evaluation; create and return its folder, with the episodes to
    play.

    Raises:
        UserError: an option is invalid, or the agent cannot be read.
    """
    runs = find_runs(options.how.runs)
    learned = read_learned(options.episodes.agent, runs, Path.cwd(), applications())
    settings = resolve_evaluation(options, learned)
    if settings.planner_model == NO_MODEL and not learned.writers:
        complain(f"warning: {learned.source} has no problem writers, and no model is asked: nobody has a plan")

    known = phases.known_ids() if settings.outside else ()
    outside = find_outside(known, (task.env_id for task in learned.tasks), settings.ids)
    for warning in list_warnings(learned, settings.rename_words, settings.seeds.values):
        complain(f"warning: {warning}")
    episodes = select_episodes(settings, learned.tasks, outside.tasks)
    if settings.attempts > 1:
        _explain_one_life(settings.attempts, episodes, phases)
    phases.check_ids(dict.fromkeys(each.env_id for each in episodes if not each.world))
    planning = settings.planning
    Solver(planning.engine)  # raises if the engine cannot be used
    models, caps = require_usable(planning.models)
    if not (planning.models.uses_reference or options.how.quiet):
        print(describe_models(models, os.environ, caps))

    with SandboxExecutor(unsafe=planning.unsafe_no_sandbox) as executor:
        sandbox = executor.verify()
    info = run_info(planning, applications(), sandbox, learned.text)
    made_with = {name: info[name] for name in ("versions", "git_commit", "git_dirty", "hashes", "sandbox", "body")}
    made_with["coder_model"] = learned.settings.get("coder_model")
    if settings.outside:
        made_with["unplayable"] = dict(outside.unplayable)
    made_with |= record_plugins()
    return EvaluationFolder.create(runs, settings, learned, made_with), episodes


def _explain_one_life(attempts: int, episodes: Sequence[Episode], phases: Phases) -> None:
    """Say once if ``--attempts`` has no effect, because a world of the episodes has one life."""
    first_by_world = {episode.world: episode for episode in reversed(episodes)}
    for name, episode in first_by_world.items():
        if not name:
            continue
        try:
            with closing(phases.make_world(episode.spec, episode.seed)) as world:
                reason = world.one_life_reason
        except WorldError:  # the episode will tell it
            continue
        if reason:
            complain(f"warning: --attempts {attempts} has no effect: the world {name} cannot go back ({reason})")


def resume_evaluation(options: EvaluateOptions, name: str, phases: Phases) -> Prepared:
    """Open the folder of an earlier evaluation, record that it is resumed, and return the folder and all episodes.

    ``options`` can change only the caps and the addresses of the evaluation's model.

    Raises:
        ResumeError: there is no evaluation of this name, or an option contradicts its settings.
        SettingsError: an address is invalid.
    """
    folder = EvaluationFolder.find(find_runs(options.how.runs), name)
    require_plugins(folder.record, f"evaluation {folder.id}", exactly=True)
    require_same_body(folder.record, folder.settings.planning.body, f"evaluation {folder.id}")
    curriculum = load(folder.curriculum).play_in(folder.settings.planning.world)
    settings = resume_settings(options, folder.settings, curriculum)
    check_versions(folder.record["versions"])
    folder.agents()  # raises ResumeError if an agent cannot be used

    tasks = curriculum.tasks()
    phases.check_ids(task.env_id for task in tasks if not task.world)
    known_ids = phases.known_ids() if settings.outside else ()
    outside = find_outside(known_ids, (task.env_id for task in tasks))
    episodes = select_episodes(settings, tasks, outside.tasks)
    if not folder.is_finished:
        record = note_continuation(folder.record, settings.planning, applications())
        folder = folder.change(settings, record)
    return folder, episodes
