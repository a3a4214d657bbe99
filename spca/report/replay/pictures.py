"""Pictures of an episode: a panel with the true world, a panel with the agent's map, and a caption.

The tiles are MiniGrid's tiles. For a world without a grid, its own picture takes the place of the panels. All pictures
of a painter have the same size, which videos require.
"""

from __future__ import annotations

import io
from bisect import bisect_left
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from spca.act.frame import Frame, TextFrame, WorldFrame
from spca.common.text import visible
from spca.common.web.films import GridFrame
from spca.errors import ReportError
from spca.sense.perception import DOOR_STATES, UNSEEN, VOCABULARY, list_added_kinds

if TYPE_CHECKING:
    from PIL import ImageFont
    from PIL.Image import Image

Picture: TypeAlias = NDArray[np.uint8]
"""Red, green and blue of each pixel; shape (height, width, 3)."""

LINES: Final = 5
"""Largest number of lines of a caption."""

# Lengths are in pixels.
_PANEL: Final = 544
"""Largest width and height of a panel. A panel is larger only if tiles of 8 pixels, the smallest size, need more."""
_MIN_TILE: Final = 8
_MAX_TILE: Final = 32
_MIN_WIDTH: Final = 640
_MARGIN: Final = 16
_TEXT_SIZE: Final = 15
_LINE: Final = 22
"""Height of a line of text, in pixels."""
_GROUND: Final = (24, 24, 30)
_INK: Final = (232, 232, 236)
_HATCH: Final = ((44, 44, 56), (66, 66, 84))
_HATCH_PERIOD: Final = 8
_TITLES: Final = ("the world, the agent's view lit", "what the agent knows, unseen cells hatched")
_MORE: Final = "..."
_MAX_LINE: Final = 400
"""Largest number of characters that are read of a caption's line; later characters are ignored."""


