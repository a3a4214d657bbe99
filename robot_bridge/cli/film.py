"""A film of what the robot saw and of the robot from above, with what it was doing in words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

import numpy as np
from numpy.typing import NDArray

from robot_bridge.cli.journals import Silent
from robot_bridge.contracts import Applied, Command, ExecutionResult, Observation
from robot_bridge.errors import SetupError

Picture = NDArray[np.uint8]

HEIGHT: Final = 480
WORDS: Final = 60
"""Height in pixels of the line below the pictures."""
FPS: Final = 10
_WIDTHS: Final = (640, 480)


class Film(Silent):
    """A journal that writes an MP4 of camera (left) and top view (right); as a context it closes the file.

    Args:
        path: of the file, replaced.
        top_view: draws the robot from above, given a width.
        every: seconds of the robot's clock between two pictures.

    Raises:
        SetupError: PyAV is missing, or the file cannot be written.
    """

    def __init__(self, path: Path, top_view: Callable[[int], Picture], every: float = 1.0) -> None:
        try:
            import av
        except ImportError as error:
            raise SetupError("--film needs PyAV: pip install av") from error
        try:
            self._container: Any = av.open(str(path), "w", format="mp4")
        except OSError as error:
            raise SetupError(f"cannot write {path}: {error.strerror or error}") from error
        self._frame_of = av.VideoFrame.from_ndarray
        options = {"crf": "23", "preset": "veryfast"}
        self._stream = self._container.add_stream("libx264", rate=Fraction(FPS), options=options)
        self._stream.width, self._stream.height, self._stream.pix_fmt = sum(_WIDTHS), HEIGHT + WORDS, "yuv420p"
        self._top_view, self._every, self._next = top_view, every, 0.0
        self._seen: Picture = np.full((HEIGHT, _WIDTHS[0], 3), 40, dtype=np.uint8)
        self._action = self._safety = ""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None, /
    ) -> None:
        self._container.mux(self._stream.encode())
        self._container.close()

    def observed(self, observation: Observation) -> None:
        if observation.frame is not None:
            self._seen = observation.frame.rgb

    def decided(self, now: float, result: ExecutionResult) -> None:  # noqa: ARG002
        given = ", ".join(str(value) for value in result.decision.parameters.values() if value is not None)
        self._action = f"{result.decision.tool_name}({given})" + ("" if result.is_valid else f": {result.reason}")

    def commanded(self, now: float, commands: Sequence[Command], applied: Applied) -> None:  # noqa: ARG002
        self._safety = applied.reason or self._safety
        if now >= self._next:
            self._next = now + self._every
            self._add(now, applied)
            self._safety = ""

    def _add(self, now: float, applied: Applied) -> None:
        import cv2

        seen = cv2.resize(self._seen, (_WIDTHS[0], HEIGHT))
        above = cv2.resize(self._top_view(_WIDTHS[1]), (_WIDTHS[1], HEIGHT))
        words = np.full((WORDS, sum(_WIDTHS), 3), 24, dtype=np.uint8)
        state = f"{int(now // 60)}:{now % 60:04.1f}  {applied.twist.linear:+.2f} m/s  {self._action}"
        for line, (text, colour) in enumerate(((state, (236, 239, 241)), (self._safety, (255, 171, 64)))):
            ascii_only = "".join(c if " " <= c <= "~" else "?" for c in text)[:110]
            cv2.putText(words, ascii_only, (12, 24 + 26 * line), cv2.FONT_HERSHEY_SIMPLEX, 0.55, colour, 1, cv2.LINE_AA)
        picture: Picture = np.vstack((np.hstack((seen, above)), words)).astype(np.uint8)
        self._container.mux(self._stream.encode(self._frame_of(np.ascontiguousarray(picture), format="rgb24")))
