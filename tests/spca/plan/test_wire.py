"""Messages over pipes: whatever the chunks, the lines are the same."""

from __future__ import annotations

import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spca.plan.wire import Lines, decode, encode, read_chunk, write_all

messages = st.dictionaries(st.text(), st.none() | st.booleans() | st.integers() | st.text() | st.lists(st.text()))


@pytest.mark.long
@given(st.lists(messages), st.integers(1, 30))
def test_messages_survive_any_chunks(sent: list[dict[str, object]], size: int) -> None:
    data = b"".join(map(encode, sent))
    lines = Lines()
    chunks = [data[i : i + size] for i in range(0, len(data), size)]
    assert [decode(line) for chunk in chunks for line in lines.feed(chunk)] == sent


def test_an_unfinished_line_is_not_a_message() -> None:
    assert list(Lines().feed(encode({"a": 1})[:-1])) == []
    with pytest.raises(ValueError, match="object"):
        decode(b"[1]")


def test_a_pipe_carries_what_is_written() -> None:
    reading, writing = os.pipe()
    write_all(writing, b"some bytes")
    os.close(writing)
    assert read_chunk(reading) == b"some bytes"
    assert read_chunk(reading) == b""
    os.close(reading)
