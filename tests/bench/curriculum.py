"""Wall time of the whole curriculum with the embedded model, against the published run of the original system."""

from __future__ import annotations

import argparse
import shutil
import time

from tests.soak.common import SCRATCH, only_run, read, run

PUBLISHED_SOLVED, PUBLISHED_MINUTES = 75, 252.5
"""Of the original system: distinct environment ids solved out of this curriculum, and its minutes."""

MEANT_S = 10.0


def main() -> None:
    """Print seconds and levels solved."""
    argparse.ArgumentParser(prog="scripts/bench curriculum", description=__doc__).parse_args()
    home = SCRATCH / "bench_curriculum"
    shutil.rmtree(home, ignore_errors=True)
    started = time.perf_counter()
    run("--quiet", "--runs", str(home / "runs"), "--workspace", str(home / "workspace"))
    seconds = time.perf_counter() - started
    done = only_run(home / "runs")
    summary = read(done / "summary.json") if done else {"solved": 0, "levels": 0}
    print(f"curriculum: {summary['solved']} of {summary['levels']} solved in {seconds:.1f} s (meant: {MEANT_S:g})")
    ratio = 60 * PUBLISHED_MINUTES / seconds
    print(f"published:  {PUBLISHED_SOLVED} of 150 solved in {PUBLISHED_MINUTES} minutes ({ratio:.0f}x)")


if __name__ == "__main__":
    main()
