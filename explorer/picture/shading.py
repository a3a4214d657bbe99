"""Shade what rays hit: textures by distance, faces, corners, fog, and pictures that turn to the eye."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from explorer.picture.raycasting import HIT, LOST, PASSED, THROUGH, Camera, Floats, Hits, Integers, march
from explorer.picture.textures import SIDE, Shape, has_shape, load_atlas, number_faces
from explorer.rules.blocks import AIR, BLOCKS
from explorer.scene import Cell

FOG: Final = (0.105, 0.125, 0.165)
"""Colour of unknown and distant cells: red, green and blue from 0 to 1."""
HAZE: Final = 0.028
"""Density of the fog per metre."""
_LIGHT: Final = np.array([0.8, 0.8, 0.64, 1.0, 0.9, 0.9], dtype=np.float32)
"""Light on the faces west, east, bottom, top, north, south."""
_CORNER: Final = 0.15
"""Light that a cube beside a face takes from the face's corner."""
_LEVELS: Final = 4
"""Levels of detail; each has half the pixels of the one before."""
_THIN: Final = 0.06
"""Distance in metres of sheets from the side of their cell."""
_EDGE: Final = 0.03
"""Width of the bright edge of the target."""
_BRIGHT: Final = (1.0, 0.86, 0.3)
_STEEP: Final = 0.15
"""Least slope to a face in the choice of its detail."""
_SHOWN: Final = 0.5
"""Alpha from which something hides what is behind it."""
_TILTS: Final = 0.75
"""Rise of the camera's forward vector from which on pictures lean back."""
_NEAR: Final = 0.05
"""Nothing is drawn within this many metres of the eye."""
_GLOWING: Final = "lava fire soul_fire glowstone sea_lantern shroomlight jack_o_lantern magma_block"

Layer = tuple[Floats, Floats, Floats]
"""Colours ``[3, n]``, alpha and distance of some rays."""


@dataclass(frozen=True, slots=True)
class Standing:
    """An item or mob in a cell: a picture of ``size`` metres that turns to the eye."""

    kind: str
    cell: Cell
    size: float


@dataclass(frozen=True, slots=True, eq=False)
class Picture:
    """A picture with its depth.

    Attributes:
        colours: from 0 to 1, ``[height, width, 3]``.
        far: distance along the camera's forward vector; infinite where nothing is known.
    """

    colours: Floats
    far: Floats


@cache
def _classify_blocks() -> NDArray[np.uint8]:
    """Return a table by code of block: what it does to a ray."""
    whole = load_atlas().tiles[..., 3].min(axis=(1, 2)) == 255
    kinds = np.full(len(BLOCKS), THROUGH, dtype=np.uint8)
    kinds[has_shape("none")] = PASSED
    kinds[has_shape("unseen")] = LOST
    kinds[has_shape("cube") & whole[number_faces()[0]]] = HIT
    return kinds


@cache
def _find_glowing() -> NDArray[np.bool_]:
    """Return a table by code of block: whether it glows."""
    glowing = _GLOWING.split()
    return np.array([block.name in glowing for block in BLOCKS])


@cache
def _detail_tiles() -> Floats:
    """Return colours and alpha of all tiles, ``[levels * tiles * 256, 4]``; all levels have as many pixels."""
    exact: Floats = load_atlas().tiles.astype(np.float32) / np.float32(255)
    return np.concatenate([_coarser(exact, 2**level) for level in range(_LEVELS)]).reshape(-1, 4)


