"""Replay equals the recording: every attempt of every level of the curriculum, simulated again and held against it.

``scripts/soak replay [--count N] [--only MODEL] [--record]``: runs of the embedded model (``reference``) and of the
faulty one over the whole curriculum, for N seeds each, beginning with 1 (default 1).
"""

from __future__ import annotations

import json
import shutil
import sys
import time
from collections import Counter
from pathlib import Path

from minigridenv import MiniGridEnv
from spca.report.replay.resimulation import resimulate
from tests.soak.common import SCRATCH, existing_run, gate_parser, record, run

MODELS = ("reference", "faulty")


def learn(model: str, seed: int) -> Path:
    """The folder of a fresh run over the whole curriculum."""
    home = SCRATCH / "replay" / f"{model}-{seed}"
    shutil.rmtree(home, ignore_errors=True)
    halves = [("--planner-model", "planner"), ("--planner-small-model", "planner"), ("--coder-model", "coder")]
    flags = [text for flag, half in halves for text in (flag, f"{model}/{half}")]
    run("--seed", str(seed), "--quiet", *flags, "--runs", str(home / "runs"), "--workspace", str(home / "workspace"))
    return existing_run(home / "runs")


def check(folder: Path) -> tuple[int, Counter[str], list[str]]:
    """Levels, attempts by the result of their check, and what differs."""
    results, differing = Counter[str](), list[str]()
    paths = sorted((folder / "trajectories").glob("*.json"))
    for path in paths:
        for _, found in resimulate(MiniGridEnv, json.loads(path.read_text(encoding="utf-8"))).attempts:
            results[found.result] += 1
            if found.result != "equal":
                differing.append(f"{path.stem}: {found.message}")
    return len(paths), results, differing


def main() -> int:
    """Run the gate; 1 when an attempt is not equal."""
    parser = gate_parser("replay", __doc__)
    parser.add_argument("--count", type=int, default=1)
    parser.add_argument("--only", choices=MODELS, help="leave the other model out")
    options = parser.parse_args()
    lines = ["| model | seed | levels | attempts | equal | different | seconds |", "|---" * 7 + "|"]
    bad = 0
    for seed in range(1, options.count + 1):
        for model in (options.only,) if options.only else MODELS:
            folder = learn(model, seed)
            began = time.perf_counter()
            levels, results, differing = check(folder)
            seconds = time.perf_counter() - began
            equal, total = results["equal"], results.total()
            lines.append(f"| {model} | {seed} | {levels} | {total} | {equal} | {total - equal} | {seconds:.1f} |")
            lines += [f"- {model}, seed {seed}: {line}" for line in differing]
            bad += bool(differing) or not levels
    text = "\n".join(lines)
    print(text)
    if options.record:
        note = ": state hashes before and after every attempt"
        only = f" --only {options.only}" if options.only else ""
        record("replay", "Replay", f"--count {options.count}{only}", text, note=note)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
