"""Hashes of a simulator's state, which prove that a replayed checkpoint leads to the recorded state.

MiniGrid worlds are deterministic given a seed: a reset followed by the same primitives gives the same state, bit for
bit. A checkpoint is therefore a list of primitives, with a hash over the whole object graph of the simulator as the
proof.
"""

from __future__ import annotations

import hashlib
import types
from collections.abc import Iterable
from enum import Enum
from functools import cache
from typing import Any, Final

import numpy as np

NOT_STATE: Final = frozenset(
    {
        "window",
        "clock",
        "render_size",
        "screen_size",
        "action_space",
        "observation_space",
        "mission_space",
        "spec",
        "metadata",
        "_np_random_seed",
        "render_mode",
        "gen_obs",
    }
)
"""Attributes of a simulator that describe or display it but are not part of its state."""

_SCALARS: Final = (type(None), bool, int, float, complex, str, bytes, Enum)
_SKIPPED: Final = (types.FunctionType, types.MethodType, types.ModuleType, type)


def hash_state(*parts: Any) -> str:
    """Return the sha256 over the object graphs of ``parts``.

    The hash covers attributes, containers, numpy arrays and random generators. A reference to an object met before is
    hashed as the object's number in the order of first meeting. Equal states of two simulators therefore have equal
    hashes.
    """
    tokens: list[bytes] = []
    seen: dict[int, int] = {}
    keep_alive: list[Any] = []
    stack: list[Any] = list(reversed(parts))
    while stack:
        value = stack.pop()
        number = seen.get(id(value))
        if number is not None:  # never a scalar
            tokens.append(b"ref:%d;" % number)
        elif (token := _scalar(value)) is not None:
            tokens.append(token)
        else:
            seen[id(value)] = len(seen)
            keep_alive.append(value)
            token, children = _describe_object(value)
            tokens.append(token)
            stack.extend(reversed(children))
    return hashlib.sha256(b"".join(tokens)).hexdigest()


def _scalar(value: Any) -> bytes | None:
    """Return the bytes to hash for a value that contains no other values, None for any other value."""
    if value is None:
        return b"NoneType:None;"
    if isinstance(value, _SCALARS):
        return f"{type(value).__name__}:{value!r};".encode()
    if isinstance(value, np.generic):
        return f"scalar:{value.item()!r};".encode()
    if isinstance(value, _SKIPPED):
        return f"{getattr(value, '__qualname__', '?')};".encode()
    return None


def _describe_object(value: Any) -> tuple[bytes, list[Any]]:
    if isinstance(value, np.ndarray):
        header = f"array:{value.dtype}:{value.shape};".encode()
        return (header, value.ravel().tolist()) if value.dtype.hasobject else (header + value.tobytes(), [])
    if isinstance(value, np.random.Generator):
        return b"rng;", [value.bit_generator.state]
    if isinstance(value, dict):
        return f"dict:{len(value)};".encode(), [part for key in sorted(value, key=repr) for part in (key, value[key])]
    if isinstance(value, set | frozenset):
        return f"set:{len(value)};".encode(), sorted(value, key=repr)
    items = list(value) if isinstance(value, Iterable) and hasattr(value, "__len__") else []
    fields = _fields(value)
    return f"object:{type(value).__qualname__}:{len(items)};".encode(), [*items, fields] if fields else items


@cache
def _slots(cls: type) -> tuple[str, ...]:
    return tuple(name for base in cls.__mro__ for name in getattr(base, "__slots__", ()))


def _fields(value: Any) -> dict[str, Any]:
    """Return the attributes in ``__dict__`` and ``__slots__`` that belong to the state."""
    slots = {name: getattr(value, name) for name in _slots(value.__class__) if hasattr(value, name)}
    fields = slots | getattr(value, "__dict__", {})
    return {name: field for name, field in fields.items() if name not in NOT_STATE}