def _coarser(tiles: Floats, size: int) -> Floats:
    """Return tiles in which each square of ``size`` pixels has one colour, the mean of those that are not clear."""
    squares = tiles.reshape(len(tiles), SIDE // size, size, SIDE // size, size, 4)
    alpha = squares[..., 3:].mean(axis=(2, 4), keepdims=True)
    colour = (squares[..., :3] * squares[..., 3:]).mean(axis=(2, 4), keepdims=True) / np.maximum(alpha, 1e-6)
    return np.broadcast_to(np.concatenate([colour, alpha], axis=-1), squares.shape).reshape(tiles.shape)


class Shading:
    """A picture being shaded; colours are ``[3, n]``, red, green and blue from 0 to 1.

    Args:
        blocks: codes ``[y, z, x]``; 0 and everything around the array is unknown.
        size: width and height in pixels.
        standing: items and mobs; of two in a cell, the last one is drawn.
        target: a cell to draw with bright edges.
        haze: density of the fog per metre.
    """

    def __init__(
        self,
        blocks: NDArray[np.uint16],
        camera: Camera,
        size: tuple[int, int],
        standing: Iterable[Standing],
        target: Cell | None = None,
        haze: float = HAZE,
    ) -> None:
        codes = np.pad(blocks, 1)
        self._shape = codes.shape
        self._strides = np.array([1, codes.shape[1] * codes.shape[2], codes.shape[2]], dtype=np.int32)
        self._codes = codes.ravel()
        self._kinds = _classify_blocks()[self._codes]
        self._solid = (self._kinds == HIT).astype(np.float32)
        self._camera = camera
        self._size = size
        self._eye = np.array(camera.eye, dtype=np.float32)[:, None]
        self._rays = camera.rays(*size)
        self._texel = np.float32(camera.tall * 2 / size[1] * SIDE)
        self._haze = np.float32(haze)
        self._target = -1 if target is None else self._index(target)
        self._standing = {self._index(cell): each for each in standing for cell in _filled(each)}
        for index in self._standing:
            if self._kinds[index] == PASSED:
                self._kinds[index] = THROUGH

    def picture(self) -> Picture:
        """Return what the camera sees."""
        width, height = self._size
        colours = np.zeros((3, width * height), dtype=np.float32)
        left = np.ones(width * height, dtype=np.float32)
        far = np.full(width * height, np.inf, dtype=np.float32)
        cubes = []
        for hits in march(self._kinds.reshape(self._shape), self._camera.eye, self._rays):
            opaque = self._kinds[hits.cells] == HIT
            cubes.append(hits.take(opaque))
            if not opaque.all():
                through = hits.take(~opaque)
                self._lay(through, self._through(through), colours, left, far)
        if cubes:
            ends = Hits(*(np.concatenate([getattr(each, name) for each in cubes]) for name in Hits.__slots__))
            self._lay(ends, self._cubes(ends), colours, left, far)
        rise = self._rays[1] / np.sqrt(np.square(self._rays).sum(axis=0))
        colours += np.array(FOG, dtype=np.float32)[:, None] * (left * (1 + 0.35 * rise))
        return Picture(np.clip(colours, 0, 1).T.reshape(height, width, 3), far.reshape(height, width))

    def _lay(self, hits: Hits, shaded: Layer, colours: Floats, left: Floats, far: Floats) -> None:
        """Blend colours, alpha and distances of hits over what is behind them, with fog in front."""
        colour, alpha, distance = shaded
        rays = self._rays[:, hits.rays]
        clear = np.exp(-self._haze * distance * np.sqrt(np.square(rays).sum(axis=0)))
        share = alpha * left[hits.rays]
        fog = np.array(FOG, dtype=np.float32)[:, None]
        colours[:, hits.rays] += share * (fog + clear * (colour - fog))
        left[hits.rays] -= share
        shown = alpha > _SHOWN
        far[hits.rays[shown]] = np.minimum(far[hits.rays[shown]], distance[shown])

    def _cubes(self, hits: Hits) -> Layer:
        """Shade faces of cubes: texture, light, darker corners, and the edges of the target."""
        rays = self._rays[:, hits.rays]
        axes = hits.axes
        at = self._eye + hits.far * rays
        at -= np.floor(at)
        level = axes == 1
        u = np.where(axes == 0, at[2], at[0])
        v = np.where(level, at[2], at[1])
        along = np.choose(axes, rays)
        positive = along < 0
        codes = self._codes[hits.cells]
        tile = number_faces()[np.where(level, 1 + positive, 0), codes]
        slope = np.maximum(np.abs(along) / np.sqrt(np.square(rays).sum(axis=0)), _STEEP)
        texels = self._texels(tile, u, np.where(level, v, 1 - v), hits.far / slope)
        light = _LIGHT[2 * axes + positive] * (1 - _CORNER * self._corners(hits, positive, u, v))
        light = np.where(_find_glowing()[codes], 1.1, light)
        colour = texels[:3] * light
        chosen = hits.cells == self._target
        if chosen.any():
            rim = np.minimum(np.minimum(u, 1 - u), np.minimum(v, 1 - v)) < _EDGE
            colour[:, chosen & rim] = np.array(_BRIGHT, dtype=np.float32)[:, None]
        return colour, texels[3], hits.far

    def _corners(self, hits: Hits, positive: NDArray[np.bool_], u: Floats, v: Floats) -> Floats:
        """Return the number of cubes around the nearest corner of each face, 0 to 3, interpolated over the face."""
        across, up, along = self._strides
        before = hits.cells + np.where(positive, 1, -1).astype(np.int32) * self._strides[hits.axes]
        aside = np.array([along, across, across], dtype=np.int32)[hits.axes]
        above = np.array([up, along, up], dtype=np.int32)[hits.axes]

        def solid(cells: Integers) -> Floats:
            found: Floats = self._solid.take(cells, mode="clip")
            return found

        left, right, low, high = (solid(before + step) for step in (-aside, aside, -above, above))
        low_left = left + low + np.maximum(left * low, solid(before - aside - above))
        low_right = right + low + np.maximum(right * low, solid(before + aside - above))
        high_left = left + high + np.maximum(left * high, solid(before - aside + above))
        high_right = right + high + np.maximum(right * high, solid(before + aside + above))
        below = low_left + u * (low_right - low_left)
        dim: Floats = below + v * (high_left + u * (high_right - high_left) - below)
        return dim

    def _texels(self, tiles: Integers, u: Floats, down: Floats, far: Floats) -> Floats:
        """Return colours and alpha ``[4, n]`` at points of tiles, in a detail chosen by ``far``."""
        detailed = _detail_tiles()
        level = np.clip(np.log2(np.maximum(far * self._texel, 1e-3)) + 0.3, 0, _LEVELS - 1).astype(np.int32)
        row, column = (np.clip(part * SIDE, 0, SIDE - 1).astype(np.int32) for part in (down, u))
        count = len(detailed) // (_LEVELS * SIDE * SIDE)
        texels: Floats = detailed[((level * count + tiles) * SIDE + row) * SIDE + column].T
        return texels

    def _through(self, hits: Hits) -> Layer:
        """Shade cells that let rays through: panes, liquids, plants, sheets, items, mobs."""
        codes = self._codes[hits.cells]
        colour = np.zeros((3, len(codes)), np.float32)
        alpha = np.zeros(len(codes), np.float32)
        far = hits.far.copy()

        def put(which: NDArray[np.bool_], shaded: Layer) -> None:
            colour[:, which], alpha[which], far[which] = shaded

        cubes = has_shape("cube", "none", "unseen")[codes] & (codes != AIR)
        if cubes.any():
            panes = hits.take(cubes)
            faces = self._cubes(panes)
            # There is no face between two cells of water.
            steps = np.where(np.choose(panes.axes, self._rays[:, panes.rays]) > 0, 1, -1) * self._strides[panes.axes]
            put(cubes, (faces[0], faces[1] * (self._codes[panes.cells - steps] != codes[cubes]), faces[2]))
        shaders: dict[Shape, Callable[[Hits, Integers], Layer]] = {
            "upright": self._uprights,
            "flat": self._sheets,
            "panel": self._leaves,
        }
        for shape, shade in shaders.items():
            which = has_shape(shape)[codes]
            if which.any():
                put(which, shade(hits.take(which), number_faces()[0, codes[which]]))
        for index in (
            np.unique(hits.cells[np.isin(hits.cells, list(self._standing))]).tolist() if self._standing else ()
        ):
            which = hits.cells == index
            thing = self._standing[index]
            x, y, z = thing.cell
            middle = np.array([x + 0.5, y + thing.size / 2, z + 0.5], dtype=np.float32)[:, None]
            shaded = self._facing(hits.take(which), middle, thing.size, load_atlas().sprites[thing.kind])
            which[which] = shaded[1] > 0
            put(which, tuple(part[..., shaded[1] > 0] for part in shaded))  # type: ignore[arg-type]
        return colour, alpha, far

    def _uprights(self, hits: Hits, tiles: Integers) -> Layer:
        return self._facing(hits, self._corner(hits) + 0.5, 1.0, tiles)

    def _facing(self, hits: Hits, middle: Floats, size: float, tiles: Integers | int) -> Layer:
        """Shade pictures that turn to the eye; they are upright unless it looks steeply."""
        right, up, forward = self._camera.turn.astype(np.float32)
        if abs(forward[1]) < _TILTS:
            up = np.array([0, 1, 0], np.float32)
            forward = np.array([right[2], 0, -right[0]], np.float32)
        rays = self._rays[:, hits.rays]
        ahead = forward @ rays
        far = (forward @ (middle - self._eye)) / np.where(np.abs(ahead) < 1e-6, 1e-6, ahead)
        apart = self._eye + far * rays - middle
        u = right @ apart / size + 0.5
        v = up @ apart / size + 0.5
        return self._cut(tiles, u, v, far)

    def _sheets(self, hits: Hits, tiles: Integers) -> Layer:
        """Shade sheets on the floor of their cells."""
        corner = self._corner(hits)
        rays = self._rays[:, hits.rays]
        far = (corner[1] + _THIN - self._eye[1]) / rays[1]
        apart = self._eye + far * rays - corner
        return self._cut(tiles, apart[0], 1 - apart[2], far)

    def _leaves(self, hits: Hits, tiles: Integers) -> Layer:
        """Shade open doors, at the side of their cells."""
        corner = self._corner(hits)
        rays = self._rays[:, hits.rays]
        by_x = (self._solid[hits.cells - 1] + self._solid[hits.cells + 1]) > 0
        slope = np.where(by_x, rays[0], rays[2])
        far = (np.where(by_x, corner[0], corner[2]) + _THIN - np.where(by_x, self._eye[0], self._eye[2])) / slope
        apart = self._eye + far * rays - corner
        return self._cut(tiles, np.where(by_x, apart[2], apart[0]), apart[1], far)

    def _cut(self, tiles: Integers | int, u: Floats, v: Floats, far: Floats) -> Layer:
        """Return the texels of points that are on their picture and in front of the eye, else clear."""
        texels = self._texels(np.asarray(tiles, dtype=np.int32), u, 1 - v, far)
        inside = (far > _NEAR) & (u >= 0) & (u <= 1) & (v >= 0) & (v <= 1)
        return texels[:3], texels[3] * inside, np.where(inside, far, 0).astype(np.float32)

    def _corner(self, hits: Hits) -> Floats:
        """Return the lowest corners of cells, ``[3, n]``."""
        y, rest = np.divmod(hits.cells, self._strides[1])
        z, x = np.divmod(rest, self._strides[2])
        return np.stack([x, y, z]).astype(np.float32) - 1

    def _index(self, cell: Cell) -> int:
        return int(np.dot(np.array(cell) + 1, self._strides))


def _filled(thing: Standing) -> tuple[Cell, ...]:
    x, y, z = thing.cell
    return tuple((x, y + above, z) for above in range(math.ceil(thing.size)))
