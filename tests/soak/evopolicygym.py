"""An exported program, scored by the harness EvoPolicyGym itself, beside the policy in a plain loop on the same seeds.

``scripts/soak evopolicygym --python PYTHON [--count N] [--run FOLDER] [--record]``: PYTHON is a Python 3.12 in which
the harness, its benchmarks for MiniGrid and BabyAI, and this project are installed; the harness is not bundled
(``github.com/Linzwcs/EvoPolicyGym``). The run is learned as for ``scripts/soak frozen``, or is FOLDER. N episodes
(default 10) of each benchmark are scored. Wrong is an episode whose return or number of steps differs.
"""

from __future__ import annotations

import contextlib
import io
import json
import shutil
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import gymnasium
import minigrid  # noqa: F401 - registers the ids

import spca
from tests.soak.common import ROOT, SCRATCH, conclude, environment, gate_parser, run
from tests.soak.frozen import learned

HOME = SCRATCH / "evopolicygym"
SCORER = ROOT / "tests" / "soak" / "evopolicygym_scorer" / "score.py"


def score_program(python: str, program: Path, count: int) -> list[dict[str, Any]]:
    """Return the scores that the harness gives, a benchmark each."""
    line = [python, str(SCORER), str(program), str(count)]
    done = subprocess.run(line, cwd=HOME, env=environment(), check=True, stdout=subprocess.PIPE, text=True)
    return [json.loads(text) for text in done.stdout.splitlines() if text.startswith("{")]


def play_alike(policy: spca.LearnedPolicy, scored: dict[str, Any]) -> list[tuple[float, int]]:
    """Return reward and steps of each scored episode in a plain loop."""
    played: list[tuple[float, int]] = []
    for seed in scored["seeds"]:
        env: Any = gymnasium.make(scored["env_id"], **scored["kwargs"])
        with contextlib.closing(env):
            observation, info = env.reset(seed=seed)
            policy.reset(observation, info, level=scored["env_id"])
            is_over = False
            total = 0.0
            steps = 0
            while not is_over:
                observation, reward, terminated, truncated, info = env.step(policy.act(observation, info))
                is_over = terminated or truncated
                total += reward
                steps += 1
        played.append((total, steps))
    return played


def main() -> int:
    """Run the gate; 1 if an episode differs."""
    parser = gate_parser("evopolicygym", __doc__)
    parser.add_argument("--python", required=True, metavar="PYTHON")
    parser.add_argument("--count", type=int, default=10, metavar="EPISODES")
    parser.add_argument("--run", type=Path, metavar="FOLDER")
    options = parser.parse_args()
    folder = options.run or learned()
    program = HOME / "program"
    shutil.rmtree(program, ignore_errors=True)
    run("export", str(folder), "--evopolicygym", str(program))

    wrong: list[str] = []
    lines = ["| benchmark | episodes | its score | ours | solved | seconds an episode |", "|---" * 6 + "|"]
    with spca.load_policy(folder) as policy:
        for scored in score_program(options.python, program, options.count):
            with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                ours = play_alike(policy, scored)
            theirs = [(reward, steps) for reward, steps in scored["episodes"]]
            for seed, mine, other in zip(scored["seeds"], ours, theirs, strict=True):
                if mine != other:
                    wrong.append(f"{scored['name']}, seed {seed}: {other[0]} in {other[1]} steps, ours {mine}")
            mean = sum(reward for reward, _ in ours) / len(ours)
            solved = sum(reward > 0 for reward, _ in ours)
            pace = scored["seconds"] / len(ours)
            lines.append(
                f"| {scored['name']} | {len(ours)} | {scored['score']:.4f} | {mean:.4f} | {solved} | {pace:.1f} |"
            )
    flags = f"--python PYTHON --count {options.count}" + " --run FOLDER" * bool(options.run)
    text = "\n".join(lines)
    title = "An exported program in EvoPolicyGym"
    return conclude("evopolicygym", title, flags, text, wrong, is_recorded=options.record)


if __name__ == "__main__":
    sys.exit(main())
