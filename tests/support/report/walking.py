"""Frames to paint."""

from __future__ import annotations

from contextlib import closing

from minigridenv import MiniGridEnv
from spca.act.frame import Frame


def walked(env_id: str, codes: tuple[int, ...], seed: int = 1) -> list[Frame]:
    """A walk from the reset on, frame by frame."""
    with closing(MiniGridEnv(env_id, seed)) as world:
        frames = [world.frame()]
        for code in codes:
            world.step(code)
            frames.append(world.frame())
    return frames
