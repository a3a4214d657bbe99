"""Functions of an evaluation's worker processes: play an episode, prove whether it can be solved, or have the bot play
it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from spca.evaluation.episodes import BotPlayed, Episode, Judged, Played
from spca.evaluation.eval_folder import EvaluationFolder
from spca.evaluation.options import NO_MODEL
from spca.evaluation.playing.babyai_bot import BotPeer
from spca.evaluation.playing.frozen_planning import ModelAsker, make_stored_planner
from spca.evaluation.playing.player import Planning, Player, normalise_reason
from spca.evaluation.proof.certifying import Solvability, Verdict, certify
from spca.plan.solver import Solver
from spca.runs.phases import LoadPhases
from spca.runs.provenance import check_sandbox
from spca.sandbox.executor import SandboxExecutor
from spca.writers.library import WriterLibrary


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

        renaming = settings.renaming
        writers = WriterLibrary(executor, solver.solve, settings.planning.body)
        stored, only_category = folder.writers()
        writers.load(stored)

        plan_stored = make_stored_planner(writers, renaming, only_category)
        model = settings.planner_model if settings.planner_model != NO_MODEL else ""
        planning = Planning(plan_stored, model, ModelAsker(settings, phases, solver, folder.path).begin_episode)
        make_world = partial(
            phases.make_world, executor=executor, upstream_rules=settings.upstream_rules, renaming=renaming
        )
        yield Player(make_world, planning, folder.agents(), settings.attempts)


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
        if episode.world:
            verdict = Verdict(Solvability.UNDECIDED, "no verdict in this world: its rules are a plugin's")
        else:
            verdict = certify(episode.spec, episode.seed, make_world, upstream_rules=upstream_rules)
        return Judged(episode.spec.name, episode.seed, verdict, time.perf_counter() - started)

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
            bot = peer.play(episode.spec, episode.seed)
            seconds = time.perf_counter() - started
            reason = normalise_reason(bot.reason)
            return BotPlayed(episode.spec.name, episode.seed, bot.solved, bot.steps, reason, seconds)

        yield play
