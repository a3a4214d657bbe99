"""Messages between the solver and its process arrive as they were sent."""

from __future__ import annotations

from multiprocessing import Pipe

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spca.plan.wire import receive_message, send_message

messages = st.dictionaries(st.text(), st.none() | st.booleans() | st.integers() | st.text() | st.lists(st.text()))


@pytest.mark.long
@given(st.lists(messages, max_size=20))
def test_messages_arrive_in_order(sent: list[dict[str, object]]) -> None:
    ours, theirs = Pipe()
    with ours, theirs:
        for message in sent:
            send_message(ours, message)
        assert [receive_message(theirs) for _ in sent] == sent


def test_a_connection_that_was_closed_has_no_messages() -> None:
    ours, theirs = Pipe()
    theirs.close()
    with ours:
        with pytest.raises(EOFError):
            receive_message(ours)
        with pytest.raises(ConnectionError):
            send_message(ours, {})
