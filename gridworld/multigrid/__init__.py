"""MultiGrid: a grid world on several tilings, with its own numbers for actions.

::

    from gridworld.multigrid import Action, MultiGridWorld

    world = MultiGridWorld(spec, tiling="hex")
    world.step(Action.FORWARD)
    print(world.state.agent_position, world.observe().text())
"""

from __future__ import annotations

from gridworld.multigrid.agent import Action
from gridworld.multigrid.world import MultiGridWorld

__all__ = ["Action", "MultiGridWorld"]
