"""A run's folder: what a run leaves behind, and what it needs to go on after being killed.

::

    runs/<run_id>/
      run.json              settings, versions, git commit, models
      summary.json          totals, when the run has ended
      metrics.jsonl         events
      calls.jsonl           a line per request to a model
      prompt_log.md         the prompt templates used
      report.html           the page that `report` writes
      agents/               agent_v{N}.py after level N; <hash>.py, the source of every attempt
      pddl/                 domain_v{N}.pddl and problem_v{N}.pddl after level N; writers/NAME/vNNN.{py,pddl,json}, the
                            problem writers that were accepted: source, domain, and what it has solved
      summaries/            summary_<category>_<level>_<run_id>.json, one per level
      trajectories/         every attempt of every level
      llm/                  every call of a model: question and answer
      state/                what the run needs to go on: state.json (finished levels; replaced atomically: the commit of
                            a level), curriculum.json (as it was when the run began), call_in_flight.json

Agent and PDDL of a level that was not solved have the prefix ``fail_``.
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
from spca.runs.results import Attempt

STATE: Final = "state/state.json"
LOCK: Final = "state/.lock"
CURRICULUM: Final = "state/curriculum.json"
FIRST_AGENT: Final = "agents/agent_v0.py"
ASKED_ANEW: Final = "asked_anew"
"""Field of ``run.json``: role -> the first so many calls of the run, whose answers it is not served again."""


def layout_fault(path: Path) -> str:
    """Return why the files of a run folder cannot be found where they belong, "" if they can."""
    is_old = os.path.isfile(path / "state.json") and not os.path.isdir(path / "state")
    return f"{path} has its files where an earlier version put them: begin a new run" if is_old else ""


RUN: Final = "run.json"
_KINDS: Final = {
    RUN: ("a run", "{0} --resume {1}, or {0} evaluate --agent {1}"),
    "evaluation.json": ("an evaluation", "{0} report {1}, or {0} evaluate --resume {1}"),
    "study.json": (
        "a study of ablations",
        "{0} ablations --resume {1}, which prints its table; its runs and evaluations are {2}/SETTING/ID",
    ),
}
"""The file that makes a folder what it is -> what that is, and the commands for it."""


def other_kind(path: Path, wanted: str = RUN) -> str:
    """Return what a folder is and the commands for it, "" if that is not known or is what is ``wanted``.

    Args:
        wanted: the file that makes a folder what it should be.
    """
    for record, (kind, commands) in _KINDS.items():
        if record != wanted and os.path.isfile(path / record):
            name = f"{shlex.quote(path.name)}{where_runs_lie(path.parent)}"
            told = commands.format(program(), name, path)
            return f"{path.name!r} is {kind}, not {_KINDS[wanted][0]}: use {told}"
    return ""


def existing(runs: Path, name: str, record: str) -> Path:
    """Return the folder in ``runs`` that ``name`` means; it must contain the file ``record``.

    Args:
        name: an id, or the beginning of one, if no other id begins so.

    Raises:
        ResumeError: there is none, there are several, or it is something else.
    """
    path = runs / name
    # os.path, because Path.is_file raises where a name is too long.
    if name and path.parent == runs and os.path.isfile(path / record):
        return path
    if name and (kind := other_kind(path, record)):
        raise ResumeError(kind)
    known = sorted(each.parent.name for each in runs.glob(f"*/{record}"))
    what = _KINDS[record][0].partition(" ")[2]
    alike = [each for each in known if name and each.startswith(name)]
    if len(alike) == 1:
        return runs / alike[0]
    if alike:
        shown = ", ".join(alike[:_MAX_LISTED])
        number = len(alike)
        more = f" and {number - _MAX_LISTED} more" if number > _MAX_LISTED else ""
        raise ResumeError(f"{number} ids in {runs} begin with {name}: {shown}{more}: give more of the id")
    if (only := only_folder(runs, name)) and (kind := other_kind(only, record)):
        raise ResumeError(kind)
    raise ResumeError(f"no {what} {name!r} in {runs}: {suggest_id(name, known)}")


def suggest_id(name: str, known: Sequence[str]) -> str:
    """Return which of the ``known`` ids, the latest last, may be meant by one that is none of them."""
    near = get_close_matches(name[:_MAX_COMPARED], known, 1, _MIN_LIKENESS)
    if near:
        return f"did you mean {near[0]}?"
    return f"the latest is {known[-1]}" if known else "there are none"


def only_folder(runs: Path, name: str) -> Path | None:
    """Return the folder in ``runs`` whose name begins with ``name``, None if there is none or more than one."""
    there = runs.iterdir() if name and os.path.isdir(runs) else ()  # Path.is_dir raises where a name is too long
    alike = [each for each in there if each.name.startswith(name)]
    return alike[0] if len(alike) == 1 else None


_MAX_LISTED: Final = 5
_MAX_COMPARED: Final = 100
_MIN_LIKENESS: Final = 0.8


def new_run_id() -> str:
    """Return a sortable id: UTC time and four random hex digits."""
    return f"{time.strftime('%Y%m%d-%H%M%S', time.gmtime())}-{secrets.token_hex(2)}"


class Begun(NamedTuple):
    """A run to go on with: its folder, its ``run.json`` and the summaries of its finished levels."""

    folder: RunFolder
    info: dict[str, Any]
    finished: Sequence[Mapping[str, Any]]


class LearnedFiles(NamedTuple):
    """What the files of a run hold of what it has learned.

    Attributes:
        info: ``run.json``.
        state: ``state/state.json``.
        curriculum: text of its levels.
        agents: the file of each category's agent; "" is that of all other categories.
        texts: of these files.
    """

    info: dict[str, Any]
    state: dict[str, Any]
    curriculum: str
    agents: Mapping[str, str]
    texts: Mapping[str, str]


class RunFolder:
    """Files of one run; ``path`` exists."""

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
        """Return a new folder holding what every later part relies on: agent and PDDL to begin with included.

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
        state: dict[str, Any] = {"finished": [], "agent": FIRST_AGENT, "category": None}
        folder.commit(state | {"trusted": asdict(trusted) if trusted else None})
        folder.write_json(RUN, {"run_id": folder.run_id, **info})
        return folder

    @classmethod
    def open(cls, runs: Path, run_id: str) -> RunFolder:
        """Return the folder of an earlier run.

        Raises:
            ResumeError: there is no such run, or it is not complete.
        """
        path = existing(runs, run_id, RUN)
        if fault := layout_fault(path):
            raise ResumeError(fault)
        return cls(path)

    @classmethod
    def find_learned(cls, given: str | None, runs: Path, cwd: Path) -> RunFolder:
        """Return the run whose folder or id ``given`` is; None: the latest finished run.

        Raises:
            ResumeError: there is no such run, or it is not complete.
        """
        if given is not None:
            path = cwd / given
            is_folder = (path / RUN).is_file() or bool(other_kind(path))
            return cls.open(path.parent, path.name) if is_folder else cls.open(runs, given)

        for path in sorted(runs.iterdir(), reverse=True) if runs.is_dir() else []:
            if (path / RUN).is_file() and (path / "summary.json").is_file():
                folder = cls(path)
                summary = folder.read_json("summary.json")
                is_finished = summary.get("finished", 0) == summary.get("levels")
                if is_finished and not folder.read_json(RUN).get("evaluation"):
                    return folder
        raise ResumeError(f"no finished run in {runs}: learn one with {program()} run, or give --agent FILE|RUN")

    @classmethod
    def load_begun(cls, runs: Path, run_id: str) -> Begun:
        """Return an earlier run with what decides whether it can go on.

        Raises:
            ResumeError: as :meth:`open`, or what it holds cannot be read.
        """
        folder = cls.open(runs, run_id)
        info = folder.read_json(RUN)
        records.check_record(records.RESUMABLE_RUN, info, folder.path / RUN)
        return Begun(folder, info, folder.state()["finished"])

    def info(self) -> dict[str, Any]:
        """``run.json``, which holds at least ``settings``.

        Raises:
            ResumeError: it cannot be read.
        """
        info = self.read_json(RUN)
        records.check_record(records.RUN, info, self.path / RUN)
        return info

    def state(self) -> dict[str, Any]:
        """Return what ``state/state.json`` holds; see :class:`spca.runs.recording.records.State`.

        Raises:
            ResumeError: it cannot be read, or was edited to something else.
        """
        state = self.read_json(STATE)
        records.check_record(records.STATE, state, self.path / STATE)
        return state

    def read_learned(self) -> LearnedFiles:
        """Return what the run has learned so far.

        Raises:
            ResumeError: it cannot be read.
        """
        info = self.read_json(RUN)
        state = self.read_json(STATE)
        records.check_learned(info, state, self.path)

        agents = {"": state["agent"]}
        if not info["settings"].get("carry_over", True):  # each category has a library of its own
            for summary in state["finished"]:
                category = summary["level"]["category"]
                agents.setdefault(category, FIRST_AGENT)
                if summary["outcome"] == "success":
                    agents[category] = summary["agent_file"]
        texts = {name: self.read_text(name) for name in agents.values()}
        return LearnedFiles(info, state, self.read_text(CURRICULUM), agents, texts)

    def commit(self, state: Mapping[str, Any]) -> None:
        """Make a finished level final; on one line, because it is written anew each time and grows."""
        write_atomic(self.path / STATE, json_text(state) + "\n")

    def read_text(self, name: str) -> str:
        """Return the text of a file of the folder.

        Raises:
            ResumeError: it cannot be read, or lies elsewhere.
        """
        path = self.path / name
        try:
            is_inside = ".." not in Path(name).parts and path.resolve().is_relative_to(self.path.resolve())
        except ValueError as error:  # a NUL, or half a surrogate pair
            raise ResumeError(f"{self.path}: no file can have the name {name!a}") from error
        if not is_inside:
            raise ResumeError(f"{path} lies outside of the folder of its run, {self.path}")
        try:
            return read_text(path, MAX_RUN_FILE_BYTES)
        except FileError as error:
            raise ResumeError(str(error)) from error

    def write_json(self, name: str, value: object) -> None:
        write_atomic(self.path / name, json_text(value, indent=1) + "\n")

    def save_version(self, number: int, agent: AgentSource, plan: Plan | None, *, solved: bool) -> str:
        """Save the agent and PDDL after level ``number``; return the agent's path relative to the folder."""
        prefix = "" if solved else "fail_"
        for folder in ("agents", "pddl"):
            for stale in (self.path / folder).glob(f"*_v{number}.*"):  # of a try at this level that was killed
                stale.unlink()
        name = f"agents/{prefix}agent_v{number}.py"
        write_atomic(self.path / name, agent.text)
        if plan is not None:
            write_atomic(self.path / f"pddl/{prefix}domain_v{number}.pddl", plan.domain)
            write_atomic(self.path / f"pddl/{prefix}problem_v{number}.pddl", plan.problem)
        return name

    def save_agent(self, agent: AgentSource) -> str:
        """Save an executed source under its hash; returns its path relative to the folder."""
        name = f"agents/{agent.sha256[:16]}.py"
        if not (self.path / name).is_file():
            write_atomic(self.path / name, agent.text)
        return name

    def read_json(self, name: str) -> dict[str, Any]:
        """A file of the folder that holds a JSON object.

        Raises:
            ResumeError: it cannot be read.
        """
        try:
            value = json.loads(self.read_text(name))
        except (ValueError, RecursionError) as error:
            raise ResumeError(f"{self.path / name} cannot be read: {error}") from error
        if not isinstance(value, dict):
            raise ResumeError(f"{self.path / name} cannot be read: it holds no object")
        return value


def attempt_record(attempt: Attempt, agent_file: str) -> dict[str, Any]:
    """Return one attempt for a trajectory file.

    ``start`` holds the primitives before it, ``steps`` one [code, plan position, source line] per primitive. The hashes
    are of the states before and after it.
    """
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
        "steps": [[s.code, s.position, s.line] for s in attempt.outcome.trace],
    }
