"""The evaluation of an agent on many scenes; an interruption loses no finished episode."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Final

from explorer.agents.registry import AGENTS, AgentEntry, find_agent
from explorer.errors import EpisodeError, ExplorerError, SceneError
from explorer.evaluation.episode import play
from explorer.evaluation.metrics import by_hops
from explorer.evaluation.results import Episode, read_episodes, write_episodes
from explorer.files import Loaded, certificate_file
from explorer.solver.certificate import fingerprint
from explorer.worlds.voxel import VoxelWorld
from spca.common.debug_log import log_to_folder
from spca.common.encoding import json_text
from spca.common.files import write_atomic
from spca.common.installation import applications
from spca.common.jobs.dispatch import do_what_is_left
from spca.common.jobs.journal import Journal
from spca.common.jobs.progress import OnProgress
from spca.common.jobs.versions import find_versions, utc_now
from spca.common.jobs.work import TRIES, Job, JobMessages, Setup
from spca.common.source_state import describe_changed_source, read_source_state

_DISTRIBUTIONS: Final = ("sense-plan-code-act", "numpy")


@dataclass(frozen=True, slots=True, kw_only=True)
class SceneJob(Job):
    """A scene to play.

    Worker processes receive the whole scene, so that no file is read twice and scenes need not be in files.
    """

    loaded: Loaded


@dataclass(frozen=True, slots=True)
class EvaluationOptions:
    """Settings of an evaluation; only ``seed`` and ``max_steps`` affect the results.

    Attributes:
        seed: seed of the agent.
        max_steps: step limit; None stands for the limit in the certificate of each scene.
        workers: number of worker processes.
        resume: continue an interrupted run.
        overwrite: start over, even if there are results.
    """

    seed: int = 0
    max_steps: int | None = None
    workers: int = 1
    resume: bool = False
    overwrite: bool = False


@dataclass(frozen=True, slots=True)
class SceneSetup(Setup[SceneJob, Episode]):
    """The setup of a worker, which plays all scenes in the same world, and each scene with a new agent.

    Attributes:
        name: name of the agent.
        entry: the agent's entry in the registry.
        how: settings of the evaluation.
    """

    terms: ClassVar[JobMessages] = JobMessages("evaluation", "agent", "--output", EpisodeError)
    unusable: ClassVar[type[ExplorerError]] = EpisodeError

    name: str
    entry: AgentEntry
    how: EvaluationOptions = field(default_factory=EvaluationOptions)
    verbose: bool = False

    @contextmanager
    def start_worker(self) -> Iterator[Callable[[SceneJob], Episode]]:
        world = VoxelWorld()
        yield lambda job: self._play(world, job.loaded)

    def make_lost_result(self, job: SceneJob, how: str) -> Episode:
        error = f"{how}, {TRIES} times"
        source = job.loaded.source
        return Episode(job.id, job.loaded.hops, self.name, error=error, seed=self.how.seed, source=source)

    def _play(self, world: VoxelWorld, loaded: Loaded) -> Episode:
        agent = self.entry.make(loaded)
        return play(world, loaded, agent, self.name, seed=self.how.seed, max_steps=self.how.max_steps)


class Evaluation:
    """The evaluation of an agent on scenes.

    Args:
        scenes: scenes with distinct names.
        agent: name of the agent.
        output: the results file, JSON Lines in the order of the scenes. A file ``*.run.json`` beside the results
            records how the results were produced.
        how: settings.
        agents: the known agents by name.

    Attributes:
        finished: number of finished episodes, also after an interruption.

    Raises:
        EpisodeError: the agent is unknown, there are no scenes, two scenes share a name, or the output is not a file.
        SceneError: a scene cannot be played, or its certificate belongs to another scene.
    """

    def __init__(
        self,
        scenes: Iterable[Loaded],
        agent: str,
        output: Path,
        how: EvaluationOptions | None = None,
        agents: Mapping[str, AgentEntry] = AGENTS,
    ) -> None:
        self._options = how or EvaluationOptions()
        self.output = output
        self._setup = SceneSetup(agent, find_agent(agent, agents), self._options)
        if output.exists() and not output.is_file():
            raise EpisodeError(f"{output}: is not a regular file; --output names a file")
        self._jobs = _make_jobs(scenes)
        self.finished = 0

    def run(self, on_progress: OnProgress = lambda *_: None) -> tuple[Episode, ...]:
        """Play the unfinished scenes, write the results file, and return the episodes.

        If the results file is already complete, the episodes are read from the file.

        Args:
            on_progress: called after each episode.

        Raises:
            SPCAError: the agent cannot be used, a file cannot be written, or the output belongs to another evaluation.
        """
        options = self._options
        journal_path = self.output.with_name(f"{self.output.name}.partial.jsonl")
        header = {
            "settings": {"agent": self._setup.name, "seed": options.seed, "max_steps": options.max_steps},
            "tasks": [job.to_dict() for job in self._jobs],
            "started": utc_now(),
            **read_source_state(applications()).to_dict(),
        }
        # A journal is removed when the evaluation is finished, so a journal means that the evaluation was interrupted.
        is_finished = self.output.exists() and not journal_path.exists()
        if is_finished and not options.overwrite:
            return self._read_finished()

        # The journal contains the episodes that are finished so far, including those of an interrupted evaluation.
        open_journal = Journal(
            journal_path,
            header,
            Episode.from_dict,
            resume=options.resume,
            overwrite=options.overwrite,
            terms=self._setup.terms,
        )
        with open_journal as journal, log_to_folder(self.output.parent):
            try:
                self._play(journal, on_progress)
            finally:
                self.finished = len(journal.finished)
                if not self.finished:
                    journal.remove()

            episodes = tuple(journal.finished[job.index] for job in self._jobs)
            self._write(episodes, journal.header)
            journal.remove()
        return episodes

    def _play(self, journal: Journal[Episode], on_progress: OnProgress) -> None:
        """Play the scenes that the journal does not contain yet, and record each episode in the journal."""
        solved = sum(episode.solved for episode in journal.finished.values())
        on_progress(len(journal.finished), len(self._jobs), solved)
        remaining = do_what_is_left(self._setup, self._jobs, journal, self._options.workers)
        with closing(remaining) as episodes:
            for episode in episodes:
                solved += episode.solved
                on_progress(len(journal.finished), len(self._jobs), solved)

    def _write(self, episodes: Sequence[Episode], header: Mapping[str, Any]) -> None:
        """Write the results file, and the file that records how the results were produced."""
        rates = [row.to_dict() for row in by_hops(episodes)]
        changed = describe_changed_source(header, read_source_state(applications()))
        run = {**header, **changed, "finished": utc_now(), "versions": find_versions(*_DISTRIBUTIONS), "rates": rates}
        write_episodes(self.output, episodes)
        write_atomic(self.output.with_suffix(".run.json"), json_text(run, indent=1) + "\n")

    def _read_finished(self) -> tuple[Episode, ...]:
        """Return the episodes of a complete results file.

        Raises:
            EpisodeError: the option ``resume`` is not set, or the file belongs to another evaluation.
        """
        if not self._options.resume:
            raise EpisodeError(f"{self.output}: exists; choose another --output, or add --overwrite")
        episodes = read_episodes(self.output)
        played = [(episode.scene, episode.model, episode.seed) for episode in episodes]
        if played != [(job.id, self._setup.name, self._options.seed) for job in self._jobs]:
            raise EpisodeError(f"{self.output}: belongs to another evaluation; choose another --output")
        self.finished = len(episodes)
        return tuple(episodes)


def _make_jobs(scenes: Iterable[Loaded]) -> list[SceneJob]:
    """Return a job for each scene.

    Raises:
        EpisodeError: there are no scenes, or two scenes share a name.
        SceneError: a scene cannot be played, or its certificate belongs to another scene.
    """
    jobs: dict[str, SceneJob] = {}
    world = VoxelWorld(observe=False)
    for number, loaded in enumerate(scenes):
        name = loaded.scene.name
        source = loaded.source
        if name in jobs:
            places = " and ".join(filter(None, (jobs[name].loaded.source, source)))
            problem = f"two scenes are called {name!a}"
            if places:
                problem += f" ({places})"
            raise EpisodeError(f"{problem}: rename one")

        try:
            world.reset(loaded.scene)  # raises an error now rather than in a worker
            digest = _digest_scene(loaded)
        except SceneError as error:
            error.at(error.source or source or name)
            raise
        jobs[name] = SceneJob(number, name, digest, loaded=loaded)
    if not jobs:
        raise EpisodeError("there are no scenes to play")
    return list(jobs.values())


def _digest_scene(loaded: Loaded) -> str:
    """Return a hash of the parts of a scene on which an episode depends.

    Raises:
        SceneError: the certificate belongs to another scene.
    """
    scene_fingerprint = fingerprint(loaded.scene, loaded.milestones, loaded.graph)
    certificate = loaded.certificate
    if certificate is not None and certificate.fingerprint != scene_fingerprint:
        problem = "it belongs to another scene: restore the files, or certify the scene again"
        raise SceneError(problem, certificate_file(loaded))
    content = f"{scene_fingerprint} {loaded.text!a} {certificate!a}"
    return hashlib.sha256(content.encode()).hexdigest()
