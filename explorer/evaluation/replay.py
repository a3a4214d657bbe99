"""Results are claims: whoever has the scene can play their codes again and see."""

from __future__ import annotations

from typing import Final

from explorer.errors import ActionError
from explorer.evaluation.episode import Game
from explorer.evaluation.results import Episode
from explorer.files import Loaded
from explorer.worlds.protocol import World

_TOLD: Final = ("latched", "solved", "out_of_order", "certificate_refuted", "state_hash")
"""Of an episode in one life; of several lives the last alone is in its codes."""


def refuted(world: World, loaded: Loaded, episode: Episode) -> str:
    """Return what of an episode its codes do not do in one line, "" if they do all that it says.

    Args:
        world: in which they are played; it is reset.

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
    told = _TOLD if not episode.restores else ("state_hash",)
    differ = [name for name in told if getattr(again, name) != getattr(episode, name)]
    if episode.ended not in (game.over, ""):
        differ.append("ended")
    return f"{', '.join(differ)}: the codes do something else" if differ else ""
