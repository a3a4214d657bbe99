"""Two codecs that know nothing of each other write the same bytes and read the same values, for every type used."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from robot_bridge.ros import types
from tests.support.robot_bridge.strategies import messages

ALL = (
    *(types.BOOL, types.FLOAT32, types.STRING, types.TWIST, types.POSE_STAMPED, types.SCAN, types.IMAGE),
    *(types.COMPRESSED_IMAGE, types.CAMERA_INFO, types.IMU, types.ODOMETRY, types.OCCUPANCY_GRID, types.TF),
)
"""Every type that is sent, received or logged."""
EVERY_MESSAGE = st.sampled_from(ALL).flatmap(messages)


def as_fields(message: Any) -> Any:
    """The same message as cyclonedds holds it."""
    names = {field for field, _ in types.typestore().fielddefs[message.__msgtype__][1]}
    made = {name: _as_field(getattr(message, name)) for name in names}
    return types.fields_type(message.__msgtype__)(**made)


def _as_field(value: Any) -> Any:
    if isinstance(value, list):
        return [_as_field(item) for item in value]
    if isinstance(value, np.ndarray):
        return value.tolist()
    return as_fields(value) if hasattr(value, "__msgtype__") else value


@pytest.mark.parametrize("name", ALL)
@settings(max_examples=6)
@given(st.data())
def test_two_codecs_agree_to_the_byte(name: str, data: st.DataObject) -> None:
    message = data.draw(messages(name))
    ours, theirs = types.encode(message), as_fields(message).serialize(use_version_2=False)
    assert ours == theirs
    assert types.encode(types.decode(theirs, name)) == theirs
    assert types.fields_type(name).deserialize(ours).serialize(use_version_2=False) == ours


@pytest.mark.parametrize("name", ALL)
def test_types_are_named_as_ros_names_them(name: str) -> None:
    package, _, short = name.split("/")
    sample = types.dds_type(name)(b"bytes")
    assert sample.__idl__.idl_transformed_typename == f"{package}::msg::dds_::{short}_"
    assert sample.serialize(use_version_2=False) == b"bytes"


@settings(max_examples=30)
@given(EVERY_MESSAGE, st.data())
def test_damaged_bytes_are_an_error_of_one_line_or_another_message(message: Any, data: st.DataObject) -> None:
    whole = types.encode(message)
    damaged = bytearray(whole[: data.draw(st.integers(0, len(whole)))])
    for place in data.draw(st.lists(st.integers(0, max(len(damaged) - 1, 0)), max_size=4)) if damaged else []:
        damaged[place] = data.draw(st.integers(0, 255))
    refusal = ""
    try:
        types.decode(bytes(damaged), message.__msgtype__)
    except ValueError as error:
        refusal = str(error)
    assert len(refusal.splitlines()) <= 1
