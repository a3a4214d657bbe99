"""Command-line options of ``replay``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from cyclopts import Parameter

from spca.common.options.values import FILE, name_value, text_option, whole_number


def _read_rate(text: str) -> float:
    """Parse a rate in steps per second: digits with at most one decimal point, from 0.1 to 60."""
    is_number = text.isascii() and text.replace(".", "", 1).isdigit()
    rate = float(text) if is_number else 0.0
    if not 0.1 <= rate <= 60:
        raise ValueError(f"{text!a:.80} is not a rate from 0.1 to 60 steps per second")
    return rate


@Parameter(name="*")
@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayOptions:
    """The attempt to be shown, and the files to be written.

    Attributes:
        attempt: which attempt (default: the last)
        gif: write an animation
        mp4: write a video; needs the extra [video]
        png: write the picture after this step; 0 is the beginning
        output: where --png goes (default: named after level, attempt and step)
        fps: steps per second (default 5)
    """

    attempt: Annotated[str | None, name_value("ROUND.NUMBER")] = None
    gif: Annotated[str | None, FILE] = None
    mp4: Annotated[str | None, FILE] = None
    png: Annotated[int | None, whole_number(0), name_value("STEP")] = None
    output: Annotated[str | None, FILE] = None
    fps: Annotated[float, text_option(_read_rate, "N")] = 5.0
