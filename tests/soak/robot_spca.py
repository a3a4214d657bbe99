"""The learned agent on the robot: levels of every kind solved in their twins, its code unchanged.

``scripts/soak robot-spca [--count N] [--seed S] [--only GLOB] [--record]``: an agent is learned by ``main.py`` with
the embedded model, as ``make run`` does; then main.py's own loop plays each of the levels below on the simulated robot,
with seeds S, S + 1, ... (default 11) of N rounds (default 1). The agent must stay as it was, the coder unasked, the
robot without a collision. Goes on where it was interrupted unless the code has changed; ``--afresh`` starts again.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path
from typing import Any, Final

from main import load_phases
from robot_bridge.agent.rigs import Rig, twin_rig
from robot_bridge.agent.world import RobotWorld
from spca.act.corrections import apply_corrections
from spca.contracts import LevelSpec
from spca.protocols import Executor
from spca.runs.curriculum import select_tasks
from spca.runs.options import DisplayOptions, KeptOptions, RunOptions, SelectionOptions
from spca.runs.recording.folder import RunFolder
from spca.runs.resolution import find_run
from spca.runs.run import Run
from spca.runs.screen.display import Display
from spca.runs.startup import prepare_run
from tests.soak.common import ROOT, SCRATCH, conclude, existing_run, gate_parser, read, resumable, run
from tests.soak.journal import Figures, Journal, code_of
from tests.support.robot_bridge.collisions import watch_collisions

HOME = SCRATCH / "robot_spca"
LEARNING: Final = ("*.py", "spca/**/*.py", "spca/**/*.jinja", "merged_curriculum2.json")
"""What the learned agent comes from."""
Item = tuple[str, str, int]
"""Category, environment id and seed."""
LEVELS: Final = {
    "goal_navigation": ("MiniGrid-Empty-6x6-v0", "MiniGrid-SimpleCrossingS9N1-v0", "MiniGrid-FourRooms-v0"),
    "static_obstacle_navigation": (
        *("BabyAI-GoToRedBallNoDists-v0", "BabyAI-GoToObj-v0", "BabyAI-GoToLocal-v0", "BabyAI-GoToDoor-v0"),
    ),
    "hazard_avoidance": ("MiniGrid-LavaGapS5-v0",),
    "pickup_only": ("BabyAI-PickupLoc-v0",),
    "open_door": ("BabyAI-OpenRedDoor-v0", "BabyAI-OpenDoor-v0", "MiniGrid-MultiRoom-N2-S4-v0"),
    "unlock_door": ("MiniGrid-Unlock-v0", "MiniGrid-DoorKey-5x5-v0", "MiniGrid-DoorKey-6x6-v0"),
    "unlock_pickup": ("MiniGrid-UnlockPickup-v0",),
    "obstacle_blocking": ("MiniGrid-BlockedUnlockPickup-v0",),
    "object_placement": ("BabyAI-PutNextLocalS5N3-v0",),
}
"""By category: each is planned with the words of its category."""


class Played(RobotWorld):
    """The twin of a level, whose figures outlive it."""

    def __init__(self, env_id: str, seed: int, *, executor: Executor, told: Callable[[dict[str, Any]], None]) -> None:
        self._told, self._began = told, time.monotonic()
        super().__init__(env_id, partial(self._make_watched, env_id, seed), executor)

    def _make_watched(self, env_id: str, seed: int) -> Rig:
        rig = twin_rig(env_id, seed)
        judge: Any = rig.judge
        _corrected(judge.simulator)
        robot: Any = rig.controller.robot
        self._touched = watch_collisions(robot)
        return rig

    def close(self) -> None:
        rig = self._rig
        if rig is not None:
            robot: Any = rig.controller.robot
            self._told(
                {
                    "level": self.name,
                    "primitives": len(self.previous_actions),
                    "bumps": self.bumps,
                    "looks": self.senses.looks,
                    "metres": round(rig.controller.state.distance_traveled_m, 1),
                    "simulated_s": round(robot.time),
                    "real_s": round(time.monotonic() - self._began),
                    "collisions": sum(collision.caused_by_robot for collision in self._touched.collisions),
                }
            )
        super().close()


def _corrected(simulator: Any) -> None:
    apply_corrections(simulator, lambda _name: None)


def learn() -> Path:
    """The workspace with an agent of the whole curriculum, as ``make run`` leaves it."""
    learned = HOME / f"learned_{code_of(*LEARNING)[:12]}"
    if not learned.exists():
        run("--quiet", "--workspace", str(HOME / "learning"), "--runs", str(HOME / "learning_runs"))
        (HOME / "learning").rename(learned)
    return learned


def play(learned: Path, item: Item) -> Figures:
    """One level by main.py's loop, the agent as it was learned: its row."""
    category, env_id, seed = item
    folder = HOME / f"{env_id}_{seed}"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(learned, folder / "workspace")
    skills = {entry["category_name"]: entry["skill"] for entry in read(ROOT / "merged_curriculum2.json")}
    level = {"name": env_id, "configs": [env_id]}
    curriculum = [{"category_name": category, "skill": skills[category], "levels": [level]}]
    (folder / "curriculum.json").write_text(json.dumps(curriculum), encoding="utf-8")
    before = _digest(folder / "workspace")
    rows: list[dict[str, Any]] = []
    options = RunOptions(
        selection=SelectionOptions(seed=seed, curriculum=str(folder / "curriculum.json")),
        kept=KeptOptions(keep_agent=True, workspace=str(folder / "workspace"), runs=str(folder / "runs")),
        display=DisplayOptions(quiet=True),
    )
    _run(options, lambda env, n, executor: Played(env, n, executor=executor, told=rows.append))
    (finished,) = RunFolder(existing_run(folder / "runs")).read_finished()
    row = {**(rows[-1] if rows else {}), "level": env_id, "seed": seed, "solved": finished["outcome"] == "success"}
    row |= {"reason": finished["reason"], "coder_calls": finished["counters"]["coder_calls"]}
    row |= {"category": category, "starts": len(rows), "collisions": sum(one["collisions"] for one in rows)}
    return row | {"is_unchanged": _digest(folder / "workspace") == before}


