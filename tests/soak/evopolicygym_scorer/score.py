"""Scores a program with EvoPolicyGym: ``PYTHON score.py PROGRAM EPISODES`` prints a JSON line for each benchmark.

It runs in the harness's own Python, and knows nothing of this project.
"""

from __future__ import annotations

import json
import sys
import time
from importlib import import_module
from typing import Any

EPISODE_SECONDS = 120
PROFILES = (
    ("minigrid_keycorridor", "KeyCorridor", "S4R3"),
    ("minigrid_doorkey", "DoorKey", "16x16"),
    ("minigrid_four_rooms", "FourRooms", ""),
    ("minigrid_obstructed_maze", "ObstructedMaze", "1Q-v1"),
    *(
        ("minigrid_babyai", "BabyAI", profile)
        for profile in (
            "GoToLocal",
            "GoToDoor",
            "OpenDoor",
            "OpenDoorsOrder",
            "PickupLoc",
            "PutNextLocal",
            "UnlockPickup",
            "KeyInBox",
            "Synth",
            "BossLevel",
        )
    ),
)


def make_benchmark(module: str, family: str, profile: str) -> Any:
    """Return a benchmark of the harness."""
    found = import_module(module)
    make = getattr(found, f"{family}Benchmark")
    return make(getattr(found, f"{family}Config")(profile=profile)) if profile else make()


def find_seed(benchmark: Any, count: int) -> int:
    """Return the first seed of which the harness accepts every episode.

    It refuses an episode of BabyAI whose horizon is longer than the profile says.
    """
    for seed in range(1000):
        try:
            for episode in benchmark.episodes("test", seed=seed, count=count):
                environment = benchmark.make_environment(episode)
                environment.reset()
                environment.close()
        except RuntimeError:
            continue
        return seed
    raise RuntimeError("no seed will do")


def main() -> None:
    """Score all benchmarks."""
    harness = import_module("evopolicygym")
    execution = import_module("evopolicygym.execution").ProcessExecution.unsafe()
    program = harness.Program.from_directory(sys.argv[1])
    count = int(sys.argv[2])
    for module, family, profile in PROFILES:
        benchmark = make_benchmark(module, family, profile)
        seed = find_seed(benchmark, count)
        config = harness.EvaluationConfig(
            split="test", episodes=count, seed=seed, episode_timeout_seconds=EPISODE_SECONDS
        )
        began = time.perf_counter()
        result = harness.evaluate(program, benchmark, execution=execution, config=config)
        seconds = time.perf_counter() - began
        spec = benchmark.spec
        env_id = spec.metadata["environment"]
        limit = {"max_steps": spec.max_episode_steps} if family == "FourRooms" else {}
        scored = {
            "name": f"{family} {profile}".strip(),
            "env_id": env_id,
            "kwargs": limit,
            "score": result.feedback.score,
            "seeds": [each.environment_seed for each in benchmark.episodes("test", seed=seed, count=count)],
            "episodes": [[each.reward, each.steps] for each in result.episodes],
            "failures": [each.failure for each in result.episodes if each.failure],
            "seconds": seconds,
        }
        print(json.dumps(scored), flush=True)


if __name__ == "__main__":
    main()
