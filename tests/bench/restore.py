"""What it costs to put a world back to a checkpoint at some depth, hash included: from its snapshot, and by replay.

Meant: 5 ms at a depth of 1000. Processor time; the two alternate.
"""

from __future__ import annotations

import argparse
import random
import statistics
import time
from collections.abc import Callable, Sequence
from contextlib import closing

from minigridenv import MiniGridEnv
from tests.support.inprocess import InProcessExecutor

MEANT_MS = 5.0
WALK = (0, 1, 2, 2, 2)


def milliseconds(action: Callable[[], object]) -> float:
    started = time.process_time()
    action()
    return 1e3 * (time.process_time() - started)


def main(argv: Sequence[str] | None = None) -> int:
    """Print the medians."""
    parser = argparse.ArgumentParser(prog="scripts/bench restore", description=__doc__)
    parser.add_argument("--env", default="BabyAI-BossLevel-v0")
    parser.add_argument("--depth", type=int, default=1000)
    parser.add_argument("--pairs", type=int, default=11)
    options = parser.parse_args(argv)
    rng = random.Random(0)
    with closing(MiniGridEnv(options.env, 1, executor=InProcessExecutor())) as world:
        for _ in range(options.depth):
            world.step(rng.choice(WALK))
        checkpoint = world.checkpoint()
        restored: list[float] = []
        replayed: list[float] = []
        for _ in range(options.pairs):
            restored.append(milliseconds(lambda: world.restore(checkpoint)))
            replayed.append(milliseconds(lambda: world._replay(checkpoint)))
    print(f"{options.env}, {options.depth} primitives, {options.pairs} pairs")
    print(f"restore: median {statistics.median(restored):.2f} ms of processor time (meant: {MEANT_MS:g})")
    print(f"replay:  median {statistics.median(replayed):.2f} ms")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
