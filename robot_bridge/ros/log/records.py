"""Convert values of the contract to JSON and back without loss, for records in a log of ROS messages.

A value of the contract has a class of :mod:`robot_bridge.contracts` or :mod:`robot_bridge.config`. It becomes a JSON
object with the name of its class under the key ``_``.

The key ``_`` also marks the objects for numbers that JSON does not have (inf, NaN). In addition, it marks mappings that
have a key ``_`` or keys that are not strings. A tuple outside of a class comes back as a list.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from math import isfinite
from typing import Any, Final

import numpy as np

from robot_bridge import config, contracts
from robot_bridge.errors import RecordingError

_MARK: Final = "_"
_CLASSES: Final = {
    kind.__name__: kind
    for module in (contracts, config)
    for kind in vars(module).values()
    if isinstance(kind, type) and (is_dataclass(kind) or issubclass(kind, Enum))
}
"""For each name, the class: all dataclasses and enumerations that a record may hold."""


def to_json(value: object) -> str:
    """Return the value as one line of strict JSON.

    A value that is neither of the contract nor of JSON becomes its ``repr``.
    """
    return json.dumps(_encode(value), separators=(",", ":"), allow_nan=False)


def from_json(text: str) -> Any:
    """Return the value that :func:`to_json` has written as ``text``.

    Raises:
        RecordingError: ``text`` was not written by :func:`to_json`.
    """
    try:
        return _decode(json.loads(text))
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise RecordingError(f"a record that cannot be read: {type(error).__name__}: {error}") from error


def _encode(value: object) -> object:
    """Return the value converted to plain JSON types; :func:`_decode` is the inverse."""
    if isinstance(value, Enum):
        return {_MARK: type(value).__name__, "value": value.value}
    if is_dataclass(value) and not isinstance(value, type):
        encoded: dict[str, object] = {_MARK: type(value).__name__}
        for field in fields(value):
            encoded[field.name] = _encode(getattr(value, field.name))
        return encoded
    if isinstance(value, Mapping):
        return _encode_mapping(value)
    if isinstance(value, list | tuple | set | frozenset):
        return [_encode(item) for item in value]
    return _encode_scalar(value.item() if isinstance(value, np.generic) else value)


def _encode_scalar(value: object) -> object:
    """Return a scalar unchanged if JSON has it, a marked object for inf and NaN, else the ``repr``."""
    if isinstance(value, float) and not isfinite(value):
        return {_MARK: "float", "value": repr(value)}
    if value is None or isinstance(value, str | int | float):
        return value
    return repr(value)


def _encode_mapping(value: Mapping[Any, object]) -> object:
    """Return a JSON object, or a marked list of (key, value) pairs if the keys are not strings or include the mark."""
    if _MARK not in value and all(isinstance(key, str) for key in value):
        return {key: _encode(item) for key, item in value.items()}
    items = [[_encode(key), _encode(item)] for key, item in value.items()]
    return {_MARK: "dict", "items": items}


def _decode(plain: Any) -> Any:
    """Return the value that :func:`_encode` has converted to plain JSON types."""
    if isinstance(plain, list):
        return [_decode(item) for item in plain]
    if not isinstance(plain, dict):
        return plain
    if _MARK not in plain:
        return {key: _decode(item) for key, item in plain.items()}
    unmarked = {key: item for key, item in plain.items() if key != _MARK}
    return _decode_marked(plain[_MARK], unmarked)


def _decode_marked(name: str, contents: dict[str, Any]) -> Any:
    """Return the value of a marked object: ``name`` is the text under the mark, ``contents`` all other items."""
    if name == "float":
        return float(contents["value"])
    if name == "dict":
        return {_decode(key): _decode(item) for key, item in contents["items"]}
    kind = _CLASSES[name]
    if issubclass(kind, Enum):
        return kind(contents["value"])
    return kind(**{key: _decode(item) for key, item in contents.items()})
