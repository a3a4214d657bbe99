"""Films of re-simulated episodes in worlds without a grid, in the format of the player in our pages."""

from __future__ import annotations

import base64
from collections.abc import Sequence

from spca.act.frame import TextFrame
from spca.common.web.films import TextFilm


def make_text_film(frames: Sequence[TextFrame]) -> TextFilm:
    """Return the film of an episode. Equal lines and equal pictures are stored once."""
    lines: dict[str, int] = {}  # index of each line
    pictures: dict[bytes, int] = {}
    rows = []
    shown = []
    for frame in frames:
        rows.append(tuple(lines.setdefault(row, len(lines)) for row in frame.rows))
        if frame.picture is None:
            shown.append(-1)
        else:
            shown.append(pictures.setdefault(frame.picture, len(pictures)))
    encoded = [base64.b64encode(picture).decode("ascii") for picture in pictures]
    rewards = tuple(frame.reward for frame in frames)
    return TextFilm(tuple(lines), tuple(rows), tuple(encoded), tuple(shown), rewards)
