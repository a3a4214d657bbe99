"""The folder of a run: results, and the state from which a killed run can be resumed.

::

    runs/<run_id>/
      run.json              settings, versions, git commit, models
      summary.json          totals, once the run has ended
      metrics.jsonl         events
      calls.jsonl           a line per request to a model
      prompt_log.md         the prompt templates used
      report.html           the page that `report` writes
      agents/               agent_v{N}.py after level N; <hash>.py, the source of every attempt
      pddl/                 domain_v{N}.pddl and problem_v{N}.pddl after level N; writers/NAME/vNNN.{py,pddl,json}:
                            source, domain and record of each problem writer that was accepted
      summaries/            summary_<category>_<level>_<run_id>.json, one per level
      trajectories/         every attempt of every level
      llm/                  every call of a model: question and answer
      state/                what a resumed run needs: finished.jsonl (a line per finished level), state.json (its
                            number of levels; replacing this file atomically commits a level), curriculum.json (copied
                            when the run began), call_in_flight.json

If a level was not solved, the names of its agent and PDDL files begin with ``fail_``.
"""

from __future__ import annotations

import json
import os
import secrets
import shlex
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final, NamedTuple

from spca.common.command import program
from spca.common.encoding import json_text
from spca.common.errors import FileError
from spca.common.files import MAX_RUN_FILE_BYTES, make_folder, read_text, write_atomic
from spca.common.installation import where_runs_lie
from spca.contracts import AgentSource, Plan, TrustedPDDL
from spca.errors import ResumeError
from spca.runs.recording import records
from spca.runs.recording.finished import JOURNAL, FinishedLevels
from spca.runs.results import Attempt

STATE: Final = "state/state.json"
LOCK: Final = "state/.lock"
CURRICULUM: Final = "state/curriculum.json"
FIRST_AGENT: Final = "agents/agent_v0.py"
ASKED_ANEW: Final = "asked_anew"
"""Field of ``run.json``: role -> ``n``; for this role, a resumed run does not reuse answers to the first ``n`` calls.
"""


def layout_fault(path: Path) -> str:
    """Return an error message if a run folder has the layout of an earlier version, else ""."""
    is_old = os.path.isfile(path / "state.json") and not os.path.isdir(path / "state")
    if not is_old:
        return ""
    return f"{path} has its files where an earlier version put them: begin a new run"


RUN: Final = "run.json"
_KINDS: Final = {
    RUN: ("a run", "{0} --resume {1}, or {0} evaluate --agent {1}"),
    "evaluation.json": ("an evaluation", "{0} report {1}, or {0} evaluate --resume {1}"),
    "study.json": (
        "a study of ablations",
        "{0} ablations --resume {1}, which prints its table; its runs and evaluations are {2}/SETTING/ID",
    ),
}
"""Name of the record file of a kind of folder -> the kind with its article, and the commands for such folders.

In the commands, {0} stands for the program, {1} for the name of the folder and {2} for its path.
"""


def other_kind(path: Path, wanted: str = RUN) -> str:
    """Return an error message if a folder is not of the ``wanted`` kind but, for example, an evaluation; else "".

    Args:
        wanted: name of the record file of the wanted kind, a key of :data:`_KINDS`.
    """
    for record, (kind, commands) in _KINDS.items():
        if record != wanted and os.path.isfile(path / record):
            name = f"{shlex.quote(path.name)}{where_runs_lie(path.parent)}"
            advice = commands.format(program(), name, path)
            return f"{path.name!r} is {kind}, not {_KINDS[wanted][0]}: use {advice}"
    return ""


