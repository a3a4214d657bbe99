"""``certify``: prove scenes again, and print a verdict for each."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, ClassVar

from explorer.audit import examine
from explorer.cli.options import CertifyOptions
from explorer.errors import ExplorerError, SceneError
from explorer.files import Loaded
from explorer.files.listing import places_at
from explorer.findings import Finding
from spca.common.command import EXIT_FAILED, EXIT_FINISHED, EXIT_USER_ERROR
from spca.common.encoding import json_text
from spca.common.jobs.processes import do_in_processes
from spca.common.jobs.progress import show_bar
from spca.common.jobs.work import TRIES, Job, JobMessages, Setup
from spca.common.text import format_count, one_line

UNPROVEN = "nothing is refuted, but it has no certificate: nothing shows that it can be won"


@dataclass(frozen=True, slots=True)
class Verdict:
    """The verdict on a scene.

    Attributes:
        task_id: path of the scene.
        certified: whether the certificate holds.
        says: the proven facts of a certified scene. If the scene has no certificate, the reason why the scene is not
            certified.
        findings: faults of the scene.
        error: why the scene cannot be read, or "" if the scene was read.
    """

    task_id: str
    certified: bool = False
    says: str = ""
    findings: tuple[Finding, ...] = ()
    error: str = ""

    def lines(self) -> Iterator[str]:
        """Yield the verdict as lines of text."""
        if self.error:
            yield f"error: {self.error}"
            return
        if self.certified:
            yield f"{self.task_id}: certified: {self.says}"
            return
        reason = f": {self.says}" if self.says else ""
        yield f"{self.task_id}: NOT certified{reason}"
        for finding in self.findings:
            yield f"  {finding}"

    def to_dict(self) -> dict[str, Any]:
        """Return the verdict as JSON-compatible data."""
        data = asdict(self)
        scene = data.pop("task_id")
        return {"scene": scene, **data}


@dataclass(frozen=True, slots=True, kw_only=True)
class Place(Job):
    """The location of a scene.

    Attributes:
        read: function that reads and returns the scene.
    """

    read: Callable[[], Loaded]


@dataclass(frozen=True, slots=True)
class Proving(Setup[Place, Verdict]):
    """The setup of a worker that proves scenes."""

    terms: ClassVar[JobMessages] = JobMessages("certification", "prover", "--workers", ExplorerError)
    unusable: ClassVar[type[ExplorerError]] = ExplorerError

    verbose: bool = False

    @contextmanager
    def start_worker(self) -> Iterator[Callable[[Place], Verdict]]:
        yield lambda place: judge_scene(place.id, place.read)

    def make_lost_result(self, job: Place, how: str) -> Verdict:
        return Verdict(job.id, error=f"{job.id}: {how}, {TRIES} times")


def certify_scenes(scenes: tuple[Path, ...], /, options: CertifyOptions = CertifyOptions()) -> int:
    """Certify scenes; return 0 if all are certified, 1 if some are not, 2 if any cannot be read.

    Args:
        scenes: a scene, a folder of scenes, or a file with one per line

    Raises:
        SceneError: there are no scenes.
    """
    places = [Place(number, source, read=read) for number, (source, read) in enumerate(places_at(scenes))]
    certified = 0
    unusable = 0
    # If the output goes to a file, no bar is shown, because the bar redirects printed lines to its own stream.
    with show_bar(not sys.stdout.isatty(), "scenes", "certified") as update_bar:
        for done, verdict in enumerate(_verdicts_in_order(places, options.workers), start=1):
            certified += verdict.certified
            unusable += bool(verdict.error)
            update_bar(done, len(places), certified)
            _print_verdict(verdict, as_json=options.json)

    refused = len(places) - certified - unusable
    if not options.json:
        summary = f"{format_count(len(places), 'scene')}: {certified} certified, {refused} not"
        print(f"{summary}, {unusable} not usable" if unusable else summary)
    if unusable:
        return EXIT_USER_ERROR
    return EXIT_FAILED if refused else EXIT_FINISHED


def _print_verdict(verdict: Verdict, *, as_json: bool) -> None:
    if as_json:
        print(json_text(verdict.to_dict()), flush=True)
        return
    for line in verdict.lines():
        print(one_line(line), flush=True)


def _verdicts_in_order(places: list[Place], workers: int) -> Iterator[Verdict]:
    """Yield the verdicts in the order of the places, each as soon as the verdicts of all earlier places are known."""
    waiting: dict[int, Verdict] = {}
    next_index = 0
    with closing(do_in_processes(Proving(), places, workers)) as proving:
        for index, verdict in proving:
            waiting[index] = verdict
            while next_index in waiting:
                yield waiting.pop(next_index)
                next_index += 1


def judge_scene(source: str, read: Callable[[], Loaded]) -> Verdict:
    """Return the verdict on a scene.

    Args:
        source: path of the scene.
        read: function that reads and returns the scene.
    """
    try:
        loaded, findings = examine(read)
    except SceneError as error:
        return Verdict(source, error=str(error))
    if loaded is None or findings:
        return Verdict(source, findings=findings)
    certificate = loaded.certificate
    if certificate is None:
        return Verdict(source, says=UNPROVEN)

    hops = format_count(loaded.hops, "hop")
    steps = format_count(certificate.witness.steps, "step")
    says = f"{hops}, wins in {steps}, no plan takes fewer than {certificate.lower_bound}"
    return Verdict(source, certified=True, says=says)
