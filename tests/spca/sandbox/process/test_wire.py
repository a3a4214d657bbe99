"""Frames: what is packed comes out again, and nothing else is taken for a frame."""

from __future__ import annotations

import copy
import struct
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from numpy.typing import NDArray

from spca.bodies.grid.body import GRID
from spca.body import AgentInterface, StateKind
from spca.contracts import AgentView, Status
from spca.sandbox.process import framing, wire
from spca.sandbox.process.runner import Asked, Done, Fault, protect_value
from spca.testing.generated_code import make_view

DTYPES = ("|u1", "<u2", "<u4", "|i1", "<i2", "<i4", "<i8", "<f4", "<f8", "|b1")
ARRAYS = st.sampled_from(DTYPES).flatmap(
    lambda code: arrays.arrays(np.dtype(code), arrays.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=5))
)
PLAIN = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(st.characters(codec="utf-8"))
VALUES = st.recursive(
    PLAIN,
    lambda inner: (
        st.lists(inner, max_size=4).map(tuple) | st.dictionaries(st.text("abc", max_size=3), inner, max_size=4)
    ),
    max_leaves=6,
)
KINDS = st.lists(st.sampled_from(list(StateKind)), min_size=1, max_size=5)
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


def interface_of(kinds: Sequence[StateKind]) -> AgentInterface:
    return AgentInterface(("go",), tuple((f"x{number}", kind.value) for number, kind in enumerate(kinds)))


def draw_value(data: st.DataObject, kind: StateKind) -> Any:
    if kind is StateKind.WORDS:
        return data.draw(ARRAYS.filter(lambda array: array.dtype.kind == "u"))
    return data.draw(VALUES if kind is StateKind.VALUE else ARRAYS)


def is_same(one: Any, other: Any) -> bool:
    """Whether a value has arrived as it was sent, with its type, shape and bits."""
    if isinstance(other, np.ndarray):
        return isinstance(one, np.ndarray) and (one.dtype, one.shape, one.tobytes()) == (
            other.dtype,
            other.shape,
            other.tobytes(),
        )
    one, other = protect_value(one), protect_value(other)
    return type(one) is type(other) and bool(one == other)


def payload_of(frame: bytes, number: int) -> bytes:
    kind, sequence, length = framing.HEADER.unpack_from(frame)
    assert (kind, sequence, length) == (framing.VIEW, number, len(frame) - framing.HEADER.size)
    return frame[framing.HEADER.size :]


NOT_SENT = object()


def sent_indices(payload: bytes, count: int) -> set[int]:
    """Which attributes a view tells."""
    reader = wire.ViewReader(count)
    reader.values = [NOT_SENT] * count
    reader.read(payload)
    return {index for index, value in enumerate(reader.values) if value is not NOT_SENT}


@given(KINDS, st.data())
def test_views_survive_and_only_what_changed_is_sent(kinds: list[StateKind], data: st.DataObject) -> None:
    packer = wire.ViewPacker(interface_of(kinds))
    reader = wire.ViewReader(len(kinds))
    last: list[Any] = [NOT_SENT] * len(kinds)
    for number in range(1, 5):
        now = list(last)
        for index, kind in enumerate(kinds):
            how = data.draw(st.sampled_from(("keep", "copy", "change"))) if number > 1 else "change"
            if how == "copy":
                now[index] = copy.deepcopy(last[index])
            elif how == "change":
                now[index] = draw_value(data, kind)
        payload = payload_of(packer.pack(AgentView(tuple(now)), number), number)
        changed = {index for index in range(len(kinds)) if not is_same(last[index], now[index])}
        assert sent_indices(payload, len(kinds)) == changed
        reader.read(payload)
        assert all(map(is_same, reader.values, now))
        last = now
    again = payload_of(packer.pack(AgentView(tuple(last)), 9), 9)
    assert sent_indices(again, len(kinds)) == set()


