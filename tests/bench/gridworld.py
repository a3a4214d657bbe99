"""What a step of a gridworld task costs on each backend, with and without a picture, paired, in one run.

The budgets are about 0.5 ms on MiniGrid and 0.1 ms on MultiGrid (square) for a step that renders nothing: transition,
what is seen, observation, state. All sides play the same random walk in turn; figures are those of one step.
"""

from __future__ import annotations

import argparse
import random
import statistics
import time
from collections.abc import Sequence

from gridworld.backends import get_backend
from gridworld.backends.base import AbstractGridBackend
from gridworld.library import resolve
from gridworld.task_spec import TaskSpecification

BUDGETS = {"minigrid": 0.5, "multigrid": 0.1}
WALK = (0, 1, 2, 2, 2, 2, 3, 4, 5)


def milliseconds(backend: AbstractGridBackend, actions: Sequence[int]) -> float:
    """Of a step, on average, in a walk from the start; beginning again after an end is not counted."""
    backend.reset()
    spent = 0.0
    for action in actions:
        started = time.perf_counter()
        done = backend.step(action)
        spent += time.perf_counter() - started
        if done[2] or done[3]:
            backend.reset()
    return 1e3 * spent / len(actions)


def main(argv: Sequence[str] | None = None) -> int:
    """Print a line for every backend, observability and kind of observation."""
    parser = argparse.ArgumentParser(prog="scripts/bench gridworld", description=__doc__)
    parser.add_argument("--task", default="mazes/validation_10/V10_distractor_chain.json")
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--pairs", type=int, default=25)
    options = parser.parse_args(argv)
    spec = TaskSpecification.from_json(resolve(options.task))
    rng = random.Random(0)
    actions = [rng.choice(WALK) for _ in range(options.steps)]
    print(
        f"{spec.task_id}, {spec.maze.dimensions[0]} x {spec.maze.dimensions[1]}, {options.steps} steps, "
        f"{options.pairs} pairs"
    )
    for observability in ("full", "view_cone", "fog_of_war"):
        compare(spec, observability, actions, options.pairs)
    return 0


def compare(spec: TaskSpecification, observability: str, actions: Sequence[int], pairs: int) -> None:
    """Print the figures of one observability."""
    data = spec.to_dict()
    data["rules"] |= {"observability": observability}
    sides = {(name, mode): get_backend(name, render_mode=mode) for name in BUDGETS for mode in (None, "rgb_array")}
    found: dict[tuple[str, str | None], list[float]] = {side: [] for side in sides}
    for backend in sides.values():
        backend.configure(TaskSpecification.from_dict(data))
        milliseconds(backend, actions)
    for _ in range(pairs):
        for side, backend in sides.items():
            found[side].append(milliseconds(backend, actions))
    for (name, mode), figures in found.items():
        tenths = statistics.quantiles(figures, n=10)
        budget = "" if mode else f"; budget {BUDGETS[name]}"
        kind = "rendered" if mode else "bare"
        print(
            f"{observability} {name} {kind}: median {tenths[4]:.3f} ms, "
            f"tenths {tenths[0]:.3f} to {tenths[8]:.3f}{budget}"
        )


if __name__ == "__main__":
    raise SystemExit(main())
