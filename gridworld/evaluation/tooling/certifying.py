"""``certify``: check certificates of tasks by a new search, or compute missing certificates."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from gridworld.errors import GridworldError
from gridworld.evaluation.options import Limit, Strict, Tiling
from gridworld.evaluation.tooling.common import Source, files_of, load, tiling_of
from gridworld.rules.tilings import TILINGS
from gridworld.search.certificate import FIELD, Certificate, certify, recertify
from gridworld.search.solver import DEFAULT_LIMIT
from gridworld.task.forms import WRAPPER
from gridworld.task.jsonfile import read_json, write_json
from gridworld.task_spec import TaskSpecification
from spca.common.command import EXIT_FAILED, EXIT_FINISHED, EXIT_USER_ERROR
from spca.common.debug_log import log_error
from spca.common.jobs.progress import track_items
from spca.common.options.values import NAME
from spca.common.text import format_count, one_line


@Parameter(name="*")
@dataclass(frozen=True, slots=True, kw_only=True)
class CertifyOptions:
    """Options of the computation of certificates.

    Attributes:
        tiling: default: the one of the certificate, else square
        write: store the certificate where there is none that agrees
    """

    tiling: Annotated[Tiling | None, NAME] = None
    write: bool = False
    limit: Limit = None
    strict: Strict = False


def certify_files(*files: Source, options: CertifyOptions = CertifyOptions()) -> int:
    """Certify the tasks in files and return the exit code.

    The exit code is 2 if a file cannot be used, 1 if a proof does not hold, and 0 otherwise.
    """
    problems: list[str] = []
    paths = files_of(files, problems)
    proven = 0
    for problem in problems:
        print(one_line(f"error: {problem}"))
    unusable = len(problems)
    for path in track_items(paths, len(paths), "files"):
        try:
            proven += _certify_file(path, options)
        except GridworldError as error:
            log_error(error)
            unusable += 1
            where = "" if str(path) in str(error) else f"{path}: "
            print(one_line(f"error: {where}{error}"))
    unusable_files = unusable - len(problems)  # without names that lead to no file
    failed = len(paths) - proven - unusable_files
    more = f", {unusable} not usable" if unusable else ""
    total = format_count(len(paths) + len(problems), "file")
    print(f"{total}: {proven} proven, {failed} not{more}")
    if unusable:
        return EXIT_USER_ERROR
    return EXIT_FAILED if failed else EXIT_FINISHED


def _certify_file(path: Path, options: CertifyOptions) -> bool:
    """Check the stored certificate of one file, or compute a new certificate, and print the findings.

    Return whether the stored certificate agrees with a new search. Without a stored certificate for the tiling, return
    whether the new certificate is sound.
    """
    spec = load(path, strict=options.strict, proofs=False)
    limit = options.limit or DEFAULT_LIMIT
    stored = (spec.metadata or {}).get(FIELD)
    is_for_this_tiling = options.tiling in (None, _find_stored_tiling(stored))
    if stored is not None and is_for_this_tiling:
        differences = recertify(spec, limit)
        if not differences:
            print(one_line(f"{path}: agrees"))
            return True
        for line in differences:
            print(one_line(f"{path}: differs: {line}"))
        if options.write:
            _store_certificate(path, spec, certify(spec, TILINGS[_find_stored_tiling(stored)], limit))
        return False
    certificate = certify(spec, TILINGS[tiling_of(spec, options.tiling)], limit)
    for line in _describe_certificate(certificate):
        print(one_line(f"{path}: {line}"))
    if options.write:
        _store_certificate(path, spec, certificate)
    return certificate.sound


def _find_stored_tiling(stored: object) -> str:
    """Return the tiling that a stored certificate names; "square" if the certificate names none."""
    tiling = stored.get("tiling") if isinstance(stored, dict) else None
    return tiling if isinstance(tiling, str) and tiling in TILINGS else "square"


def _describe_certificate(certificate: Certificate) -> list[str]:
    """Return a line on the solution, and a line for each link of the dependency chain."""
    if not certificate.solvable:
        return [f"cannot be solved ({certificate.tiling})"]
    limit = "" if certificate.within_max_steps else ", which is more than its max_steps"
    steps = format_count(certificate.optimal_steps or 0, "step")
    lines = [f"solvable, optimal {steps}{limit} ({certificate.tiling})"]
    for link in certificate.chain:
        necessary = "necessary" if link.necessary else "NOT necessary"
        lines.append(f"chain {link.step}: {link.element} for {link.unlocks}: {necessary}")
    return lines


def _store_certificate(path: Path, spec: TaskSpecification, certificate: Certificate) -> None:
    """Store a certificate in a task's file; everything else in the file stays unchanged."""
    data = read_json(path)
    task = data.get(WRAPPER, data)
    task["metadata"] = {**(spec.metadata or {}), FIELD: certificate.to_dict()}
    write_json(path, data)
    print(one_line(f"{path}: certificate stored"))