def existing(runs: Path, name: str, record: str) -> Path:
    """Return the folder in ``runs`` that has the id ``name`` and contains the file ``record``.

    Args:
        name: the id, or the beginning of exactly one id.
        record: name of the record file of the wanted kind, a key of :data:`_KINDS`.

    Raises:
        ResumeError: no folder has the id, several ids begin with ``name``, or the folder is of another kind.
    """
    path = runs / name
    # os.path.isfile returns False if a name is too long; Path.is_file would raise an error.
    if name and path.parent == runs and os.path.isfile(path / record):
        return path
    if name and (fault := other_kind(path, record)):
        raise ResumeError(fault)
    known = sorted(file.parent.name for file in runs.glob(f"*/{record}"))
    matching = [run_id for run_id in known if name and run_id.startswith(name)]
    if len(matching) == 1:
        return runs / matching[0]
    if matching:
        shown = ", ".join(matching[:_MAX_LISTED])
        number = len(matching)
        more = f" and {number - _MAX_LISTED} more" if number > _MAX_LISTED else ""
        raise ResumeError(f"{number} ids in {runs} begin with {name}: {shown}{more}: give more of the id")
    if (only := only_folder(runs, name)) and (fault := other_kind(only, record)):
        raise ResumeError(fault)
    kind_without_article = _KINDS[record][0].partition(" ")[2]
    raise ResumeError(f"no {kind_without_article} {name!r} in {runs}: {suggest_id(name, known)}")


def suggest_id(name: str, known: Sequence[str]) -> str:
    """Return the end of an error message on the unknown id ``name``: the most similar known id, else the latest one.

    Args:
        known: ids in order of time, so that the latest is the last.
    """
    similar = get_close_matches(name[:_MAX_COMPARED], known, 1, _MIN_LIKENESS)
    if similar:
        return f"did you mean {similar[0]}?"
    return f"the latest is {known[-1]}" if known else "there are none"


def only_folder(runs: Path, name: str) -> Path | None:
    """Return the only folder in ``runs`` whose name begins with ``name``; None if there is none or more than one."""
    # os.path.isdir returns False if a name is too long; Path.is_dir would raise an error.
    entries = runs.iterdir() if name and os.path.isdir(runs) else ()
    matching = [entry for entry in entries if entry.name.startswith(name)]
    return matching[0] if len(matching) == 1 else None


_MAX_LISTED: Final = 5
"""Largest number of ids that an error message lists."""
_MAX_COMPARED: Final = 100
"""Number of leading characters of a name that are compared with known ids, because comparing takes long."""
_MIN_LIKENESS: Final = 0.8
"""Least similarity of a suggested id, as a ratio of :mod:`difflib` from 0 to 1."""


def new_run_id() -> str:
    """Return a new id that sorts by time: UTC time and four random hex digits."""
    return f"{time.strftime('%Y%m%d-%H%M%S', time.gmtime())}-{secrets.token_hex(2)}"


class Begun(NamedTuple):
    """An earlier run that is resumed.

    Attributes:
        folder: folder of the run.
        info: content of ``run.json``.
        finished: summaries of the finished levels, in order.
    """

    folder: RunFolder
    info: dict[str, Any]
    finished: Sequence[Mapping[str, Any]]


class LearnedFiles(NamedTuple):
    """Content of the files of a run that hold its learned agents.

    Attributes:
        info: content of ``run.json``.
        state: state of the run, see :meth:`RunFolder.state`.
        finished: summaries of the finished levels, in order.
        curriculum: text of the curriculum.
        agents: category -> name of the agent's file; the key "" stands for all categories that are not keys.
        texts: name of an agent's file -> text of the file.
    """

    info: dict[str, Any]
    state: dict[str, Any]
    finished: Sequence[Mapping[str, Any]]
    curriculum: str
    agents: Mapping[str, str]
    texts: Mapping[str, str]


