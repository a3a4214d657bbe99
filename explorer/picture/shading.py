"""Shade the cells that rays hit, and blend them with fog.

Cubes have textures, and their corners are light or dark. Items, mobs and plants are sprites that turn to the eye.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from explorer.picture.raycasting import INVISIBLE, OPAQUE, SEE_THROUGH, UNKNOWN, Camera, Floats, Hits, Integers, march
from explorer.picture.textures import SIDE, Shape, has_shape, load_atlas, number_faces
from explorer.rules.blocks import AIR, BLOCKS
from explorer.scene import Cell

FOG: Final = (0.105, 0.125, 0.165)
"""Colour of unknown and distant cells: red, green and blue from 0 to 1."""
_FOG_COLUMN: Final = np.array(FOG, dtype=np.float32)[:, None]
HAZE: Final = 0.028
"""Density of the fog per metre."""
_LIGHT: Final = np.array([0.8, 0.8, 0.64, 1.0, 0.9, 0.9], dtype=np.float32)
"""Brightness of the faces west, east, bottom, top, north and south, from 0 to 1."""
_CORNER_SHADOW: Final = 0.15
"""Fraction of its light that a face's corner loses to each cube beside the corner (ambient occlusion)."""
_LEVELS: Final = 4
"""Number of levels of detail (mipmaps); each level has half the resolution of the previous level."""
_SHEET_GAP: Final = 0.06
"""Distance of a sheet or open door from the side of its cell, in metres."""
_EDGE: Final = 0.03
"""Width of the bright edges of the target, in metres."""
_EDGE_COLOUR: Final = (1.0, 0.86, 0.3)
_MIN_SLOPE: Final = 0.15
"""Smallest cosine between ray and normal that is used to choose the level of detail."""
_HIDING_ALPHA: Final = 0.5
"""Alpha above which a texel counts as hiding everything behind it."""
_STEEP_VIEW: Final = 0.75
"""Vertical component of the camera's forward vector, up or down, from which on sprites tilt with the camera."""
_NEAR: Final = 0.05
"""Distance of the near plane, in lengths of a ray's vector; sprites and sheets closer to the eye are not drawn."""
_GLOWING: Final = "lava fire soul_fire glowstone sea_lantern shroomlight jack_o_lantern magma_block"
"""Names of the blocks that are fully lit from all sides."""

Layer = tuple[Floats, Floats, Floats]
"""Colours ``[3, n]``, alpha ``[n]`` and distances ``[n]`` of some hits."""


@dataclass(frozen=True, slots=True)
class Standing:
    """An item or mob, drawn as a sprite that turns to the eye.

    Attributes:
        cell: the cell of the item, or of the mob's feet.
        size: width and height of the sprite in metres.
    """

    kind: str
    cell: Cell
    size: float


@dataclass(frozen=True, slots=True, eq=False)
class Picture:
    """A picture with the depth of each pixel.

    Attributes:
        colours: red, green and blue from 0 to 1, ``[height, width, 3]``.
        depths: distances along the camera's forward vector in metres, ``[height, width]``; infinite for pixels without
            a known block or sprite.
    """

    colours: Floats
    depths: Floats


@cache
def _classify_blocks() -> NDArray[np.uint8]:
    """Return an array by block code: the kind of the block's cell (:mod:`explorer.picture.raycasting`)."""
    is_opaque = load_atlas().tiles[..., 3].min(axis=(1, 2)) == 255  # by tile
    kinds = np.full(len(BLOCKS), SEE_THROUGH, dtype=np.uint8)
    kinds[has_shape("none")] = INVISIBLE
    kinds[has_shape("unseen")] = UNKNOWN
    kinds[has_shape("cube") & is_opaque[number_faces()[0]]] = OPAQUE
    return kinds


@cache
def _find_glowing() -> NDArray[np.bool_]:
    """Return an array by block code: whether the block glows."""
    glowing = _GLOWING.split()
    return np.array([block.name in glowing for block in BLOCKS])


@cache
def _detail_tiles() -> Floats:
    """Return colours and alpha of the tiles at all levels of detail, ``[levels * tiles * 256, 4]``.

    All levels have the same number of pixels. In level n, the pixels of each 2**n by 2**n square have the same colour.
    """
    exact: Floats = load_atlas().tiles.astype(np.float32) / np.float32(255)
    levels = [_coarsen(exact, 2**level) for level in range(_LEVELS)]
    return np.concatenate(levels).reshape(-1, 4)


