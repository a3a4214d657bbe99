"""A film of what the robot saw, of the robot from above and of its map, with what it was doing in words."""

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
WORDS: Final = 60
"""Height in pixels of the lines below the pictures."""
FPS: Final = 10
CAMERA = 640
SQUARE = 480
ALONE = 960
"""Widths of the camera's picture, of the views from above, and of a map that is alone."""
_FINE: Final = 2
"""The map is drawn so many times as large and then averaged: smooth edges."""
_DARK = 24
_GREY = (206, 210, 214)
_LIGHT = (236, 239, 241)
_AMBER = (255, 171, 64)
_CONTAINER: Final[Mapping[str, str]] = {"movflags": "hybrid_fragmented+frag_every_frame", "flush_packets": "1"}
"""Every picture is in the file as soon as it is drawn: a film whose writer was killed plays up to there."""
_CODEC: Final[Mapping[str, str]] = {"crf": "23", "preset": "veryfast", "tune": "zerolatency"}

TopView = Callable[[int], Picture]
"""Draws the robot from above, given a width."""


class Film(Journal):
    """A journal that writes an MP4 of camera, top view and map, side by side.

    Args:
        path: of the file, replaced.
        top_view: None where nothing can be drawn: the map is filmed alone.
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
        self._width = CAMERA + 2 * SQUARE if top_view else ALONE
        try:
            self._container: Any = av.open(str(path), "w", format="mp4", options=dict(_CONTAINER))
            self._stream = self._container.add_stream("libx264", rate=Fraction(FPS), options=dict(_CODEC))
            self._stream.width = self._width
            self._stream.height = HEIGHT + WORDS
            self._stream.pix_fmt = "yuv420p"
            self._container.start_encoding()
        except OSError as error:
            raise SetupError(f"cannot write {path}: {error.strerror or error}") from error
        self._top_view = top_view
        self._every = every
        self._next = 0.0
        self._seen: Picture = np.full((HEIGHT, CAMERA, 3), 40, dtype=np.uint8)
        self._map: tuple[NDArray[np.int8], float, float, float] | None = None
        self._trail = Trail()
        self._action = ""
        self._safety = ""

    def close(self) -> None:
        """Complete the file."""
        self._container.mux(self._stream.encode())
        self._container.close()

    def record_observation(self, observation: Observation) -> None:
        if observation.frame is not None:
            self._seen = observation.frame.rgb

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
        if now >= self._next:
            self._next = now + self._every
            self._add(now, applied)
            self._safety = ""

    def _add(self, now: float, applied: Applied) -> None:
        panels = np.hstack(self._panels())
        picture = np.vstack((panels, self._words(now, applied)))
        frame = self._make_frame(np.ascontiguousarray(picture, dtype=np.uint8), format="rgb24")
        self._container.mux(self._stream.encode(frame))

    def _panels(self) -> list[Picture]:
        if self._top_view is None:
            return [self._map_panel(ALONE)]
        camera = _fit_into_panel(self._seen, CAMERA)
        above = _fit_into_panel(self._top_view(SQUARE), SQUARE)
        return [camera, above, self._map_panel(SQUARE)]

    def _map_panel(self, width: int) -> Picture:
        if self._map is None:
            return _fit_into_panel(None, width)
        drawn = MapPicture(*self._map, size=_FINE * HEIGHT, bold=0.6 * _FINE)
        drawn.way(self._trail.poses)
        return _fit_into_panel(drawn.picture(), width)

    def _words(self, now: float, applied: Applied) -> Picture:
        words: Picture = np.full((WORDS, self._width, 3), _DARK, dtype=np.uint8)
        speed = f"{applied.twist.linear:+.2f} m/s"
        state = f"{narration.time_text(now)}  {speed}  {self._action}"
        self._write(words, state, 24, _LIGHT)
        self._write(words, self._safety, 50, _AMBER)
        return words

    def _write(self, picture: Picture, text: str, baseline: int, colour: Colour) -> None:
        fitting = replace_non_ascii(text)[: self._width // 10]
        font = cv2.FONT_HERSHEY_SIMPLEX
        cv2.putText(picture, fitting, (12, baseline), font, 0.55, colour, 1, cv2.LINE_AA)


def _fit_into_panel(picture: Picture | None, width: int) -> Picture:
    """Return a picture as large as a panel of that width allows, in its middle."""
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
