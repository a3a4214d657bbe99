"""Film that shows the camera's pictures, the robot from above and the map, with the current action in words."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any, Final

import cv2
import numpy as np
from numpy.typing import NDArray

from robot_bridge.cli import narration
from robot_bridge.cli.journals import Trail
from robot_bridge.cli.map_picture import Colour, MapPicture, Picture, replace_non_ascii
from robot_bridge.contracts import Applied, Command, Estimate, ExecutionResult, Observation
from robot_bridge.errors import SetupError
from robot_bridge.exploration.endings import is_ordinary
from robot_bridge.protocols import Journal
from spca.common.installation import pip_install

HEIGHT: Final = 480
"""Height of the pictures, in pixels."""
WORDS_HEIGHT: Final = 60
"""Height of the strip of text below the pictures, in pixels."""
FPS: Final = 10
CAMERA_WIDTH = 640
SQUARE_WIDTH = 480
"""Width of the view from above and of the map beside the camera's picture, in pixels."""
LONE_MAP_WIDTH = 960
"""Width of the map in a film that shows nothing else, in pixels."""
_OVERSAMPLING: Final = 2
"""The map is drawn this many times larger and then scaled down, so that edges are smooth."""
_DARK = 24
_GREY = (206, 210, 214)
_LIGHT = (236, 239, 241)
_AMBER = (255, 171, 64)
_CONTAINER: Final[Mapping[str, str]] = {"movflags": "hybrid_fragmented+frag_every_frame", "flush_packets": "1"}
"""Options that write every picture to the file at once, so that a film can be played if its writer was killed."""
_CODEC: Final[Mapping[str, str]] = {"crf": "23", "preset": "veryfast", "tune": "zerolatency"}

TopView = Callable[[int], Picture]
"""Function that draws the robot from above, given the picture's width in pixels."""


class Film(Journal):
    """Journal that writes an MP4 of camera, top view and map, side by side.

    Args:
        path: the file, which is replaced if it exists.
        top_view: draws the robot from above; if None, the film shows only the map.
        every: seconds of the robot's clock between two pictures.

    Raises:
        SetupError: PyAV is missing, or the file cannot be written.
    """

    def __init__(self, path: Path, top_view: TopView | None, every: float = 1.0) -> None:
        try:
            import av
        except ImportError as error:
            raise SetupError(f"--film needs PyAV: {pip_install('av')}") from error
        self._make_frame = av.VideoFrame.from_ndarray
        self._width = CAMERA_WIDTH + 2 * SQUARE_WIDTH if top_view else LONE_MAP_WIDTH
        try:
            self._container: Any = av.open(str(path), "w", format="mp4", options=dict(_CONTAINER))
            self._stream = self._container.add_stream("libx264", rate=Fraction(FPS), options=dict(_CODEC))
            self._stream.width = self._width
            self._stream.height = HEIGHT + WORDS_HEIGHT
            self._stream.pix_fmt = "yuv420p"
            self._container.start_encoding()
        except OSError as error:
            raise SetupError(f"cannot write {path}: {error.strerror or error}") from error
        self._top_view = top_view
        self._every = every
        self._next_picture = 0.0
        self._camera: Picture = np.full((HEIGHT, CAMERA_WIDTH, 3), 40, dtype=np.uint8)
        self._map: tuple[NDArray[np.int8], float, float, float] | None = None  # codes, resolution, x, y
        self._trail = Trail()
        self._action = ""
        self._safety = ""

    def close(self) -> None:
        """Complete the file."""
        self._container.mux(self._stream.encode())
        self._container.close()

    def record_observation(self, observation: Observation) -> None:
        if observation.frame is not None:
            self._camera = observation.frame.rgb

    def record_estimate(self, estimate: Estimate) -> None:
        self._trail.record_estimate(estimate)

    def record_map(self, now: float, codes: NDArray[np.int8], resolution: float, x: float, y: float) -> None:  # noqa: ARG002
        self._map = codes.copy(), resolution, x, y

    def record_decision(self, now: float, result: ExecutionResult) -> None:  # noqa: ARG002
        label, text = narration.describe_decision(result)
        self._action = text if result.is_valid else f"{label}: {text}"

    def record_command(self, now: float, commands: Sequence[Command], applied: Applied) -> None:  # noqa: ARG002
        if applied.reason and not is_ordinary(applied.reason):
            self._safety = f"safety: {applied.reason}"
        if now >= self._next_picture:
            self._next_picture = now + self._every
            self._add_picture(now, applied)
            self._safety = ""

    def _add_picture(self, now: float, applied: Applied) -> None:
        panels = np.hstack(self._draw_panels())
        picture = np.vstack((panels, self._draw_words(now, applied)))
        frame = self._make_frame(np.ascontiguousarray(picture, dtype=np.uint8), format="rgb24")
        self._container.mux(self._stream.encode(frame))

    def _draw_panels(self) -> list[Picture]:
        """Return the pictures that stand side by side, from left to right."""
        if self._top_view is None:
            return [self._draw_map(LONE_MAP_WIDTH)]
        camera = _fit_into_panel(self._camera, CAMERA_WIDTH)
        above = _fit_into_panel(self._top_view(SQUARE_WIDTH), SQUARE_WIDTH)
        return [camera, above, self._draw_map(SQUARE_WIDTH)]

    def _draw_map(self, width: int) -> Picture:
        if self._map is None:
            return _fit_into_panel(None, width)
        drawing = MapPicture(*self._map, size=_OVERSAMPLING * HEIGHT, bold=0.6 * _OVERSAMPLING)
        drawing.way(self._trail.poses)
        return _fit_into_panel(drawing.picture(), width)

    def _draw_words(self, now: float, applied: Applied) -> Picture:
        """Return the strip of text.

        The first line holds time, speed and action. The second line holds the last intervention of the safety chain.
        """
        strip: Picture = np.full((WORDS_HEIGHT, self._width, 3), _DARK, dtype=np.uint8)
        speed = f"{applied.twist.linear:+.2f} m/s"
        state = f"{narration.time_text(now)}  {speed}  {self._action}"
        self._write(strip, state, 24, _LIGHT)
        self._write(strip, self._safety, 50, _AMBER)
        return strip

    def _write(self, picture: Picture, text: str, baseline: int, colour: Colour) -> None:
        """Write a line of text into a picture; ``baseline`` is in pixels from the top."""
        fitting = replace_non_ascii(text)[: self._width // 10]
        font = cv2.FONT_HERSHEY_SIMPLEX
        cv2.putText(picture, fitting, (12, baseline), font, 0.55, colour, 1, cv2.LINE_AA)


def _fit_into_panel(picture: Picture | None, width: int) -> Picture:
    """Return a panel of ``width`` pixels with the picture, scaled to fit, in its middle.

    If ``picture`` is None, the panel is empty.
    """
    panel: Picture = np.full((HEIGHT, width, 3), _GREY, dtype=np.uint8)
    if picture is None:
        return panel
    rows, columns = picture.shape[:2]
    scale = min(HEIGHT / rows, width / columns)
    fitted_width = max(1, round(columns * scale))
    fitted_height = max(1, round(rows * scale))
    interpolation = cv2.INTER_AREA if scale < 1 else cv2.INTER_LINEAR
    fitted = cv2.resize(picture, (fitted_width, fitted_height), interpolation=interpolation)

    top = (HEIGHT - fitted_height) // 2
    left = (width - fitted_width) // 2
    panel[top : top + fitted_height, left : left + fitted_width] = fitted
    return panel
