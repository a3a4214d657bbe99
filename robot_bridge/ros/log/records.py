"""Values of the contract as JSON and back, exactly: what a log holds beside the messages of ROS.

A value of the contract becomes an object with its class under ``_``; numbers that JSON has not, and mappings that
could be taken for such objects, are marked the same way. Tuples come back as lists where no class says otherwise.
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


def to_json(value: object) -> str:
    """Return one line of strict JSON; what is neither of the contract nor JSON becomes its ``repr``."""
    return json.dumps(_encode(value), separators=(",", ":"), allow_nan=False)


def from_json(text: str) -> Any:
    """Return the value again.

    Raises:
        RecordingError: it is not one that :func:`to_json` writes.
    """
    try:
        return _decode(json.loads(text))
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise RecordingError(f"a record that cannot be read: {type(error).__name__}: {error}") from error


def _encode(value: object) -> object:
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
    if isinstance(value, float) and not isfinite(value):
        return {_MARK: "float", "value": repr(value)}
    if value is None or isinstance(value, str | int | float):
        return value
    return repr(value)


def _encode_mapping(value: Mapping[Any, object]) -> object:
    if _MARK not in value and all(isinstance(key, str) for key in value):
        return {key: _encode(item) for key, item in value.items()}
    items = [[_encode(key), _encode(item)] for key, item in value.items()]
    return {_MARK: "dict", "items": items}


def _decode(plain: Any) -> Any:
    if isinstance(plain, list):
        return [_decode(item) for item in plain]
    if not isinstance(plain, dict):
        return plain
    if _MARK not in plain:
        return {key: _decode(item) for key, item in plain.items()}
    given = {key: item for key, item in plain.items() if key != _MARK}
    return _decode_marked(plain[_MARK], given)


def _decode_marked(name: str, given: dict[str, Any]) -> Any:
    if name == "float":
        return float(given["value"])
    if name == "dict":
        return {_decode(key): _decode(item) for key, item in given["items"]}
    kind = _CLASSES[name]
    if issubclass(kind, Enum):
        return kind(given["value"])
    return kind(**{key: _decode(item) for key, item in given.items()})
