"""The function that builds the world of any level: MiniGrid's world, or one that a plugin has registered."""

from __future__ import annotations

from typing import Final

from spca.common.errors import SPCAError
from spca.common.text import one_line
from spca.contracts import LevelSpec
from spca.errors import WorldError
from spca.plugins.registry import MINIGRID, RegisteredWorld, find_world
from spca.protocols import Executor, PluginWorld
from spca.runs.phases import PlayedWorld, PlayedWorldMaker
from spca.sandbox.executor import default_executor
from spca.sense.renaming import TRUE_WORDS, Renaming

_MAX_CAUSE: Final = 300
"""Maximum number of characters of a plugin's error in a message."""


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
        world = _make_registered(registered, level, seed, executor or default_executor())
        world.renaming = renaming
        return world

    return make_world


def _make_registered(registered: RegisteredWorld, level: LevelSpec, seed: int, executor: Executor) -> PluginWorld:
    """Build a world of a plugin.

    Raises:
        WorldError: the plugin raises an error or returns no world.
    """
    try:
        world = registered.make(level, seed, executor)
    except SPCAError:
        raise
    except (Exception, SystemExit) as error:  # boundary: a plugin may raise anything
        cause = one_line(f"{type(error).__name__}: {error}")
        raise WorldError(f"{level.name}: the world {registered.name} cannot be made: {cause[:_MAX_CAUSE]}") from error
    if not callable(getattr(world, "run_sim", None)):
        kind = type(world).__name__
        raise WorldError(f"{level.name}: the world {registered.name} is no world: {registered.origin} made {kind}")
    return world
