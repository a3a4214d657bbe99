"""Save and load the problem writers of a run: files ``pddl/writers/NAME/vNNN.{py,pddl,json}``.

The source (``.py``) and the domain (``.pddl``) of a version never change. The tally of a version changes, and so do its
cases, the levels that it must still solve. Therefore tally and cases are part of ``state/state.json``, which is
replaced after each level. The ``.json`` file only repeats tally and cases for readers. A case is recorded as the name
of its trajectory file.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any, Final

from spca.code.regression import SolvedLevel
from spca.common.files import make_folder, write_atomic
from spca.contracts import Checkpoint, LevelSpec, Plan, PlannerMode, PlanStep, ProblemWriter
from spca.errors import ResumeError
from spca.runs.recording import records
from spca.runs.recording.folder import RunFolder
from spca.writers.merit import reasons_left_out
from spca.writers.stored import Case, StoredWriter, Tally

FOLDER: Final = "pddl/writers"


class WriterFiles:
    """The problem writers of a run folder.

    Attributes:
        stored: the writers at the last commit.

    Args:
        folder: folder of the run.
        last_records: records of the writers in the last commit.

    Raises:
        ResumeError: a file of a writer cannot be read.
    """

    def __init__(self, folder: RunFolder, last_records: Sequence[Mapping[str, Any]]) -> None:
        self._folder = folder
        # (level, seed, category) -> name of the trajectory file; reading the writers below fills it.
        self._trajectories: dict[tuple[str, int, str], str] = {}
        self.stored = tuple(map(self._read, last_records))
        self._written: dict[str, tuple[dict[str, Any], ProblemWriter]] = {}

    def clear(self, accepted: Collection[str]) -> None:
        """Remove the files of writers whose labels are not in ``accepted``.

        Such files may exist if the run was killed during a level.
        """
        for file in (self._folder.path / FOLDER).glob("*/*"):
            if f"{file.parent.name}/{file.stem}" not in accepted:
                file.unlink()

    def remember_solved(self, name: str, trajectory: Mapping[str, Any]) -> None:
        """Remember ``name``, the trajectory file of a solved level, so that records of writers can refer to it."""
        if trajectory["snapshot"]:
            category = trajectory["snapshot"]["level"]["category"]
            level = LevelSpec.from_record(trajectory).name
            self._trajectories[level, trajectory["seed"], category] = name

    def read_texts(self) -> dict[str, str]:
        """Return name -> text of all files of the writers and of their cases; names are relative to the run folder."""
        names: list[str] = []
        cases: list[str] = []
        for stored in self.stored:
            names += [f"{FOLDER}/{stored.label}.{kind}" for kind in ("py", "pddl", "json")]
            cases += self._find_trajectories(stored)
        return {name: self._folder.read_text(name) for name in (*names, *cases)}

    def save(self, versions: Iterable[StoredWriter]) -> list[dict[str, Any]]:
        """Write new and changed versions; return the records of the newest versions for the commit.

        Args:
            versions: versions of writers; for each name, older versions come before newer ones.
        """
        versions = tuple(versions)
        used = {self._find_key(case) for stored in versions for case in stored.cases}
        self._trajectories = {key: name for key, name in self._trajectories.items() if key in used}
        newest = {version.writer.name: version for version in versions}
        self.stored = tuple(version for version in versions if newest[version.writer.name] is version)
        for stored in versions:
            record = self._make_record(stored)
            if self._written.get(stored.label) != (record, stored.writer):
                self._write(stored, record)
        return list(map(self._make_record, self.stored))

    def _find_trajectories(self, stored: StoredWriter) -> list[str]:
        """Return the names of the trajectory files of the cases of a writer."""
        return [self._trajectories[self._find_key(case)] for case in stored.cases]

    @staticmethod
    def _find_key(case: Case) -> tuple[str, int, str]:
        """Return the level, the seed and the category of a case."""
        return case.solved.level.name, case.solved.seed, case.state["level"]["category"]

    def _make_record(self, stored: StoredWriter) -> dict[str, Any]:
        """Return the record of a writer for the commit and for the ``.json`` file."""
        cases = self._find_trajectories(stored)
        totals = {name: getattr(stored, name) for name in ("solved", "failed", "late", "invalid")}
        tallies = {category: asdict(tally) for category, tally in stored.tallies.items()}
        known = {"name": stored.writer.name, "version": stored.version, "born": stored.born, "cases": cases}
        return known | totals | {"tallies": tallies, "left_out": reasons_left_out(stored)}

    def _write(self, stored: StoredWriter, record: dict[str, Any]) -> None:
        """Write the record of a version; also write source and domain if this process has not written them before."""
        path = self._folder.path / FOLDER / stored.label
        make_folder(path.parent)
        _, written_writer = self._written.get(stored.label, (None, None))
        if written_writer != stored.writer:
            write_atomic(path.with_suffix(".py"), stored.writer.source)
            write_atomic(path.with_suffix(".pddl"), stored.writer.domain)
        self._folder.write_json(f"{FOLDER}/{stored.label}.json", record)
        self._written[stored.label] = record, stored.writer

    def _read(self, record: Mapping[str, Any]) -> StoredWriter:
        """Return the problem writer of a record, with source, domain and cases from the files of the run."""
        name = record["name"]
        version = record["version"]
        born = record["born"]
        label = StoredWriter(ProblemWriter(name, "", ""), version, born).label
        source = self._folder.read_text(f"{FOLDER}/{label}.py")
        domain = self._folder.read_text(f"{FOLDER}/{label}.pddl")
        cases = tuple(map(self._read_case, record["cases"]))
        writer = ProblemWriter(name, domain, source)

        late = record.get("late", 0)
        invalid = record.get("invalid", 0)  # older versions of the program did not record late and invalid
        recorded_tallies = record.get("tallies", {})
        tallies = {category: Tally(**tally) for category, tally in recorded_tallies.items()}
        totals = record["solved"], record["failed"], late, invalid
        return StoredWriter(writer, version, born, cases, *totals, tallies)

    def _read_case(self, name: str) -> Case:
        """Return the case in the trajectory file ``name``, and remember the file."""
        trajectory = read_trajectory(self._folder, name)
        if not trajectory["snapshot"]:
            raise ResumeError(f"{self._folder.path / name} cannot be read: snapshot: a level of a writer has one")
        self.remember_solved(name, trajectory)
        last = trajectory["attempts"][-1]
        return Case(trajectory["snapshot"], last["problem"], read_solved_level(trajectory))


def read_trajectory(folder: RunFolder, name: str) -> dict[str, Any]:
    """Return the content of ``name``, the trajectory file of a level that was solved.

    Raises:
        ResumeError: the file cannot be read or is invalid.
    """
    trajectory = folder.read_json(name)
    records.check_record(records.TRAJECTORY, trajectory, folder.path / name)
    return trajectory


def read_solved_level(trajectory: Mapping[str, Any]) -> SolvedLevel:
    """Return the last attempt of a trajectory file as an input of the regression check."""
    last = trajectory["attempts"][-1]
    steps: list[PlanStep] = []
    for step in last["plan"]:
        parameters = tuple(step.get("parameters", ()))
        steps.append(PlanStep(step["action"], tuple(step["args"]), parameters))
    plan = Plan(tuple(steps), last["domain"], last["problem"], (), PlannerMode.FRESH)
    start = Checkpoint(tuple(last["start"]), trajectory["checkpoint"]["state_hash"])
    return SolvedLevel(LevelSpec.from_record(trajectory), trajectory["seed"], start, plan)
