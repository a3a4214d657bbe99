"""Values as JSON that any parser takes, and pieces in which nothing is markup."""

from __future__ import annotations

import base64
import gzip
import json
import math
import re
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from spca.common.web import packing
from spca.common.web.packing import Text
from spca.report.read.model import Usage


@dataclass(frozen=True, slots=True)
class Shown:
    name: str
    sizes: tuple[int, ...]
    texts: dict[str, Text]


def opened(piece: str) -> Any:
    return json.loads(gzip.decompress(base64.b64decode(piece)))


def unfolded(document: Any) -> Any:
    """As the script of the page does it."""
    for text in document["value"]["texts"].values():
        text["lines"] = [document["lines"][number] for number in text["lines"]]
    return document["value"]


def test_dataclasses_become_objects_and_texts_share_their_lines() -> None:
    texts = {"a": Text("python", ("def f():", "")), "b": Text("python", ("", "def f():", "def f():"))}
    document = opened(packing.pack(Shown("x", (1, 2), texts)))
    assert document["lines"] == ["def f():", ""]
    assert unfolded(document) == {
        "name": "x",
        "sizes": [1, 2],
        "texts": {
            "a": {"language": "python", "lines": ["def f():", ""]},
            "b": {"language": "python", "lines": ["", "def f():", "def f():"]},
        },
    }


def test_equal_values_give_equal_pieces() -> None:
    assert packing.pack(Usage(1, 1)) == packing.pack(Usage(1, 1)) != packing.pack(Usage(1, 2))


NUMBERS = st.floats(allow_nan=True, allow_infinity=True) | st.integers() | st.none() | st.booleans()
VALUES = st.recursive(NUMBERS | st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner))


def finite(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, list):
        return [finite(item) for item in value]
    return {key: finite(item) for key, item in value.items()} if isinstance(value, dict) else value


def sent(value: Any) -> Any:
    """What arrives: texts without halves of surrogate pairs, which JSON in UTF-8 cannot hold."""
    if isinstance(value, str):
        return value.encode(errors="replace").decode()
    if isinstance(value, list):
        return [sent(item) for item in value]
    return {sent(key): sent(item) for key, item in value.items()} if isinstance(value, dict) else value


@pytest.mark.long
@given(VALUES)
@example(
    ["\\\\u001b", "\\u001b", "\u001b", "\\\u001b", "\r\n\r", "\ud83d", "\U0001f600", "\U000e0041", '\u202e"\\', "\x7f"]
)
def test_whatever_a_file_may_hold_arrives_but_numbers_that_json_has_not(value: Any) -> None:
    text = packing.to_json({"texts": {}, "value": value})

    def refused(name: str) -> None:
        raise AssertionError(f"{name} is no JSON")

    assert json.loads(text, parse_constant=refused)["value"]["value"] == sent(finite(value))


@given(st.text(st.characters(exclude_categories=[])))
@example("\ud800")
def test_a_piece_holds_no_character_that_html_knows(text: str) -> None:
    assert re.fullmatch(r"[A-Za-z0-9+/=]+", packing.pack({"texts": {"</script>": Text("text", (text,))}}))
