"""The whole curriculum on many seeds: 150 of 150 on seeds 1, 2 and 3, at least 149 of 150 on every other.

``scripts/soak curriculum [--count N] [--seeds 1,2,3] [--record]``: N seeds, beginning with 1 (default 8). Goes on
with a seed that was interrupted; ``--afresh`` starts all of them again.
"""

from __future__ import annotations

import shutil
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from tests.soak.common import SCRATCH, existing_run, gate_parser, only_run, read, record, resumable, run

FIRST = (1, 2, 3)
OTHERS = (17, 101, 2024, 31337, 987654, 11, 55, 4242)
SLACK = 1


def solve(seed: int) -> dict[str, Any]:
    """The summary of a complete run on ``seed``."""
    home = SCRATCH / "curriculum" / str(seed)
    runs = home / "runs"
    begun = only_run(runs)
    if begun is None:
        run("--seed", str(seed), "--quiet", "--runs", str(runs), "--workspace", str(home / "workspace"))
    elif not finished(begun):
        run("--resume", begun.name, "--quiet", "--runs", str(runs))
    summary: dict[str, Any] = read(existing_run(runs) / "summary.json")
    return summary


def finished(begun: Path) -> bool:
    """Whether a run has come to its end; one that was stopped leaves a summary too."""
    path = begun / "summary.json"
    return path.is_file() and read(path)["finished"] == read(path)["levels"]


def report(summaries: dict[int, dict[str, Any]]) -> str:
    """A table of the results and every failure with its reason, as Markdown."""
    lines = ["| seed | solved | rounds | planner calls | coder calls | steps |", "|---|---|---|---|---|---|"]
    for seed, s in sorted(summaries.items()):
        c = s["counters"]
        calls = f"{c['spca_rounds']} | {c['planner_calls']} | {c['coder_calls']}"
        lines.append(f"| {seed} | {s['solved']} of {s['levels']} | {calls} | {s['steps']} |")
    failures = [(seed, f) for seed, s in sorted(summaries.items()) for f in s["failures"]]
    lines += ["", "Failures:" if failures else "No failures."]
    lines += [f"- seed {seed}, {f['level_name']}: {f['reason'].splitlines()[0]}" for seed, f in failures]
    return "\n".join(lines)


def main() -> int:
    """Run the gate; 1 when a seed falls short."""
    parser = gate_parser("curriculum", __doc__)
    parser.add_argument("--count", type=int, default=len(FIRST) + 5)
    parser.add_argument("--seeds", type=lambda text: [int(part) for part in text.split(",")])
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--afresh", action="store_true")
    options = parser.parse_args()
    seeds = options.seeds or (*FIRST, *OTHERS)[: options.count]
    if options.afresh:
        shutil.rmtree(SCRATCH / "curriculum", ignore_errors=True)
    with ThreadPoolExecutor(options.jobs) as pool:
        summaries = dict(zip(seeds, pool.map(solve, seeds), strict=True))
    text = report(summaries)
    print(text)
    if options.record:
        record("curriculum", "Curriculum", f"--seeds {','.join(map(str, seeds))}", text)
    short = [s for s, t in summaries.items() if t["solved"] < t["levels"] - (0 if s in FIRST else SLACK)]
    print(f"{len(seeds) - len(short)} passed, {len(short)} failed")
    return 1 if short else 0


if __name__ == "__main__":
    sys.exit(resumable(main))
