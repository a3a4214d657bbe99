"""Frozen evaluation: ``main.py evaluate`` plays unseen seeds with what a run has learned, and writes no code."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Final

from llmclient import ChatGPTClient
from minigridenv import MiniGridEnv, check_ids, known_ids
from plannerLLM import PDDLOnly, PlannerLLM
from spca.code import library
from spca.common import command
from spca.common.errors import SettingsError
from spca.common.installation import OfApplication, home, where_runs_lie
from spca.contracts import AgentSource, FailedPlan, LevelInfo, Plan, PlanFailure, Snapshot
from spca.evaluation import options, selection
from spca.evaluation.episodes import BotPlayed, Episode, Judged, Played
from spca.evaluation.eval_folder import EvaluationFolder, EvaluationSettings
from spca.evaluation.figures import announce, show, shown
from spca.evaluation.harness import Doers, Harness
from spca.evaluation.learned import learned
from spca.evaluation.looking import describe_page, look_at, write_page
from spca.evaluation.outside import outside_ids
from spca.evaluation.peer import BotPeer
from spca.evaluation.player import Asker, Planning, Player, told
from spca.evaluation.proof.certifying import certify
from spca.llm.calls.desk import CallDesk
from spca.llm.catalogue.model_ref import ModelRef
from spca.plan.solver import Solver
from spca.runs import cli, curriculum, startup
from spca.runs.folder import RunFolder
from spca.runs.model_choice import Models, require_usable
from spca.runs.provenance import check_sandbox, check_versions, note_continuation, run_info
from spca.runs.settings import Settings
from spca.sandbox.executor import SandboxExecutor
from spca.sense.renaming import Renaming
from spca.writers.library import WriterLibrary
from spca.writers.stored import Missed

ROOT: Final = Path(__file__).resolve().parent
DOERS: Final = Doers(*(OfApplication("frozen", name) for name in ("opened_player", "opened_prover", "opened_peer")))


def main(called: Mapping[str, Any], end: command.Ending) -> int:
    """Begin an evaluation, or go on with one; the exit code."""
    given = options.parse(called["arguments"][1:])
    runs = Path.cwd() / given.get("runs", home(ROOT, Path.cwd()) / "runs")
    folder = _resumed(given, runs) if "resume" in given else _begun(given, runs)
    end.go_on = f"{command.program()} evaluate --resume {folder.id}{where_runs_lie(runs)}"
    workers = _workers(given.get("workers"), folder.settings().planner_model)
    episodes, quiet = _episodes(folder), given.get("quiet", False)
    if not quiet:
        announce(folder, len(episodes))
    with shown(quiet) as progress:
        found = Harness(folder, DOERS, workers, progress).run(episodes)
    page = write_page(found, folder)
    show(found, folder)
    print(describe_page(page))
    print(look_at(folder))
    return command.EXIT_FINISHED


def _resumed(given: Mapping[str, Any], runs: Path) -> EvaluationFolder:
    """Return the folder of an evaluation to go on with; caps and addresses of its model may be others now."""
    folder = EvaluationFolder.open(runs, given["resume"])
    settings = folder.settings()
    options.contradiction(given, settings)
    check_versions(folder.record()["versions"])
    folder.agents()
    told = {name: given[name] for name in options.OF_PLANNING if name in given and name != "rename_words"}
    named_servers = (*told.get("servers", ()), str(settings.planning.get("servers") or ""))
    environ = cli.load_environment(ROOT, named_servers)
    planning = cli.resumed_settings(told, settings.planning, environ, Path.cwd(), "evaluation")
    if not folder.is_finished:
        changed = replace(settings, planning=planning.record()) if told else settings
        folder.change(changed, note_continuation(folder.record(), planning, ROOT))
    return folder


def _workers(given: int | None, model: str) -> int:
    """Return how many processes play; the requests to a model have one ledger, which one process keeps."""
    is_embedded = model in (options.EMBEDDED, options.NO_MODEL)
    if not is_embedded and given not in (None, 1):
        raise SettingsError(f"--workers {given}: what is asked of {model} is counted by one process: leave it out")
    return given or (len(os.sched_getaffinity(0)) if is_embedded else 1)


def _begun(given: Mapping[str, Any], runs: Path) -> EvaluationFolder:
    """Return the folder of a new evaluation, once nothing speaks against it."""
    frozen = learned(given.get("agent"), runs, Path.cwd(), ROOT)
    words = given.get("rename_words", frozen.settings.get("rename_words"))
    model = given.get("planner_model", options.EMBEDDED if words is None else options.NO_MODEL)
    if model == options.NO_MODEL and not frozen.writers:
        command.complain(f"warning: {frozen.source} has no problem writers, and no model is asked: nobody has a plan")
    seeds = given.get("seeds", options.DEFAULT_SEEDS)
    warnings = (
        frozen.warning_of_levels(),
        frozen.warning_of_seeds(selection.seeds(seeds)),
        frozen.warning_of_words(words),
    )
    for warning in filter(None, warnings):
        command.complain(f"warning: {warning}")
    planning = _planning_settings(given, model, frozen.settings)
    _workers(given.get("workers"), model)
    own = {name: given[name] for name in ("categories", "ids", "outside", "attempts", "versus") if name in given}
    learned_on = curriculum.parse(frozen.curriculum, frozen.source)
    if "categories" not in given and "ids" not in given:
        outside = given.get("outside", False)
        own["categories"] = selection.taught(frozen.categories, learned_on.tasks(), outside=outside)
    rules = given.get("upstream_rules", frozen.settings.get("upstream_rules"))
    settings = EvaluationSettings(
        agent=frozen.source,
        seeds=seeds,
        planner_model=model if model == options.NO_MODEL else str(planning.models.planner),
        planning=planning.record(),
        rename_words=words,
        upstream_rules=bool(rules),
        **own,
    )
    episodes = _selected(settings, learned_on)
    check_ids(dict.fromkeys(each.env_id for each in episodes))
    Solver(planning.engine)
    *_, greeting = require_usable(planning.models)
    if not (planning.models.uses_reference or given.get("quiet")):
        print(greeting)
    with SandboxExecutor(unsafe=planning.unsafe_no_sandbox) as executor:
        sandbox = executor.verify()
    info = run_info(planning, ROOT, sandbox, frozen.curriculum)
    made_with = {name: info[name] for name in ("versions", "git_commit", "git_dirty", "hashes", "sandbox")}
    if settings.outside:
        unplayable = outside_ids(known_ids(), (task.env_id for task in learned_on.tasks())).unplayable
        made_with["unplayable"] = {
            env_id: why for env_id, why in unplayable.items() if selection.matches(env_id, settings.ids)
        }
    return EvaluationFolder.create(runs, settings, frozen, made_with)


def _planning_settings(given: Mapping[str, Any], model: str, learned_with: Mapping[str, Any]) -> Settings:
    """Return the settings of a run whose planner is ``model``; a model of the environment is never taken."""
    name = options.EMBEDDED if model == options.NO_MODEL else model
    models = options.models_of(name) | {"compile": False}
    wording = {key: learned_with[key] for key in ("rename_words", "bare_prompt") if key in learned_with}
    if ModelRef.parse(name).is_embedded:
        wording.pop("bare_prompt", None)  # which it does not read
    told = wording | {key: given[key] for key in options.OF_PLANNING if key in given}
    if model == options.NO_MODEL:
        told.pop("rename_words", None)  # nobody is asked in any words
    return cli.resolve_settings(told | models, ROOT)


def _episodes(folder: EvaluationFolder) -> tuple[Episode, ...]:
    return _selected(folder.settings(), curriculum.load(folder.curriculum))


def _selected(settings: EvaluationSettings, learned_on: curriculum.Curriculum) -> tuple[Episode, ...]:
    seeds, tasks = selection.seeds(settings.seeds), learned_on.tasks()
    others = outside_ids(known_ids(), (task.env_id for task in tasks)).tasks if settings.outside else ()
    return selection.episodes(tasks, others, seeds, settings.categories, settings.ids)


@contextmanager
def opened_player(path: Path) -> Iterator[Callable[[Episode], Played]]:
    """What plays the episodes of an evaluation's folder, until the block ends."""
    folder = EvaluationFolder(path)
    settings = folder.settings()
    asked = Settings.from_record(settings.planning)
    with SandboxExecutor(unsafe=asked.unsafe_no_sandbox) as executor, Solver(asked.engine) as solver:
        executor.begin()
        solver.warm()
        check_sandbox(folder.record()["sandbox"], executor.verify())
        rules, renaming = settings.upstream_rules, Renaming(settings.rename_words)
        make_world = partial(MiniGridEnv, executor=executor, upstream_rules=rules, renaming=renaming)
        writers = WriterLibrary(executor, solver.solve)
        kept, of_category = folder.writers()
        writers.load(kept)
        model = settings.planner_model if settings.planner_model != options.NO_MODEL else ""

        def stored(snapshot: Snapshot, level: LevelInfo) -> Iterable[Plan | Missed]:
            is_theirs = of_category in (None, level.category)
            return writers.plans(snapshot, renaming.level(level)) if is_theirs else ()

        planning = Planning(stored, model, _Model(folder, asked, solver).asker)
        yield Player(make_world, planning, folder.agents(), settings.attempts)


