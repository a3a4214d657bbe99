"""What no lidar sees: panes of glass, table tops and steps between the robot and its goal.

``scripts/soak robot-unseen [--count N] [--only KIND,...] [--seed S] [--jobs N] [--record]``: N rooms (default 60), in
turn with a pane, a table top and a step. A goal behind it is asked for again whenever it is reported as blocked, or the
robot is told to drive straight on. A push is wheels that are commanded while the body touches something: none lasts
longer than 0.6 s, nothing that ran against something is told as a success, the model reads that something unseen was in
the way, and every goal is reached around it. Goes on with what was interrupted unless the code has changed;
``--afresh`` starts again.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

import numpy as np

from tests.soak.common import resumable
from tests.soak.journal import Figures, Found, Soak
from tests.soak.robot_unseen_runs import KINDS, run

LONGEST_PUSH_S = 0.6
Item = tuple[str, int]


def done(item: Item) -> Figures:
    """The figures of an item."""
    return run(*item)


def table(work: Sequence[Item], found: Found) -> tuple[str, list[str]]:
    """The figures by kind as Markdown, and everything that was wrong."""
    heads = (
        "what",
        "runs",
        "touched",
        "longest push",
        "told as blocked",
        "told as success",
        "goals reached",
        "minutes",
    )
    lines, wrong = [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"], list[str]()
    for kind in dict.fromkeys(kind for kind, _ in work):
        runs = [found[item] for item in work if item[0] == kind]
        wrong += [line for figures in runs for line in figures["wrong"]]
        goals = [figures for figures in runs if figures["is_goal"]]
        cells = (
            f"{len(runs)}",
            f"{sum(figures['touched'] for figures in runs)}",
            f"{max(figures['longest'] for figures in runs):.2f} s",
            f"{sum(figures['blocked'] for figures in runs)}",
            f"{sum(figures['successes'] for figures in runs)}",
            f"{sum(figures['reached'] for figures in goals)} of {len(goals)}",
            f"median {np.median([figures['seconds'] for figures in goals]) / 60:.1f}" if goals else "",
        )
        lines.append(f"| {kind} | {' | '.join(cells)} |")
    wrong += [
        f"{item}: pushed for {found[item]['longest']:.2f} s"
        for item in work
        if found[item]["longest"] > LONGEST_PUSH_S + 1e-6
    ]
    return "\n".join(lines), wrong


SOAK = Soak(
    name="robot-unseen",
    title="What the robot's lidar does not see",
    parts=tuple(KINDS),
    unit="runs",
    sources=("robot_bridge/**/*.py", "tests/soak/robot_unseen*.py"),
    do=done,
    table=table,
)


def main() -> int:
    """Run them; 1 when something is wrong."""
    parser = SOAK.parser(__doc__)
    parser.add_argument("--count", type=int, default=60, help="runs")
    parser.add_argument("--seed", type=int, default=0, help="of the first run")
    options = parser.parse_args()
    kinds = options.only
    work = [(kinds[number % len(kinds)], options.seed + number) for number in range(options.count)]
    return SOAK.run(work, options)


if __name__ == "__main__":
    sys.exit(resumable(main))
