"""What a run has learned, in a plain loop: the actions of ``spca.load_policy`` held against the frozen evaluation's.

``scripts/soak policy [--count EPISODES] [--seeds A:B] [--run FOLDER] [--record]``: learns the curriculum with the
embedded model (or takes the run in FOLDER), plays all its ids by minigrid's own rules with ``evaluate``, and steps a
plain Gymnasium environment with the policy for every episode of it. The policy sees observations alone. By default 600
episodes are compared, 150 ids on four seeds; ``--count`` takes the first of them, spread over the ids.

Wrong is an action that differs before the evaluated episode ends, an episode that ends otherwise, or an error. Among
moving obstacles the policy has to guess where a step forward left it, and in PutNext*Carrying the first observation
does not show what is in hand. There differences are counted, and each must have this cause. An episode that differs is
played to its end.
"""

from __future__ import annotations

import contextlib
import io
import json
import shutil
import sys
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import gymnasium
import minigrid  # noqa: F401 - registers the ids

import spca
from tests.soak.common import SCRATCH, conclude, gate_parser, run
from tests.soak.frozen import learned
from tests.support.contracts.tracking import RESTLESS

HOME = SCRATCH / "policy"
CARRYING = "Carrying"
MODEL = "reference/planner"
OTHERS = "all others"


@dataclass(slots=True)
class Tally:
    """What came of a group of episodes.

    Attributes:
        different: a line for each episode in which the policy acted otherwise.
    """

    episodes: int = 0
    primitives: int = 0
    solved: int = 0
    different: list[str] = field(default_factory=list)

    def describe(self, name: str) -> str:
        """Return the row of the table."""
        return f"| {name} | {self.episodes:,} | {self.primitives:,} | {self.solved:,} | {len(self.different):,} |"


def list_evaluated(folder: Path, seeds: str) -> list[dict[str, Any]]:
    """Return the episodes of the frozen evaluation of a run, in the order of the seeds; play them if need be."""
    home = HOME / "evaluations"
    shutil.rmtree(home, ignore_errors=True)
    flags = ("--seeds", seeds, "--upstream-rules", "--planner-model", MODEL, "--quiet", "--runs", str(home))
    run("evaluate", "--agent", str(folder), *flags)
    (file,) = home.glob("*/episodes.jsonl")
    episodes = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    return sorted(episodes, key=lambda episode: episode["seed"])


