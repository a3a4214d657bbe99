"""The SPCA agent on gridworld tasks: 26 of 26 shipped ones, and how many it can of generated ones.

``scripts/soak gridworld-spca [--count N] [--seed S] [--record]``: every shipped task with the embedded model, none of
those that show everything in more than 1.3 times the fewest steps; then N generated tasks of each tier (default 20),
whose rates are told and not judged.
Goes on where it was interrupted; ``--afresh`` starts again.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from typing import Any

from gridworld.generating.generator import generate
from gridworld.library import task_files
from gridworld.task_spec import TaskSpecification
from tests.soak.common import ROOT, SCRATCH, conclude, environment, gate_parser, read, resumable

HOME = SCRATCH / "gridworld_spca"
TIERS = range(1, 6)
MOST = 1.3
"""Steps against the fewest, where all can be seen."""


def judged(name: str, *arguments: str) -> list[dict[str, Any]]:
    """The task results of an evaluation by the real command, begun or gone on with."""
    output = HOME / f"{name}.json"
    runs = ("--spca-runs", str(HOME / "runs"), "--output", str(output), "--resume", "--quiet")
    command = [sys.executable, str(ROOT / "run_eval.py"), "--model", "spca", *arguments, *runs]
    if not output.exists():
        subprocess.run(command, check=True, env=environment(), stdout=subprocess.DEVNULL, cwd=ROOT)
    results: list[dict[str, Any]] = read(output)["task_results"]
    return results


def shows_everything(task: TaskSpecification) -> bool:
    return task.rules.observability == "full" and not task.rules.hidden_mechanisms


def shipped() -> tuple[list[str], list[str]]:
    """Rows of a table, and what was wrong."""
    results = [*judged("tiers", "--benchmark", "tiers"), *judged("validation_10", "--benchmark", "validation_10")]
    files = [*task_files("tiers"), *task_files("validation_10")]
    open_tasks = {task.task_id for task in map(TaskSpecification.from_json, files) if shows_everything(task)}
    rows, wrong = [], []
    for result in results:
        steps, fewest = result["steps_taken"], result["optimal_steps"]
        rows.append(f"| {result['task_id']} | {steps} | {fewest} | {steps / fewest:.2f} |")
        if not result["success"]:
            wrong.append(f"{result['task_id']}: not solved")
        elif result["task_id"] in open_tasks and steps > MOST * fewest:
            wrong.append(f"{result['task_id']}: {steps} steps, the fewest are {fewest}")
    return rows, wrong


def generated(tier: int, count: int, seed: int) -> str:
    """A row of a table."""
    folder = HOME / f"tasks_{tier}_{seed}_{count}"
    folder.mkdir(parents=True, exist_ok=True)
    for index in range(count):
        path = folder / f"{index:04}.json"
        if not path.exists():
            generate(tier, seed, index=index).to_json(path)
    results = judged(folder.name, "--benchmark", "directory", "--task-dir", str(folder))
    solved = [result for result in results if result["success"]]
    ratio = sum(r["steps_taken"] / r["optimal_steps"] for r in solved) / max(len(solved), 1)
    return f"| {tier} | {len(solved)} of {count} | {ratio:.2f} |"


def main() -> int:
    """Run the gate; 1 when something was wrong."""
    parser = gate_parser("gridworld-spca", __doc__)
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--afresh", action="store_true")
    options = parser.parse_args()
    if options.afresh:
        shutil.rmtree(HOME, ignore_errors=True)
    HOME.mkdir(parents=True, exist_ok=True)
    rows, wrong = shipped()
    lines = ["| task | steps | fewest | ratio |", "|---|---|---|---|", *rows, ""]
    lines += ["| generated, tier | solved | mean ratio of the solved |", "|---|---|---|"]
    lines += [generated(tier, options.count, options.seed) for tier in TIERS]
    title, flags = "The SPCA agent on gridworld tasks", f"--count {options.count} --seed {options.seed}"
    return conclude("gridworld-spca", title, flags, "\n".join(lines), wrong, is_recorded=options.record)


if __name__ == "__main__":
    sys.exit(resumable(main))
