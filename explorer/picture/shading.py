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
_FOG_COLUMN: Final = np.array(FOG, dtype=np.float32)[:, None]
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
    levels = [_coarsen(exact, 2**level) for level in range(_LEVELS)]
    return np.concatenate(levels).reshape(-1, 4)


def _coarsen(tiles: Floats, size: int) -> Floats:
    """Return tiles in which each square of ``size`` pixels has one colour, the mean of those that are not clear."""
    side = SIDE // size
    squares = tiles.reshape(len(tiles), side, size, side, size, 4)
    opacity = squares[..., 3:]
    alpha = opacity.mean(axis=(2, 4), keepdims=True)

    weighted = (squares[..., :3] * opacity).mean(axis=(2, 4), keepdims=True)
    colour = weighted / np.maximum(alpha, 1e-6)

    mean = np.concatenate([colour, alpha], axis=-1)
    return np.broadcast_to(mean, squares.shape).reshape(tiles.shape)


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
        _, depth, width = codes.shape
        self._strides = np.array([1, depth * width, width], dtype=np.int32)
        self._codes = codes.ravel()
        self._kinds = _classify_blocks()[self._codes]
        self._solid = (self._kinds == HIT).astype(np.float32)

        self._camera = camera
        self._size = size
        self._eye = np.array(camera.eye, dtype=np.float32)[:, None]
        self._rays = camera.rays(*size)
        self._texel = np.float32(camera.tall * 2 / size[1] * SIDE)
        self._haze = np.float32(haze)

        self._target = -1 if target is None else self._find_index(target)
        self._standing = {self._find_index(cell): each for each in standing for cell in _list_cells(each)}
        for index in self._standing:
            if self._kinds[index] == PASSED:
                self._kinds[index] = THROUGH

    def picture(self) -> Picture:
        """Return what the camera sees."""
        width, height = self._size
        count = width * height
        colours = np.zeros((3, count), dtype=np.float32)
        left = np.ones(count, dtype=np.float32)
        far = np.full(count, np.inf, dtype=np.float32)

        cubes = []
        for hits in march(self._kinds.reshape(self._shape), self._camera.eye, self._rays):
            opaque = self._kinds[hits.cells] == HIT
            cubes.append(hits.take(opaque))
            if not opaque.all():
                through = hits.take(~opaque)
                self._blend(through, self._shade_through(through), colours, left, far)
        if cubes:
            ends = Hits.join(cubes)
            self._blend(ends, self._shade_cubes(ends), colours, left, far)

        # The fog is brighter towards the sky.
        rise = self._rays[1] / _measure_lengths(self._rays)
        colours += _FOG_COLUMN * (left * (1 + 0.35 * rise))

        image = np.clip(colours, 0, 1).T.reshape(height, width, 3)
        return Picture(image, far.reshape(height, width))

    def _blend(self, hits: Hits, shaded: Layer, colours: Floats, left: Floats, far: Floats) -> None:
        """Blend colours, alpha and distances of hits over what is behind them, with fog in front."""
        colour, alpha, distance = shaded
        rays = self._rays[:, hits.rays]
        clear = np.exp(-self._haze * distance * _measure_lengths(rays))
        hazy = _FOG_COLUMN + clear * (colour - _FOG_COLUMN)

        share = alpha * left[hits.rays]
        colours[:, hits.rays] += share * hazy
        left[hits.rays] -= share

        shown = alpha > _SHOWN
        pixels = hits.rays[shown]
        far[pixels] = np.minimum(far[pixels], distance[shown])

    def _shade_cubes(self, hits: Hits) -> Layer:
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
        face = np.where(level, 1 + positive, 0)
        tile = number_faces()[face, codes]
        slope: Floats = np.maximum(np.abs(along) / _measure_lengths(rays), _STEEP)
        down = np.where(level, v, 1 - v)
        texels = self._sample_texels(tile, u, down, hits.far / slope)

        shadow = _CORNER * self._count_corners(hits, positive, u, v)
        light = _LIGHT[2 * axes + positive] * (1 - shadow)
        light = np.where(_find_glowing()[codes], 1.1, light)
        colour = texels[:3] * light

        targeted = hits.cells == self._target
        if targeted.any():
            beside = np.minimum(u, 1 - u)
            above = np.minimum(v, 1 - v)
            rim = np.minimum(beside, above) < _EDGE
            colour[:, targeted & rim] = np.array(_BRIGHT, dtype=np.float32)[:, None]
        return colour, texels[3], hits.far

    def _count_corners(self, hits: Hits, positive: NDArray[np.bool_], u: Floats, v: Floats) -> Floats:
        """Return the number of cubes around the nearest corner of each face, 0 to 3, interpolated over the face."""
        across, up, along = self._strides
        outward = np.where(positive, 1, -1).astype(np.int32)
        before = hits.cells + outward * self._strides[hits.axes]
        aside = np.array([along, across, across], dtype=np.int32)[hits.axes]
        above = np.array([up, along, up], dtype=np.int32)[hits.axes]

        def solid(cells: Integers) -> Floats:
            found: Floats = self._solid.take(cells, mode="clip")
            return found

        def count(beside: Floats, level: Floats, diagonal: Integers) -> Floats:
            # Two cubes that meet at the corner hide what is behind it, so the third counts as there.
            found: Floats = beside + level + np.maximum(beside * level, solid(before + diagonal))
            return found

        left = solid(before - aside)
        right = solid(before + aside)
        low = solid(before - above)
        high = solid(before + above)
        low_left = count(left, low, -aside - above)
        low_right = count(right, low, aside - above)
        high_left = count(left, high, above - aside)
        high_right = count(right, high, aside + above)

        below = low_left + u * (low_right - low_left)
        upper = high_left + u * (high_right - high_left)
        dim: Floats = below + v * (upper - below)
        return dim

    def _sample_texels(self, tiles: Integers, u: Floats, down: Floats, far: Floats) -> Floats:
        """Return colours and alpha ``[4, n]`` at points of tiles, in a detail chosen by ``far``."""
        detailed = _detail_tiles()
        texels_a_pixel = np.maximum(far * self._texel, 1e-3)
        level = np.clip(np.log2(texels_a_pixel) + 0.3, 0, _LEVELS - 1).astype(np.int32)
        row = np.clip(down * SIDE, 0, SIDE - 1).astype(np.int32)
        column = np.clip(u * SIDE, 0, SIDE - 1).astype(np.int32)

        count = len(detailed) // (_LEVELS * SIDE * SIDE)
        line = (level * count + tiles) * SIDE + row
        texels: Floats = detailed[line * SIDE + column].T
        return texels

    def _shade_through(self, hits: Hits) -> Layer:
        """Shade cells that let rays through: panes, liquids, plants, sheets, items, mobs."""
        codes = self._codes[hits.cells]
        colour = np.zeros((3, len(codes)), np.float32)
        alpha = np.zeros(len(codes), np.float32)
        far = hits.far.copy()

        def put(which: NDArray[np.bool_], shaded: Layer) -> None:
            colour[:, which], alpha[which], far[which] = shaded

        cubes = has_shape("cube", "none", "unseen")[codes] & (codes != AIR)
        if cubes.any():
            put(cubes, self._shade_panes(hits.take(cubes)))

        shaders: dict[Shape, Callable[[Hits, Integers], Layer]] = {
            "upright": self._shade_uprights,
            "flat": self._shade_sheets,
            "panel": self._shade_doors,
        }
        for shape, shade in shaders.items():
            which = has_shape(shape)[codes]
            if which.any():
                put(which, shade(hits.take(which), number_faces()[0, codes[which]]))

        for index in self._find_standing(hits):
            which = hits.cells == index
            colours, alphas, distances = self._shade_sprite(hits.take(which), self._standing[index])
            shown = alphas > 0
            which[which] = shown
            put(which, (colours[:, shown], alphas[shown], distances[shown]))
        return colour, alpha, far

    def _shade_panes(self, hits: Hits) -> Layer:
        """Shade cubes that let rays through, without the faces between two cells of the same block, such as water."""
        colour, alpha, far = self._shade_cubes(hits)
        along = np.choose(hits.axes, self._rays[:, hits.rays])
        steps = np.where(along > 0, 1, -1) * self._strides[hits.axes]
        entered = self._codes[hits.cells - steps] != self._codes[hits.cells]
        return colour, alpha * entered, far

    def _find_standing(self, hits: Hits) -> list[int]:
        """Return the indices of the cells with an item or mob that rays hit, in order."""
        if not self._standing:
            return []
        found = np.isin(hits.cells, list(self._standing))
        indices: list[int] = np.unique(hits.cells[found]).tolist()
        return indices

    def _shade_sprite(self, hits: Hits, thing: Standing) -> Layer:
        """Shade an item or mob."""
        x, y, z = thing.cell
        middle = np.array([x + 0.5, y + thing.size / 2, z + 0.5], dtype=np.float32)[:, None]
        return self._shade_facing(hits, middle, thing.size, load_atlas().sprites[thing.kind])

    def _shade_uprights(self, hits: Hits, tiles: Integers) -> Layer:
        return self._shade_facing(hits, self._find_corners(hits) + 0.5, 1.0, tiles)

    def _shade_facing(self, hits: Hits, middle: Floats, size: float, tiles: Integers | int) -> Layer:
        """Shade pictures that turn to the eye; they are upright unless it looks steeply."""
        right, up, forward = self._camera.turn.astype(np.float32)
        if abs(forward[1]) < _TILTS:
            up = np.array([0, 1, 0], np.float32)
            forward = np.array([right[2], 0, -right[0]], np.float32)

        rays = self._rays[:, hits.rays]
        ahead = forward @ rays
        ahead = np.where(np.abs(ahead) < 1e-6, 1e-6, ahead)
        far = (forward @ (middle - self._eye)) / ahead
        apart = self._eye + far * rays - middle
        u = right @ apart / size + 0.5
        v = up @ apart / size + 0.5
        return self._clip_texels(tiles, u, v, far)

    def _shade_sheets(self, hits: Hits, tiles: Integers) -> Layer:
        """Shade sheets on the floor of their cells."""
        corner = self._find_corners(hits)
        rays = self._rays[:, hits.rays]
        far = (corner[1] + _THIN - self._eye[1]) / rays[1]
        apart = self._eye + far * rays - corner
        return self._clip_texels(tiles, apart[0], 1 - apart[2], far)

    def _shade_doors(self, hits: Hits, tiles: Integers) -> Layer:
        """Shade open doors, at the side of their cells."""
        corner = self._find_corners(hits)
        rays = self._rays[:, hits.rays]
        by_x = (self._solid[hits.cells - 1] + self._solid[hits.cells + 1]) > 0

        slope = np.where(by_x, rays[0], rays[2])
        side = np.where(by_x, corner[0], corner[2])
        eye = np.where(by_x, self._eye[0], self._eye[2])
        far = (side + _THIN - eye) / slope

        apart = self._eye + far * rays - corner
        u = np.where(by_x, apart[2], apart[0])
        return self._clip_texels(tiles, u, apart[1], far)

    def _clip_texels(self, tiles: Integers | int, u: Floats, v: Floats, far: Floats) -> Layer:
        """Return the texels of points that are on their picture and in front of the eye, else clear."""
        texels = self._sample_texels(np.asarray(tiles, dtype=np.int32), u, 1 - v, far)
        inside = (far > _NEAR) & (u >= 0) & (u <= 1)
        inside &= (v >= 0) & (v <= 1)
        distance = np.where(inside, far, 0).astype(np.float32)
        return texels[:3], texels[3] * inside, distance

    def _find_corners(self, hits: Hits) -> Floats:
        """Return the lowest corners of cells, ``[3, n]``."""
        y, rest = np.divmod(hits.cells, self._strides[1])
        z, x = np.divmod(rest, self._strides[2])
        return np.stack([x, y, z]).astype(np.float32) - 1

    def _find_index(self, cell: Cell) -> int:
        return int(np.dot(np.array(cell) + 1, self._strides))


def _measure_lengths(rays: Floats) -> Floats:
    """Return the length of each ray."""
    lengths: Floats = np.sqrt(np.square(rays).sum(axis=0))
    return lengths


def _list_cells(thing: Standing) -> tuple[Cell, ...]:
    """Return the cells that an item or mob fills."""
    x, y, z = thing.cell
    return tuple((x, y + above, z) for above in range(math.ceil(thing.size)))
