"""Recorder of finished levels: saves versions, trajectories and summaries, and commits each level."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict
from typing import Any

from spca.code import agent_source, library
from spca.code.regression import SolvedLevel
from spca.common.errors import UnusableModelError
from spca.common.names import make_file_name
from spca.contracts import AgentSource, TrustedPDDL
from spca.errors import PatchError, ResumeError
from spca.llm.calls.ledger import Ledger
from spca.runs.curriculum import Task
from spca.runs.level.barren import AskedLevels, count_barren_end
from spca.runs.phases import LevelLog
from spca.runs.recording.folder import ASKED_ANEW, FIRST_AGENT, RunFolder, attempt_record
from spca.runs.recording.records import SUMMARY, check_record
from spca.runs.recording.writer_files import WriterFiles, read_solved_level, read_trajectory
from spca.runs.results import DraftDecision, LevelResult
from spca.sense.renaming import Renaming
from spca.writers.stored import StoredWriter, writer_state


class Recorder:
    """Records the progress of a run in the run folder, and reads the progress of a resumed run.

    Attributes:
        finished: summaries of the finished levels, in order; they lie on the disk.
        latest_asked: summaries of the latest levels in which models were asked.
        taken_back: number of levels that were finished without a usable answer and are played again.
        agent: the library (agent source) for the next level.
        category: category of the current or the last level; None before the first level.
        trusted: PDDL of the last solved level in ``category``; None if there is none, or if reuse is switched off.
        sandbox: level of the sandbox in which generated code runs.

    Args:
        folder: folder of the run.
        ledger: all requests that the run sent to models.

    Raises:
        ResumeError: a file of the run cannot be read or is invalid.
    """

    def __init__(self, folder: RunFolder, ledger: Ledger) -> None:
        self._folder = folder
        self._ledger = ledger
        state = folder.state()
        self.finished = folder.read_finished()
        self.taken_back = count_barren_end(self.finished)
        self.finished.drop(self.taken_back)
        counts_too_many = self.taken_back > 0 and self.finished.is_in_journal
        self._replaced_state = state if counts_too_many else None
        self.latest_asked = AskedLevels()
        self._accepted: set[str] = set()
        self._rejections: dict[str, str] = {}
        for number, summary in enumerate(self.finished, 1):
            check_record(SUMMARY, summary, *self.finished.locate(number))
            self._note_finished(summary)
        self._agent_file: str = state["agent"]
        self.agent = _read_agent(folder, self._agent_file)
        self.category: str | None = state["category"]
        self.trusted = TrustedPDDL(**state["trusted"]) if state["trusted"] else None
        info = folder.info()
        self.sandbox: str = info["sandbox"]
        self._balanced: dict[str, Any] | None = None  # the usage that this process has written last
        self._writers = WriterFiles(folder, state.get("writers", ()))
        self._writers.clear(self.accepted)
        settings = info["settings"]
        self._carries_over = settings.get("carry_over", True)
        self._reuses = settings.get("reuse", True)
        self._renaming = Renaming(settings.get("rename_words"))

    def enter(self, category: str) -> bool:
        """Begin a level of ``category``; return whether the category changes. The first category is no change.

        If the category changes, the trusted PDDL is forgotten. If carry-over is switched off, the agent also becomes
        the first agent of the run again.
        """
        if category == self.category:
            return False
        is_first_category = self.category is None
        self.category = category
        if is_first_category:
            return False
        self.trusted = None
        if not self._carries_over:
            self._agent_file = FIRST_AGENT
            self.agent = AgentSource(self._folder.read_text(FIRST_AGENT))
        return True

    @property
    def writers(self) -> tuple[StoredWriter, ...]:
        """The stored problem writers at the last commit."""
        return self._writers.stored

    @property
    def accepted(self) -> frozenset[str]:
        """Labels of all versions of problem writers that the run has accepted."""
        return frozenset(self._accepted)

    @property
    def rejection(self) -> str:
        """Why the latest draft of a problem writer was rejected; "" if there was no draft or no rejection."""
        if not self._carries_over:
            return self._rejections.get(self.category or "", "")
        return next(reversed(self._rejections.values()), "")

    def finish(
        self,
        task: Task,
        seed: int,
        result: LevelResult,
        log: LevelLog,
        writers: Iterable[StoredWriter] = (),
        considered: DraftDecision | None = None,
        episodes: int = 1,
    ) -> dict[str, Any]:
        """Save the result of a level and commit the level, so that a resumed run does not play it again.

        Args:
            writers: all versions of the stored problem writers; older versions come before newer ones.
            considered: the decision on the draft that came with the level's plan, if any.
            episodes: number of episodes that the level has used up; only a world with one life counts them.

        Returns:
            The summary of the level.
        """
        number = len(self.finished) + 1
        agent_file = self._save_versions(number, result)
        trajectory = f"trajectories/{make_file_name(f'{task.category}_{task.name}')}.json"
        record = self._make_trajectory(task, seed, result)
        self._folder.write_json(trajectory, record)
        if result.solved and result.plan is not None:
            self.agent = result.agent
            self._agent_file = agent_file
            self.trusted = TrustedPDDL(result.plan.domain, result.plan.problem) if self._reuses else None
            self._writers.remember_solved(trajectory, record)
        summary = log.summary(
            "success" if result.solved else "fail",
            result.reason,
            steps=len(result.primitives),
            steps_total=result.steps_total,
            usage=self.spent_on(number),
            library=library_size(self.agent),
            agent_file=agent_file,
            trajectory=trajectory,
            sandbox=self.sandbox,
            corrections=list(result.attempts[-1].outcome.corrections) if result.attempts else [],
            writers=_summarise_writers(result, considered),
            failed_by=result.culprits[-1] if result.culprits else "",
            failed_rounds=list(result.culprits),
            unusable=dict(result.unusable),
            **({"episodes": episodes} if episodes > 1 else {}),
        )
        log.write_summary(summary)
        if self._replaced_state is not None:  # the line of a level that was taken back must not count any more
            self._folder.commit(self._replaced_state | {"levels": len(self.finished)})
            self._replaced_state = None
        self.finished.append(summary, result.plan.actions if result.plan else ())
        self._note_finished(summary)
        trusted = {"domain": self.trusted.domain, "problem": self.trusted.problem} if self.trusted else None
        state = {
            "levels": len(self.finished),
            "agent": self._agent_file,
            "category": self.category,
            "trusted": trusted,
            "writers": self._writers.save(writers),
        }
        self._folder.commit(state)
        log.end_level(summary)
        self.balance()
        return summary

    def pause(self, error: UnusableModelError, calls: int) -> None:
        """Record that the role of an unusable model must be asked anew when the run is resumed.

        Old answers must not be reused, because the server may answer better by then, or the user may choose another
        model.

        Args:
            calls: number of calls that the run has finished.
        """
        info = self._folder.info()
        asked_anew = info.get(ASKED_ANEW, {}) | {error.role: calls}
        self._folder.write_json("run.json", info | {ASKED_ANEW: asked_anew})

    def spent_on(self, index: int) -> dict[str, Any]:
        """Return requests, tokens and USD of the level ``index`` (from 1), including those before a kill of the run."""
        return self._ledger.sums_of_level(index)

    def spent(self) -> dict[str, Any]:
        """Return requests, tokens and USD of the run so far, unfinished levels included."""
        return self._ledger.sums()

    def usage(self) -> dict[str, Any]:
        """Return requests, tokens and USD of the run and of each category, unfinished levels included."""
        return self.spent() | {"categories": self._ledger.sums_by_category()}

    def balance(self) -> None:
        """Write the usage of the run so far (requests, tokens, USD) into ``run.json``, if it has changed."""
        usage = self.usage()
        if usage != self._balanced:
            self._folder.write_json("run.json", self._folder.info() | {"usage": usage})
            self._balanced = usage

    def report(self, seed: int, levels: int) -> dict[str, Any]:
        """Write ``summary.json`` for the run so far, and return its content; ``levels`` is the number of levels."""
        summary = self.totals(seed, levels)
        self._folder.write_json("summary.json", summary)
        self.balance()
        return summary

    def _save_versions(self, number: int, result: LevelResult) -> str:
        """Save agent and PDDL after level ``number``; return the agent's path relative to the run folder.

        After a failed level, the agent of the last attempt is saved.
        """
        last_tried = result.attempts[-1].agent if result.attempts else result.agent
        agent = result.agent if result.solved else last_tried
        return self._folder.save_version(number, agent, result.plan, solved=result.solved)

    def _make_trajectory(self, task: Task, seed: int, result: LevelResult) -> dict[str, Any]:
        """Return the content of a level's trajectory file; save the agents of all attempts."""
        last = result.attempts[-1] if result.attempts else None
        checkpoint: dict[str, object] | None = None
        corrections: list[str] = []
        if last:
            checkpoint = {"length": len(last.start.primitives), "state_hash": last.start.state_hash}
            corrections = list(last.outcome.corrections)
        snapshot = result.rounds[-1].snapshot if result.rounds else None
        return {
            "env_id": task.env_id,
            "seed": seed,
            **task.spec.describe_extras(),
            "category": task.category,
            "solved": result.solved,
            "corrections": corrections,
            "checkpoint": checkpoint,
            "primitives": list(result.primitives),
            "snapshot": writer_state(snapshot, self._renaming.level(task.info())) if snapshot else None,
            "attempts": [attempt_record(each, self._folder.save_agent(each.agent)) for each in result.attempts],
        }

    def totals(self, seed: int, levels: int) -> dict[str, Any]:
        """Return the content of ``summary.json`` for the run so far; ``levels`` is the number of levels of the run."""
        head = {"run_id": self._folder.run_id, "seed": seed, "sandbox": self.sandbox}
        return head | totals(self.finished, levels) | {"usage": self.usage()}

    def load_solved_levels(
        self, since: int = 0, wants: Callable[[str, tuple[str, ...]], bool] = lambda _name, _actions: True
    ) -> Iterator[SolvedLevel]:
        """Yield the levels that the present library has solved, read from their trajectory files.

        If carry-over is switched off, each category has a library of its own.

        Args:
            since: number of finished levels to skip.
            wants: given the name of a level and the actions of its plan, returns whether the level is needed.
        """
        for summary, actions in self.finished.read_levels(since):
            level = summary["level"]
            is_of_library = self._carries_over or level["category"] == self.category
            if summary["outcome"] != "success" or not is_of_library:
                continue
            if actions is None or wants(level["level_name"], actions):
                trajectory = read_trajectory(self._folder, summary["trajectory"])
                yield read_solved_level(trajectory)

    def _note_finished(self, summary: Mapping[str, Any]) -> None:
        """Note what later levels need from the summary of a finished level."""
        self.latest_asked.add(summary)
        writers = summary.get("writers", {})
        self._accepted.add(writers.get("accepted", ""))
        if writers.get("offered"):
            category = summary["level"]["category"]
            self._rejections.pop(category, None)  # so that the latest rejection comes last
            self._rejections[category] = str(writers.get("rejected", ""))


