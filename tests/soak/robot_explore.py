"""Exploration of the four-room twin: with the reference navigator, by a fixed timer, without a model, with one that
fails and with one that is slow.

``scripts/soak robot-explore [--count SEEDS] [--only MODE,...] [--jobs N] [--record]``: so many seeds of the level, of
the sensors' noise and of the odometry's drift in every mode (default 10). Goes on with what was interrupted unless the
code has changed; ``--afresh`` starts again.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path

import numpy as np

from tests.soak.common import ROOT, SCRATCH, record
from tests.soak.robot_explore_runs import MODES, Figures, explored
from tests.soak.robot_safety import Journal

LEAST_COVERAGE = 0.95
FEWER_CALLS = 0.30
"""By how much the adaptive frequency must beat the fixed timer."""
USD_AN_HOUR = 0.30
Item = tuple[str, int]


def code() -> str:
    """A hash of everything whose change makes old figures worthless."""
    made = hashlib.sha256()
    for path in [
        *sorted((ROOT / "robot_bridge").glob("*.py")),
        *sorted((ROOT / "robot_bridge" / "twin").rglob("*.py")),
        *sorted(Path(__file__).parent.glob("robot_explore*.py")),
    ]:
        if not path.name.startswith("bridge"):
            made.update(path.read_bytes())
    return made.hexdigest()


def done(item: Item) -> Figures:
    """The figures of an item."""
    return explored(*item)


def carry_out(work: list[Item], journal: Journal, jobs: int) -> None:
    """Do what the journal does not hold yet, and show how far it is."""
    left = [item for item in work if item not in journal.found]
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        running = {pool.submit(done, item): item for item in left}
        try:
            for number, future in enumerate(as_completed(running), len(work) - len(left) + 1):
                journal.add(running[future], future.result())
                print(f"\r{number} of {len(work)} explorations", end="", file=sys.stderr, flush=True)
        finally:
            pool.shutdown(cancel_futures=True)
    print(file=sys.stderr)


def table(work: list[Item], journal: Journal) -> tuple[str, list[str]]:
    """The figures of every mode as Markdown, and everything that was wrong."""
    heads = ("mode", "runs", "coverage, least and mean", "collisions", "minutes", "m driven", "calls", "calls/min")
    lines = ["| " + " | ".join([*heads, "USD/h", "USD/h, 85-token pictures"]) + " |", "|---" * (len(heads) + 2) + "|"]
    for mode in dict.fromkeys(mode for mode, _ in work):
        found = [journal.found[item] for item in work if item[0] == mode]
        seen, minutes, calls = (np.array([f[name] for f in found]) for name in ("coverage", "minutes", "calls"))
        hours = float(minutes.sum()) / 60
        cells = [
            *(mode, len(found), f"{seen.min():.1%}, {seen.mean():.1%}", sum(f["collisions"] for f in found)),
            *(f"{minutes.mean():.1f}", f"{np.mean([f['distance_m'] for f in found]):.0f}", f"{calls.mean():.0f}"),
            *(f"{calls.sum() / minutes.sum():.1f}", *(f"{sum(f[n] for f in found) / hours:.2f}" for n in _COSTS)),
        ]
        lines.append("| " + " | ".join(map(str, cells)) + " |")
    lines += ["", *compared(work, journal)]
    return "\n".join(lines), list(wrong(work, journal))


_COSTS = ("usd", "usd_at_85")


def fewer_calls(work: list[Item], journal: Journal) -> float | None:
    """Share of the fixed timer's calls that the adaptive frequency saves, over the seeds that both explored."""
    seeds = {seed for mode, seed in work if mode == "reference"} & {
        seed for mode, seed in work if mode == "fixed-timer"
    }
    if not seeds:
        return None
    adaptive, fixed = (
        sum(journal.found[mode, seed]["calls"] for seed in seeds) for mode in ("reference", "fixed-timer")
    )
    return 1 - float(adaptive / fixed)


def compared(work: list[Item], journal: Journal) -> Iterator[str]:
    """What the modes say of each other."""
    saved = fewer_calls(work, journal)
    if saved is not None:
        yield f"Adaptive frequency: {saved:.0%} fewer calls than the fixed timer."


def wrong(work: list[Item], journal: Journal) -> Iterator[str]:
    """Which gates do not hold."""
    for mode, seed in work:
        found = journal.found[mode, seed]
        if found["coverage"] < LEAST_COVERAGE:
            yield f"{mode}, seed {seed}: only {found['coverage']:.1%} covered, {found['ended']}"
        if found["collisions"]:
            yield f"{mode}, seed {seed}: {found['collisions']} collisions"
    saved = fewer_calls(work, journal)
    if saved is not None and saved < FEWER_CALLS:
        yield f"adaptive frequency saves only {saved:.0%} of the calls"
    priced = [journal.found[item] for item in work if item[0] == "reference"]
    hours = sum(found["minutes"] for found in priced) / 60
    if hours and (usd := sum(found["usd"] for found in priced) / hours) > USD_AN_HOUR:
        yield f"an hour costs {usd:.2f} USD"


def main() -> int:
    """Run the modes; 1 when something is wrong."""
    parser = argparse.ArgumentParser(prog="scripts/soak robot-explore", description=__doc__)
    parser.add_argument("--count", type=int, default=10, help="seeds of every mode")
    parser.add_argument("--only", type=lambda text: text.split(","), default=list(MODES), help="names of modes")
    parser.add_argument("--seed", type=int, default=1, help="the first of them")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--record", action="store_true", help="keep the figures in docs/evidence.md")
    parser.add_argument("--afresh", action="store_true")
    options = parser.parse_args()
    if unknown := [name for name in options.only if name not in MODES]:
        parser.error(f"no such mode: {', '.join(unknown)}; there are {', '.join(MODES)}")
    path = SCRATCH / "robot-explore" / "runs.jsonl"
    if options.afresh:
        path.unlink(missing_ok=True)
    work = [(mode, seed) for seed in range(options.seed, options.seed + options.count) for mode in options.only]
    journal = Journal(path, code())
    try:
        carry_out(work, journal, options.jobs)
    except KeyboardInterrupt:
        print("\ninterrupted; the same command goes on", file=sys.stderr)
        return 130
    text, faults = table(work, journal)
    print("\n".join([text, *faults[:100]]))
    if options.record:
        shown = f"`scripts/soak robot-explore --count {options.count} --seed {options.seed} --record`"
        record("robot-explore", "\n\n".join(["## Robot: exploration", shown, text, *faults[:20]]))
    path.unlink()
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
