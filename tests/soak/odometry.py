"""Odometry from observations: in every step, the tracker's displacement is held against the simulator's.

``scripts/soak odometry [--count SEEDS] [--steps N] [--run FOLDER] [--record]``: every MiniGrid and BabyAI id that needs
no extra, on N seeds each (default 5), with random primitives, careful walks, minigrid's own bot, and views of 3 to 11
cells. ``--run`` also repeats what a run recorded, and may be given several times. The tracker sees what ``reset`` and
``step`` return.

Wrong is a displacement that the views decide, and a guess where nothing moves by itself. Guesses among moving obstacles
are counted.
"""

from __future__ import annotations

import json
import sys
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from tests.soak.common import conclude, gate_parser
from tests.support.contracts.tracking import (
    RESTLESS,
    Choose,
    Figures,
    follow_bot,
    repeat_recorded,
    track_episode,
    walk_carefully,
    walk_randomly,
)
from tests.support.contracts.truth import REPLAYABLE

VIEW_SIZES = (3, 5, 9, 11)


def list_walks(seed: int) -> Iterator[tuple[str, Choose, int]]:
    """Yield name, primitives and size of the view of each episode with a seed."""
    yield "random", walk_randomly(seed), 7
    yield "careful", walk_carefully(seed), 7
    yield "bot", follow_bot, 7
    yield "other views", walk_randomly(seed), VIEW_SIZES[seed % len(VIEW_SIZES)]
    yield "other views", walk_carefully(seed), VIEW_SIZES[(seed + 1) % len(VIEW_SIZES)]


def list_recorded(folders: list[Path]) -> Iterator[tuple[str, int, list[int]]]:
    """Yield id, seed and primitives of each level of runs."""
    for folder in folders:
        for path in sorted((folder / "trajectories").glob("*.json")):
            level = json.loads(path.read_text(encoding="utf-8"))
            yield level["env_id"], level["seed"], level["primitives"]


def main() -> int:
    """Run the gate; 1 when a displacement is wrong."""
    parser = gate_parser("odometry", __doc__)
    parser.add_argument("--count", type=int, default=5, metavar="SEEDS")
    parser.add_argument("--steps", type=int, default=300, help="longest episode (default 300)")
    parser.add_argument("--run", type=Path, action="append", default=[], metavar="FOLDER")
    options = parser.parse_args()
    began = time.perf_counter()
    by_walk: dict[str, Figures] = defaultdict(Figures)
    by_restless: dict[str, Figures] = defaultdict(Figures)
    wrong: list[str] = []

    def note(walk: str, env_id: str, found: Figures) -> None:
        wrong.extend(found.wrong)
        if RESTLESS in env_id:
            by_restless[env_id].add(found)
            return
        by_walk[walk].add(found)
        if found.misguessed:
            wrong.append(f"{env_id}, {walk}: {found.misguessed} guesses wrong")

    for env_id in REPLAYABLE:
        for seed in range(options.count):
            for walk, choose, view_size in list_walks(seed):
                note(walk, env_id, track_episode(env_id, seed, choose, steps=options.steps, view_size=view_size))
    for env_id, seed, primitives in list_recorded(options.run):
        note("recorded", env_id, track_episode(env_id, seed, repeat_recorded(primitives), steps=len(primitives)))

    lines = ["| walk or id | steps | forward | left open | guessed wrongly |", "|---" * 5 + "|"]
    for name, found in [*by_walk.items(), *by_restless.items()]:
        lines.append(f"| {name} | {found.steps:,} | {found.forwards:,} | {found.open:,} | {found.misguessed:,} |")
    lines.append(f"\n{len(REPLAYABLE)} ids, {time.perf_counter() - began:.0f} s")
    flags = f"--count {options.count} --steps {options.steps}" + " --run FOLDER" * len(options.run)
    text = "\n".join(lines)
    return conclude("odometry", "Odometry from observations", flags, text, wrong, is_recorded=options.record)


if __name__ == "__main__":
    sys.exit(main())