class RunFolder:
    """The files of one run; ``path`` is an existing folder."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.run_id = path.name

    @classmethod
    def create(
        cls,
        runs: Path,
        info: Mapping[str, Any],
        curriculum: str,
        agent: AgentSource,
        trusted: TrustedPDDL | None = None,
        prompt_log: str = "",
    ) -> RunFolder:
        """Create the folder of a new run in ``runs``, write its first files, and return it.

        Args:
            info: content of ``run.json``, without the run's id.
            curriculum: text of the curriculum.
            agent: the agent to begin with.
            trusted: the PDDL to begin with, if any.
            prompt_log: text with the prompt templates.

        Raises:
            SettingsError: ``runs`` cannot be written to.
        """
        make_folder(runs)
        folder = cls(runs / new_run_id())
        for name in ("agents", "pddl", "state", "summaries", "trajectories"):
            make_folder(folder.path / name)
        write_atomic(folder.path / CURRICULUM, curriculum)
        write_atomic(folder.path / FIRST_AGENT, agent.text)
        write_atomic(folder.path / "prompt_log.md", prompt_log)
        state: dict[str, Any] = {"levels": 0, "agent": FIRST_AGENT, "category": None}
        folder.commit(state | {"trusted": asdict(trusted) if trusted else None})
        folder.write_json(RUN, {"run_id": folder.run_id, **info})
        return folder

    @classmethod
    def open(cls, runs: Path, run_id: str) -> RunFolder:
        """Return the folder of an earlier run.

        Args:
            run_id: id of the run, or the beginning of exactly one id.

        Raises:
            ResumeError: see :func:`existing`; or the folder has the layout of an earlier version.
        """
        path = existing(runs, run_id, RUN)
        if fault := layout_fault(path):
            raise ResumeError(fault)
        return cls(path)

    @classmethod
    def find_learned(cls, given: str | None, runs: Path, cwd: Path) -> RunFolder:
        """Return the folder of the run whose learned agents are to be used.

        Args:
            given: path of the run folder, relative to ``cwd``, or id of a run in ``runs``; None for the latest finished
                run.

        Raises:
            ResumeError: see :meth:`open`; or no run in ``runs`` is finished.
        """
        if given is not None:
            path = cwd / given
            is_folder = (path / RUN).is_file() or bool(other_kind(path))
            return cls.open(path.parent, path.name) if is_folder else cls.open(runs, given)

        latest_first = sorted(runs.iterdir(), reverse=True) if runs.is_dir() else []
        for path in latest_first:
            if (path / RUN).is_file() and (path / "summary.json").is_file():
                folder = cls(path)
                summary = folder.read_json("summary.json")
                is_finished = summary.get("finished", 0) == summary.get("levels")
                if is_finished and not folder.read_json(RUN).get("evaluation"):
                    return folder
        raise ResumeError(f"no finished run in {runs}: learn one with {program()} run, or give --agent FILE|RUN")

    @classmethod
    def load_begun(cls, runs: Path, run_id: str) -> Begun:
        """Return an earlier run to resume, with its ``run.json`` and its finished levels.

        Raises:
            ResumeError: see :meth:`open`; or a file of the run cannot be read or is invalid.
        """
        folder = cls.open(runs, run_id)
        info = folder.read_json(RUN)
        records.check_record(records.RESUMABLE_RUN, info, folder.path / RUN)
        return Begun(folder, info, folder.read_finished())

    def info(self) -> dict[str, Any]:
        """Return the content of ``run.json``; see :class:`spca.runs.recording.records.RunRecord`.

        Raises:
            ResumeError: the file cannot be read or is invalid.
        """
        info = self.read_json(RUN)
        records.check_record(records.RUN, info, self.path / RUN)
        return info

    def state(self) -> dict[str, Any]:
        """Return the content of ``state/state.json``; see :class:`spca.runs.recording.records.State`.

        Raises:
            ResumeError: the file cannot be read or is invalid.
        """
        state = self.read_json(STATE)
        kind = records.EARLIER_STATE if "finished" in state else records.STATE
        records.check_record(kind, state, self.path / STATE)
        return state

    def read_finished(self) -> FinishedLevels:
        """Return the summaries of the finished levels, in order.

        Raises:
            ResumeError: a file cannot be read or is invalid.
        """
        state = self.state()
        earlier = state.get("finished")
        count = state["levels"] if earlier is None else len(earlier)
        return FinishedLevels(self.path / JOURNAL, count, earlier)

    def read_learned(self) -> LearnedFiles:
        """Return the agents that the run has learned so far, with the files that describe the run.

        Raises:
            ResumeError: a file cannot be read or is invalid.
        """
        info = self.info()
        state = self.state()

        agents = {"": state["agent"]}
        has_agent_per_category = not info["settings"].get("carry_over", True)
        finished = self.read_finished()
        for number, summary in enumerate(finished, 1):
            records.check_record(records.LEARNED_LEVEL, summary, *finished.locate(number))
            if has_agent_per_category:
                category = summary["level"]["category"]
                agents.setdefault(category, FIRST_AGENT)
                if summary["outcome"] == "success":
                    agents[category] = summary["agent_file"]
        texts = {name: self.read_text(name) for name in agents.values()}
        return LearnedFiles(info, state, finished, self.read_text(CURRICULUM), agents, texts)

    def commit(self, state: Mapping[str, Any]) -> None:
        """Make a finished level final by replacing ``state/state.json``."""
        write_atomic(self.path / STATE, json_text(state) + "\n")

    def read_text(self, name: str) -> str:
        """Return the text of the file ``name`` of the run folder.

        Raises:
            ResumeError: the file cannot be read, or lies outside of the run folder.
        """
        path = self.path / name
        try:
            leads_upwards = ".." in Path(name).parts
            is_inside = not leads_upwards and path.resolve().is_relative_to(self.path.resolve())
        except ValueError as error:  # the name contains NUL or half of a surrogate pair
            raise ResumeError(f"{self.path}: no file can have the name {name!a}") from error
        if not is_inside:
            raise ResumeError(f"{path} lies outside of the folder of its run, {self.path}")
        try:
            return read_text(path, MAX_RUN_FILE_BYTES)
        except FileError as error:
            raise ResumeError(str(error)) from error

    def write_json(self, name: str, value: object) -> None:
        """Write ``value`` as indented JSON into the file ``name`` of the run folder."""
        write_atomic(self.path / name, json_text(value, indent=1) + "\n")

    def save_version(self, number: int, agent: AgentSource, plan: Plan | None, *, solved: bool) -> str:
        """Save agent and PDDL after level ``number`` (from 1); return the agent's path relative to the run folder."""
        prefix = "" if solved else "fail_"
        # Remove the files of an earlier, killed attempt to play this level. Listing the folders would take longer.
        for stale in ("", "fail_"):
            for name in ("agents/{}agent_v{}.py", "pddl/{}domain_v{}.pddl", "pddl/{}problem_v{}.pddl"):
                (self.path / name.format(stale, number)).unlink(missing_ok=True)
        name = f"agents/{prefix}agent_v{number}.py"
        write_atomic(self.path / name, agent.text)
        if plan is not None:
            write_atomic(self.path / f"pddl/{prefix}domain_v{number}.pddl", plan.domain)
            write_atomic(self.path / f"pddl/{prefix}problem_v{number}.pddl", plan.problem)
        return name

    def save_agent(self, agent: AgentSource) -> str:
        """Save an executed source under its hash; return the path relative to the run folder."""
        name = f"agents/{agent.sha256[:16]}.py"
        if not (self.path / name).is_file():
            write_atomic(self.path / name, agent.text)
        return name

    def read_json(self, name: str) -> dict[str, Any]:
        """Return the JSON object in the file ``name`` of the run folder.

        Raises:
            ResumeError: the file cannot be read, or holds no JSON object.
        """
        try:
            value = json.loads(self.read_text(name))
        except (ValueError, RecursionError) as error:
            raise ResumeError(f"{self.path / name} cannot be read: {error}") from error
        if not isinstance(value, dict):
            raise ResumeError(f"{self.path / name} cannot be read: it holds no object")
        return value


