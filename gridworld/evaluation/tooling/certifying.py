"""``certify``: prove again what certificates claim, or prove what can be proven of tasks without one."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from gridworld.errors import GridworldError
from gridworld.evaluation.models.registry import add_limit
from gridworld.evaluation.tooling.common import (
    add_strict,
    files_of,
    load,
    tiling_of,
    tool_parser,
)
from gridworld.rules.tilings import TILINGS
from gridworld.search.certificate import FIELD, Certificate, certify, recertify
from gridworld.task.forms import WRAPPER
from gridworld.task.jsonfile import read_json, write_json
from gridworld.task_spec import TaskSpecification
from spca.common.command import EXIT_FAILED, EXIT_FINISHED, EXIT_USER_ERROR
from spca.common.debug_log import log_error
from spca.common.jobs.progress import track_items
from spca.common.text import counted, one_line


def build_parser() -> argparse.ArgumentParser:
    """The parser of the tool."""
    parser = tool_parser(
        "certify",
        "Compute the certificate of tasks anew and compare it with the one they carry. Of a task without one, or on\n"
        "another tiling, tell whether it can be solved, in how many steps, and whether each link of its dependency\n"
        "chain is necessary.",
        ["my_tasks/", "gridworld/tasks/tier3", "my_task.json --write"],
        "1 a certificate does not agree or a task is not sound",
    )
    parser.add_argument("files", nargs="+", metavar="FILE", help="a file, folder or benchmark")
    parser.add_argument("--tiling", choices=tuple(TILINGS), help="default: the one of the certificate, else square")
    parser.add_argument("--write", action="store_true", help="store the certificate where there is none that agrees")
    add_limit(parser)
    add_strict(parser)
    return parser


def run(argv: Sequence[str]) -> int:
    """Certify files; 2 if any cannot be used, 1 if any proof does not hold."""
    arguments = build_parser().parse_args(argv)
    problems: list[str] = []
    files = files_of(arguments.files, problems)
    held = 0
    for problem in problems:
        print(one_line(f"error: {problem}"))
    unusable = len(problems)
    for path in track_items(files, len(files), "files"):
        try:
            held += _certified(path, arguments)
        except GridworldError as error:
            log_error(error)
            unusable += 1
            print(one_line(f"error: {error}" if str(path) in str(error) else f"error: {path}: {error}"))
    failed = len(files) - held - (unusable - len(problems))
    more = f", {unusable} not usable" if unusable else ""
    print(f"{counted(len(files) + len(problems), 'file')}: {held} proven, {failed} not{more}")
    return EXIT_USER_ERROR if unusable else EXIT_FAILED if failed else EXIT_FINISHED


def _certified(path: Path, arguments: argparse.Namespace) -> bool:
    """Tell about one file; whether everything holds."""
    spec = load(path, strict=arguments.strict, proofs=False)
    stored = (spec.metadata or {}).get(FIELD)
    if stored is not None and arguments.tiling in (None, _tiling_stored(stored)):
        differences = recertify(spec, arguments.limit)
        if not differences:
            print(one_line(f"{path}: agrees"))
            return True
        for line in differences:
            print(one_line(f"{path}: differs: {line}"))
        if arguments.write:
            _write(path, spec, certify(spec, TILINGS[_tiling_stored(stored)], arguments.limit))
        return False
    certificate = certify(spec, TILINGS[tiling_of(spec, arguments.tiling)], arguments.limit)
    for line in _told(certificate):
        print(one_line(f"{path}: {line}"))
    if arguments.write:
        _write(path, spec, certificate)
    return certificate.sound


def _tiling_stored(stored: object) -> str:
    tiling = stored.get("tiling") if isinstance(stored, dict) else None
    return tiling if isinstance(tiling, str) and tiling in TILINGS else "square"


def _told(certificate: Certificate) -> list[str]:
    if not certificate.solvable:
        return [f"cannot be solved ({certificate.tiling})"]
    limit = "" if certificate.within_max_steps else ", which is more than its max_steps"
    lines = [f"solvable, optimal {counted(certificate.optimal_steps or 0, 'step')}{limit} ({certificate.tiling})"]
    for link in certificate.chain:
        necessary = "necessary" if link.necessary else "NOT necessary"
        lines.append(f"chain {link.step}: {link.element} for {link.unlocks}: {necessary}")
    return lines


def _write(path: Path, spec: TaskSpecification, certificate: Certificate) -> None:
    """Store a certificate, and leave everything else in the file as it is."""
    data = read_json(path)
    task = data.get(WRAPPER, data)
    task["metadata"] = {**(spec.metadata or {}), FIELD: certificate.to_dict()}
    write_json(path, data)
    print(one_line(f"{path}: certificate stored"))
