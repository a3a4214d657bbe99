"""Random messages of any type, and random values of the bridge."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st
from rosbags.interfaces import Nodetype

from robot_bridge.contracts import Odometry, Pose, Scan, Twist
from robot_bridge.ros import types

_INTEGERS = {
    f"{sign}int{bits}": (0 if sign else -(2 ** (bits - 1)), 2 ** (bits if sign else bits - 1) - 1)
    for sign in ("", "u")
    for bits in (8, 16, 32, 64)
}
TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=12)


def messages(name: str) -> st.SearchStrategy[Any]:
    """Of one type, every field drawn."""
    fields = {field: _field(description) for field, description in types.typestore().fielddefs[name][1]}
    return st.fixed_dictionaries(fields).map(lambda drawn: types.make(name, **drawn))


def _field(description: Any) -> st.SearchStrategy[Any]:
    kind, value = description
    if kind == Nodetype.NAME:
        return messages(value)
    if kind == Nodetype.BASE:
        return _number(value[0])
    (inner, what), size = value
    bounds = {"min_size": size, "max_size": size} if kind == Nodetype.ARRAY else {"max_size": 9}
    if inner == Nodetype.NAME or what[0] == "string":
        return st.lists(_field((inner, what)), **bounds)
    return st.lists(_number(what[0]), **bounds).map(lambda drawn: np.array(drawn, dtype=what[0]))


def _number(name: str) -> st.SearchStrategy[Any]:
    if name in _INTEGERS:
        return st.integers(*_INTEGERS[name])
    if name.startswith("float"):
        return st.floats(width=int(name[5:]))  # type: ignore[arg-type]  # 32 or 64
    return st.booleans() if name == "bool" else TEXT


REAL = st.floats(-1e6, 1e6)
TIMES = st.floats(0, 2e9)
TWISTS = st.builds(Twist, REAL, REAL)
POSES = st.builds(Pose, REAL, REAL, st.floats(-3.14, 3.14))
ODOMETRIES = st.builds(Odometry, TIMES, POSES, TWISTS)
SCANS = st.builds(
    Scan,
    TIMES,
    st.lists(st.floats(width=32), max_size=30).map(lambda drawn: np.array(drawn, dtype=np.float32)),
    st.floats(-3.2, 0),
    st.floats(1e-3, 0.1),
    st.floats(0, 0.2),
    st.floats(1, 30),
)
