"""Exploration of the four-room twin: with the reference navigator, by a fixed timer, without a model, with one that
fails and with one that is slow.

``scripts/soak robot-explore [--count SEEDS] [--only MODE,...] [--seed S] [--jobs N] [--record]``: so many seeds of the
level, of the sensors' noise and of the odometry's drift in every mode (default 10), beginning with S. Goes on with what
was interrupted unless the code has changed; ``--afresh`` starts again.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence

import numpy as np

from tests.soak.common import resumable
from tests.soak.journal import Figures, Found, Soak
from tests.soak.robot_explore_runs import MODES, explored

LEAST_COVERAGE = 0.95
FEWER_CALLS = 0.30
"""By how much the adaptive frequency must beat the fixed timer."""
USD_AN_HOUR = 0.30
Item = tuple[str, int]


def done(item: Item) -> Figures:
    """The figures of an item."""
    return explored(*item)


def table(work: Sequence[Item], found: Found) -> tuple[str, list[str]]:
    """The figures of every mode as Markdown, and everything that was wrong."""
    heads = ("mode", "runs", "coverage, least and mean", "collisions", "minutes", "m driven", "calls", "calls/min")
    lines = ["| " + " | ".join([*heads, "USD/h", "USD/h, 85-token pictures"]) + " |", "|---" * (len(heads) + 2) + "|"]
    for mode in dict.fromkeys(mode for mode, _ in work):
        runs = [found[item] for item in work if item[0] == mode]
        seen, minutes, calls = (np.array([f[name] for f in runs]) for name in ("coverage", "minutes", "calls"))
        hours = float(minutes.sum()) / 60
        cells = [
            *(mode, len(runs), f"{seen.min():.1%}, {seen.mean():.1%}", sum(f["collisions"] for f in runs)),
            *(f"{minutes.mean():.1f}", f"{np.mean([f['distance_m'] for f in runs]):.0f}", f"{calls.mean():.0f}"),
            *(f"{calls.sum() / minutes.sum():.1f}", *(f"{sum(f[n] for f in runs) / hours:.2f}" for n in _COSTS)),
        ]
        lines.append("| " + " | ".join(map(str, cells)) + " |")
    saved = fewer_calls(work, found)
    if saved is not None:
        lines += ["", f"Adaptive frequency: {saved:.0%} fewer calls than the fixed timer."]
    return "\n".join(lines), list(wrong(work, found, saved))


_COSTS = ("usd", "usd_at_85")


def fewer_calls(work: Sequence[Item], found: Found) -> float | None:
    """Share of the fixed timer's calls that the adaptive frequency saves, over the seeds that both explored."""
    adaptive, fixed = ({seed for mode, seed in work if mode == wanted} for wanted in ("reference", "fixed-timer"))
    seeds = adaptive & fixed
    if not seeds:
        return None
    calls = {mode: sum(found[mode, seed]["calls"] for seed in seeds) for mode in ("reference", "fixed-timer")}
    return 1 - float(calls["reference"] / calls["fixed-timer"])


def wrong(work: Sequence[Item], found: Found, saved: float | None) -> Iterator[str]:
    """Which gates do not hold; ``saved`` is the share of :func:`fewer_calls`."""
    for mode, seed in work:
        run = found[mode, seed]
        if run["coverage"] < LEAST_COVERAGE:
            yield f"{mode}, seed {seed}: only {run['coverage']:.1%} covered, {run['ended']}"
        if run["collisions"]:
            yield f"{mode}, seed {seed}: {run['collisions']} collisions"
    if saved is not None and saved < FEWER_CALLS:
        yield f"adaptive frequency saves only {saved:.0%} of the calls"
    priced = [found[item] for item in work if item[0] == "reference"]
    hours = sum(run["minutes"] for run in priced) / 60
    if hours and (usd := sum(run["usd"] for run in priced) / hours) > USD_AN_HOUR:
        yield f"an hour costs {usd:.2f} USD"


PARTS = ("safety", "navigation", "control", "decisions", "exploration", "twin")
"""Of the robot's packages, those that an exploration in simulation runs."""

SOAK = Soak(
    name="robot-explore",
    title="Robot: exploration",
    parts=tuple(MODES),
    unit="explorations",
    sources=(
        "robot_bridge/*.py",
        *(f"robot_bridge/{part}/**/*.py" for part in PARTS),
        "tests/soak/robot_explore*.py",
    ),
    do=done,
    table=table,
)


def main() -> int:
    """Run the modes; 1 when something is wrong."""
    parser = SOAK.parser(__doc__)
    parser.add_argument("--count", type=int, default=10, help="seeds of every mode")
    parser.add_argument("--seed", type=int, default=1, help="the first of them")
    options = parser.parse_args()
    seeds = range(options.seed, options.seed + options.count)
    return SOAK.run([(mode, seed) for seed in seeds for mode in options.only], options)


if __name__ == "__main__":
    sys.exit(resumable(main))
