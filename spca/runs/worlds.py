"""The function that builds the world of any level: MiniGrid's world, or one that a plugin has registered."""

from __future__ import annotations

from spca.contracts import LevelSpec
from spca.plugins.registry import MINIGRID, find_world
from spca.protocols import Executor
from spca.runs.phases import PlayedWorld, PlayedWorldMaker
from spca.sandbox.executor import default_executor
from spca.sense.renaming import TRUE_WORDS, Renaming


def dispatch_worlds(make_minigrid: PlayedWorldMaker) -> PlayedWorldMaker:
    """Return a function that builds the world of any level.

    Args:
        make_minigrid: builds the levels of the built-in world; only this world can be rendered in a window and judged
            by the rules of its simulator.
    """

    def make_world(
        level: LevelSpec,
        seed: int,
        /,
        *,
        render: bool = False,
        executor: Executor | None = None,
        upstream_rules: bool = False,
        renaming: Renaming = TRUE_WORDS,
    ) -> PlayedWorld:
        registered = find_world(level.world or MINIGRID)
        if registered is None:
            return make_minigrid(
                level, seed, render=render, executor=executor, upstream_rules=upstream_rules, renaming=renaming
            )
        world = registered.make(level, seed, executor or default_executor())
        world.renaming = renaming
        return world

    return make_world
