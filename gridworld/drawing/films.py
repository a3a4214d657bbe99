"""Episodes as films for pages: a frame of each step, and the tiles that they show."""

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

_WORDS: Final = tuple(map(str, LOOKS))
_OPAQUE: Final = 255


def take_frame(episode: Episode, observation: Observation) -> GridFrame:
    """Return an episode as it is now: everything, beside what the model may know, as it has just observed it."""
    column, row = observation.position
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
    """Return the looks that frames show."""
    codes: set[int] = set()
    for frame in frames:
        codes.update(np.unique((frame.truth, frame.known)).tolist())
        codes.add(_WORDS.index(frame.inventory or "unseen"))
    return codes


def draw_looks(tiling: str, codes: Collection[int]) -> Tiles:
    """Return the tiles of all looks; those whose codes are not among ``codes`` stay empty, which takes no room."""
    shape = geometry(tiling, TILE_SIZE)
    shares = shape.cover.astype(np.uint16) * 32
    opacity = np.minimum(shares, _OPAQUE).astype(np.uint8)

    def draw(code: int) -> NDArray[np.uint8]:
        image = np.dstack((stamp(tiling, TILE_SIZE, Stamp(code)), opacity))
        image[(opacity == 0) | (code not in codes)] = 0
        return image

    picture, size = draw_sheet([draw(code) for code in range(len(_WORDS))])
    return Tiles(
        picture,
        size,
        words=_WORDS,
        plain=("unseen", "floor", "wall"),
        directions=TILINGS[tiling].heading_names,
        pitch=shape.pitch / shape.width,
        high=size[1] / size[0],
        shift=shape.shift / shape.width,
    )
