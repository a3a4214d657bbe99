"""What nobody can see is spelled out, and means the same where it has to."""

from __future__ import annotations

import ast
import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spca.common.encoding import json_text
from spca.common.text import clock, escape_code, escape_json, format_count, one_line, strip_folders, visible
from spca.errors import PatchError
from tests.support.bodies.grid import merge
from tests.support.spca.doubles import AGENT

HIDDEN = (
    *map(chr, (0x7F, 0x85, 0x9B, 0xAD, 0x61C, 0x200B, 0x200E, 0x200F, 0x2028, 0x2029, 0x2060, 0xFEFF, 0x3164, 0xE0041)),
    *map(chr, range(0x202A, 0x202F)),
    *map(chr, range(0x2066, 0x206A)),
)


@pytest.mark.parametrize("character", HIDDEN, ids=lambda c: f"{ord(c):04x}")
def test_hidden_characters_are_escaped(character: str) -> None:
    assert character not in visible(f"a{character}b")
    written = json_text({character: [character]}, indent=1)
    assert character not in written
    assert json.loads(written) == {character: [character]}
    source = escape_code(f"x = 'a{character}b'  # {character}")
    assert character not in source
    assert ast.literal_eval(source.partition("= ")[2]) == f"a{character}b"


@pytest.mark.long
@given(
    st.recursive(
        st.text() | st.integers() | st.none(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)
    )
)
def test_json_says_the_same(value: object) -> None:
    written = json_text(value)
    assert json.loads(written) == value
    assert visible(written) == written


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, np.float64("nan"), np.array(math.inf)])
def test_what_is_no_number_of_json_is_null(value: object) -> None:
    assert json_text({"seconds": [value, 1.5]}) == '{"seconds": [null, 1.5]}'
    assert json_text({"é": value}, indent=1) == '{\n "é": null\n}'


def test_text_that_can_be_seen_stays_as_it_is() -> None:
    text = "é 漢字 👍\t{'a'}\n"
    assert visible(text) == escape_code(text) == text
    assert escape_json(text) == text
    assert visible("a\x1b[2J\r\n\x7f") == "a␛[2J\n␡"


def test_an_agent_reads_as_it_runs() -> None:
    """A comment that ends a string to the eye, and not to Python (Trojan Source, CVE-2021-42574)."""
    trick = "def go(self):\n    level = 'user\u202e \u2066# check\u2069 \u2066'  # \u202e\n    yield self.forward()\n"
    merged = merge(AGENT.text, trick, {"go": ()}).text
    assert "'user\\u202e \\u2066# check\\u2069 \\u2066'  # \\u202e" in merged
    assert merged == visible(merged)


def test_a_hidden_letter_in_a_name_is_refused() -> None:
    with pytest.raises(PatchError):
        merge(AGENT.text, "def go(self):\n    a\u3164 = 1\n    yield self.forward()\n", {"go": ()})


def test_one_line_cannot_pass_for_more() -> None:
    assert one_line("a\x1bb\nc\td\r\ne\u2028f\udc80") == "a␛b c d e⟨U+2028⟩f⟨U+DC80⟩"


@pytest.mark.parametrize(
    ("number", "words"), [(0, "0 levels"), (1, "1 level"), (2, "2 levels"), (1234, "1,234 levels")]
)
def test_how_many(number: int, words: str) -> None:
    assert format_count(number, "level") == words


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0.04, "0:00"), (99.96, "1:39"), (3599.9, "59:59"), (3600, "1:00:00"), (359_999, "99:59:59")],
)
def test_times(seconds: float, words: str) -> None:
    assert clock(seconds) == words


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("/home/me/runs/a", "a"),
        ("/runs", "runs"),
        ("replay//home/me/run: it has no such call", "replay/run: it has no such call"),
        (
            "other models; before: planner replay//home/me/run, coder x/c",
            "other models; before: planner replay/run, coder x/c",
        ),
        ("cannot read '/home/me/my.json'", "cannot read 'my.json'"),
        ("https://example.org/v1/chat, http://127.0.0.1:8080/", "https://example.org/v1/chat, http://127.0.0.1:8080/"),
        ("state/state.json and/or a / b or </script>", "state/state.json and/or a / b or </script>"),
    ],
)
def test_of_paths_the_last_name_is_left(text: str, shown: str) -> None:
    assert strip_folders(text) == shown
