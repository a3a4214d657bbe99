"""What a call of a problem writer costs, in a process of its own and from memory: the embedded model's writers.

Meant: 3 ms for half of the calls, 0.1 ms from memory. Wall time, on snapshots that the writer reads or refuses.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Sequence

from spca.reference.compiled import writers
from spca.sandbox.executor import SandboxExecutor
from spca.writers.running import WriterRunner
from tests.support.spca.writing import state

CALL_MS, MEMORY_MS = 3.0, 0.1
MISSIONS = ("go to the red ball", "pick up a purple ball and open a red door", "get to the green goal square")


def time_calls(runner: WriterRunner, sources: Sequence[str], again: bool) -> list[float]:
    """Return the milliseconds of each call."""
    spent = []
    for source in sources:
        for mission in MISSIONS:
            job = (source, state(mission))
            started = time.perf_counter()
            list(runner.each([job], again=again))
            spent.append(1e3 * (time.perf_counter() - started))
    return spent


def show_times(name: str, spent: Sequence[float], meant: float) -> None:
    parts = statistics.quantiles(spent, n=20)
    print(f"{name}: median {statistics.median(spent):.3f} ms, 95 % {parts[18]:.3f} ms (meant: {meant:g})")


def main(argv: Sequence[str] | None = None) -> int:
    """Print the figures."""
    parser = argparse.ArgumentParser(prog="scripts/bench writers", description=__doc__)
    parser.add_argument("--count", type=int, default=20, help="rounds over all writers")
    count = parser.parse_args(argv).count
    sources = [writer.text.source for writer in writers()]
    with SandboxExecutor() as executor:
        runner = WriterRunner(executor)
        time_calls(runner, sources, again=True)
        calls = [each for _ in range(count) for each in time_calls(runner, sources, again=True)]
        known = [each for _ in range(count) for each in time_calls(runner, sources, again=False)]
        runner.close()
    show_times("a call of a problem writer", calls, CALL_MS)
    show_times("the same from memory", known, MEMORY_MS)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