def _read_agent(folder: RunFolder, name: str) -> AgentSource:
    """Return the agent in the file ``name`` of a run.

    Raises:
        ResumeError: the file cannot be read, or is not the source of an agent.
    """
    agent = AgentSource(folder.read_text(name))
    try:
        agent_source.signatures(agent.text)
    except PatchError as error:
        fault = str(error).partition("\n")[0]
        raise ResumeError(f"{folder.path / name} is no agent: {fault}") from error
    return agent


def _summarise_writers(result: LevelResult, considered: DraftDecision | None) -> dict[str, Any]:
    """Return the part of a level's summary that describes problem writers.

    The field ``plan`` is the label of the writer that made the last plan; "" if a model made the plan. The field
    ``missed`` lists the failures of writers. The other fields describe the decision on the draft that came with the
    plan.
    """
    failures = [asdict(failure) for played in result.rounds for failure in played.missed]
    tried = {"plan": result.plan.writer if result.plan else "", "missed": failures}
    decision = considered or DraftDecision("", "", "")
    return tried | {"offered": decision.name, "accepted": decision.label, "rejected": decision.reason}


def library_size(agent: AgentSource) -> dict[str, int]:
    """Return the numbers of high-level actions, of methods and of bytes of an agent."""
    methods = agent_source.signatures(agent.text)
    actions = library.high_level_actions(agent.text)
    size = len(agent.text.encode())
    return {"actions": len(actions), "methods": len(methods), "bytes": size}


