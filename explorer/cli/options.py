"""Options of the commands; no heavy import, so that ``--help`` is fast.

``--help`` shows the docstrings.
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final

from cyclopts import Group, Parameter
from cyclopts.validators import mutually_exclusive

from explorer.generating.knobs import MAX_HOPS, Knobs
from spca.common.command import program
from spca.common.options.values import FILE, FOLDER, NAME, name_value, read_whole_number, text_option, whole_number

RESULTS: Final = Path("results/explorer/human.jsonl")
_EXCLUSIVE: Final = Parameter(group=Group(validator=mutually_exclusive))
_SEED: Final = name_value("S")
Seed = Annotated[int, whole_number(0), _SEED]
Workers = Annotated[int, whole_number(1, 1024)]


def read_hops(text: str) -> tuple[int, ...]:
    """Return the sorted numbers of hops that a text names, such as 3, 1-4 or 2,4.

    Raises:
        ValueError: the text is malformed, or names a number that is out of range.
    """
    numbers: set[int] = set()
    try:
        for part in text.split(","):
            first, dash, last = part.partition("-")
            least = read_whole_number(first, 1, MAX_HOPS)
            most = read_whole_number(last, least, MAX_HOPS) if dash else least
            numbers.update(range(least, most + 1))
    except ValueError as error:
        raise ValueError(f"{text!a} is not 3, 1-4 or 2,4, within 1 to {MAX_HOPS}") from error
    return tuple(sorted(numbers))


def suggest_report(results: Path) -> str:
    """Return a line that tells the user which command makes a page of a results file."""
    return f"look at it: {program('python -m explorer')} report {shlex.quote(str(results))}"


@Parameter(name="*")
@dataclass(frozen=True, slots=True, kw_only=True)
class JobOptions:
    """How a command works through many scenes.

    Attributes:
        workers: processes (default 1); the outcome is the same
        resume: continue an interrupted command
        overwrite: start over, even if there is output
        quiet: show no progress
    """

    workers: Workers = 1
    resume: Annotated[bool, _EXCLUSIVE] = False
    overwrite: Annotated[bool, _EXCLUSIVE] = False
    quiet: bool = False


@Parameter(name="*")
@dataclass(frozen=True, slots=True, kw_only=True)
class PlayOptions:
    """Options of ``play``.

    Attributes:
        seed: seed of the new scene (default: one that was not played yet)
        hops: hops of the new scene, 1 to 6 (default 2)
        terminal: play in this terminal instead of the browser; works over ssh
        output: results file to append the episode to (default results/explorer/human.jsonl)
        port: port of the local server (default: any free one)
        no_browser: only print the address
    """

    seed: Annotated[int | None, whole_number(0), _SEED] = None
    hops: Annotated[int, whole_number(1, MAX_HOPS), name_value("H")] = 2
    terminal: bool = False
    output: Annotated[Path, FILE] = RESULTS
    port: Annotated[int, whole_number(0, 65535)] = 0
    no_browser: bool = False


@Parameter(name="*")
@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """Options of ``run``.

    Attributes:
        agent: random (default), or solver: the proof's own steps, an upper bound
        seed: seed of the agent (default 1)
        max_steps: steps, as told (default: each certificate's, untold)
        output: results in JSON Lines (default results/explorer/NAME.jsonl)
    """

    agent: Annotated[str, NAME] = "random"
    seed: Seed = 1
    max_steps: Annotated[int | None, whole_number(1, 100_000)] = None
    output: Annotated[Path | None, FILE] = None
    jobs: JobOptions = JobOptions()


@Parameter(name="*")
@dataclass(frozen=True, slots=True, kw_only=True)
class ReportOptions:
    """Options of ``report``.

    Attributes:
        scenes: folder of scenes that the results do not locate
        output: the page (default: beside the first results, .html)
    """

    scenes: Annotated[Path | None, FOLDER] = None
    output: Annotated[Path | None, FILE] = None


@Parameter(name="*")
@dataclass(frozen=True, slots=True, kw_only=True)
class ShowOptions:
    """Options of ``show``.

    Attributes:
        picture: write the agent's first view, as PNG
    """

    picture: Annotated[Path | None, FILE] = None


@Parameter(name="*")
@dataclass(frozen=True, slots=True, kw_only=True)
class GenerateOptions:
    """Options of ``generate``.

    Attributes:
        count: number of scenes (default 1)
        seed: different seeds make different scenes (default 1)
        hops: hops of the scenes: 3, 1-4 or 2,4 (default 1-6)
        output: folder of the scenes (default scenes)
    """

    count: Annotated[int, whole_number(1, 1_000_000)] = 1
    seed: Seed = 1
    hops: Annotated[tuple[int, ...], text_option(read_hops, "HOPS")] = ()
    output: Annotated[Path, FOLDER] = Path("scenes")
    jobs: JobOptions = JobOptions()
    knobs: Knobs = Knobs()


@Parameter(name="*")
@dataclass(frozen=True, slots=True, kw_only=True)
class CertifyOptions:
    """Options of ``certify``.

    Attributes:
        workers: processes (default 1); the outcome is the same
        json: print one line of JSON per scene
    """

    workers: Workers = 1
    json: bool = False


@Parameter(name="*")
@dataclass(frozen=True, slots=True, kw_only=True)
class ReleaseOptions:
    """Options of ``release``.

    Attributes:
        output: folder of the sets (default: where they ship)
        check: write nothing; check whether the files are the same
        quiet: show no progress
    """

    output: Annotated[Path | None, FOLDER] = None
    check: bool = False
    quiet: bool = False
