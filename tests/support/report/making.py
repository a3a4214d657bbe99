"""Run folders to look at: a real run of the command, and small ones that the real writers write without a model."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, replace
from decimal import Decimal
from pathlib import Path

from metrics_logger import MetricsLogger
from spca.contracts import AgentSource, Checkpoint, PlanStep, Status
from spca.llm.calls.ledger import Ledger, Place, Record, RequestOutcome
from spca.llm.providers.base import Usage
from spca.runs.curriculum import Task
from spca.runs.recording.folder import RunFolder
from spca.runs.recording.recorder import Recorder
from spca.runs.results import Attempt, DraftDecision, LevelResult, Round
from spca.writers.stored import StoredWriter
from tests.support.commands import curriculum, main_py, only_run
from tests.support.spca.call_requests import ref
from tests.support.spca.doubles import AGENT, outcome_of, plan_of

IDS = ("MiniGrid-Empty-5x5-v0", "MiniGrid-Empty-6x6-v0", "MiniGrid-DoorKey-5x5-v0")
WRITTEN = AgentSource(AGENT.text + "\n    def go(self, a):\n        yield from self.move_forward()\n")
PLAN = plan_of(PlanStep("go", ("a1",)))


def real_run(home: Path, *flags: object, **levels: Sequence[str]) -> Path:
    """The folder of a run of ``main.py`` over environment ids by category; ``flags`` such as models."""
    chosen = curriculum(home / "curriculum.json", **levels)
    where = ("--curriculum", chosen, "--runs", home / "runs", "--workspace", home / "workspace")
    done = main_py(home, *where, "--quiet", *flags)
    assert done.returncode == 0, done.stderr
    return only_run(home / "runs")


def mixed_run(home: Path) -> Path:
    """A real run with every kind of row: solved at once, solved after repairs, and failed for good."""
    models = ("--planner-model", "faulty/planner", "--planner-small-model", "faulty/planner")
    coder = ("--coder-model", "faulty/stubborn/coder")
    return real_run(home, *models, *coder, navigation=IDS[:2], doors=["MiniGrid-GoToDoor-5x5-v0"])


class Writing:
    """A run that is being written by the real writers, step by step, as a test tells it.

    Args:
        runs: where its folder goes.
        ids: the environments of its one category ``navigation``.
        settings: for ``run.json``, besides ``seed``.
    """

    def __init__(self, runs: Path, ids: Sequence[str] = IDS, seed: int = 1, **settings: object) -> None:
        self.tasks = [Task(index, "navigation", "Walk", "all", env_id) for index, env_id in enumerate(ids)]
        levels = [{"name": "all", "configs": list(ids)}]
        plan = json.dumps([{"category_name": "navigation", "skill": "Walk", "levels": levels}])
        info = {
            "settings": {"seed": seed, "upstream_rules": False, **settings},
            "models": {"planner": "openai/big", "planner_small": "openai/small", "coder": "openai/coder"},
            "versions": {"spca": "0.1.0", "python": "3.11.7", "minigrid": "3.2.0"},
            "git_commit": None,
            "sandbox": "strict",
        }
        self.seed = seed
        self.folder = RunFolder.create(runs, info, plan, AGENT)
        self.path = self.folder.path
        self._open()

    def _open(self) -> None:
        self.ledger = Ledger(self.path)
        self.recorder = Recorder(self.folder, self.ledger)
        self.log = MetricsLogger(self.path, self.folder.run_id, self.recorder.spent_on)
        self.log.repair(self.recorder.finished)
        self._tries: list[Attempt] = []
        self._round = 0

    @property
    def number(self) -> int:
        """The level that is, or would be, under way."""
        return len(self.recorder.finished) + 1

    def begin(self) -> None:
        """The next level."""
        task = self.tasks[self.number - 1]
        self._tries, self._round = [], 0
        self.recorder.enter(task.category)
        self.log.start_level(task.place(self.seed), self.number)

    def plan(self, *, error: str = "", seconds: float = 0.25, solve_s: float = 0.5, repair: bool = False) -> None:
        """A call of the planner, which begins a round unless it repairs the one before."""
        if not repair:
            self._round += 1
            self.log("counter_inc", {"name": "spca_rounds"})
        mode = "syntax" if repair else "fresh" if self._round == 1 else "replan"
        data = {"mode": mode, "model": "openai/big", "seconds": seconds, "solve_s": solve_s}
        self.log("planner_call", data | self._asked("planner", mode) | {"ok": not error, "error": error})

    def code(self, *, error: str = "", objection: str = "", seconds: float = 0.125) -> None:
        """A call of the coder."""
        data = {"mode": "first", "model": "openai/coder", "seconds": seconds, "actions": ["go"], "changed": ["go"]}
        said = {"objection": objection, "ok": not error, "error": error}
        self.log("coder_call", data | self._asked("coder", "first") | said)

    def act(
        self,
        status: Status = Status.SUCCESS,
        message: str = "it ended",
        seconds: float = 0.0625,
        *,
        agent: AgentSource = WRITTEN,
        line: int = 70,
    ) -> None:
        """An attempt; ``line`` of its agent yielded the last primitive."""
        self.log("counter_inc", {"name": "simulation_runs"})
        outcome = outcome_of(status, message, codes=(2, 2), state_hash="end")
        outcome = replace(outcome, trace=(outcome.trace[0], replace(outcome.trace[1], line=line)))
        number = 1 + sum(attempt.round == self._round for attempt in self._tries)
        self._tries.append(Attempt(self._round, number, Checkpoint((), "start"), PLAN, agent, outcome))
        self.log("duration", {"name": "sim_s", "seconds": seconds})

    def store(self, *labels: str) -> None:
        """Round 0 begins: these stored writers are tried."""
        self.log("writers_tried", {"stored": list(labels)})

    def pass_over(self, label: str, reason: str = "it is not mine") -> None:
        """A stored writer refuses."""
        self.log("compiled_plan", {"writer": label, "miss": "refused", "reason": reason})

    def carry_out(self, label: str, status: Status = Status.SUCCESS, agent: AgentSource = WRITTEN) -> None:
        """A stored writer's plan is carried out."""
        self.act(status, agent=agent)
        self._tries[-1] = replace(self._tries[-1], plan=replace(PLAN, writer=label))
        miss = "" if status is Status.SUCCESS else "failed"
        self.log("compiled_plan", {"writer": label, "miss": miss, "reason": miss and "it ended"})

    def finish(
        self,
        reason: str = "",
        *,
        rounds: tuple[Round, ...] = (),
        writers: Sequence[StoredWriter] = (),
        considered: DraftDecision | None = None,
    ) -> None:
        """End the level as its last attempt did."""
        last = self._tries[-1].outcome if self._tries else outcome_of(Status.STUCK)
        agent = self._tries[-1].agent if last.solved else self.recorder.agent
        said = reason or f"{last.status.value}: {last.message}"
        plan = self._tries[-1].plan if self._tries else None
        rounds = rounds or (Round(plan, tuple(self._tries), said),)
        result = LevelResult(last.solved, said, agent, plan, tuple(self._tries), rounds)
        self.recorder.finish(self.tasks[self.number - 1], self.seed, result, self.log, writers, considered)

    def solve(self) -> None:
        """A level from its beginning to its good end."""
        self.begin()
        self.plan()
        self.code()
        self.act()
        self.finish()

    def fail(self, message: str = "it turns and turns") -> None:
        """A level from its beginning to its bad end."""
        self.begin()
        self.plan()
        self.code()
        self.act(Status.STUCK, message)
        self.finish()

    def interrupt(self) -> None:
        """What a signal does: the level is aborted, the run stops."""
        self.log.abort("interrupted by SIGTERM")

    def kill(self) -> None:
        """What SIGKILL does: nothing more is written."""

    def resume(self) -> None:
        """Go on with the run after :meth:`kill` or :meth:`interrupt`."""
        self._open()

    def end(self) -> None:
        """The run's own end."""
        self.recorder.report(self.seed, len(self.tasks))

    def _asked(self, phase: str, mode: str) -> dict[str, object]:
        """Enter an answered request in the ledger; what its event says of it."""
        task = self.tasks[self.number - 1]
        run, env_id = self.folder.run_id, task.env_id
        place = Place(run, self.number, task.category, env_id, self.seed, self._round, phase, mode)
        number = self.ledger.next_number
        name = f"llm/{number:04d}-{phase}-{mode}-00000000-0.json"
        record = Record(number, place, 1, ref(f"openai/{phase}"), "", f"{number:064x}", 1.8e9, 0.25)
        self.ledger.begin(record)
        usage, cost = Usage(100, 10, 20, 5, 50), Decimal("0.001")
        self.ledger.end(replace(record, usage=usage, cost=cost, outcome=RequestOutcome.ANSWERED, transcript=name))
        return asdict(usage) | {"cost": 0.001, "requests": 1, "source": "model", "transcript": name}


def finished_run(runs: Path, seed: int = 1) -> Path:
    """Three levels: solved, failed, solved."""
    run = Writing(runs, seed=seed)
    run.solve()
    run.fail()
    run.solve()
    run.end()
    return run.path
