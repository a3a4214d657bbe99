"""Problem writers of a run as files, and back: ``pddl/writers/NAME/vNNN.{py,pddl,json}``.

Source and domain of a version never change. What does change, its tally and the levels that it has to go on solving, is
in the state that a level's commit replaces; the JSON beside them repeats it for readers. A level it has solved is known
by its trajectory, which holds all that is needed of it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any, Final

from spca.code.regression import SolvedLevel
from spca.common.files import make_folder, write_atomic
from spca.contracts import Checkpoint, Plan, PlannerMode, PlanStep, ProblemWriter
from spca.errors import ResumeError
from spca.runs.recording import records
from spca.runs.recording.folder import RunFolder
from spca.writers.merit import reasons_left_out
from spca.writers.stored import Case, StoredWriter, Tally

FOLDER: Final = "pddl/writers"


class WriterFiles:
    """The problem writers of a run folder.

    Attributes:
        stored: those of the last commit.

    Args:
        folder: the run's.
        last_records: what the last commit says of its writers.

    Raises:
        ResumeError: a file of theirs cannot be read.
    """

    def __init__(self, folder: RunFolder, last_records: Sequence[Mapping[str, Any]]) -> None:
        self._folder = folder
        self._trajectories: dict[tuple[str, str], str] = {}
        self.stored = tuple(map(self._read, last_records))
        self._written: dict[str, tuple[dict[str, Any], ProblemWriter]] = {}

    def clear(self, accepted: Collection[str]) -> None:
        """Remove all but the ``accepted`` labels: a level that was killed has left them."""
        for file in (self._folder.path / FOLDER).glob("*/*"):
            if f"{file.parent.name}/{file.stem}" not in accepted:
                file.unlink()

    def remember_solved(self, name: str, trajectory: Mapping[str, Any]) -> None:
        """Remember where a solved level lies, which a writer may name from now on."""
        if trajectory["snapshot"]:
            self._trajectories[trajectory["env_id"], trajectory["snapshot"]["level"]["category"]] = name

    def read_texts(self) -> dict[str, str]:
        """Return the text of each file that the writers need, by its name relative to the folder."""
        names = list[str]()
        cases = list[str]()
        for stored in self.stored:
            names += [f"{FOLDER}/{stored.label}.{kind}" for kind in ("py", "pddl", "json")]
            cases += [self._trajectories[_key(case)] for case in stored.cases]
        return {name: self._folder.read_text(name) for name in (*names, *cases)}

    def save(self, versions: Iterable[StoredWriter]) -> list[dict[str, Any]]:
        """Write what is new; return what the commit has to say of the last version of each name."""
        versions = tuple(versions)
        last = {each.writer.name: each for each in versions}
        self.stored = tuple(each for each in versions if last[each.writer.name] is each)
        for stored in versions:
            record = self._record(stored)
            if self._written.get(stored.label) != (record, stored.writer):
                self._write(stored, record)
        return list(map(self._record, self.stored))

    def _record(self, stored: StoredWriter) -> dict[str, Any]:
        cases = [self._trajectories[_key(case)] for case in stored.cases]
        totals = {name: getattr(stored, name) for name in ("solved", "failed", "late", "invalid")}
        tallies = {category: asdict(tally) for category, tally in stored.tallies.items()}
        known = {"name": stored.writer.name, "version": stored.version, "born": stored.born, "cases": cases}
        return known | totals | {"tallies": tallies, "left_out": reasons_left_out(stored)}

    def _write(self, stored: StoredWriter, record: dict[str, Any]) -> None:
        path = self._folder.path / FOLDER / stored.label
        make_folder(path.parent)
        if self._written.get(stored.label, (None, None))[1] != stored.writer:
            write_atomic(path.with_suffix(".py"), stored.writer.source)
            write_atomic(path.with_suffix(".pddl"), stored.writer.domain)
        self._folder.write_json(f"{FOLDER}/{stored.label}.json", record)
        self._written[stored.label] = record, stored.writer

    def _read(self, record: Mapping[str, Any]) -> StoredWriter:
        name, version, born = record["name"], record["version"], record["born"]
        label = StoredWriter(ProblemWriter(name, "", ""), version, born).label
        source = self._folder.read_text(f"{FOLDER}/{label}.py")
        domain = self._folder.read_text(f"{FOLDER}/{label}.pddl")
        cases = tuple(map(self._case, record["cases"]))
        writer = ProblemWriter(name, domain, source)

        late = record.get("late", 0)
        invalid = record.get("invalid", 0)  # which older runs did not count
        recorded_tallies = record.get("tallies", {})
        tallies = {category: Tally(**tally) for category, tally in recorded_tallies.items()}
        totals = record["solved"], record["failed"], late, invalid
        return StoredWriter(writer, version, born, cases, *totals, tallies)

    def _case(self, name: str) -> Case:
        trajectory = read_trajectory(self._folder, name)
        if not trajectory["snapshot"]:
            raise ResumeError(f"{self._folder.path / name} cannot be read: snapshot: a level of a writer has one")
        self.remember_solved(name, trajectory)
        last = trajectory["attempts"][-1]
        return Case(trajectory["snapshot"], last["problem"], read_solved_level(trajectory))


def read_trajectory(folder: RunFolder, name: str) -> dict[str, Any]:
    """Return the file of a level that was solved.

    Raises:
        ResumeError: it cannot be read, or is something else.
    """
    trajectory = folder.read_json(name)
    records.check_record(records.TRAJECTORY, trajectory, folder.path / name)
    return trajectory


def _key(case: Case) -> tuple[str, str]:
    return case.solved.env_id, case.state["level"]["category"]


def read_solved_level(trajectory: Mapping[str, Any]) -> SolvedLevel:
    """Return the last attempt of a trajectory file, as the regression check wants it."""
    last = trajectory["attempts"][-1]
    steps = list[PlanStep]()
    for step in last["plan"]:
        parameters = tuple(step.get("parameters", ()))
        steps.append(PlanStep(step["action"], tuple(step["args"]), parameters))
    plan = Plan(tuple(steps), last["domain"], last["problem"], (), PlannerMode.FRESH)
    start = Checkpoint(tuple(last["start"]), trajectory["checkpoint"]["state_hash"])
    return SolvedLevel(trajectory["env_id"], trajectory["seed"], start, plan)
