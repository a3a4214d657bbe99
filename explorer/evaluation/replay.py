"""Verify results: play an episode's codes again in its scene, and compare."""

from __future__ import annotations

from typing import Final

from explorer.errors import ActionError
from explorer.evaluation.episode import Game
from explorer.evaluation.results import Episode
from explorer.files import Loaded
from explorer.worlds.voxel import VoxelWorld

_COMPARED: Final = ("latched", "solved", "out_of_order", "certificate_refuted", "state_hash")
"""Fields to compare for an episode in one life; the codes of several lives hold only the last one."""


def refuted(world: VoxelWorld, loaded: Loaded, episode: Episode) -> str:
    """Return in one line how an episode differs from the play of its codes, or "".

    Args:
        world: the world to play in; it is reset.

    Raises:
        SceneError: the world cannot build the scene.
    """
    spent = episode.ended == "max_steps"
    game = Game(world, loaded, len(episode.codes) + (not spent))
    for step, code in enumerate(episode.codes, start=1):
        try:
            game.step(code)
        except ActionError as error:
            return f"step {step}: {error}"
    again = game.episode(episode.model)
    compared = _COMPARED if not episode.restores else ("state_hash",)
    differ = [name for name in compared if getattr(again, name) != getattr(episode, name)]
    if episode.ended not in (game.over, ""):
        differ.append("ended")
    return f"{', '.join(differ)}: the codes do something else" if differ else ""
