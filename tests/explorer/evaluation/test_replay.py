"""What an episode says of itself is what its codes do."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

import pytest

from explorer.agents.random_agent import RandomAgent
from explorer.errors import ActionError
from explorer.evaluation.episode import Game, play
from explorer.evaluation.results import Episode
from explorer.files import Loaded
from explorer.rules.actions import Primitive
from explorer.worlds.voxel import VoxelWorld
from tests.support.explorer.told import EMERALD, told

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


def won() -> Episode:
    game = Game(VoxelWorld(), told())
    for code in EMERALD:
        game.step(code)
    return game.episode("a person")


@pytest.mark.parametrize("seed", range(3))
def test_every_episode_can_be_played_again(seed: int) -> None:
    episode = play(VoxelWorld(), told(), RandomAgent(), "random", seed=seed, max_steps=60)
    assert refuted(VoxelWorld(), told(), episode) == ""


def test_an_episode_that_won_or_was_given_up() -> None:
    assert refuted(VoxelWorld(), told(), won()) == ""
    game = Game(VoxelWorld(), told())
    game.step(Primitive.FORWARD)
    assert refuted(VoxelWorld(), told(), game.episode("a person", error="left")) == ""
    game.step(Primitive.DONE)
    assert refuted(VoxelWorld(), told(), game.episode("a person")) == ""


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"latched": {"emerald": 1}}, "latched: the codes do something else"),
        ({"solved": False}, "solved: the codes"),
        ({"state_hash": "0" * 64}, "state_hash: the codes"),
        ({"ended": "lava"}, "ended: the codes"),
        ({"out_of_order": (("behind_the_door", "emerald"),)}, "out_of_order: the codes"),
        ({"codes": EMERALD[:-1]}, "latched, solved, state_hash, ended: the codes"),
        ({"codes": (*EMERALD, 1)}, "step 21: the episode is over: goal"),
        ({"codes": (99,)}, "step 1: code 99 is not a primitive"),
    ],
)
def test_what_codes_do_not_do_is_named(changes: dict[str, Any], words: str) -> None:
    assert words in refuted(VoxelWorld(), told(), replace(won(), **changes))


def test_of_several_lives_only_the_last_state_is_known() -> None:
    episode = replace(won(), restores=1, latched={"behind_the_door": 2, "emerald": 90}, steps=90)
    assert refuted(VoxelWorld(), told(), episode) == ""
    assert "state_hash" in refuted(VoxelWorld(), told(), replace(episode, state_hash="0" * 64))
