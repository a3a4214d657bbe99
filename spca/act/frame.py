"""Frames for a person who watches a recorded episode while a world replays it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from spca.contracts import LevelSpec
from spca.protocols import World


@dataclass(frozen=True, slots=True)
class Frame:
    """One picture of an episode: the simulator's truth beside what the agent knows. The agent never gets a frame.

    Grids are uint8 codes of :mod:`spca.sense.perception`'s vocabulary, rows north to south. No grid contains the
    agent's mark.

    Attributes:
        truth: grid of the whole world.
        known: the accumulated map.
        known_at: (row, column) in ``truth`` of the upper left cell of ``known``, which may reach beyond ``truth``.
        view: the present view.
        view_at: (row, column) in ``truth`` of the upper left cell of ``view``, which may reach beyond ``truth``.
        position: (row, column) of the agent in ``truth``.
        direction: index into :data:`spca.contracts.DIRECTIONS`.
    """

    truth: NDArray[np.uint8]
    known: NDArray[np.uint8]
    known_at: tuple[int, int]
    view: NDArray[np.uint8]
    view_at: tuple[int, int]
    position: tuple[int, int]
    direction: int
    inventory: str | None
    reward: float
    over: bool


@dataclass(frozen=True, slots=True)
class TextFrame:
    """One picture of an episode in a world without a grid.

    Attributes:
        rows: rows of text, as the body draws them.
        picture: the same as a PNG file; None for a world without pictures.
    """

    rows: tuple[str, ...]
    picture: bytes | None
    reward: float
    over: bool


WorldFrame: TypeAlias = Frame | TextFrame
"""One picture of an episode in any world."""


class ReplayedWorld(World, Protocol):
    """A World in which a recorded episode can be watched step by step."""

    @property
    def mission(self) -> str:
        """The task in words."""
        ...

    def step(self, code: int) -> None:
        """Execute one primitive."""
        ...

    def frame(self) -> WorldFrame: ...


class WorldMaker(Protocol):
    """Builds the world of a level and a seed, and resets the world.

    With ``upstream_rules`` the world judges as minigrid does, without corrections.
    """

    def __call__(self, level: LevelSpec, seed: int, /, *, upstream_rules: bool = False) -> ReplayedWorld: ...