class Painter:
    """Paints frames of one episode.

    Args:
        frames: all frames that will be painted; they determine the size of the pictures.
        tile: width and height of a cell in pixels; by default the largest size with which a panel fits.

    Attributes:
        size: (width, height) of every picture in pixels; both are even, as some video codecs require.
    """

    def __init__(self, frames: Sequence[Frame], *, tile: int | None = None) -> None:
        self._frames, _, _ = place_frames(frames)
        used_by_frame = [(frame.truth != UNSEEN) | (frame.known != UNSEEN) for frame in self._frames]
        used = np.any(used_by_frame, axis=0)
        used_rows, used_columns = np.nonzero(used)
        # The smallest box of cells that a frame uses, as slices of rows and of columns.
        self._box = (
            slice(used_rows.min(), used_rows.max() + 1),
            slice(used_columns.min(), used_columns.max() + 1),
        )
        rows, columns = used[self._box].shape
        fitting_tile = _PANEL // max(rows, columns)
        self._tile = tile or min(max(fitting_tile, _MIN_TILE), _MAX_TILE)
        content_width = max(2 * columns * self._tile + _MARGIN, _MIN_WIDTH)
        self._world_left = _MARGIN
        self._map_left = _MARGIN + (content_width + _MARGIN) // 2
        self._caption_top = _MARGIN + _LINE + rows * self._tile + _MARGIN // 2
        width = content_width + 2 * _MARGIN
        height = self._caption_top + LINES * _LINE + _MARGIN // 2
        self.size = width + width % 2, height + height % 2

    def draw(self, number: int, lines: Sequence[str] = ()) -> Picture:
        """Return the picture of a frame.

        Args:
            number: index of the frame.
            lines: lines of the caption. Lines after the first :data:`LINES` are ignored, and long lines are cut.
        """
        from PIL import Image, ImageDraw

        frame = self._frames[number]
        width, height = self.size
        picture = np.full((height, width, 3), _GROUND, dtype=np.uint8)
        self._paint(picture, self._world_left, frame, frame.truth, frame.view)
        self._paint(picture, self._map_left, frame, frame.known, np.zeros_like(frame.view))
        image = Image.fromarray(picture)
        canvas = ImageDraw.Draw(image)
        font = _font()

        title_width = (width - 3 * _MARGIN) // 2
        for left, title in zip((self._world_left, self._map_left), _TITLES, strict=True):
            text = _cut(title, title_width, font)
            canvas.text((left, _MARGIN // 2), text, fill=_INK, font=font)
        _write_caption(image, lines, self._caption_top)
        return np.asarray(image)

    def _paint(
        self, picture: Picture, left: int, frame: GridFrame, codes: NDArray[np.uint8], lit: NDArray[np.bool_]
    ) -> None:
        """Paint a panel into ``picture``, with the panel's left edge at column ``left`` (in pixels).

        Args:
            codes: cell codes of the grid. In the true world, an unseen cell lies outside of the world and stays empty.
            lit: the cells that are painted as lit.
        """
        agent_row, agent_column, direction = frame.agent
        box_rows, box_columns = self._box
        agent = (agent_row - box_rows.start, agent_column - box_columns.start)
        lights = lit[self._box]
        for place, code in np.ndenumerate(codes[self._box]):
            if code == UNSEEN and codes is frame.truth:
                continue
            row, column = place
            y = _MARGIN + _LINE + row * self._tile
            x = left + column * self._tile
            agent_here = direction if place == agent else None
            is_lit = bool(lights[place])
            tile = draw_tile(int(code), self._tile, agent_here, is_lit)
            picture[y : y + self._tile, x : x + self._tile] = tile


class PicturePainter:
    """Paints the pictures that a world without a grid has drawn of one episode, each with a caption.

    Args:
        frames: all frames of the episode. A frame without a picture is painted with the picture before it.

    Raises:
        ReportError: the first frame has no picture, or a picture cannot be read.

    Attributes:
        size: (width, height) of every painted picture in pixels; both are even, as some video codecs require.
    """

    def __init__(self, frames: Sequence[TextFrame]) -> None:
        if not frames or frames[0].picture is None:
            raise ReportError("this world draws no pictures: leave out --png, --gif and --mp4 to read it as text")
        self._pictures = [_read_picture(frame.picture) if frame.picture else None for frame in frames]
        sizes = [picture.size for picture in self._pictures if picture]
        drawn_width = max(width for width, _ in sizes)
        drawn_height = max(height for _, height in sizes)
        self._scale = max(_PANEL // max(drawn_width, drawn_height), 1)
        width = max(drawn_width * self._scale, _MIN_WIDTH) + 2 * _MARGIN
        self._caption_top = _MARGIN + drawn_height * self._scale + _MARGIN // 2
        height = self._caption_top + LINES * _LINE + _MARGIN // 2
        self.size = width + width % 2, height + height % 2

    def draw(self, number: int, lines: Sequence[str] = ()) -> Picture:
        """Return the picture of a frame; see :meth:`Painter.draw`."""
        from PIL import Image

        image = Image.new("RGB", self.size, _GROUND)
        drawn = next(filter(None, reversed(self._pictures[: number + 1])))
        # A whole factor and no smoothing keep the pixels of small pictures sharp.
        scaled = drawn.resize((drawn.width * self._scale, drawn.height * self._scale), Image.Resampling.NEAREST)
        image.paste(scaled, ((self.size[0] - scaled.width) // 2, _MARGIN))
        _write_caption(image, lines, self._caption_top)
        return np.asarray(image)


def make_painter(frames: Sequence[WorldFrame]) -> Painter | PicturePainter:
    """Return a painter for the frames of an episode, which are all of one kind.

    Raises:
        ReportError: the world draws no pictures.
    """
    grids = [frame for frame in frames if isinstance(frame, Frame)]
    if grids:
        return Painter(grids)
    return PicturePainter([frame for frame in frames if isinstance(frame, TextFrame)])


def _read_picture(data: bytes) -> Image:
    """Return the picture in a PNG file.

    Raises:
        ReportError: the data is no picture.
    """
    from PIL import Image

    try:
        with Image.open(io.BytesIO(data), formats=("PNG",)) as picture:
            return picture.convert("RGB")
    except (OSError, ValueError, SyntaxError) as error:  # Pillow raises any of these
        raise ReportError(f"a picture of this world cannot be read: {error}") from error


def _write_caption(image: Image, lines: Sequence[str], top: int) -> None:
    """Write the first :data:`LINES` lines of a caption into a picture, from row ``top`` (in pixels)."""
    from PIL import ImageDraw

    canvas = ImageDraw.Draw(image)
    font = _font()
    for line_number, line in enumerate(lines[:LINES]):
        words = visible(line[:_MAX_LINE]).split()
        text = _cut(" ".join(words), image.width - 2 * _MARGIN, font)
        canvas.text((_MARGIN, top + line_number * _LINE), text, fill=_INK, font=font)


def place_frames(frames: Sequence[Frame]) -> tuple[list[GridFrame], int, int]:
    """Place the grids of all frames into grids of one common shape.

    Args:
        frames: at least one frame.

    Returns:
        A triple: the placed frames, the row, and the column. Row and column are those of the placed grids' upper left
            cell in the true grid.
    """
    grids = [each for frame in frames for each in _list_grids(frame)]
    starts = np.array([at for _, at in grids])
    shapes = np.array([grid.shape for grid, _ in grids])
    ends = starts + shapes
    top, left = starts.min(axis=0).tolist()
    rows, columns = ends.max(axis=0).tolist()

    def place(grid: NDArray[np.uint8], at: tuple[int, int]) -> NDArray[np.uint8]:
        placed = np.full((rows - top, columns - left), UNSEEN, dtype=np.uint8)
        row = at[0] - top
        column = at[1] - left
        height, width = grid.shape
        placed[row : row + height, column : column + width] = grid
        return placed

    placed_frames = []
    for frame in frames:
        truth, known, view = (place(grid, at) for grid, at in _list_grids(frame))
        row, column = frame.position
        agent = row - top, column - left, frame.direction
        is_seen = view != UNSEEN
        placed_frames.append(GridFrame(truth, known, is_seen, agent, frame.inventory, frame.reward))
    return placed_frames, top, left


def _list_grids(frame: Frame) -> tuple[tuple[NDArray[np.uint8], tuple[int, int]], ...]:
    """Return three pairs (grid, place), for the truth, the map and the view.

    A place is the (row, column), in the true grid, of the upper left cell of the grid.
    """
    return (frame.truth, (0, 0)), (frame.known, frame.known_at), (frame.view, frame.view_at)


@cache
def draw_tile(code: int, size: int, agent: int | None = None, lit: bool = False) -> Picture:
    """Return the tile of a cell.

    Args:
        code: cell code; an unseen cell is hatched.
        size: width and height of the tile, in pixels.
        agent: direction of the agent in the cell; None if the agent is elsewhere.
        lit: whether the agent sees the cell.
    """
    if code == UNSEEN and agent is None:
        y, x = np.indices((size, size))
        # Divide the tile into a whole number of periods, so that the stripes of adjacent tiles meet.
        period = size / max(round(size / _HATCH_PERIOD), 1)
        is_stripe = (x + y) % period < period / 4
        hatched: Picture = np.array(_HATCH, dtype=np.uint8)[is_stripe.astype(int)]
        return hatched

    from minigrid.core.grid import Grid

    tile = Grid.render_tile(_object(code), agent, lit, tile_size=size)
    rendered: Picture = np.asarray(tile).astype(np.uint8)
    return rendered


def _object(code: int) -> Any:
    """Return MiniGrid's object of a cell code.

    A floor is blue, because codes do not have the colours of floors. A kind that MiniGrid does not know, such as a
    mechanism of gridworld tasks, becomes a box. An unknown colour becomes grey.
    """
    from minigrid.core.constants import COLOR_TO_IDX, IDX_TO_COLOR, OBJECT_TO_IDX
    from minigrid.core.world_object import WorldObj

    kind, *details = VOCABULARY[code].split()  # such as "door red locked"
    default_colour = "blue" if kind == "floor" else "grey"
    colour = details[0] if details else default_colour
    state = DOOR_STATES.index(details[1]) if kind == "door" else 0
    known_kind = "box" if kind in list_added_kinds() else kind  # minigrid cannot make an added kind from its number
    kind_index = OBJECT_TO_IDX.get(known_kind, OBJECT_TO_IDX["box"])
    colour_index = COLOR_TO_IDX.get(colour, COLOR_TO_IDX["grey"])
    if colour_index not in IDX_TO_COLOR:  # an environment has added its colour to one table only
        colour_index = COLOR_TO_IDX["grey"]
    return WorldObj.decode(kind_index, colour_index, state)


@cache
def _font() -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    from PIL import ImageFont

    return ImageFont.load_default(_TEXT_SIZE)


def _cut(text: str, width: int, font: ImageFont.FreeTypeFont | ImageFont.ImageFont) -> str:
    """Return a text that is cut to ``width`` pixels; a cut text ends with :data:`_MORE`."""
    if font.getlength(text) <= width:
        return text

    def is_too_wide(count: int) -> bool:
        return font.getlength(text[:count] + _MORE) > width

    # Binary search for the first number of characters that is too wide.
    too_many = bisect_left(range(len(text)), True, key=is_too_wide)
    return text[: max(too_many - 1, 0)] + _MORE