def spread_episodes(episodes: list[dict[str, Any]], count: int) -> list[dict[str, Any]]:
    """Return ``count`` of the episodes in equal distances."""
    if count >= len(episodes):
        return episodes
    return [episodes[index * len(episodes) // count] for index in range(count)]


@dataclass(slots=True)
class Comparison:
    """A policy beside a plain environment, for one evaluated episode.

    Attributes:
        start: the agent's (column, row) after the reset.
        cause: what the policy was first wrong about; "" while it is right.
    """

    policy: spca.LearnedPolicy
    env: Any
    episode: dict[str, Any]
    start: tuple[int, int] = (0, 0)
    cause: str = ""

    def find_difference(self) -> str:
        """Return the first difference from the evaluated episode; "" if there is none."""
        trial = self.episode["trials"][0]
        expected = [code for group in trial["acted"] for code in group]
        observation, info = self.reset()
        reward = 0.0
        is_over = False
        for number, code in enumerate(expected, 1):
            if is_over:
                return f"the episode is over after {number - 1} of {len(expected)} primitives"
            chosen = self.policy.act(observation, info)
            self.note_cause()
            if chosen != code:
                return f"primitive {number} is {chosen}, not {code}"
            observation, reward, terminated, truncated, info = self.env.step(chosen)
            is_over = terminated or truncated
        is_solved = is_over and reward > 0
        return "" if is_solved == (trial["status"] == "success") else "the same primitives end otherwise"

    def is_solved(self) -> bool:
        """Return whether the policy solves the episode in the end."""
        observation, info = self.reset()
        while True:
            observation, reward, terminated, truncated, info = self.env.step(self.policy.act(observation, info))
            if terminated or truncated:
                return bool(terminated and reward > 0)

    def reset(self) -> tuple[Any, Any]:
        observation, info = self.env.reset(seed=self.episode["seed"])
        self.policy.reset(observation, info, level=self.episode["env_id"])
        column, row = self.env.unwrapped.agent_pos
        self.start = (int(column), int(row))
        return observation, info

    def note_cause(self) -> None:
        """Hold what the policy knows against the simulator."""
        episode: Any = self.policy._episode  # in an observed grid
        tracker = episode.world._tracker
        simulator = self.env.unwrapped
        column, row = simulator.agent_pos
        place = (int(row) - self.start[1], int(column) - self.start[0])
        if self.cause:
            return
        if simulator.carrying is not None and tracker.inventory is None:
            self.cause = "what is in hand was not shown"
        elif tracker.position != place:
            self.cause = "it had guessed wrongly whether a step forward succeeded"


def compare_all(
    folder: Path, episodes: list[dict[str, Any]], model: str = MODEL
) -> Iterator[tuple[dict[str, Any], str, str]]:
    """Yield each episode with its difference and the cause; ``model`` is that of the evaluation."""
    with spca.load_policy(folder, model=model) as policy:
        for episode in episodes:
            with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                env: Any = gymnasium.make(episode["env_id"], disable_env_checker=True)
                with contextlib.closing(env):
                    comparison = Comparison(policy, env, episode)
                    difference = comparison.find_difference()
                    if difference:
                        how = "solved all the same" if comparison.is_solved() else "not solved"
                        difference = f"{difference}; {how}"
            yield episode, difference, comparison.cause


def name_group(env_id: str) -> str:
    """Return the row of the table in which an id counts."""
    if RESTLESS in env_id:
        return RESTLESS
    return f"PutNext*{CARRYING}" if CARRYING in env_id else OTHERS


def main() -> int:
    """Run the gate; 1 if an action differs where observations tell everything."""
    parser = gate_parser("policy", __doc__)
    parser.add_argument("--count", type=int, default=600, metavar="EPISODES")
    parser.add_argument("--seeds", default="1000:1004")
    parser.add_argument("--run", type=Path, metavar="FOLDER")
    options = parser.parse_args()
    folder = options.run or learned()
    episodes = spread_episodes(list_evaluated(folder, options.seeds), options.count)
    began = time.perf_counter()
    tallies = {name: Tally() for name in (OTHERS, RESTLESS, f"PutNext*{CARRYING}")}
    wrong: list[str] = []
    for episode, difference, cause in compare_all(folder, episodes):
        group = name_group(episode["env_id"])
        tally = tallies[group]
        tally.episodes += 1
        tally.primitives += episode["steps"]
        tally.solved += episode["pass1"]
        if difference:
            line = f"{episode['env_id']}:{episode['seed']}: {difference} ({cause or 'no cause is known'})"
            tally.different.append(line)
            if group == OTHERS or not cause:
                wrong.append(line)

    lines = ["| ids | episodes | primitives | solved by the evaluation | the policy differs |", "|---" * 5 + "|"]
    lines += [tally.describe(name) for name, tally in tallies.items()]
    lines.append(f"\n{len(episodes)} episodes, {time.perf_counter() - began:.0f} s.")
    counted = [line for name, tally in tallies.items() if name != OTHERS for line in tally.different]
    if counted:
        lines.append("Differences that are counted:\n\n" + "\n".join(f"- {line}" for line in counted))
    flags = f"--count {options.count} --seeds {options.seeds}" + " --run FOLDER" * bool(options.run)
    title = "A policy from observations alone"
    return conclude("policy", title, flags, "\n".join(lines), wrong, is_recorded=options.record)


if __name__ == "__main__":
    sys.exit(main())
