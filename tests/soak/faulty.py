"""Four categories under the faulty model: every level ends in success, every repair path is used.

``scripts/soak faulty [--count N] [--record]``: N seeds, beginning with 1 (default 3).
"""

from __future__ import annotations

import shutil
import sys
from typing import Any

from tests.soak.common import SCRATCH, cut_curriculum, existing_run, gate_parser, read, record, run

CATEGORIES = ("goal_navigation", "pickup_only", "open_door", "memory_ordering")
PATHS = (
    "planner_fresh",
    "planner_reuse",
    "planner_replan",
    "planner_syntax",
    "coder_first",
    "coder_semantic",
    "coder_syntax",
    "planner_compiled",
    "writer_accepted",
    "writer_rejected",
    "compiled_failed",
)


def solve(seed: int) -> dict[str, Any]:
    """The summary of a run with the faulty models."""
    home = SCRATCH / "faulty" / str(seed)
    shutil.rmtree(home, ignore_errors=True)
    curriculum = cut_curriculum(home / "curriculum.json", CATEGORIES)
    models = [("--planner-model", "planner"), ("--planner-small-model", "planner"), ("--coder-model", "coder")]
    flags = [text for flag, half in models for text in (flag, f"faulty/{half}")]
    where = ("--runs", str(home / "runs"), "--workspace", str(home / "workspace"), "--curriculum", str(curriculum))
    run("--seed", str(seed), "--quiet", *flags, *where)
    summary: dict[str, Any] = read(existing_run(home / "runs") / "summary.json")
    return summary


def main() -> int:
    """Run the gate; 1 when a level failed or a repair path was not used."""
    parser = gate_parser("faulty", __doc__)
    parser.add_argument("--count", type=int, default=3)
    options = parser.parse_args()
    lines = [f"| seed | solved | {' | '.join(PATHS)} |", "|---" * (len(PATHS) + 2) + "|"]
    bad = 0
    for seed in range(1, options.count + 1):
        summary = solve(seed)
        used = [summary["counters"][path] for path in PATHS]
        lines.append(f"| {seed} | {summary['solved']} of {summary['levels']} | {' | '.join(map(str, used))} |")
        lines += [f"- seed {seed}, {f['level_name']}: {f['reason'].splitlines()[0]}" for f in summary["failures"]]
        bad += summary["solved"] != summary["levels"] or not all(used)
    text = "\n".join(lines)
    print(text)
    if options.record:
        note = f"; categories {', '.join(CATEGORIES)}"
        record("faulty", "Faulty model", f"--count {options.count}", text, note=note)
    print(f"{options.count - bad} passed, {bad} failed")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
