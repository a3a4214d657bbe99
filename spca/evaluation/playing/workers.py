"""Functions of an evaluation's worker processes: play an episode, prove whether it can be solved, or have the bot play
it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from spca.code import library
from spca.contracts import AgentSource, FailedPlan, LevelInfo, Plan, PlanFailure, Snapshot
from spca.evaluation.episodes import BotPlayed, Episode, Judged, Played
from spca.evaluation.eval_folder import EvaluationFolder
from spca.evaluation.options import NO_MODEL
from spca.evaluation.playing.babyai_bot import BotPeer
from spca.evaluation.playing.player import Asker, Planning, Player, normalise_reason
from spca.evaluation.proof.certifying import certify
from spca.llm.answer_tally import AnswerTally
from spca.llm.calls.desk import CallDesk
from spca.plan.solver import Solver
from spca.runs.models import Models
from spca.runs.phases import Asking, LoadPhases, Phases
from spca.runs.provenance import check_sandbox
from spca.runs.recording.folder import RunFolder
from spca.runs.run import make_desk
from spca.sandbox.executor import SandboxExecutor
from spca.sense.renaming import Renaming
from spca.writers.library import WriterLibrary
from spca.writers.stored import WriterFailure


@contextmanager
def open_player(load_phases: LoadPhases, path: Path) -> Iterator[Callable[[Episode], Played]]:
    """Open a context whose value plays an episode; a sandbox and a solver are open until the context ends.

    Args:
        path: the evaluation's folder.

    Raises:
        ResumeError: the folder cannot be read, or the evaluation began in another sandbox.
    """
    folder = EvaluationFolder.load(path)
    settings = folder.settings
    phases = load_phases()
    unsafe = settings.planning.unsafe_no_sandbox
    with SandboxExecutor(unsafe=unsafe) as executor, Solver(settings.planning.engine) as solver:
        executor.begin()
        solver.warm()
        check_sandbox(folder.record["sandbox"], executor.verify())

        renaming = Renaming(settings.rename_words)
        writers = WriterLibrary(executor, solver.solve)
        stored, only_category = folder.writers()
        writers.load(stored)

        def plan_stored(snapshot: Snapshot, level: LevelInfo) -> Iterable[Plan | WriterFailure]:
            if only_category not in (None, level.category):
                return ()
            return writers.plans(snapshot, renaming.level(level))

        model = settings.planner_model if settings.planner_model != NO_MODEL else ""
        planning = Planning(plan_stored, model, _ModelAsker(folder, phases, solver).begin_episode)
        make_world = partial(
            phases.make_world, executor=executor, upstream_rules=settings.upstream_rules, renaming=renaming
        )
        yield Player(make_world, planning, folder.agents(), settings.attempts)


class _ModelAsker:
    """Asks the planner model for plans.

    Requests to the embedded model are not recorded. Requests to any other model are recorded and capped as in a run.
    """

    def __init__(self, folder: EvaluationFolder, phases: Phases, solver: Solver) -> None:
        self._settings = folder.settings.planning
        self._phases = phases
        self._solver = solver
        models = Models.load(self._settings.models)
        self._desk = CallDesk(catalogue=models.catalogue)
        if not self._settings.models.uses_reference:
            self._desk = make_desk(self._settings, models, models.caps(), RunFolder(folder.path))

    def begin_episode(self, episode: Episode, agent: AgentSource) -> Asker:
        """Begin an episode in the ledger of requests, and return the function that asks the model for plans of this
        episode.
        """
        settings = self._settings
        self._desk.begin_level(episode.index + 1, episode.category, episode.env_id, episode.seed)
        asking = Asking(settings.models, self._desk, settings.wording, AnswerTally(), lambda *_: None)
        planner = self._phases.make_planner(asking, self._solver, False)
        level = settings.renaming.level(episode.info())

        def ask(snapshot: Snapshot, failed: Sequence[FailedPlan]) -> Plan | PlanFailure:
            actions = library.action_listing(agent.text, snapshot.mission)
            return planner.plan(snapshot, level, actions, agent=agent, failed=failed)

        return ask


@contextmanager
def open_prover(load_phases: LoadPhases, path: Path) -> Iterator[Callable[[Episode], Judged]]:
    """Open a context whose value decides whether an episode can be solved, under the rules of the evaluation.

    Args:
        path: the evaluation's folder.
    """
    upstream_rules = EvaluationFolder.load(path).settings.upstream_rules
    make_world = partial(load_phases().make_world, upstream_rules=upstream_rules)

    def judge(episode: Episode) -> Judged:
        started = time.perf_counter()
        verdict = certify(episode.env_id, episode.seed, make_world, upstream_rules=upstream_rules)
        return Judged(episode.env_id, episode.seed, verdict, time.perf_counter() - started)

    yield judge


@contextmanager
def open_bot(path: Path) -> Iterator[Callable[[Episode], BotPlayed]]:
    """Open a context whose value has the bot of BabyAI play an episode; the bot's process ends with the context.

    Args:
        path: the evaluation's folder.
    """
    with BotPeer(upstream_rules=EvaluationFolder.load(path).settings.upstream_rules) as peer:

        def play(episode: Episode) -> BotPlayed:
            started = time.perf_counter()
            bot = peer.play(episode.env_id, episode.seed)
            seconds = time.perf_counter() - started
            return BotPlayed(episode.env_id, episode.seed, bot.solved, bot.steps, normalise_reason(bot.reason), seconds)

        yield play
