"""The robot's safety: simulated hours under a hostile model and under random commands, and the gates of a stop.

``scripts/soak robot-safety [--count HOURS] [--only GATE,...] [--seed S] [--jobs N] [--record]``: so many simulated
hours under ``hostile/navigator`` in cluttered worlds (default 20), a quarter as many under random commands of every
source, and with every hour: people who cross the way, boxes that appear, lidars that break, emergency stops. Goes on
with what was interrupted unless the code has changed; ``--afresh`` starts again.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from math import ceil
from multiprocessing import get_context
from pathlib import Path

import numpy as np

from tests.soak.common import ROOT, SCRATCH, record
from tests.soak.robot_safety_gates import GATES, Figures

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
Item = tuple[str, int]


class Journal:
    """What items came to, line by line, so that an interrupted run goes on."""

    def __init__(self, path: Path, key: str) -> None:
        self.path, self.found = path, dict[Item, Figures]()
        lines = path.read_text(encoding="utf-8").split("\n")[:-1] if path.is_file() else []
        if lines[:1] != [key]:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"{key}\n", encoding="utf-8")
        for line in lines[1:] if lines[:1] == [key] else []:
            gate, seed, figures = json.loads(line)
            self.found[gate, seed] = figures

    def add(self, item: Item, figures: Figures) -> None:
        """Keep the figures of an item."""
        self.found[item] = figures
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps([*item, figures]) + "\n")


def code() -> str:
    """A hash of everything whose change makes old figures worthless."""
    made = hashlib.sha256()
    for path in [
        *sorted((ROOT / "robot_bridge").rglob("*.py")),
        *sorted(Path(__file__).parent.glob("robot_safety*.py")),
    ]:
        made.update(path.read_bytes())
    return made.hexdigest()


def done(item: Item) -> Figures:
    """The figures of an item."""
    gate, seed = item
    return GATES[gate](seed)


def carry_out(work: list[Item], journal: Journal, jobs: int) -> None:
    """Do what the journal does not hold yet, and show how far it is."""
    left = [item for item in work if item not in journal.found]
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        running = {pool.submit(done, item): item for item in left}
        try:
            for number, future in enumerate(as_completed(running), len(work) - len(left) + 1):
                journal.add(running[future], future.result())
                print(f"\r{number} of {len(work)} drives", end="", file=sys.stderr, flush=True)
        finally:
            pool.shutdown(cancel_futures=True)
    print(file=sys.stderr)


def table(work: list[Item], journal: Journal) -> tuple[str, list[str]]:
    """The figures of every gate as Markdown, and everything that was wrong."""
    lines, wrong = ["| gate | drives | wrong | of them |", "|---" * 4 + "|"], list[str]()
    for gate in dict.fromkeys(gate for gate, _ in work):
        found = [journal.found[item] for item in work if item[0] == gate]
        bad = [line for figures in found for line in figures["wrong"]] + list(outside(gate, found))
        wrong += bad
        lines.append(f"| {gate} | {len(found):,} | {len(bad)} | {'; '.join(told(gate, found))} |")
    return "\n".join(lines), wrong


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
            yield f"{sum(values):,.4g} {name}"
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


def main() -> int:
    """Run the gates; 1 when something is wrong."""
    parser = argparse.ArgumentParser(prog="scripts/soak robot-safety", description=__doc__)
    parser.add_argument("--count", type=float, default=20, help="simulated hours")
    parser.add_argument("--only", type=lambda text: text.split(","), default=list(GATES), help="names of gates")
    parser.add_argument("--seed", type=int, default=0, help="of the first drive of every gate")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--record", action="store_true", help="keep the figures in docs/evidence.md")
    parser.add_argument("--afresh", action="store_true")
    options = parser.parse_args()
    if unknown := [name for name in options.only if name not in GATES]:
        parser.error(f"no such gate: {', '.join(unknown)}; there are {', '.join(GATES)}")
    path = SCRATCH / "robot_safety" / "drives.jsonl"
    if options.afresh:
        path.unlink(missing_ok=True)
    counts = {gate: ceil(_AN_HOUR[gate] * options.count) for gate in options.only}
    work = [(gate, options.seed + number) for gate, count in counts.items() for number in range(count)]
    journal = Journal(path, code())
    try:
        carry_out(work, journal, options.jobs)
    except KeyboardInterrupt:
        print("\ninterrupted; the same command goes on", file=sys.stderr)
        return 130
    text, wrong = table(work, journal)
    print("\n".join([text, *wrong[:100]]))
    if options.record:
        shown = f"`scripts/soak robot-safety --count {options.count:g} --seed {options.seed} --record`"
        record("robot-safety", "\n\n".join(["## The robot's safety", shown, text, *wrong[:20]]))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
