"""What the explorer's world costs: ticks of its physics, steps with and without observation, pictures, closures.

The budgets: 60,000 ticks a second, 2,000 observed steps a second, 80 ms for a first-person picture of 320 x 240. All
sides take turns on the same scenes, in CPU time; figures are medians of the turns.
"""

from __future__ import annotations

import argparse
import random
import statistics
import time
from collections.abc import Callable, Sequence

from explorer.picture import first_person
from explorer.rules.actions import Primitive
from explorer.scene import Scene
from explorer.solver.closure import Arena, closure
from explorer.worlds.body import Body, Solids
from explorer.worlds.voxel import VoxelWorld
from tests.support.explorer.scenes import emerald, handle, moat, plug

MOVES = (*(Primitive.FORWARD,) * 4, *Primitive.__members__.values())
TICKS, STEPS, BUMPS = 20_000, 1_000, 10


def ticks(scene: Scene) -> float:
    """Ticks a second of a body that is driven at random."""
    rng, body = random.Random(0), Body(Solids(scene.blocks), scene.spawn.cell)
    drives = [(rng.randrange(64), rng.uniform(0, 360)) for _ in range(TICKS // BUMPS)]
    started = time.process_time()
    for keys, yaw in drives:
        for _ in range(BUMPS):
            body.tick(keys, yaw)
    return TICKS / (time.process_time() - started)


def steps(scene: Scene, *, observe: bool) -> float:
    """Steps a second of a random walk; the view is asked for after each if ``observe``."""
    rng, world = random.Random(0), VoxelWorld(observe=observe)
    moves = [rng.choice(MOVES) for _ in range(STEPS)]
    world.reset(scene)
    spent = 0.0
    for move in moves:
        if move == Primitive.DONE:
            continue
        started = time.process_time()
        world.step(move)
        if observe:
            world.view()
        spent += time.process_time() - started
        if world.state().over:
            world.reset(scene)
    return STEPS / spent


def milliseconds(draw: Callable[[], object]) -> float:
    """Of one call, the second one: textures and tables are made by the first."""
    draw()
    started = time.process_time()
    draw()
    return 1e3 * (time.process_time() - started)


def figures(scene: Scene) -> dict[str, float]:
    """Return every figure of a scene once."""
    world = VoxelWorld()
    view = world.reset(scene)
    return {
        "physics, ticks/s": ticks(scene),
        "steps/s with observation": steps(scene, observe=True),
        "steps/s without": steps(scene, observe=False),
        "first person 320 x 240, ms": milliseconds(lambda: first_person.render(view.known, view.pose, view.things)),
        "closure, ms": milliseconds(lambda: closure(Arena(scene))),
    }


def main(argv: Sequence[str] | None = None) -> int:
    """Print a line for every figure."""
    parser = argparse.ArgumentParser(prog="scripts/bench explorer", description=__doc__)
    parser.add_argument("--turns", type=int, default=5)
    options = parser.parse_args(argv)
    scenes = [puzzle().scene for puzzle in (emerald, moat, plug, handle)]
    turns = [figures(scene) for _ in range(options.turns) for scene in scenes]
    print(f"{len(scenes)} scenes, {options.turns} turns: median (least to most)")
    for name in turns[0]:
        values = [turn[name] for turn in turns]
        print(f"{name:28} {statistics.median(values):12,.1f} ({min(values):,.1f} to {max(values):,.1f})")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
