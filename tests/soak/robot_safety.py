"""The robot's safety: simulated hours under a hostile model and under random commands, and the gates of a stop.

``scripts/soak robot-safety [--count HOURS] [--only GATE,...] [--seed S] [--jobs N] [--record]``: so many simulated
hours under a hostile model in cluttered worlds (default 20), a quarter as many under random commands of every
source, and with every hour: people who cross the way, boxes that appear, lidars that break, emergency stops. Goes on
with what was interrupted unless the code has changed; ``--afresh`` starts again.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from math import ceil

import numpy as np

from tests.soak.common import resumable
from tests.soak.journal import Figures, Found, Soak
from tests.soak.robot_safety_gates import GATES
from tests.soak.robot_safety_scenes import ROLLS_ON_S

_AN_HOUR = {
    "hostile": 12.0,
    "raw": 3.0,
    "false-stops": 1.0,
    "appearing": 20.0,
    "crossing": 50.0,
    "faults": 14.0,
    "stopping": 10.0,
}
"""How many of each gate go with a simulated hour."""
_LIMITS = {
    ("appearing", "stop"): (100, 0.6),
    ("appearing", "resume"): (100, 0.6),
    ("faults", "commanded"): (100, 0.2),
    ("stopping", "commanded"): (95, 0.1),
}
"""Percentile and seconds."""
_SHARES = {
    ("appearing", "held", "zone"): (0.9, 1.0),
    ("false-stops", "stopped", "periods"): (0.0, 0.05),
}
"""Between which the first must be of the second."""
_LEGEND = (
    "Touched: the other moved into the robot. Excused: the simulation blames the robot, which had been told to stand "
    f"for more than {ROLLS_ON_S} s. Wrong is every other contact, and every limit that does not hold."
)
Item = tuple[str, int]


def done(item: Item) -> Figures:
    """The figures of an item."""
    gate, seed = item
    return GATES[gate](seed)


def table(work: Sequence[Item], found: Found) -> tuple[str, list[str]]:
    """The figures of every gate as Markdown, and everything that was wrong."""
    lines, wrong = ["| gate | drives | wrong | of them |", "|---" * 4 + "|"], list[str]()
    for gate in dict.fromkeys(gate for gate, _ in work):
        drives = [found[item] for item in work if item[0] == gate]
        bad = [line for figures in drives for line in figures["wrong"]] + list(outside(gate, drives))
        wrong += bad
        lines.append(f"| {gate} | {len(drives):,} | {len(bad)} | {'; '.join(told(gate, drives))} |")
    return "\n".join([*lines, "", _LEGEND]), wrong


def told(gate: str, found: list[Figures]) -> Iterator[str]:
    """What there is to tell of a gate."""
    for name, value in found[0].items():
        values = [figures[name] for figures in found]
        if name in {"wrong", "count"}:
            continue
        if isinstance(value, dict):
            total = sum((Counter(v) for v in values), Counter[str]())
            yield ", ".join(f"{count:,} {kind}" for kind, count in total.most_common())
        elif isinstance(value, list):
            every = [x for v in values for x in v]
            middle, high = np.percentile(every, [50, 95])
            yield f"{name} median {middle:.2f} s, 95 % {high:.2f} s, most {max(every):.2f} s"
        else:
            total = sum(values)
            yield f"{total:,.0f} {name}" if total >= 1000 else f"{total:.4g} {name}"
    for of, part, whole in _SHARES:
        if of == gate:
            yield f"{part} of {whole}: {share(found, part, whole):.1%}"


def share(found: list[Figures], part: str, whole: str) -> float:
    """Of two counts, over all drives."""
    return float(sum(f[part] for f in found) / max(1, sum(f[whole] for f in found)))


def outside(gate: str, found: list[Figures]) -> Iterator[str]:
    """Which limits do not hold."""
    for (of, name), (percent, most) in _LIMITS.items():
        if of == gate:
            value = float(np.percentile([x for f in found for x in f[name]], percent))
            if not value <= most + 1e-9:
                yield f"{gate}: {name} {value:.2f} s, at most {most} s"
    for (of, part, whole), (least, most) in _SHARES.items():
        if of == gate and not least <= share(found, part, whole) <= most:
            yield f"{gate}: {part} {share(found, part, whole):.1%} of {whole}"


SOAK = Soak(
    name="robot-safety",
    title="The robot's safety",
    parts=tuple(GATES),
    unit="drives",
    sources=("robot_bridge/**/*.py", "tests/soak/robot_safety*.py"),
    do=done,
    table=table,
)


def main() -> int:
    """Run the gates; 1 when something is wrong."""
    parser = SOAK.parser(__doc__)
    parser.add_argument("--count", type=float, default=20, help="simulated hours")
    parser.add_argument("--seed", type=int, default=0, help="of the first drive of every gate")
    options = parser.parse_args()
    counts = {gate: ceil(_AN_HOUR[gate] * options.count) for gate in options.only}
    work = [(gate, options.seed + number) for gate, count in counts.items() for number in range(count)]
    return SOAK.run(work, options)


if __name__ == "__main__":
    sys.exit(resumable(main))
