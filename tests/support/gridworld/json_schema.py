"""A checker for the part of JSON Schema 2020-12 that the schema of tasks uses; an unknown keyword is an error."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

_NOTES = {"$schema", "$defs", "title", "description", "default", "then", "else"}
_TYPES: dict[str, Callable[[Any], bool]] = {
    "object": lambda value: isinstance(value, dict),
    "array": lambda value: isinstance(value, list),
    "string": lambda value: isinstance(value, str),
    "boolean": lambda value: isinstance(value, bool),
    "null": lambda value: value is None,
    "integer": lambda value: (isinstance(value, int) and not isinstance(value, bool)) or _whole(value),
}


def conforms(value: Any, schema: dict[str, Any], root: dict[str, Any]) -> bool:
    """Whether a value is as a schema says."""
    return all(_holds(keyword, value, schema, root) for keyword in schema if keyword not in _NOTES)


def _whole(value: Any) -> bool:
    return isinstance(value, float) and value.is_integer()


def _holds(keyword: str, value: Any, schema: dict[str, Any], root: dict[str, Any]) -> bool:
    told = schema[keyword]
    if keyword in _LOGIC:
        return _LOGIC[keyword](value, told, schema, root)
    kind, check = _PLAIN[keyword]
    return not isinstance(value, kind) or isinstance(value, bool) or bool(check(value, told))


def _items(value: Any, told: Any, _schema: Any, root: Any) -> bool:
    return not isinstance(value, list) or all(conforms(item, told, root) for item in value)


def _properties(value: Any, told: Any, _schema: Any, root: Any) -> bool:
    return not isinstance(value, dict) or all(conforms(value[key], told[key], root) for key in told if key in value)


def _additional(value: Any, told: Any, schema: Any, _root: Any) -> bool:
    assert told is False
    return not isinstance(value, dict) or value.keys() <= schema["properties"].keys()


def _if(value: Any, told: Any, schema: Any, root: Any) -> bool:
    return conforms(value, schema["then" if conforms(value, told, root) else "else"], root)


_LOGIC: dict[str, Callable[[Any, Any, Any, Any], bool]] = {
    "$ref": lambda value, told, _, root: conforms(value, root["$defs"][told.removeprefix("#/$defs/")], root),
    "type": lambda value, told, *_: _TYPES[told](value),
    "enum": lambda value, told, *_: value in told,
    "not": lambda value, told, _, root: not conforms(value, told, root),
    "anyOf": lambda value, told, _, root: any(conforms(value, option, root) for option in told),
    "if": _if,
    "items": _items,
    "properties": _properties,
    "additionalProperties": _additional,
}
_PLAIN: dict[str, tuple[Any, Callable[[Any, Any], Any]]] = {
    "minimum": ((int, float), lambda value, told: value >= told),
    "maximum": ((int, float), lambda value, told: value <= told),
    "minItems": (list, lambda value, told: len(value) >= told),
    "maxItems": (list, lambda value, told: len(value) <= told),
    "maxLength": (str, lambda value, told: len(value) <= told),
    "required": (dict, lambda value, told: value.keys() >= set(told)),
    # "$" of ECMA 262 is the very end, that of Python also stands before a last line feed.
    "pattern": (str, lambda value, told: re.search(told.removesuffix("$") + r"\Z", value)),
}
