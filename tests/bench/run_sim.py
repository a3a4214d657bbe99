"""What ``run_sim`` costs beside the simulator: the same primitives as raw ``env.step`` calls, paired, in one process.

The budget is 1.5 times the raw steps on FourRooms. Both sides start from a checkpoint that was just restored (so that
caches are alike), alternate, and are measured in processor time; the figure is the median of the pairs' ratios.
"""

from __future__ import annotations

import argparse
import random
import statistics
import time
from collections.abc import Callable, Sequence
from contextlib import closing

from minigridenv import MiniGridEnv
from spca.contracts import AgentSource, Checkpoint, Outcome, Plan, PlannerMode, PlanStep
from spca.sandbox.local import LocalExecutor

BUDGET = 1.5
WALK = (0, 1, 2, 2, 2, 2)


def source(codes: Sequence[int]) -> AgentSource:
    """An agent whose one action goes through ``codes``, by way of a helper as real skills do."""
    return AgentSource(
        f"CODES = {tuple(codes)}\n\n\nclass Agent:\n    def act(self):\n        for code in CODES:\n"
        "            yield from self.once(code)\n\n    def once(self, code):\n        yield code\n"
    )


def seconds(work: Callable[[], object]) -> float:
    started = time.process_time()
    work()
    return time.process_time() - started


def pair(
    world: MiniGridEnv, start: Checkpoint, codes: Sequence[int], plan: Plan, agent: AgentSource
) -> tuple[float, float]:
    """Seconds of the raw steps and of ``run_sim``."""
    world.restore(start)
    env = world._env

    def raw() -> None:
        for code in codes:
            env.step(code)

    bare = seconds(raw)
    world.restore(start)
    outcomes: list[Outcome] = []
    full = seconds(lambda: outcomes.append(world.run_sim(plan, agent)))
    if outcomes[0].primitives != tuple(codes):
        raise SystemExit(f"the walk ended early: {outcomes[0].message}")
    return bare, full


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--env", default="MiniGrid-FourRooms-v0")
    parser.add_argument("--steps", type=int, default=95)
    parser.add_argument("--pairs", type=int, default=101)
    options = parser.parse_args(argv)
    rng = random.Random(0)
    codes = [rng.choice(WALK) for _ in range(options.steps)]
    plan, agent = Plan((PlanStep("act", ()),), "", "", (), PlannerMode.FRESH), source(codes)
    with closing(MiniGridEnv(options.env, seed=1, executor=LocalExecutor())) as world:
        start = world.checkpoint()
        pair(world, start, codes, plan, agent)
        pairs = [pair(world, start, codes, plan, agent) for _ in range(options.pairs)]
    raw, full = (statistics.median(side) / options.steps * 1e6 for side in zip(*pairs, strict=True))
    ratios = statistics.quantiles((b / a for a, b in pairs), n=10)
    print(f"{options.env}, {options.steps} primitives, {options.pairs} pairs")
    print(f"env.step {raw:.1f} us, run_sim {full:.1f} us a primitive")
    print(f"run_sim / env.step: median {ratios[4]:.3f}, tenths {ratios[0]:.3f} to {ratios[8]:.3f}; budget {BUDGET}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
