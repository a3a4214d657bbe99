"""Values of an environment in the forms in which generated code and models get them; a fault names the value."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from spca.body import StateAttribute, StateKind

_SCALARS: Final[tuple[type[Any], ...]] = (bool, int, float, str)
_SENDABLE: Final = frozenset(("|u1", "<u2", "<u4", "|i1", "<i2", "<i4", "<i8", "<f4", "<f8", "|b1"))
"""Dtypes of arrays that a view can have; see :mod:`spca.sandbox.process.wire`."""
_ADDED_BY_THE_LOOP: Final = ("mission", "level")
"""Names that the loop adds to what a world shows."""


class ValueConverter:
    """Converts what a world reads of its environment into the values of a view.

    Args:
        words: words of the body; an array of words becomes an array of indices into them.
    """

    def __init__(self, words: tuple[str, ...]) -> None:
        self._codes = {word: code for code, word in enumerate(words)}

    def convert(self, attribute: StateAttribute, values: Mapping[str, Any]) -> Any:
        """Return the value of a state attribute.

        Args:
            values: value of each state attribute by name, as the world has read them.

        Raises:
            ValueError: the value is missing, does not fit the attribute's kind, or has a word that the body lacks.
        """
        name = attribute.name
        if name not in values:
            raise ValueError(f"{name!r} is missing; the body's state has it")
        value = values[name]
        if attribute.kind is StateKind.VALUE:
            return freeze_value(name, value)
        array = self._make_array(name, value)
        if attribute.kind is StateKind.WORDS:
            return self._encode_words(name, array)
        return _make_sendable(name, array)

    def decode(self, attribute: StateAttribute, value: Any) -> Any:
        """Return a value that was read in the form in which it is shown: indices of words become words."""
        indices = np.asarray(value) if attribute.kind is StateKind.WORDS else None
        if indices is None or indices.dtype.kind not in "iu":
            return value
        return np.array(list(self._codes))[self._check_indices(attribute.name, indices)]

    def _make_array(self, name: str, value: Any) -> Any:
        try:
            return np.array(value)  # a copy: environments change their arrays in place
        except ValueError as error:
            raise ValueError(f"{name!r} is no array, because its rows have different lengths") from error

    def _encode_words(self, name: str, words: Any) -> Any:
        if words.dtype.kind in "iu":
            return self._check_indices(name, words)
        try:
            codes = [self._codes[str(word)] for word in words.ravel()]
        except KeyError as error:
            raise ValueError(f"{name!r} has the word {error.args[0]!r}, which is not among the body's words") from error
        return np.array(codes, np.uint16).reshape(words.shape)

    def _check_indices(self, name: str, indices: Any) -> Any:
        count = len(self._codes)
        wrong = indices[(indices < 0) | (indices >= count)]
        if wrong.size:
            raise ValueError(f"{name!r} has the index {wrong.flat[0]} of a word; the body has {count} words")
        return indices.astype(np.uint16)


def freeze_value(name: str, value: Any) -> Any:
    """Return a value with tuples instead of lists and arrays, and plain numbers instead of numpy's.

    Raises:
        ValueError: the value holds something that generated code cannot be sent.
    """
    if isinstance(value, np.generic | np.ndarray):
        value = value.tolist()
    for scalar in _SCALARS:
        if isinstance(value, scalar):
            return scalar(value)  # an enum becomes its number or text
    if value is None:
        return None
    if isinstance(value, list | tuple):
        return tuple(freeze_value(name, inner) for inner in value)
    if isinstance(value, Mapping):
        return {freeze_value(name, key): freeze_value(name, inner) for key, inner in value.items()}
    kind = type(value).__name__
    raise ValueError(
        f"{name!r} holds a value of type {kind}: make it a number, a text, a list, a tuple, a dict or an array"
    )


def make_json(shown: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a world shows with lists instead of tuples and arrays, and plain numbers instead of numpy's.

    Raises:
        ValueError: a value is none of JSON, a row of the map is no text, or the loop adds a value of this name.
    """
    converted: dict[str, Any] = {}
    for name, value in shown.items():
        if name in _ADDED_BY_THE_LOOP:
            raise ValueError(f"{name!r} is added by the loop: write show without it, or give it another name")
        frozen = freeze_value(name, value)
        try:
            converted[name] = json.loads(json.dumps(frozen, allow_nan=False))
        except (TypeError, ValueError) as error:
            raise ValueError(f"{name!r} is no value of JSON: {error}") from error
    rows = converted.get("map", [])
    if not isinstance(rows, list) or not all(isinstance(row, str) for row in rows):
        raise ValueError("'map' is no list of rows of text: write show, or give it another name")
    return converted


def _make_sendable(name: str, array: Any) -> Any:
    """Return an array of numbers with a dtype that a view can have.

    Raises:
        ValueError: the array holds no numbers, or numbers of more than 64 bits.
    """
    if array.dtype.kind not in "biuf":
        raise ValueError(f"{name!r} is of the kind NUMBERS, but holds {_describe_content(array)}")
    if array.dtype.str in _SENDABLE:
        return array
    if array.dtype.kind == "f":
        return array.astype(np.float64)
    if array.size and array.max() > np.iinfo(np.int64).max:
        raise ValueError(f"{name!r} holds {array.max()}, which is more than 64 bits with a sign")
    return array.astype(np.int64)


def _describe_content(array: Any) -> str:
    if array.dtype.kind == "U":
        return "words: give it the kind WORDS"
    return f"{array.dtype}: give it the kind VALUE"