def test_after_a_refused_view_the_next_one_tells_everything() -> None:
    kinds = (StateKind.VALUE, StateKind.NUMBERS)
    packer = wire.ViewPacker(interface_of(kinds))
    reader = wire.ViewReader(len(kinds))
    reader.read(payload_of(packer.pack(AgentView(((1,), np.zeros(2))), 1), 1))
    with pytest.raises(ValueError, match="cannot be sent"):
        packer.pack(AgentView(((2,), "no array")), 2)
    reader.read(payload_of(packer.pack(AgentView(((2,), np.zeros(2))), 2), 2))
    assert reader.values[0] == (2,)


@given(VALUES)
def test_values_that_arrive_cannot_be_changed(value: Any) -> None:
    def require_protected(got: Any) -> None:
        assert not isinstance(got, dict | list)
        inner = got.values() if isinstance(got, Mapping) else got if isinstance(got, tuple) else ()
        for each in inner:
            require_protected(each)

    packer = wire.ViewPacker(interface_of((StateKind.VALUE,)))
    reader = wire.ViewReader(1)
    reader.read(payload_of(packer.pack(AgentView((value,)), 1), 1))
    require_protected(reader.values[0])


@given(ARRAYS)
def test_arrays_that_arrive_are_read_only(array: NDArray[Any]) -> None:
    kinds = (StateKind.NUMBERS,)
    reader = wire.ViewReader(1)
    reader.read(payload_of(wire.ViewPacker(interface_of(kinds)).pack(AgentView((array,)), 1), 1))
    (got,) = reader.values
    assert not got.flags.writeable
    with pytest.raises(ValueError, match="WRITEABLE"):
        got.flags.writeable = True


@given(ARRAYS, st.data())
def test_an_array_is_sent_as_it_looks(array: NDArray[Any], data: st.DataObject) -> None:
    """Whatever the order of its bytes in memory: turned, reversed, with gaps, or in Fortran's order."""
    shown = data.draw(st.sampled_from((array.T, array[..., ::-1] if array.ndim else array, np.asfortranarray(array))))
    reader = wire.ViewReader(1)
    packer = wire.ViewPacker(interface_of([StateKind.NUMBERS]))
    reader.read(payload_of(packer.pack(AgentView((shown,)), 1), 1))
    assert is_same(reader.values[0], shown)


def test_an_array_that_is_changed_in_place_is_sent_again() -> None:
    array = np.zeros((2, 3), np.uint8)
    packer, reader = wire.ViewPacker(interface_of([StateKind.WORDS])), wire.ViewReader(1)
    reader.read(payload_of(packer.pack(AgentView((array,)), 1), 1))
    array[1, 2] = 7
    assert reader.values[0][1, 2] == 0
    reader.read(payload_of(packer.pack(AgentView((array,)), 2), 2))
    assert reader.values[0][1, 2] == 7


def test_a_value_that_is_changed_in_place_is_sent_again() -> None:
    carried = {"wood": 1}
    packer, reader = wire.ViewPacker(interface_of([StateKind.VALUE])), wire.ViewReader(1)
    reader.read(payload_of(packer.pack(AgentView((carried,)), 1), 1))
    carried["wood"] = 2
    reader.read(payload_of(packer.pack(AgentView((carried,)), 2), 2))
    assert reader.values == [{"wood": 2}]


@pytest.mark.parametrize(
    ("before", "after"),
    [(1, True), (1, 1.0), ((1,), (True,)), ({"a": 0}, {"a": 0.0}), (0.0, -0.0), ({"a": 1, "b": 2}, {"b": 2, "a": 1})],
)
def test_a_value_of_another_type_is_another_value(before: object, after: object) -> None:
    packer, reader = wire.ViewPacker(interface_of([StateKind.VALUE])), wire.ViewReader(1)
    for number, value in enumerate((before, after), 1):
        reader.read(payload_of(packer.pack(AgentView((value,)), number), number))
    assert repr(reader.values[0]) == repr(protect_value(after))


def test_a_mission_that_was_sent_is_not_sent_again() -> None:
    packer = wire.ViewPacker(GRID.interface)
    assert b"get the blue key" in packer.pack(make_view(), 1)
    assert b"blue" not in packer.pack(make_view(inventory="ball red"), 2)


