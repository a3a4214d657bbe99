"""From the text of domain and problem to a validated plan, warm, and from memory: the problems of a whole curriculum.

Meant: 25 ms at most for 95 of 100 problems, 1 ms from memory. Wall time; the pause before a problem is one that a run
takes by itself, and in which the process readies its next child.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from spca.contracts import SolveResult
from spca.plan.solver import Solver
from tests.soak.common import SCRATCH, only_run, run

WARM_MS, CACHED_MS = 25.0, 1.0
PAUSE = 0.05


def problems(folder: Path) -> list[tuple[str, str]]:
    """Domain and problem of each level of a run, each pair once."""
    files = sorted((folder / "pddl").glob("problem_v*.pddl"), key=lambda path: int(path.stem.rpartition("v")[2]))
    pairs = [(path.with_name(path.name.replace("problem", "domain")), path) for path in files]
    return list(dict.fromkeys((domain.read_text(), problem.read_text()) for domain, problem in pairs))


def timed(solver: Solver, domain: str, problem: str) -> tuple[float, SolveResult]:
    """Milliseconds and what came of it."""
    started = time.perf_counter()
    found = solver.solve(domain, problem)
    return 1e3 * (time.perf_counter() - started), found


def told(name: str, spent: Sequence[float], meant: float) -> None:
    parts = statistics.quantiles(spent, n=20)
    print(f"{name}: median {statistics.median(spent):.2f} ms, 95 % {parts[18]:.2f} ms (meant: {meant:g})")


def main(argv: Sequence[str] | None = None) -> int:
    """Print the figures for the problems of a run of the embedded model, made for it or given."""
    parser = argparse.ArgumentParser(prog="scripts/bench planning", description=__doc__)
    parser.add_argument("--run", type=Path, help="folder of a run (default: the embedded model's, run now)")
    folder = parser.parse_args(argv).run
    if folder is None:
        home = SCRATCH / "bench_planning"
        shutil.rmtree(home, ignore_errors=True)
        run("--quiet", "--runs", str(home / "runs"), "--workspace", str(home / "workspace"))
        folder = only_run(home / "runs")
    pairs = problems(folder)
    with Solver() as solver:
        solver.solve("", "")
        warm, engines = [], Counter[str]()
        for domain, problem in pairs:
            time.sleep(PAUSE)
            spent, found = timed(solver, domain, problem)
            warm.append(spent)
            engines[found.engine] += 1
        cached = [timed(solver, domain, problem)[0] for domain, problem in pairs]
    print(f"{len(pairs)} problems by {', '.join(f'{name} ({count})' for name, count in engines.most_common())}")
    told("text to validated plan, warm", warm, WARM_MS)
    told("the same from memory", cached, CACHED_MS)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
