"""What ``run_sim`` costs beside the simulator: the same primitives as raw ``env.step`` calls, paired, in one run.

Budgets on FourRooms: 1.2 times the raw steps for mapping and the rest (*wrapped*: generated code in this process, no
sandbox), 1.45 times with the worker (*sandboxed*). Raw is the environment as minigrid makes it. All sides start from
the same state, alternate, and are measured in wall time, because a worker costs waiting; figures are medians of the
pairs. What a worker costs once is told apart: its start until the first primitive is there (about 10 ms at most), and
its end. The last line is of the body of a plugin, whose state travels as values: a vending machine, of which a step
costs next to nothing.
"""

from __future__ import annotations

import argparse
import random
import statistics
import time
from collections.abc import Sequence
from contextlib import closing

import gymnasium

from minigridenv import MiniGridEnv
from spca.act.plan_execution import PlanExecution
from spca.act.stuck import StuckDetector
from spca.act.world import ActingWorld
from spca.bodies.grid.body import GRID
from spca.contracts import AgentSource, AgentView, Checkpoint, LevelSpec, Plan, PlannerMode, PlanStep
from spca.plugins.registry import find_world
from spca.protocols import Episode, Executor
from spca.sandbox.executor import SandboxExecutor
from tests.redteam.stages import make_machine_stage
from tests.support.contracts.executing import Event
from tests.support.inprocess import InProcessExecutor

MACHINE = "MyLab/Vending-v0"
BUDGETS = {"wrapped": 1.2, "sandboxed": 1.45}
WALK = (0, 1, 2, 2, 2, 2)


def source(codes: Sequence[int]) -> AgentSource:
    """An agent whose one action goes through ``codes``, by way of a helper as real skills do."""
    return AgentSource(
        f"CODES = {tuple(codes)}\n\n\nclass Agent:\n    def act(self):\n        for code in CODES:\n"
        "            yield from self.once(code)\n\n    def once(self, code):\n        yield code\n"
    )


class Track:
    """A world with a walk to go, from the same checkpoint every time, beside its bare environment."""

    def __init__(self, world: ActingWorld, env_id: str, codes: Sequence[int]) -> None:
        self._world = world
        self._codes, self._plan = codes, Plan((PlanStep("act", ()),), "", "", (), PlannerMode.FRESH)
        self._agent = source(codes)
        self._start: Checkpoint = self._world.checkpoint()
        self._bare = gymnasium.make(env_id, disable_env_checker=True)

    @classmethod
    def on_grid(cls, env_id: str, codes: Sequence[int], executor: Executor) -> Track:
        return cls(MiniGridEnv(env_id, seed=1, executor=executor), env_id, codes)

    @classmethod
    def on_machine(cls, codes: Sequence[int], executor: Executor) -> Track:
        make_machine_stage()  # loads the plugin
        registered = find_world("vending")
        assert registered is not None
        world = registered.make(LevelSpec(MACHINE), 1, executor)
        assert isinstance(world, ActingWorld)
        return cls(world, MACHINE, codes)

    def raw(self) -> float:
        """Seconds of the bare steps."""
        env = self._bare
        env.reset(seed=1)
        started = time.perf_counter()
        for code in self._codes:
            env.step(code)
        return time.perf_counter() - started

    def run_sim(self) -> float:
        """Seconds of the same steps by an agent; start and end of its worker, if any, are not among them."""
        self._world.restore(self._start)
        with closing(self._world._executor.start(self._agent, self._plan.steps, (), self._world.body)) as episode:
            first = Begun(episode, episode.advance(self._world._agent_view()))
            body = self._world.body
            begun = PlanExecution(first, StuckDetector(self._world.patience, body.budgets.repeats, body.progress))
            started = time.perf_counter()
            outcome = self._world._carry_out(self._plan, begun)
            took = time.perf_counter() - started
        if outcome.primitives != tuple(self._codes):
            raise SystemExit(f"the walk ended early: {outcome.message}")
        return took

    def view(self) -> AgentView:
        return self._world._agent_view()

    def close(self) -> None:
        self._world.close()


class Begun:
    """An episode whose first answer has come already."""

    def __init__(self, episode: Episode, first: Event) -> None:
        self._episode, self._first = episode, [first]

    @property
    def printed(self) -> str:
        return self._episode.printed

    def advance(self, view: AgentView) -> Event:
        return self._first.pop() if self._first else self._episode.advance(view)

    def close(self) -> None:
        self._episode.close()


def lives(track: Track, executor: SandboxExecutor, count: int) -> tuple[list[float], list[float]]:
    """Milliseconds until a worker has been forked, locked in, confirmed and has answered, and those of its end."""
    view, begun, ended = track.view(), [], []
    for _ in range(count):
        started = time.perf_counter()
        episode = executor.start(source(WALK), [PlanStep("act", ())], (), GRID)
        episode.advance(view)
        answered = time.perf_counter()
        episode.close()
        begun.append(1e3 * (answered - started))
        ended.append(1e3 * (time.perf_counter() - answered))
    return begun, ended


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--env", default="MiniGrid-FourRooms-v0")
    parser.add_argument("--steps", type=int, default=95)
    parser.add_argument("--pairs", type=int, default=101)
    options = parser.parse_args(argv)
    rng = random.Random(0)
    codes = [rng.choice(WALK) for _ in range(options.steps)]
    with (
        SandboxExecutor() as executor,
        closing(Track.on_grid(options.env, codes, InProcessExecutor())) as wrapped,
        closing(Track.on_grid(options.env, codes, executor)) as sandboxed,
        closing(Track.on_machine([code % 2 * 2 for code in range(options.steps)], executor)) as machine,
    ):
        level = executor.verify()
        ratios: dict[str, list[float]] = {"wrapped": [], "sandboxed": []}
        steps: list[float] = []
        for _ in range(options.pairs):
            for name, track in (("wrapped", wrapped), ("sandboxed", sandboxed)):
                bare = track.raw()
                ratios[name].append(track.run_sim() / bare)
                steps.append(bare / options.steps * 1e6)
        pairs = [(machine.raw(), machine.run_sim()) for _ in range(options.pairs)]
        begun, ended = lives(sandboxed, executor, options.pairs)
    print(f"{options.env}, {options.steps} primitives, {options.pairs} pairs, sandbox {level}")
    print(f"env.step {statistics.median(steps):.1f} us")
    for name, found in ratios.items():
        tenths = statistics.quantiles(found, n=10)
        spread = f"tenths {tenths[0]:.3f} to {tenths[8]:.3f}"
        print(f"{name} / env.step: median {tenths[4]:.3f}, {spread}; budget {BUDGETS[name]}")
    raw, sold = (statistics.median(seconds) / options.steps * 1e6 for seconds in zip(*pairs, strict=True))
    print(f"machine, sandboxed: {sold:.1f} us a primitive, env.step {raw:.1f} us")
    for name, taken, budget in (("start", begun, "; budget about 10"), ("end", ended, "")):
        tenths = statistics.quantiles(taken, n=10)
        print(f"worker {name}: median {tenths[4]:.1f} ms, tenths {tenths[0]:.1f} to {tenths[8]:.1f}{budget}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
