"""Generated tasks, hostile files, walks on every simulator, and the exact search against brute force.

``scripts/soak gridworld [--count N] [--only GATE,...] [--seed S] [--jobs N] [--record]``: N generated tasks (default
2,000), half as many hostile files, half as many tasks walked through 20 times (every other one generated), and half as
many searches. Goes on with what was interrupted unless the code has changed; ``--afresh`` starts again.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

from tests.gridworld.features import FEATURES
from tests.gridworld.one_truth import EVENTS
from tests.soak.common import ROOT, SCRATCH, record
from tests.soak.gridworld_gates import GATES, Figures

_SLICES = {"tasks": (1.0, 20), "files": (0.5, 50), "walks": (0.5, 10), "search": (0.5, 10)}
"""Of every gate: its share of the count, and how many items a slice has."""
_ENOUGH = 1000
"""A count with which everything that can occur has to occur."""


@dataclass(frozen=True, slots=True)
class Slice:
    """A piece of work that is done in one go."""

    gate: str
    seed: int
    first: int
    count: int

    def run(self) -> tuple[Figures, float]:
        """Its figures, and how many seconds they took."""
        began = time.perf_counter()
        return GATES[self.gate](self.seed, self.first, self.count), time.perf_counter() - began


class Journal:
    """What slices came to, line by line, so that an interrupted gate goes on."""

    def __init__(self, path: Path, key: str) -> None:
        self.path, self.found = path, dict[Slice, tuple[Figures, float]]()
        lines = path.read_text(encoding="utf-8").split("\n")[:-1] if path.is_file() else []
        if lines[:1] != [key]:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"{key}\n", encoding="utf-8")
        for line in lines[1:] if lines[:1] == [key] else []:
            done = json.loads(line)
            self.found[Slice(*done["slice"])] = done["figures"], done["seconds"]

    def add(self, done: Slice, figures: Figures, seconds: float) -> None:
        """Keep the figures of a slice."""
        self.found[done] = figures, seconds
        names = [done.gate, done.seed, done.first, done.count]
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps({"slice": names, "figures": figures, "seconds": seconds}) + "\n")


def slices(gates: Iterable[str], seed: int, count: int) -> Iterator[Slice]:
    """All the work."""
    for gate in gates:
        share, size = _SLICES[gate]
        total = max(1, round(count * share))
        for first in range(0, total, size):
            yield Slice(gate, seed, first, min(size, total - first))


def code() -> str:
    """A hash of everything whose change makes old figures worthless."""
    made = hashlib.sha256()
    for folder in (ROOT / "gridworld", ROOT / "tests" / "gridworld", ROOT / "tests" / "soak"):
        for path in sorted(folder.rglob("*.py")):
            made.update(path.read_bytes())
    return made.hexdigest()


def carry_out(work: list[Slice], journal: Journal, jobs: int) -> None:
    """Do what the journal does not hold yet, and show how far it is."""
    left = [piece for piece in work if piece not in journal.found]
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        running = {pool.submit(piece.run): piece for piece in left}
        try:
            for number, future in enumerate(as_completed(running), len(work) - len(left) + 1):
                journal.add(running[future], *future.result())
                print(f"\r{number} of {len(work)} slices", end="", file=sys.stderr, flush=True)
        finally:
            pool.shutdown(cancel_futures=True)
    print(file=sys.stderr)


def table(work: list[Slice], journal: Journal) -> tuple[str, list[str]]:
    """The figures of every gate as Markdown, and everything that was wrong."""
    lines = ["| gate | items | wrong | seconds | of them |", "|---" * 5 + "|"]
    wrong = list[str]()
    for gate in dict.fromkeys(piece.gate for piece in work):
        found = [journal.found[piece] for piece in work if piece.gate == gate]
        figures = [f for f, _ in found]
        bad = [line for f in figures for line in f["wrong"]] + list(missing(gate, figures))
        wrong += bad
        seconds, items = sum(seconds for _, seconds in found), sum(f["count"] for f in figures)
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


def main() -> int:
    """Run the gates; 1 when something is wrong."""
    parser = argparse.ArgumentParser(prog="scripts/soak gridworld", description=__doc__)
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--only", type=lambda text: text.split(","), default=list(GATES), help="names of gates")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--record", action="store_true", help="keep the figures in docs/evidence.md")
    parser.add_argument("--afresh", action="store_true")
    options = parser.parse_args()
    if unknown := [name for name in options.only if name not in GATES]:
        parser.error(f"no such gate: {', '.join(unknown)}; there are {', '.join(GATES)}")
    path = SCRATCH / "gridworld" / f"seed{options.seed}.jsonl"
    if options.afresh:
        path.unlink(missing_ok=True)
    work = list(slices(options.only, options.seed, options.count))
    journal = Journal(path, code())
    try:
        carry_out(work, journal, options.jobs)
    except KeyboardInterrupt:
        print("\ninterrupted; the same command goes on", file=sys.stderr)
        return 130
    text, wrong = table(work, journal)
    print("\n".join([text, *wrong[:100]]))
    if options.record:
        shown = f"`scripts/soak gridworld --count {options.count} --seed {options.seed} --record`"
        record("gridworld", "\n\n".join(["## Gridworld", shown, text, *wrong[:20]]))
    path.unlink()
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
