"""What a run has learned, as an evaluation freezes it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from spca.code.policy import check as policy
from spca.common.command import program
from spca.common.errors import SettingsError
from spca.common.files import read_text
from spca.common.text import escaped_code
from spca.contracts import AgentSource, ProblemWriter
from spca.errors import PatchError, ResumeError
from spca.runs import curriculum
from spca.runs.recording.folder import CURRICULUM, FIRST_AGENT, STATE, RunFolder, other_kind
from spca.runs.recording.records import LEARNED_LEVELS, check_record
from spca.runs.recording.writer_files import FOLDER, WriterFiles
from spca.writers.stored import StoredWriter


@dataclass(frozen=True, slots=True)
class Learned:
    """An agent and what it was learned with.

    Attributes:
        source: id of the run, or the file of the agent.
        agents: by category; "" is that of all other categories.
        curriculum: text of the curriculum's file.
        categories: those of its levels that were learned, in order; () for a file.
        settings: of the run, {} for a file.
        levels: how many of its levels are finished.
        writers: what the run's state says of its problem writers.
        of_category: the only category that these are for; None for all. A run in which each category has a library of
            its own keeps the writers of its last category only.
        folder: of the run, where their files lie; None for a file.
    """

    source: str
    agents: Mapping[str, AgentSource]
    curriculum: str
    categories: tuple[str, ...] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)
    writers: Sequence[Mapping[str, Any]] = ()
    of_category: str | None = None
    folder: Path | None = None
    levels: int = 0

    def warning_of_words(self, words: int | None) -> str:
        """Return what to say where other words are used than was learned with, "" else; ``words`` is their seed."""
        learned_with = self.settings.get("rename_words")
        if self.folder is None or words == learned_with:  # nobody knows the words of a file
            return ""
        known = "the true words" if learned_with is None else f"--rename-words {learned_with}"
        return f"{self.source} was learned with {known}: writers and actions that spell words out cannot succeed"

    def warning_of_levels(self) -> str:
        """Return what to say of a run that has levels to come, "" else."""
        if self.folder is None:
            return ""
        start = self.settings.get("start_category")
        only = [value for name in ("only", "levels") if (value := self.settings.get(name)) is not None]
        selected = curriculum.parse(self.curriculum, self.source).select(start_category=start, only=only)
        levels = len(selected.tasks())
        return f"{self.source} has learned {self.levels} of {levels} levels so far" if self.levels < levels else ""

    def warning_of_seeds(self, seeds: Sequence[int]) -> str:
        """Return what to say where seeds to be played are not unseen, "" else."""
        seed = self.settings.get("seed")
        if seed not in seeds:
            return ""
        return f"seed {seed} is no unseen one: {self.source} has learned on it"

    def writer_files(self) -> Iterator[str]:
        """Yield the files that the writers need, relative to the folder."""
        for record in self.writers:
            bare = StoredWriter(ProblemWriter(record["name"], "", ""), record["version"], "")
            yield from (f"{FOLDER}/{bare.label}.{kind}" for kind in ("py", "pddl", "json"))
            yield from record["cases"]


def learned(given: str | None, runs: Path, cwd: Path, root: Path) -> Learned:
    """Return what ``given`` means: a file of an agent, a run's folder, a run of ``runs``; None: the latest finished.

    Args:
        root: folder of the applications, whose curriculum goes with a file.

    Raises:
        ResumeError: there is no such run, or it cannot be read.
        SettingsError: the file holds no agent.
        FileError: it cannot be read.
    """
    if given is None:
        return _of_run(_latest_finished(runs))
    path = cwd / given
    if given.endswith(".py") or path.is_file():
        return Learned(given, {"": _agent(path)}, read_text(root / "merged_curriculum2.json"))
    is_folder = (path / "run.json").is_file() or bool(other_kind(path))
    return _of_run(RunFolder.open(path.parent, path.name) if is_folder else RunFolder.open(runs, given))


def _agent(path: Path) -> AgentSource:
    return _checked(AgentSource(escaped_code(read_text(path))), path)


def _checked(agent: AgentSource, path: Path) -> AgentSource:
    """Return the agent if it may be run: what would be refused in every episode is told at once."""
    try:
        policy.check_agent(agent)
    except PatchError as error:
        fault = str(error).partition("\n")[0]
        raise SettingsError(f"--agent {path}: {fault}") from error
    return agent


def _latest_finished(runs: Path) -> RunFolder:
    there = sorted(runs.iterdir(), reverse=True) if runs.is_dir() else []
    for path in there:
        if (path / "run.json").is_file() and (path / "summary.json").is_file():
            folder = RunFolder(path)
            summary = folder.read_json("summary.json")
            if summary.get("finished", 0) == summary.get("levels") and not folder.info().get("evaluation"):
                return folder
    raise ResumeError(f"no finished run in {runs}: learn one with {program()} run, or give --agent FILE|RUN")


def _of_run(folder: RunFolder) -> Learned:
    found = _left_by(folder)
    WriterFiles(folder, found.writers)  # reads all that is going to be read of them
    return found


def _left_by(folder: RunFolder) -> Learned:
    info = folder.info()
    state = folder.state()
    check_record(LEARNED_LEVELS, state["finished"], folder.path / STATE, "finished")
    files, carries_over = {"": state["agent"]}, info["settings"].get("carry_over", True)
    if not carries_over:  # each category has a library of its own
        files |= _last_of_each_category(state["finished"])
    agents = {
        category: _checked(AgentSource(folder.read_text(name)), folder.path / name) for category, name in files.items()
    }
    writers = state.get("writers", ()) if len(files) <= 2 else ()  # those of the last category fit no other library
    return Learned(
        folder.run_id,
        agents,
        folder.read_text(CURRICULUM),
        tuple(dict.fromkeys(summary["level"]["category"] for summary in state["finished"])),
        info["settings"],
        writers,
        None if carries_over else state["category"],
        folder.path,
        len(state["finished"]),
    )


def _last_of_each_category(finished: list[dict[str, Any]]) -> dict[str, str]:
    names: dict[str, str] = {}
    for summary in finished:
        category = summary["level"]["category"]
        names.setdefault(category, FIRST_AGENT)
        if summary["outcome"] == "success":
            names[category] = summary["agent_file"]
    return names
