"""Films of episodes for HTML pages: one frame for each step, and the tiles of the looks in the frames.

A look is the visible kind, colour and state of a cell; its code is its index in ``LOOKS``.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Final

import numpy as np
from numpy.typing import NDArray

from gridworld.drawing.episodes import reveal_codes
from gridworld.drawing.picturing import TILE_SIZE
from gridworld.drawing.stamps import Stamp, geometry, stamp
from gridworld.rules.episode import Episode
from gridworld.rules.observation import LOOKS, Look, Observation
from gridworld.rules.tilings import TILINGS
from spca.common.web.films import GridFrame, Tiles, draw_sheet

_LOOK_NAMES: Final = tuple(map(str, LOOKS))
"""Name of each look, by code."""
_OPAQUE: Final = 255


def take_frame(episode: Episode, observation: Observation) -> GridFrame:
    """Return a frame with the present state of an episode.

    Args:
        episode: the episode, which supplies the true codes and the reward.
        observation: the model's present observation of the episode.
    """
    column, row = observation.position
    # With full observability, no cell is marked as in view, because every cell is.
    is_limited = episode.layout.spec.rules.observability != "full"
    carried = observation.carrying
    return GridFrame(
        truth=reveal_codes(episode),
        known=observation.codes,
        view=observation.visible & is_limited,
        agent=(row, column, observation.heading),
        inventory=str(Look("key", carried)) if carried else None,
        reward=episode.reward,
    )


def list_codes(frames: Iterable[GridFrame]) -> set[int]:
    """Return the codes of all looks in frames, including the look of the key that the agent carries."""
    codes: set[int] = set()
    for frame in frames:
        codes.update(np.unique((frame.truth, frame.known)).tolist())
        codes.add(_LOOK_NAMES.index(frame.inventory or "unseen"))
    return codes


def draw_looks(tiling: str, codes: Collection[int]) -> Tiles:
    """Return the tiles of all looks.

    Tiles of looks whose code is not in ``codes`` are transparent, which keeps the picture small.
    """
    shape = geometry(tiling, TILE_SIZE)
    # Cover is in eighths of a pixel: 8 * 32 is 256, which is cut to 255.
    shares = shape.cover.astype(np.uint16) * 32
    opacity = np.minimum(shares, _OPAQUE).astype(np.uint8)

    def draw(code: int) -> NDArray[np.uint8]:
        """Return the tile of a look as RGBA. All values are 0 if ``codes`` does not hold the code."""
        image = np.dstack((stamp(tiling, TILE_SIZE, Stamp(code)), opacity))
        image[(opacity == 0) | (code not in codes)] = 0
        return image

    picture, size = draw_sheet([draw(code) for code in range(len(_LOOK_NAMES))])
    tile_width, tile_height = size
    return Tiles(
        picture,
        size,
        words=_LOOK_NAMES,
        plain=("unseen", "floor", "wall"),
        directions=TILINGS[tiling].heading_names,
        pitch=shape.pitch / shape.width,
        high=tile_height / tile_width,
        shift=shape.shift / shape.width,
    )
