"""Options of the commands, which import nothing heavy: ``--help`` is fast."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final

from cyclopts import Group, Parameter
from cyclopts.validators import mutually_exclusive

from explorer.generating.knobs import MOST_HOPS, Knobs
from spca.common.command import program
from spca.common.options.values import read_whole_number, text_option, whole_number

RESULTS: Final = Path("results/explorer/human.jsonl")
_FOLDER: Final = RESULTS.parent
_EXCLUSIVE: Final = Group(validator=mutually_exclusive)


def read_hops(text: str) -> tuple[int, ...]:
    """Return numbers of hops, written as 3, 1-4 or 2,4.

    Raises:
        ValueError: it names none, or one that is out of range.
    """
    found = set[int]()
    try:
        for part in text.split(","):
            first, dash, last = part.partition("-")
            least = read_whole_number(first, 1, MOST_HOPS)
            most = read_whole_number(last, least, MOST_HOPS) if dash else least
            found.update(range(least, most + 1))
    except ValueError as error:
        raise ValueError(f"{text!a} is not 3, 1-4 or 2,4, within 1 to {MOST_HOPS}") from error
    return tuple(sorted(found))


def suggest_report(results: Path) -> str:
    """Return the line that names the command which makes a page of results."""
    return f"look at it: {program('python -m explorer')} report {shlex.quote(str(results))}"


File = Annotated[Path, Parameter(metavar="FILE")]
Folder = Annotated[Path, Parameter(metavar="DIR")]
Quiet = Annotated[bool, Parameter(help="show no progress")]
Seed = Annotated[int, whole_number(0), Parameter(metavar="S")]
Workers = Annotated[
    int, whole_number(1, 1024), Parameter(metavar="N", help="processes (default 1); the outcome is the same")
]


@Parameter(name="*")
@dataclass(frozen=True, slots=True, kw_only=True)
class JobOptions:
    """How a command works through many scenes."""

    workers: Workers = 1
    resume: Annotated[bool, Parameter(group=_EXCLUSIVE, help="continue an interrupted command")] = False
    overwrite: Annotated[bool, Parameter(group=_EXCLUSIVE, help="start over, even if there is output")] = False
    quiet: Quiet = False


@Parameter(name="*")
@dataclass(frozen=True, slots=True, kw_only=True)
class PlayOptions:
    """Options of ``play``."""

    seed: Annotated[Seed | None, Parameter(help="seed of the new scene (default: one that was not played yet)")] = None
    hops: Annotated[
        int, whole_number(1, MOST_HOPS), Parameter(metavar="H", help="hops of the new scene, 1 to 6 (default 2)")
    ] = 2
    terminal: Annotated[bool, Parameter(help="play in this terminal instead of the browser; works over ssh")] = False
    output: Annotated[File, Parameter(help=f"results file to append the episode to (default {RESULTS})")] = RESULTS
    port: Annotated[
        int, whole_number(0, 65535), Parameter(metavar="N", help="port of the local server (default: any free one)")
    ] = 0
    no_browser: Annotated[bool, Parameter(help="only print the address")] = False


@Parameter(name="*")
@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """Options of ``run``."""

    agent: Annotated[
        str, Parameter(metavar="NAME", help="random (default), or solver: the proof's own steps, an upper bound")
    ] = "random"
    seed: Annotated[Seed, Parameter(help="seed of the agent (default 1)")] = 1
    max_steps: Annotated[
        int | None,
        whole_number(1, 100_000),
        Parameter(metavar="N", help="steps, as told (default: each certificate's, untold)"),
    ] = None
    output: Annotated[File | None, Parameter(help=f"results in JSON Lines (default {_FOLDER}/NAME.jsonl)")] = None
    jobs: JobOptions = JobOptions()


@Parameter(name="*")
@dataclass(frozen=True, slots=True, kw_only=True)
class ReportOptions:
    """Options of ``report``."""

    scenes: Annotated[Folder | None, Parameter(help="folder of scenes that the results do not locate")] = None
    output: Annotated[File | None, Parameter(help="the page (default: beside the first results, .html)")] = None


@Parameter(name="*")
@dataclass(frozen=True, slots=True, kw_only=True)
class ShowOptions:
    """Options of ``show``."""

    picture: Annotated[File | None, Parameter(help="write the agent's first view, as PNG")] = None


@Parameter(name="*")
@dataclass(frozen=True, slots=True, kw_only=True)
class GenerateOptions:
    """Options of ``generate``."""

    count: Annotated[int, whole_number(1, 1_000_000), Parameter(metavar="N", help="number of scenes (default 1)")] = 1
    seed: Annotated[Seed, Parameter(help="different seeds make different scenes (default 1)")] = 1
    hops: Annotated[
        tuple[int, ...],
        text_option(read_hops),
        Parameter(metavar="HOPS", help="hops of the scenes: 3, 1-4 or 2,4 (default 1-6)"),
    ] = ()
    output: Annotated[Folder, Parameter(help="folder of the scenes (default scenes)")] = Path("scenes")
    jobs: JobOptions = JobOptions()
    knobs: Knobs = Knobs()


@Parameter(name="*")
@dataclass(frozen=True, slots=True, kw_only=True)
class CertifyOptions:
    """Options of ``certify``."""

    workers: Workers = 1
    json: Annotated[bool, Parameter(help="print one line of JSON per scene")] = False


@Parameter(name="*")
@dataclass(frozen=True, slots=True, kw_only=True)
class ReleaseOptions:
    """Options of ``release``."""

    output: Annotated[Folder | None, Parameter(help="folder of the sets (default: where they ship)")] = None
    check: Annotated[bool, Parameter(help="write nothing; check whether the files are the same")] = False
    quiet: Quiet = False
