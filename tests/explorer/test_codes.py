"""Episodes are kept as short texts; a text that is none is refused in one line."""

from __future__ import annotations

import base64
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from explorer.codes import MAX_LENGTH, packed, unpacked
from explorer.errors import SceneError


@given(st.lists(st.integers(0, 2**16 - 1)))
def test_what_is_packed_is_unpacked(codes: list[int]) -> None:
    assert unpacked(packed(codes)) == tuple(codes)


@given(st.text().filter(bool))
def test_other_texts_are_refused(text: str) -> None:
    with pytest.raises(SceneError, match=r"^certificate\.json: codes: "):
        unpacked(text, "certificate.json")


def _text(data: bytes) -> str:
    return base64.b64encode(data).decode()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("nonsense!", "not base64"),
        (_text(b"nonsense"), "not base64"),
        (_text(zlib.compress(b"123")), "torn"),
        (_text(zlib.compress(b"12")[:-1]), "torn"),
        (_text(zlib.compress(b"12") + b"3"), "torn"),
        (_text(zlib.compress(bytes(2 << 26), 1)), "more than 100,000 steps"),
    ],
)
def test_each_kind_of_damage_is_named(text: str, words: str) -> None:
    with pytest.raises(SceneError, match=words):
        unpacked(text)


def test_an_episode_that_is_too_long_is_not_packed() -> None:
    with pytest.raises(SceneError, match="too many"):
        packed([1] * (MAX_LENGTH + 1))
