"""What ``replay`` is told."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from cyclopts import Parameter

from spca.common.options.values import text_option, whole_number


def _read_rate(text: str) -> float:
    rate = float(text) if text.replace(".", "", 1).isdigit() and text.isascii() else 0.0
    if not 0.1 <= rate <= 60:
        raise ValueError(f"{text!a:.80} is not a rate from 0.1 to 60 steps per second")
    return rate


@Parameter(name="*")
@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayOptions:
    """Which attempt is shown, and into which files."""

    attempt: Annotated[str | None, Parameter(metavar="ROUND.NUMBER", help="which attempt (default: the last)")] = None
    gif: Annotated[str | None, Parameter(metavar="FILE", help="write an animation")] = None
    mp4: Annotated[str | None, Parameter(metavar="FILE", help="write a video; needs the extra [video]")] = None
    png: Annotated[
        int | None,
        whole_number(0),
        Parameter(metavar="STEP", help="write the picture after this step; 0 is the beginning"),
    ] = None
    output: Annotated[
        str | None,
        Parameter(metavar="FILE", help="where --png goes (default: named after level, attempt and step)"),
    ] = None
    fps: Annotated[float, text_option(_read_rate), Parameter(metavar="N", help="steps per second (default 5)")] = 5.0
