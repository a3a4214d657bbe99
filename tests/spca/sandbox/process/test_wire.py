"""Frames: what is packed comes out again, and nothing else is taken for a frame."""

from __future__ import annotations

import struct
from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from spca.contracts import AgentView, Status
from spca.sandbox.process import framing, wire
from spca.sandbox.process.runner import Asked, Done, Fault
from tests.support.contracts.executing import view

GRIDS = arrays.arrays(np.uint8, st.tuples(st.integers(1, 40), st.integers(1, 40)))
PLACES = st.tuples(st.integers(0, 400), st.integers(0, 400))
VIEWS = st.builds(
    AgentView,
    mission=st.text(st.characters(codec="utf-8"), max_size=200),
    full_grid=GRIDS,
    observation=GRIDS,
    direction=st.integers(0, 3),
    inventory=st.none() | st.text(st.characters(codec="utf-8"), max_size=40),
    position=PLACES,
    start_position=PLACES,
    start_direction=st.integers(0, 3),
)
POSITIONS = st.integers(0, 2**31 - 1)
FRAMES = st.lists(st.tuples(st.from_regex(r"[a-z_]{1,60}", fullmatch=True), st.integers(0, 2**32 - 1)), max_size=8)
ANSWERS = st.one_of(
    st.builds(Asked, st.integers(0, 255), POSITIONS, st.integers(0, 2**32 - 1)),
    st.just(Done()),
    st.builds(
        Fault,
        st.sampled_from([Status.RUNTIME_ERROR, Status.SYNTAX_ERROR, Status.MISSING_METHOD]),
        st.text(st.characters(codec="utf-8"), max_size=500),
        st.none() | POSITIONS,
        FRAMES.map(tuple),
    ),
)


def frames_of(data: bytes) -> list[framing.Frame]:
    frames = framing.Frames()
    frames.feed(data)
    found = []
    while (frame := frames.next()) is not None:
        found.append(frame)
    return found


@given(VIEWS)
def test_a_view_survives(shown: AgentView) -> None:
    data = wire.pack_view(shown, 5)
    kind, sequence, length = framing.HEADER.unpack_from(data)
    assert (kind, sequence, length) == (framing.VIEW, 5, len(data) - framing.HEADER.size)
    got = wire.View(data[framing.HEADER.size :], "what was said before")
    assert np.array_equal(got.full_grid, shown.full_grid)
    assert np.array_equal(got.observation, shown.observation)
    names = ("mission", "direction", "inventory", "position", "start_position", "start_direction")
    assert [getattr(got, name) for name in names] == [getattr(shown, name) for name in names]


def test_a_mission_that_was_sent_is_not_sent_again() -> None:
    data = wire.pack_view(view(), 2, mission=False)
    assert b"blue" not in data
    assert wire.View(data[framing.HEADER.size :], "get the blue key").mission == "get the blue key"


def test_a_grid_that_is_a_view_of_another_is_sent_as_it_looks() -> None:
    turned = np.rot90(np.arange(6, dtype=np.uint8).reshape(2, 3))
    got = wire.View(wire.pack_view(view(full_grid=turned), 1)[framing.HEADER.size :], "")
    assert np.array_equal(got.full_grid, turned)


@pytest.mark.parametrize(
    "changes", [{"mission": "x" * 70000}, {"inventory": "x" * 300}, {"full_grid": np.zeros((70000, 1), np.uint8)}]
)
def test_a_view_that_is_too_large_is_refused(changes: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r"too long|cannot be sent"):
        wire.pack_view(view(**changes), 1)


def test_a_start_survives() -> None:
    module = compile("class Agent: pass", "agent_tmp.py", "exec")
    start = wire.Start(module, (("go", ("a", "b")), ("look", ())), (1, 2), ("unseen", "wall"), 7)
    assert wire.unpack_start(wire.pack_start(start)[framing.HEADER.size :]) == start


@given(ANSWERS, st.integers(0, 2**32 - 1))
def test_an_answer_survives(answer: Asked | Done | Fault, sequence: int) -> None:
    (frame,) = frames_of(wire.pack_answer(answer, sequence))
    assert frame.sequence == sequence
    assert wire.unpack_answer(frame) == answer


def test_a_long_report_is_cut_to_what_the_host_takes() -> None:
    fault = Fault(Status.RUNTIME_ERROR, "é" * 5000, 3, (("f" * 500, 7),) * 8)
    (frame,) = frames_of(wire.pack_answer(fault, 1))
    got = wire.unpack_answer(frame)
    assert isinstance(got, Fault)
    assert (got.position, got.frames[-1]) == (3, ("f" * 60, 7))
    assert got.message.startswith("é" * 1000)


def test_surrogates_can_be_told() -> None:
    (frame,) = frames_of(wire.pack_answer(Fault(Status.RUNTIME_ERROR, "\udc80", None, (("\ud800", 1),)), 1))
    assert wire.unpack_answer(frame) == Fault(Status.RUNTIME_ERROR, "?", None, (("?", 1),))


@given(st.lists(ANSWERS, max_size=5), st.data())
def test_frames_arrive_in_pieces_of_any_size(answers: list[Asked | Done | Fault], data: st.DataObject) -> None:
    sent = b"".join(wire.pack_answer(answer, number) for number, answer in enumerate(answers))
    frames, got = framing.Frames(), []
    while sent:
        size = data.draw(st.integers(1, len(sent)))
        frames.feed(sent[:size])
        sent = sent[size:]
        while (frame := frames.next()) is not None:
            got.append(wire.unpack_answer(frame))
    assert got == answers
    assert frames.rest == b""


@given(st.binary(max_size=300))
def test_any_bytes_are_frames_or_a_wire_error(data: bytes) -> None:
    frames = framing.Frames()
    frames.feed(data)
    try:
        while (frame := frames.next()) is not None:
            assert len(frame.payload) <= framing.MAX_PAYLOAD_BYTES[frame.kind]
            wire.unpack_answer(frame)
    except framing.WireError:
        pass


@given(
    st.sampled_from([framing.ASKED, framing.DONE, framing.FAULT, framing.READY, framing.PRINTED]),
    st.binary(max_size=100),
)
def test_any_payload_is_an_answer_or_a_wire_error(kind: int, payload: bytes) -> None:
    with suppress(framing.WireError):
        wire.unpack_answer(framing.Frame(kind, 1, payload))


def test_a_failure_with_many_frames_is_refused() -> None:
    payload = struct.pack("<BiB", 0, 0, 255) + struct.pack("<IB", 3, 0) * 255
    with pytest.raises(framing.WireError, match="255 frames"):
        wire.unpack_answer(framing.Frame(framing.FAULT, 1, payload))


@pytest.mark.parametrize("kind", sorted(framing.MAX_PAYLOAD_BYTES))
def test_a_frame_that_is_too_long_is_refused_by_its_header(kind: int) -> None:
    frames = framing.Frames()
    frames.feed(framing.HEADER.pack(kind, 1, framing.MAX_PAYLOAD_BYTES[kind] + 1))
    with pytest.raises(framing.WireError, match="are allowed"):
        frames.next()
