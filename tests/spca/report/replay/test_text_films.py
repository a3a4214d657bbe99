"""Films of worlds without a grid: each frame as it was, and nothing twice."""

from __future__ import annotations

import base64

from hypothesis import given
from hypothesis import strategies as st

from spca.act.frame import TextFrame
from spca.report.replay.text_films import make_text_film

frames = st.builds(
    TextFrame,
    rows=st.lists(st.sampled_from(["a", "b", "", "a b"]), max_size=4).map(tuple),
    picture=st.none() | st.sampled_from([b"", b"png", b"other"]),
    reward=st.floats(0, 1),
    over=st.booleans(),
)


@given(st.lists(frames, min_size=1, max_size=6))
def test_every_frame_can_be_read_back(shown: list[TextFrame]) -> None:
    film = make_text_film(shown)
    pictures = [base64.b64decode(picture) for picture in film.pictures]
    for number, frame in enumerate(shown):
        assert tuple(film.lines[row] for row in film.rows[number]) == frame.rows
        at = film.picture[number]
        assert (pictures[at] if at >= 0 else None) == frame.picture
        assert film.reward[number] == frame.reward
    assert len(set(film.lines)) == len(film.lines)
    assert len(set(pictures)) == len(pictures)