def totals(finished: Iterable[Mapping[str, Any]], levels: int) -> dict[str, Any]:
    """Return sums over the finished levels of a run that has ``levels`` levels.

    Times are left out, so that a run that was killed and resumed has the same sums as a run that was not.
    """
    sums = dict.fromkeys(("finished", "solved", "steps", "steps_total"), 0)
    library: dict[str, int] | None = None
    categories: dict[str, dict[str, int]] = {}
    counters: dict[str, int] = {}
    failures: list[dict[str, Any]] = []
    corrected: list[str] = []
    for summary in finished:
        empty_row = dict.fromkeys(("levels", "solved", "rounds", "planner_calls", "coder_calls", "steps"), 0)
        row = categories.setdefault(summary["level"]["category"], empty_row)
        counts = summary["counters"]
        row["levels"] += 1
        row["solved"] += summary["outcome"] == "success"
        row["rounds"] += counts["spca_rounds"]
        row["planner_calls"] += counts["planner_calls"]
        row["coder_calls"] += counts["coder_calls"]
        row["steps"] += summary["steps"]
        for name, value in counts.items():
            counters[name] = counters.get(name, 0) + value

        sums["finished"] += 1
        sums["solved"] += summary["outcome"] == "success"
        sums["steps"] += summary["steps"]
        sums["steps_total"] += summary["steps_total"]
        library = summary["library"]
        level = summary["level"]
        if summary["outcome"] != "success":
            failure = {"category": level["category"], "level_name": level["level_name"], "reason": summary["reason"]}
            failures.append(failure | {"failed_by": summary.get("failed_by", "")})
        elif summary["corrections"]:
            corrected.append(level["level_name"])

    return {
        "levels": levels,
        **sums,
        "library": library,
        "counters": counters,
        "categories": categories,
        "failures": failures,
        "corrected": corrected,
    }