@pytest.mark.parametrize("code", [">u2", ">f8", "<u8", "<f2", "<c16", "<U3", "|S2", "|O", "<M8[s]"])
@pytest.mark.parametrize("kind", [StateKind.WORDS, StateKind.NUMBERS])
def test_an_array_of_another_type_is_refused(kind: StateKind, code: str) -> None:
    with pytest.raises(ValueError, match="cannot be sent"):
        wire.ViewPacker(interface_of([kind])).pack(AgentView((np.zeros(2, np.dtype(code)),)), 1)


@pytest.mark.parametrize("value", [None, 3, "text", [[1, 2], [3, 4]], b"bytes"])
def test_what_is_no_array_is_refused_in_its_place(value: object) -> None:
    with pytest.raises(ValueError, match="cannot be sent"):
        wire.ViewPacker(interface_of([StateKind.NUMBERS])).pack(AgentView((value,)), 1)


@pytest.mark.parametrize("value", [object(), np.zeros(2), np.int64(1), (1, object()), {"a": lambda: 1}])
def test_what_is_no_plain_value_is_refused(value: object) -> None:
    with pytest.raises(ValueError, match="cannot be sent"):
        wire.ViewPacker(interface_of([StateKind.VALUE])).pack(AgentView((value,)), 1)


def test_a_value_that_is_nested_too_deeply_is_refused() -> None:
    deep: object = 1
    for _ in range(10_000):
        deep = (deep,)
    with pytest.raises(ValueError, match="cannot be sent"):
        wire.ViewPacker(interface_of([StateKind.VALUE])).pack(AgentView((deep,)), 1)


@pytest.mark.parametrize("values", [(), (1,), (1, 2, 3)])
def test_a_view_with_another_number_of_values_is_refused(values: tuple[int, ...]) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - the words do not matter
        wire.ViewPacker(interface_of([StateKind.VALUE] * 2)).pack(AgentView(values), 1)


@pytest.mark.parametrize(
    "changes",
    [
        {"mission": "x" * (wire.MAX_VIEW_BYTES + 1)},
        {"inventory": tuple(f"{number:01000}" for number in range(wire.MAX_VIEW_BYTES // 1000))},
        {"full_grid": np.zeros((wire.MAX_VIEW_BYTES, 1), np.uint8)},
        {"full_grid": np.zeros((wire.MAX_VIEW_BYTES // 8, 2), np.uint32)},
    ],
)
def test_a_view_that_is_too_large_is_refused(changes: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r"a view of \d+ bytes"):
        wire.ViewPacker(GRID.interface).pack(make_view(**changes), 1)


def test_a_large_view_is_sent() -> None:
    grid = np.zeros((wire.MAX_VIEW_BYTES - 4096, 1), np.uint8)
    assert len(wire.ViewPacker(GRID.interface).pack(make_view(full_grid=grid), 1)) > wire.MAX_VIEW_BYTES - 4096


def test_a_start_survives() -> None:
    module = compile("class Agent: pass", "agent_tmp.py", "exec")
    start = wire.Start(
        module=module,
        primitives=("left", "right"),
        attributes=(("mission", "value"), ("map", "words")),
        steps=(("go", ("a", "b")), ("look", ()), ("take", {"thing": "x"})),
        previous=(1, 2),
        words=("unseen", "wall"),
        print_limit=7,
    )
    assert wire.unpack_start(wire.pack_start(start)[framing.HEADER.size :]) == start


def test_the_runner_of_a_start_has_its_names_and_words() -> None:
    source = (
        "class Agent:\n    def go(self):\n        yield ['wall', 'door'].index(str(self.map[0]))\n        yield 2\n"
    )
    start = wire.Start(
        module=compile(source, "agent_tmp.py", "exec"),
        primitives=("left", "right"),
        attributes=(("mission", "value"), ("map", "words")),
        steps=(("go", ()),),
        previous=(),
        words=("unseen", "wall", "door"),
        print_limit=7,
    )
    runner = wire.make_runner(start, lambda _text: None)
    assert runner.advance(("", np.array([2], np.uint8))) == Asked(1, 0, 3)
    fault = runner.advance(("", np.array([2], np.uint8)))
    assert isinstance(fault, Fault)
    assert "0-1" in fault.message


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
