"""Generated tasks, hostile files, walks on every simulator, the exact search against brute force, and on large tasks.

``scripts/soak gridworld [--count N] [--only GATE,...] [--seed S] [--jobs N] [--record]``: N generated tasks (default
2,000), half as many hostile files, half as many tasks walked through 20 times (every other one generated), half as
many searches, and a tenth as many searches of large tasks with loose keys and blocks. Goes on with what was interrupted
unless the code has changed; ``--afresh`` starts again.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence

from tests.soak.common import resumable
from tests.soak.gridworld_gates import GATES
from tests.soak.journal import Figures, Found, Slice, Soak, slices
from tests.support.gridworld.features import FEATURES
from tests.support.gridworld.one_truth import EVENTS

_SLICES = {"tasks": (1.0, 20), "files": (0.5, 50), "walks": (0.5, 10), "search": (0.5, 10), "loose": (0.1, 14)}
"""Of every gate: its share of the count, and how many items a slice has."""
_ENOUGH = 1000
"""A count with which everything that can occur has to occur."""


def done(piece: Slice) -> Figures:
    """The figures of a slice, with how many seconds they took."""
    began = time.perf_counter()
    gate, *what = piece
    return GATES[gate](*what) | {"seconds": time.perf_counter() - began}


def table(work: Sequence[Slice], found: Found) -> tuple[str, list[str]]:
    """The figures of every gate as Markdown, and everything that was wrong."""
    lines = ["| gate | items | wrong | seconds | of them |", "|---" * 5 + "|"]
    wrong = list[str]()
    for gate in dict.fromkeys(piece.gate for piece in work):
        figures = [found[piece] for piece in work if piece.gate == gate]
        bad = [line for f in figures for line in f["wrong"]] + list(missing(gate, figures))
        wrong += bad
        seconds, items = (sum(f[name] for f in figures) for name in ("seconds", "count"))
        lines.append(f"| {gate} | {items:,} | {len(bad)} | {seconds:.0f} | {details(gate, figures)} |")
    return "\n".join(lines), wrong


def details(gate: str, figures: list[Figures]) -> str:
    """What else there is to tell of a gate."""
    if gate == "tasks":
        return f"{len({c for f in figures for c in f['contents']}):,} different"
    names = [name for name, value in figures[0].items() if name != "count" and isinstance(value, int)]
    return ", ".join(f"{sum(f[name] for f in figures):,} {name}" for name in names)


def missing(gate: str, figures: list[Figures]) -> Iterator[str]:
    """What never occurred though there was enough of everything."""
    name, expected = {"tasks": ("features", FEATURES), "walks": ("events", EVENTS)}.get(gate, ("", frozenset()))
    if expected and sum(f["count"] for f in figures) >= _ENOUGH:
        yield from (
            f"{gate}: never occurred: {what}" for what in sorted(expected - {w for f in figures for w in f[name]})
        )
    contents = [c for f in figures for c in f.get("contents", ())]
    if len(set(contents)) < 0.99 * len(contents):
        yield f"{gate}: only {len(set(contents))} of {len(contents)} tasks are different"


SOAK = Soak(
    name="gridworld",
    title="Gridworld",
    parts=tuple(GATES),
    unit="slices",
    sources=("gridworld/**/*.py", "tests/support/gridworld/*.py", "tests/soak/gridworld*.py"),
    do=done,
    table=table,
)


def main() -> int:
    """Run the gates; 1 when something is wrong."""
    parser = SOAK.parser(__doc__)
    parser.add_argument("--count", type=int, default=2000, help="generated tasks")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    return SOAK.run(list(slices(_SLICES, options.only, options.seed, options.count)), options)


if __name__ == "__main__":
    sys.exit(resumable(main))
