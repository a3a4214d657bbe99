"""Generate many scenes into files, as jobs that may be interrupted and resumed.

The content of a scene depends only on the :class:`Series` and on the index of the scene. A hop is a milestone of a
scene.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar, Final

from pydantic import TypeAdapter

from explorer.errors import GenerationError
from explorer.files import save_scene
from explorer.generating.composer import compose
from explorer.generating.knobs import Knobs
from explorer.generating.production import Figures
from explorer.scene import RULES
from spca.common.debug_log import log_to_folder
from spca.common.encoding import json_text
from spca.common.files import remove_torn_files, write_atomic
from spca.common.jobs.dispatch import do_what_is_left
from spca.common.jobs.journal import Journal
from spca.common.jobs.progress import OnProgress
from spca.common.jobs.work import TRIES, Job, JobMessages, Setup

INDEX: Final = "set.json"
"""Name of the file, beside the folders of the scenes, that records the request and the names of the scenes."""


@dataclass(frozen=True, slots=True)
class Series:
    """The request for a series of scenes, which determines every byte of the scenes.

    Attributes:
        count: number of scenes.
        hops: how many hops the scenes have: the entries apply in turn; if ``hops`` is empty, ``knobs`` decides.
    """

    seed: int
    count: int
    hops: tuple[int, ...] = ()
    knobs: Knobs = field(default_factory=Knobs)

    def knobs_at(self, index: int) -> Knobs:
        """Return the knobs of the scene at an index.

        Raises:
            GenerationError: the number of hops of this scene contradicts its other knobs.
        """
        if not self.hops:
            return self.knobs
        hops = self.hops[index % len(self.hops)]
        return replace(self.knobs, hops=hops)

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as JSON-compatible data."""
        return {"rules": RULES, **asdict(self), "hops": list(self.hops)}


@dataclass(frozen=True, slots=True)
class SceneOutcome:
    """The result of an attempt to make the scene of one index.

    Attributes:
        task_id: name of the scene.
        figures: countable features of the scene, or None if the attempt failed.
        error: why the attempt failed, or "" if it succeeded.
    """

    task_id: str
    figures: Figures | None
    error: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as JSON-compatible data."""
        return asdict(self)


SCENE_OUTCOME: Final = TypeAdapter(SceneOutcome)


@dataclass(frozen=True, slots=True)
class SceneJobs(Setup[Job, SceneOutcome]):
    """The setup with which workers make scenes; a job stands for one scene."""

    terms: ClassVar[JobMessages] = JobMessages("generation", "generator", "--output", GenerationError)
    unusable: ClassVar[type[GenerationError]] = GenerationError

    series: Series
    output: Path
    verbose: bool = False

    @contextmanager
    def start_worker(self) -> Iterator[Callable[[Job], SceneOutcome]]:
        yield self._make_scene

    def make_lost_result(self, job: Job, how: str) -> SceneOutcome:
        return SceneOutcome(job.id, None, f"{how}, {TRIES} times")

    def _make_scene(self, job: Job) -> SceneOutcome:
        """Make the scene of a job, save its files, and return the outcome.

        If the generator finds no scene, return an outcome with the error instead.
        """
        try:
            composed = compose(self.series.seed, job.index, self.series.knobs_at(job.index))
        except GenerationError as error:
            return SceneOutcome(job.id, None, str(error))
        folder = self.output / job.id
        remove_torn_files(folder, ".*.tmp")
        save_scene(folder, composed.loaded())
        return SceneOutcome(job.id, Figures.from_composed(composed))


def make_scenes(
    series: Series,
    output: Path,
    workers: int = 1,
    *,
    resume: bool = False,
    overwrite: bool = False,
    on_progress: OnProgress = lambda *_: None,
) -> tuple[SceneOutcome, ...]:
    """Make the scenes of a series that are still missing, each in its own folder, and write the file :data:`INDEX`.

    Return the outcomes of all scenes of the series, in the order of their indices. Equal series give equal files,
    however many workers there are and however often they are interrupted.

    Raises:
        GenerationError: knobs contradict each other, ``output`` holds other scenes, or the journal cannot be written.
        SettingsError: a file or folder cannot be written.
    """
    # Knobs that contradict each other are refused before anything is written.
    for index in range(len(series.hops)):
        series.knobs_at(index)

    names = [f"scene_{series.seed}_{index:05}" for index in range(series.count)]
    jobs = [Job(index, name) for index, name in enumerate(names)]
    journal_file = output / "set.partial.jsonl"
    index_file = output / INDEX
    is_complete = index_file.exists() and not journal_file.exists()
    if is_complete and not overwrite:
        raise GenerationError(f"{index_file}: there are scenes already; choose another --output, or add --overwrite")

    setup = SceneJobs(series, output)
    header = {"settings": series.to_dict(), "tasks": [job.to_dict() for job in jobs]}
    with (
        Journal(
            journal_file, header, SCENE_OUTCOME.validate_python, resume=resume, overwrite=overwrite, terms=setup.terms
        ) as journal,
        log_to_folder(output),
    ):
        successes = sum(not outcome.error for outcome in journal.finished.values())
        on_progress(len(journal.finished), len(jobs), successes)
        with closing(do_what_is_left(setup, jobs, journal, workers)) as new_outcomes:
            for outcome in new_outcomes:
                successes += not outcome.error
                on_progress(len(journal.finished), len(jobs), successes)

        outcomes = tuple(journal.finished[job.index] for job in jobs)
        index_data = series.to_dict()
        index_data["scenes"] = [outcome.task_id for outcome in outcomes if not outcome.error]
        write_atomic(index_file, json_text(index_data, indent=1) + "\n")
        journal.remove()
    return outcomes