def attempt_record(attempt: Attempt, agent_file: str) -> dict[str, Any]:
    """Return the entry of an attempt in a trajectory file.

    In the entry, ``start`` lists the primitives from the reset of the world to the start of the attempt.
    ``start_hash`` and ``end_hash`` are hashes of the states before and after the attempt. ``steps`` has one list
    [code, plan position, source line] per primitive of the attempt. ``found`` is there only if something was found.
    """
    found = {"found": list(attempt.outcome.found)} if attempt.outcome.found else {}
    return {
        "round": attempt.round,
        "attempt": attempt.number,
        "start": list(attempt.start.primitives),
        "start_hash": attempt.start.state_hash,
        "end_hash": attempt.outcome.state_hash,
        "agent": agent_file,
        "plan": [asdict(step) for step in attempt.plan.steps],
        "domain": attempt.plan.domain,
        "problem": attempt.plan.problem,
        "engine": attempt.plan.engine,
        "writer": attempt.plan.writer,
        "status": attempt.outcome.status.value,
        "message": attempt.outcome.message,
        "traceback": attempt.outcome.traceback,
        "printed": attempt.outcome.printed,
        "reward": attempt.outcome.reward,
        **found,
        "steps": [[s.code, s.position, s.line] for s in attempt.outcome.trace],
    }
