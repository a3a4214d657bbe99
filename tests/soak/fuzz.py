"""Text from outside through everything that reads it, and nothing but the errors made for it may come of that.

``scripts/soak fuzz [--count N] [--only TARGET,...] [--seed S] [--jobs N] [--record]``: N inputs (default 300,000),
drawn from grammars and spoiled by characters, lines and bytes: answers of coder and planner, agent files, missions,
maps, frames of a worker, curricula, tasks, run folders, model tables, ``.env``. Each may cost a second of CPU time.
Goes on with what was interrupted unless the code has changed. What goes wrong is kept below ``runs/soak/fuzz/found``, a
file each: ``scripts/soak fuzz --replay FILE`` reads it again.
"""

from __future__ import annotations

import random
import re
import sys
import time
import traceback
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from tests.soak.common import SCRATCH, resumable
from tests.soak.fuzz_targets import TARGETS, Target
from tests.soak.journal import Figures, Found, Soak

FOUND = SCRATCH / "fuzz" / "found"
MOST_S = 1.0
"""Seconds of CPU time that an input may cost."""

_SLICE = 500
_ENOUGH = 200
"""Inputs of a target: it has to take some and refuse some."""

_KINDS = 200
_VARIABLE = re.compile(r"'[^']*'|\"[^\"]*\"|\S*/\S*|\d+")


class Slice(NamedTuple):
    """Inputs that are read in one go."""

    target: str
    seed: int
    first: int
    size: int


class Reading(NamedTuple):
    """What an input came to: "" or what was wrong; whether it was taken; the refusal; seconds of CPU time."""

    wrong: str
    taken: bool
    refusal: str
    seconds: float


def read(target: Target, given: bytes) -> Reading:
    """Send an input through a target; one that seems slow is timed again, since the machine may have been."""
    reading = _once(target, given)
    if reading.seconds > MOST_S:
        reading = min(reading, _once(target, given), key=lambda again: again.seconds)
    if not reading.wrong and reading.seconds > MOST_S:
        reading = reading._replace(wrong=f"{reading.seconds:.1f} s of CPU time")
    return reading


def _once(target: Target, given: bytes) -> Reading:
    wrong, taken, refusal = "", False, ""
    began = time.process_time()
    try:
        taken = target.read(given)
    except target.refusals as error:
        refusal = _VARIABLE.sub("_", f"{type(error).__name__}: {error}"[:200].partition("\n")[0])[:90]
    except BaseException as error:  # boundary: anything else is what is looked for
        if isinstance(error, KeyboardInterrupt):
            raise
        last = traceback.extract_tb(error.__traceback__)[-1]
        said = " ".join(f"{type(error).__name__}: {error}".split())[:120]
        wrong = f"{said} ({Path(last.filename).name}:{last.lineno})"
    return Reading(wrong, taken, refusal, time.process_time() - began)


def done(piece: Slice) -> Figures:
    """The figures of a slice."""
    name, seed, first, size = piece
    target, readings, wrong = TARGETS[name], list[Reading](), list[str]()
    began = time.process_time()
    for number in range(first, first + size):
        given = target.draw(random.Random(f"{seed}/{name}/{number}"))
        readings.append(reading := read(target, given))
        if reading.wrong:
            FOUND.mkdir(parents=True, exist_ok=True)
            kept = FOUND / f"{name}-{seed}-{number}.bin"
            kept.write_bytes(given)
            wrong.append(f"{name}: {reading.wrong}: scripts/soak fuzz --replay {kept}")
    return {
        "count": size,
        "taken": sum(reading.taken for reading in readings),
        "refusals": sorted({reading.refusal for reading in readings if reading.refusal})[:_KINDS],
        "slowest": max(reading.seconds for reading in readings),
        "seconds": time.process_time() - began,
        "wrong": wrong,
    }


def slices(names: Iterable[str], seed: int, count: int) -> Iterator[Slice]:
    """All the work."""
    for name in names:
        total = max(1, round(count * TARGETS[name].share))
        for first in range(0, total, _SLICE):
            yield Slice(name, seed, first, min(_SLICE, total - first))


def table(work: Sequence[Slice], found: Found) -> tuple[str, list[str]]:
    """The figures of every target as Markdown, and everything that was wrong."""
    lines = ["| target | inputs | taken | refused | kinds of refusals | slowest | CPU s | wrong |", "|---" * 8 + "|"]
    wrong = list[str]()
    for name in dict.fromkeys(piece.target for piece in work):
        figures = [found[piece] for piece in work if piece.target == name]
        bad = [line for f in figures for line in f["wrong"]]
        count, taken, seconds = (sum(f[key] for f in figures) for key in ("count", "taken", "seconds"))
        kinds, slowest = len({kind for f in figures for kind in f["refusals"]}), max(f["slowest"] for f in figures)
        refused = count - taken - len(bad)
        cells = (name, f"{count:,}", f"{taken:,}", f"{refused:,}", f"{kinds:,}", f"{slowest:.2f} s", f"{seconds:.0f}")
        lines.append(f"| {' | '.join(cells)} | {len(bad)} |")
        wrong += bad
        if count >= _ENOUGH and not taken:
            wrong.append(f"{name}: nothing was taken: the inputs do not get past the first check")
        if count >= _ENOUGH and not refused and TARGETS[name].refusals:
            wrong.append(f"{name}: nothing was refused")
    return "\n".join(lines), wrong


def replay(path: Path) -> int:
    """Read a kept input again, with the traceback of what goes wrong; the exit code."""
    target, given = TARGETS[path.name.partition("-")[0]], path.read_bytes()
    reading = read(target, given)
    print(reading.wrong or reading.refusal or f"taken: {reading.taken}", f"({reading.seconds:.2f} s of CPU time)")
    if reading.wrong and reading.seconds <= MOST_S:
        target.read(given)
    return 1 if reading.wrong else 0


SOAK = Soak(
    name="fuzz",
    title="Fuzzing",
    parts=tuple(TARGETS),
    unit="slices",
    sources=("*.py", "spca/**/*.py", "gridworld/**/*.py", "tests/soak/fuzz*.py", "tests/support/untrusted.py"),
    do=done,
    table=table,
)


def main() -> int:
    """Fuzz; 1 when something is wrong."""
    parser = SOAK.parser(__doc__)
    parser.add_argument("--count", type=int, default=300_000, help="inputs")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--replay", type=Path, metavar="FILE", help="read an input again that went wrong")
    options = parser.parse_args()
    if options.replay:
        return replay(options.replay)
    return SOAK.run(list(slices(options.only, options.seed, options.count)), options)


if __name__ == "__main__":
    sys.exit(resumable(main))