def _run(options: RunOptions, make_world: Callable[[str, int, Executor], RobotWorld]) -> None:
    settings, begun = find_run(options)
    phases = load_phases()
    with prepare_run(settings, select_tasks(settings, begun), phases.check_ids, begun) as prepared:

        def made(level: LevelSpec, seed: int, *, executor: Executor, **_of_the_twin: object) -> RobotWorld:
            return make_world(level.id, seed, executor)

        Run(prepared, phases, Display(prepared.tasks, quiet=True), made).learn()


def _digest(workspace: Path) -> str:
    return hashlib.sha256((workspace / "agent.py").read_bytes()).hexdigest()


def wrong_with(row: dict[str, Any]) -> str:
    """What a row shows that must not be, "" for nothing."""
    faults = {
        f"not solved: {row['reason']}": not row["solved"],
        "the agent was changed": not row["is_unchanged"],
        f"{row['coder_calls']} calls of the coder": row["coder_calls"] > 0,
        f"{row['collisions']} collisions": row["collisions"] > 0,
        "the agent would have gone into lava": row["category"] == "hazard_avoidance" and row.get("bumps", 0) > 0,
    }
    found = "; ".join(words for words, holds in faults.items() if holds)
    return f"{row['level']} seed {row['seed']}: {found}" if found else ""


COLUMNS: Final = (
    "level",
    "seed",
    "solved",
    "starts",
    "primitives",
    "bumps",
    "looks",
    "metres",
    "simulated_s",
    "real_s",
    "collisions",
)


def table(rows: Sequence[Mapping[str, Any]]) -> str:
    """Markdown; times in seconds."""
    lines = [f"| {' | '.join(name.replace('_', ' ') for name in COLUMNS)} |", "|" + "---|" * len(COLUMNS)]
    lines += [f"| {' | '.join(str(row.get(name, '-')) for name in COLUMNS)} |" for row in rows]
    return "\n".join(lines)


def items(first: int, count: int, levels: str) -> Iterator[Item]:
    """The levels that match, one seed after the other."""
    for seed in range(first, first + count):
        for category, env_ids in LEVELS.items():
            yield from ((category, env_id, seed) for env_id in env_ids if fnmatchcase(env_id, levels))


def main() -> int:
    """Run the gate; 1 when something was wrong."""
    parser = gate_parser("robot-spca", __doc__)
    parser.add_argument("--count", type=int, default=1, help="seeds of every level")
    parser.add_argument("--seed", type=int, default=11, help="of which the learned agent has not seen the levels")
    parser.add_argument("--only", default="*", help="only environment ids that match")
    parser.add_argument("--afresh", action="store_true")
    options = parser.parse_args()
    work = list(items(options.seed, options.count, options.only))
    if not work:
        parser.error(f"no level matches {options.only}")
    if options.afresh:
        shutil.rmtree(HOME, ignore_errors=True)
    learned = learn()
    journal = Journal(HOME / "journal.jsonl", code_of(*LEARNING, "robot_bridge/**/*.py", "tests/soak/robot_spca.py"))
    for item in work:
        if item not in journal.found:
            journal.add(item, play(learned, item))
        print(" ".join(f"{name}={journal.found[item].get(name)}" for name in COLUMNS), flush=True)
    rows = [journal.found[item] for item in work]
    wrong = [words for words in map(wrong_with, rows) if words]
    only = "" if options.only == "*" else f" --only '{options.only}'"
    flags = f"--count {options.count} --seed {options.seed}{only}"
    title = "The SPCA agent on the robot"
    code = conclude("robot-spca", title, flags, table(rows), wrong, is_recorded=options.record)
    journal.forget(work)
    return code


if __name__ == "__main__":
    sys.exit(resumable(main))