def _coarsen(tiles: Floats, size: int) -> Floats:
    """Return tiles, ``[n, 16, 16, 4]``, in which each square of ``size`` by ``size`` pixels has only one colour.

    The colour is the mean of the colours in the square, weighted by alpha, and the alpha is the mean alpha.
    """
    squares_per_side = SIDE // size
    # Axes: tile, row of squares, row in the square, column of squares, column in the square, channel.
    squares = tiles.reshape(len(tiles), squares_per_side, size, squares_per_side, size, 4)
    opacity = squares[..., 3:]
    alpha = opacity.mean(axis=(2, 4), keepdims=True)

    weighted = (squares[..., :3] * opacity).mean(axis=(2, 4), keepdims=True)
    colour = weighted / np.maximum(alpha, 1e-6)

    mean = np.concatenate([colour, alpha], axis=-1)
    return np.broadcast_to(mean, squares.shape).reshape(tiles.shape)


class Shading:
    """The computation of a picture. Arrays of colours are ``[3, n]``: red, green and blue from 0 to 1.

    Args:
        blocks: codes ``[y, z, x]``; cells with code 0, and all cells outside the array, are unknown.
        size: width and height in pixels.
        standing: items and mobs; if several are in the same cell, only the last is drawn.
        target: a cell to draw with bright edges, or None for no such cell.
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
        codes = np.pad(blocks, 1)  # a border of unknown cells
        self._shape = codes.shape
        _, depth, width = codes.shape
        # Steps along x, y and z in the flattened array ``[y, z, x]``.
        self._strides = np.array([1, depth * width, width], dtype=np.int32)
        self._codes = codes.ravel()
        self._kinds = _classify_blocks()[self._codes]
        self._solid = (self._kinds == OPAQUE).astype(np.float32)

        self._camera = camera
        self._size = size
        self._eye = np.array(camera.eye, dtype=np.float32)[:, None]
        self._rays = camera.rays(*size)
        # Number of texels, along one side, that a pixel covers on a face at distance 1.
        self._texels_per_pixel = np.float32(camera.tall * 2 / size[1] * SIDE)
        self._haze = np.float32(haze)

        self._target = -1 if target is None else self._find_index(target)
        self._standing = {self._find_index(cell): each for each in standing for cell in _list_cells(each)}
        for index in self._standing:
            if self._kinds[index] == INVISIBLE:
                self._kinds[index] = SEE_THROUGH

    def picture(self) -> Picture:
        """Return the picture that the camera sees."""
        width, height = self._size
        count = width * height
        colours = np.zeros((3, count), dtype=np.float32)
        transmitted = np.ones(count, dtype=np.float32)
        depths = np.full(count, np.inf, dtype=np.float32)

        # An opaque cell is the last hit of its ray, so all opaque cells can be blended together after the other cells.
        opaque_hits = []
        for hits in march(self._kinds.reshape(self._shape), self._camera.eye, self._rays):
            is_opaque = self._kinds[hits.cells] == OPAQUE
            opaque_hits.append(hits.take(is_opaque))
            if not is_opaque.all():
                see_through = hits.take(~is_opaque)
                self._blend(see_through, self._shade_see_through(see_through), colours, transmitted, depths)
        if opaque_hits:
            opaque = Hits.join(opaque_hits)
            self._blend(opaque, self._shade_cubes(opaque), colours, transmitted, depths)

        # The fog is brighter towards the sky.
        rise = self._rays[1] / _measure_lengths(self._rays)
        colours += _FOG_COLUMN * (transmitted * (1 + 0.35 * rise))

        image = np.clip(colours, 0, 1).T.reshape(height, width, 3)
        return Picture(image, depths.reshape(height, width))

    def _blend(self, hits: Hits, shaded: Layer, colours: Floats, transmitted: Floats, depths: Floats) -> None:
        """Add hits to the colours of their rays, dimmed by fog and by the hits that were blended before.

        The caller must blend from front to back.

        Args:
            hits: hits, at most one for each ray.
            shaded: colours, alpha and distances of the hits.
            colours: colour of each ray so far, ``[3, rays]``; changed in place.
            transmitted: fraction of light that earlier hits let through, ``[rays]``; changed in place.
            depths: for each ray, the smallest distance of a hit that hides everything behind it, ``[rays]``; changed in
                place.
        """
        colour, alpha, distance = shaded
        rays = self._rays[:, hits.rays]
        clearness = np.exp(-self._haze * distance * _measure_lengths(rays))
        hazy = _FOG_COLUMN + clearness * (colour - _FOG_COLUMN)

        share = alpha * transmitted[hits.rays]
        colours[:, hits.rays] += share * hazy
        transmitted[hits.rays] -= share

        hides = alpha > _HIDING_ALPHA
        pixels = hits.rays[hides]
        depths[pixels] = np.minimum(depths[pixels], distance[hides])

    def _shade_cubes(self, hits: Hits) -> Layer:
        """Shade faces of cubes with their texture and with shadows at corners; give the target bright edges."""
        rays = self._rays[:, hits.rays]
        axes = hits.axes
        point = self._eye + hits.distances * rays
        point -= np.floor(point)  # from 0 to 1 within the cell

        # u and v are coordinates on the face; v grows upward, or to the south on a horizontal face.
        is_horizontal = axes == 1
        u = np.where(axes == 0, point[2], point[0])
        v = np.where(is_horizontal, point[2], point[1])
        along_axis = np.choose(axes, rays)
        is_positive_face = along_axis < 0  # the face whose normal points along the axis

        codes = self._codes[hits.cells]
        face = np.where(is_horizontal, 1 + is_positive_face, 0)
        tile = number_faces()[face, codes]
        slope: Floats = np.maximum(np.abs(along_axis) / _measure_lengths(rays), _MIN_SLOPE)
        down = np.where(is_horizontal, v, 1 - v)
        texels = self._sample_texels(tile, u, down, hits.distances / slope)

        shadow = _CORNER_SHADOW * self._count_corner_cubes(hits, is_positive_face, u, v)
        light = _LIGHT[2 * axes + is_positive_face] * (1 - shadow)
        light = np.where(_find_glowing()[codes], 1.1, light)
        colour = texels[:3] * light
        self._draw_edges(hits, u, v, colour)
        return colour, texels[3], hits.distances

    def _draw_edges(self, hits: Hits, u: Floats, v: Floats, colour: Floats) -> None:
        """Brighten ``colour``, ``[3, n]``, at points near an edge of the target's faces."""
        targeted = hits.cells == self._target
        if not targeted.any():
            return
        to_side = np.minimum(u, 1 - u)
        to_end = np.minimum(v, 1 - v)
        on_edge = np.minimum(to_side, to_end) < _EDGE
        colour[:, targeted & on_edge] = np.array(_EDGE_COLOUR, dtype=np.float32)[:, None]

    def _count_corner_cubes(self, hits: Hits, is_positive_face: NDArray[np.bool_], u: Floats, v: Floats) -> Floats:
        """Return the number of cubes beside the corners of a face, 0 to 3, interpolated over the face (``[n]``).

        This is the ambient occlusion of voxels. Consider the cell in front of a face. At each corner of the face, three
        neighbours of this cell touch the corner. The number of the corner counts the cubes among these three
        neighbours.

        Args:
            u, v: coordinates on the face, from 0 to 1.
        """
        stride_x, stride_y, stride_z = self._strides
        outward = np.where(is_positive_face, 1, -1).astype(np.int32)
        in_front = hits.cells + outward * self._strides[hits.axes]
        # Steps to the neighbours in the directions of u and v, by axis of the face.
        step_u = np.array([stride_z, stride_x, stride_x], dtype=np.int32)[hits.axes]
        step_v = np.array([stride_y, stride_z, stride_y], dtype=np.int32)[hits.axes]

        def solid(cells: Integers) -> Floats:
            ones_where_solid: Floats = self._solid.take(cells, mode="clip")
            return ones_where_solid

        def count(beside_u: Floats, beside_v: Floats, diagonal: Integers) -> Floats:
            # Two cubes that meet at the corner hide the diagonal cell, which therefore counts as a cube.
            cubes: Floats = beside_u + beside_v + np.maximum(beside_u * beside_v, solid(in_front + diagonal))
            return cubes

        left = solid(in_front - step_u)
        right = solid(in_front + step_u)
        low = solid(in_front - step_v)
        high = solid(in_front + step_v)
        low_left = count(left, low, -step_u - step_v)
        low_right = count(right, low, step_u - step_v)
        high_left = count(left, high, step_v - step_u)
        high_right = count(right, high, step_u + step_v)

        # Bilinear interpolation.
        at_low_edge = low_left + u * (low_right - low_left)
        at_high_edge = high_left + u * (high_right - high_left)
        interpolated: Floats = at_low_edge + v * (at_high_edge - at_low_edge)
        return interpolated

    def _sample_texels(self, tiles: Integers, u: Floats, down: Floats, distances: Floats) -> Floats:
        """Return colours and alpha, ``[4, n]``, at points of tiles.

        Args:
            tiles: numbers of the tiles.
            u, down: coordinates from the upper left corner of the tile, from 0 to 1.
            distances: distances to the points, which determine the level of detail.
        """
        detailed = _detail_tiles()
        texels_per_pixel = np.maximum(distances * self._texels_per_pixel, 1e-3)
        level = np.clip(np.log2(texels_per_pixel) + 0.3, 0, _LEVELS - 1).astype(np.int32)
        row = np.clip(down * SIDE, 0, SIDE - 1).astype(np.int32)
        column = np.clip(u * SIDE, 0, SIDE - 1).astype(np.int32)

        # In `detailed`, the pixels of each tile are in row-major order, tile after tile, level after level.
        tile_count = len(detailed) // (_LEVELS * SIDE * SIDE)
        row_index = (level * tile_count + tiles) * SIDE + row
        texels: Floats = detailed[row_index * SIDE + column].T
        return texels

    def _shade_see_through(self, hits: Hits) -> Layer:
        """Shade cells that rays can pass: panes, liquids, plants, sheets, open doors, items and mobs."""
        codes = self._codes[hits.cells]
        colour = np.zeros((3, len(codes)), np.float32)
        alpha = np.zeros(len(codes), np.float32)
        distance = hits.distances.copy()

        def put(which: NDArray[np.bool_], shaded: Layer) -> None:
            """Write a layer into the entries of the hits that a mask selects."""
            colour[:, which], alpha[which], distance[which] = shaded

        is_cube = has_shape("cube", "none", "unseen")[codes] & (codes != AIR)
        if is_cube.any():
            put(is_cube, self._shade_panes(hits.take(is_cube)))

        shaders: dict[Shape, Callable[[Hits, Integers], Layer]] = {
            "upright": self._shade_uprights,
            "flat": self._shade_sheets,
            "panel": self._shade_doors,
        }
        for shape, shade in shaders.items():
            which = has_shape(shape)[codes]
            if which.any():
                put(which, shade(hits.take(which), number_faces()[0, codes[which]]))

        # Where a sprite is not clear, the sprite replaces the block in its cell.
        for index in self._find_standing(hits):
            which = hits.cells == index
            colours, alphas, distances = self._shade_sprite(hits.take(which), self._standing[index])
            visible = alphas > 0
            which[which] = visible
            put(which, (colours[:, visible], alphas[visible], distances[visible]))
        return colour, alpha, distance

    def _shade_panes(self, hits: Hits) -> Layer:
        """Shade see-through cubes. Faces between two cells of the same block, such as water, stay invisible."""
        colour, alpha, distance = self._shade_cubes(hits)
        along_axis = np.choose(hits.axes, self._rays[:, hits.rays])
        steps = np.where(along_axis > 0, 1, -1) * self._strides[hits.axes]
        previous_cells = hits.cells - steps
        is_surface = self._codes[previous_cells] != self._codes[hits.cells]
        return colour, alpha * is_surface, distance

    def _find_standing(self, hits: Hits) -> list[int]:
        """Return the sorted indices of the hit cells that contain an item or mob."""
        if not self._standing:
            return []
        has_sprite = np.isin(hits.cells, list(self._standing))
        indices: list[int] = np.unique(hits.cells[has_sprite]).tolist()
        return indices

    def _shade_sprite(self, hits: Hits, thing: Standing) -> Layer:
        """Shade an item or mob, in whose cells all hits lie."""
        x, y, z = thing.cell
        middle = np.array([x + 0.5, y + thing.size / 2, z + 0.5], dtype=np.float32)[:, None]
        return self._shade_facing(hits, middle, thing.size, load_atlas().sprites[thing.kind])

    def _shade_uprights(self, hits: Hits, tiles: Integers) -> Layer:
        """Shade blocks that are drawn as sprites, such as plants."""
        return self._shade_facing(hits, self._find_corners(hits) + 0.5, 1.0, tiles)

    def _shade_facing(self, hits: Hits, middle: Floats, size: float, tiles: Integers | int) -> Layer:
        """Shade sprites that turn to the eye.

        If the camera looks steeply up or down, the sprites tilt with the camera, else they are upright.

        Args:
            middle: middles of the sprites, ``[3, n]`` or ``[3, 1]``.
            size: width and height of the sprites in metres.
            tiles: numbers of the tiles.
        """
        right, up, forward = self._camera.turn.astype(np.float32)
        if abs(forward[1]) < _STEEP_VIEW:
            up = np.array([0, 1, 0], np.float32)
            forward = np.array([right[2], 0, -right[0]], np.float32)

        # Each ray meets the plane through the middle of its sprite, with the normal `forward`.
        rays = self._rays[:, hits.rays]
        ahead = forward @ rays
        ahead = np.where(np.abs(ahead) < 1e-6, 1e-6, ahead)
        distances = (forward @ (middle - self._eye)) / ahead
        from_middle = self._eye + distances * rays - middle
        u = right @ from_middle / size + 0.5
        v = up @ from_middle / size + 0.5
        return self._clip_texels(tiles, u, v, distances)

    def _shade_sheets(self, hits: Hits, tiles: Integers) -> Layer:
        """Shade horizontal sheets, such as plates, just above the floor of their cells."""
        corner = self._find_corners(hits)
        rays = self._rays[:, hits.rays]
        distances = (corner[1] + _SHEET_GAP - self._eye[1]) / rays[1]
        from_corner = self._eye + distances * rays - corner
        return self._clip_texels(tiles, from_corner[0], 1 - from_corner[2], distances)

    def _shade_doors(self, hits: Hits, tiles: Integers) -> Layer:
        """Shade open doors as vertical sheets near the west or north side of their cells.

        If a cube stands to the west or east of a door, the sheet is on the west side, else on the north side.
        """
        corner = self._find_corners(hits)
        rays = self._rays[:, hits.rays]
        on_west_side = (self._solid[hits.cells - 1] + self._solid[hits.cells + 1]) > 0

        slope = np.where(on_west_side, rays[0], rays[2])
        side = np.where(on_west_side, corner[0], corner[2])
        eye = np.where(on_west_side, self._eye[0], self._eye[2])
        distances = (side + _SHEET_GAP - eye) / slope

        from_corner = self._eye + distances * rays - corner
        u = np.where(on_west_side, from_corner[2], from_corner[0])
        return self._clip_texels(tiles, u, from_corner[1], distances)

    def _clip_texels(self, tiles: Integers | int, u: Floats, v: Floats, distances: Floats) -> Layer:
        """Return the texels at points.

        Points outside their tile, behind the eye or too near to the eye are transparent.

        Args:
            u, v: coordinates from the lower left corner of the tile; from 0 to 1 within the tile.
        """
        texels = self._sample_texels(np.asarray(tiles, dtype=np.int32), u, 1 - v, distances)
        inside = (distances > _NEAR) & (u >= 0) & (u <= 1)
        inside &= (v >= 0) & (v <= 1)
        clipped_distances = np.where(inside, distances, 0).astype(np.float32)
        return texels[:3], texels[3] * inside, clipped_distances

    def _find_corners(self, hits: Hits) -> Floats:
        """Return the lowest corner (x, y, z) of each hit cell, ``[3, n]``."""
        y, index_in_level = np.divmod(hits.cells, self._strides[1])
        z, x = np.divmod(index_in_level, self._strides[2])
        return np.stack([x, y, z]).astype(np.float32) - 1  # without the border

    def _find_index(self, cell: Cell) -> int:
        """Return the index of a cell in the flattened array of blocks, which has a border of unknown cells."""
        return int(np.dot(np.array(cell) + 1, self._strides))


def _measure_lengths(rays: Floats) -> Floats:
    """Return the length of each ray."""
    lengths: Floats = np.sqrt(np.square(rays).sum(axis=0))
    return lengths


def _list_cells(thing: Standing) -> tuple[Cell, ...]:
    """Return the cells that an item or mob fills, from the lowest to the highest."""
    x, y, z = thing.cell
    return tuple((x, y + above, z) for above in range(math.ceil(thing.size)))
