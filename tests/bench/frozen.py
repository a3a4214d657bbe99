"""Frozen episodes a second, with one worker and with two, in turn; start and end of the evaluation included.

Meant on two quiet cores: 15,000 episodes in 6 minutes, and two workers 1.8 times as fast as one.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import time
from collections.abc import Sequence
from pathlib import Path

from tests.soak.common import SCRATCH, only_run, read, run

EPISODES, MINUTES, SPEEDUP = 15_000, 6.0, 1.8


def seconds(agent: Path, home: Path, seeds: str, workers: int) -> tuple[float, int]:
    """What an evaluation takes, and how many episodes it plays."""
    shutil.rmtree(home, ignore_errors=True)
    started = time.perf_counter()
    flags = ("--agent", str(agent), "--runs", str(home), "--seeds", seeds, "--workers", str(workers), "--quiet")
    run("evaluate", *flags)
    spent = time.perf_counter() - started
    (done,) = home.glob("*/episodes.jsonl")
    return spent, len(done.read_text().splitlines())


def main(argv: Sequence[str] | None = None) -> int:
    """Print the figures for a run of the embedded model, made for it or given."""
    parser = argparse.ArgumentParser(prog="scripts/bench frozen", description=__doc__)
    parser.add_argument("--run", type=Path, help="folder of a run (default: the embedded model's, run now)")
    parser.add_argument("--seeds", default="1000:1010")
    parser.add_argument("--pairs", type=int, default=3)
    options = parser.parse_args(argv)
    home, folder = SCRATCH / "bench_frozen", options.run
    if folder is None:
        shutil.rmtree(home, ignore_errors=True)
        run("--quiet", "--runs", str(home / "runs"), "--workspace", str(home / "workspace"))
        folder = only_run(home / "runs")
    rates: dict[int, list[float]] = {1: [], 2: []}
    for _ in range(options.pairs):
        for workers, found in rates.items():
            spent, count = seconds(folder, home / "evaluations", options.seeds, workers)
            found.append(count / spent)
    one, two = (statistics.median(found) for found in rates.values())
    ratio = statistics.median(b / a for a, b in zip(*rates.values(), strict=True))
    print(f"{count} episodes of {read(folder / 'run.json')['run_id']}, {options.pairs} pairs")
    print(f"frozen episodes a second: {one:.1f} with one worker, {two:.1f} with two")
    print(f"two workers are {ratio:.2f} times as fast as one (meant: {SPEEDUP:g})")
    print(f"{EPISODES} episodes would take {EPISODES / two / 60:.1f} minutes with two (meant: {MINUTES:g})")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