class _Model:
    """The model that is asked where no stored writer has a plan.

    The embedded one is asked in memory; the requests to another one are kept and capped as those of a run.
    """

    def __init__(self, folder: EvaluationFolder, settings: Settings, solver: Solver) -> None:
        self._settings, self._models, self._solver = settings, Models.load(settings.models), solver
        self._desk: CallDesk | None = None
        if not settings.models.uses_reference:
            caps, run = self._models.caps(), RunFolder(folder.path)
            self._desk = startup.desk_maker(settings, self._models, caps, run)()

    def asker(self, episode: Episode, agent: AgentSource) -> Asker:
        desk = self._desk or CallDesk(catalogue=self._models.catalogue)
        desk.begin_level(episode.index + 1, episode.category, episode.env_id, episode.seed)
        models = self._settings.models
        client = partial(ChatGPTClient, reasks=0, desk=desk, limits=models.limits)
        asking = partial(client, schema=PDDLOnly)
        roles, wording = (models.planner, models.planner_small), self._settings.wording
        planner = PlannerLLM(*roles, self._solver, lambda *_: None, asking, compiles=False, wording=wording)
        level = self._settings.renaming.level(episode.info())

        def ask(snapshot: Snapshot, failed: Sequence[FailedPlan]) -> Plan | PlanFailure:
            actions = library.action_listing(agent.text, snapshot.mission)
            return planner.plan(snapshot, level, actions, agent=agent, failed=failed)

        return ask


@contextmanager
def opened_prover(path: Path) -> Iterator[Callable[[Episode], Judged]]:
    """What proves whether episodes of an evaluation's folder can be solved at all."""
    upstream = EvaluationFolder(path).settings().upstream_rules
    make_world = partial(MiniGridEnv, upstream_rules=upstream)

    def judge(episode: Episode) -> Judged:
        started = time.perf_counter()
        verdict = certify(episode.env_id, episode.seed, make_world, upstream_rules=upstream)
        return Judged(episode.env_id, episode.seed, verdict, time.perf_counter() - started)

    yield judge


@contextmanager
def opened_peer(path: Path) -> Iterator[Callable[[Episode], BotPlayed]]:
    """The bot of BabyAI, which plays the episodes of an evaluation's folder."""
    with BotPeer(upstream_rules=EvaluationFolder(path).settings().upstream_rules) as peer:

        def play(episode: Episode) -> BotPlayed:
            started = time.perf_counter()
            bot = peer.play(episode.env_id, episode.seed)
            seconds = time.perf_counter() - started
            return BotPlayed(episode.env_id, episode.seed, bot.solved, bot.steps, told(bot.reason), seconds)

        yield play
