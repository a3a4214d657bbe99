"""Strict conversion of JSON values to the dataclasses of :mod:`gridworld.task.records`, and back.

The dataclasses alone describe the format: types, defaults and field metadata define the permitted values.
:mod:`gridworld.task.schema` derives the JSON Schema from the same plans of fields (:class:`FieldPlan`). Values are
never guessed or dropped silently. All problems are reported together, each with the path of its field. An unknown field
is a problem if reading is strict, otherwise a note.

Metadata of a field:

- ``keys``: the names of the field in JSON; the first name is used for writing.
- ``absent``: a function that makes the value if the file does not have the field.
- ``also``: synonyms of values, as a dict from synonym to value.
- ``instead``: words that are replaced, with a note, by values; a dict from word to value.
- ``bounds``: least and greatest sensible value; validation and schema use the bounds, reading ignores them.

A class with ``as_list`` is written as the list of its fields.
"""

from __future__ import annotations

import dataclasses
import difflib
import json
import math
import types
import unicodedata
import warnings
from collections.abc import Callable, Iterator, Mapping
from functools import cache, partial
from itertools import islice
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from gridworld.errors import TaskError, TaskWarning

MIN_INT = -(2**63)
MAX_INT = 2**63 - 1
MAX_LIST = 128 * 128
MAX_TEXT = 10_000
MAX_DEPTH = 32
MAX_PROBLEMS = 100
MAX_SHOWN = 80

T = TypeVar("T")

_BIDI = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
_UNPRINTABLE = frozenset({"Cc", "Cs", "Zl", "Zp"})
_NAMES = {str: "a text", int: "an integer", bool: "true or false", list: "a list", dict: "an object"}


@dataclasses.dataclass(frozen=True, slots=True)
class FieldPlan:
    """The form of one field.

    Attributes:
        name: the attribute of the dataclass.
        keys, also, instead, bounds: the metadata of the field, as this module defines.
        hint: the type.
        default: a function that makes the default; None if the field is required.
    """

    name: str
    keys: tuple[str, ...]
    hint: Any
    default: Callable[[], Any] | None
    also: Mapping[str, str]
    instead: Mapping[str, str]
    bounds: tuple[int | None, int | None] | None


def plan_of(cls: type) -> tuple[FieldPlan, ...]:
    """Return the plans of the fields of a dataclass, in order of definition."""
    # Mypy takes the class of mutable, hence unhashable, instances for unhashable; the class itself is hashable.
    hashable: Any = cls
    return _plans(hashable)


@cache
def _plans(cls: Any) -> tuple[FieldPlan, ...]:
    hints = get_type_hints(cls)
    return tuple(_plan(field, hints[field.name]) for field in dataclasses.fields(cls))


def _plan(field: dataclasses.Field[Any], hint: Any) -> FieldPlan:
    """Return the plan of a field; the default of the dataclass has precedence over the metadata ``absent``."""
    default: Callable[[], Any] | None = field.metadata.get("absent")
    if field.default_factory is not dataclasses.MISSING:
        default = field.default_factory
    elif field.default is not dataclasses.MISSING:
        value = field.default
        default = lambda: value  # noqa: E731
    meta = field.metadata
    keys = meta.get("keys", (field.name,))
    also = meta.get("also", {})
    instead = meta.get("instead", {})
    return FieldPlan(field.name, keys, hint, default, also, instead, meta.get("bounds"))


class _EnoughError(Exception):
    """Internal signal that ``MAX_PROBLEMS`` problems are noted and reading stops."""


def read(cls: type[T], data: Any, source: str = "", notes: list[str] | None = None) -> T:
    """Return an object of a dataclass from JSON data.

    Args:
        source: the file of the data, for error messages.
        notes: list that gets a line for each ignored unknown field and for each replaced value. After ``MAX_PROBLEMS``
            lines, a last line says that there are more. If None, an unknown field is a problem.

    Raises:
        TaskError: the data has problems; the error lists the first ``MAX_PROBLEMS`` problems and the notes.
    """
    reader = _Reader(notes)
    value = None
    try:
        value = reader.value(cls, data, "")
    except _EnoughError:
        reader.problems.append(f"there are more than {MAX_PROBLEMS} problems; the others are not listed")
    if reader.problems:
        raise TaskError([*reader.problems, *(notes or ())], source)
    return value  # type: ignore[return-value]


def noting(
    reading: Callable[[list[str] | None], T], source: str, *, strict: bool, notes: list[str] | None, depth: int = 3
) -> T:
    """Call a reading function and deliver its notes; return the value of the function.

    Args:
        reading: the function that reads; its argument is the list for its notes, or None if reading is strict.
        source: the file of the data, for the warning.
        strict: whether an unknown field is a problem.
        notes: list that gets the notes; if None, the notes become one :class:`~gridworld.errors.TaskWarning`.
        depth: the ``stacklevel`` of the warning.
    """
    new_notes: list[str] = []
    value = reading(None if strict else new_notes)
    if notes is not None:
        notes += new_notes
    elif new_notes:
        warnings.warn(str(TaskError(new_notes, source)), TaskWarning, stacklevel=depth)
    return value


def write(value: Any) -> Any:
    """Return the JSON value of an object, without its optional fields that are None.

    The JSON value is a deep copy.
    """
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        plans = plan_of(type(value))
        if getattr(value, "as_list", False):
            return [write(getattr(value, plan.name)) for plan in plans]
        fields: dict[str, Any] = {}
        for plan in plans:
            item = getattr(value, plan.name)
            if item is not None or not _optional(plan.hint):
                fields[plan.keys[0]] = write(item)
        return fields
    if isinstance(value, Mapping):
        return {key: write(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [write(item) for item in value]
    return value


def form_problems(value: Any) -> list[str]:
    """Return a problem for each value whose type is not the type of its field.

    The check is for objects that were created by code; :func:`read` checks the types of the objects that it returns.
    """
    try:
        reread = read(type(value), write(value))
    except TaskError as error:
        return list(error.problems)
    except RecursionError:
        return ["is nested too deeply"]
    return list(islice(_other_types(reread, value, ""), MAX_PROBLEMS))


def _other_types(wanted: Any, given: Any, path: str) -> Iterator[str]:
    """Yield a problem for each given value whose Python type differs though its JSON is the same.

    An example is a tuple in place of a list.
    """
    if not isinstance(given, type(wanted)):
        yield f"{path}: must be a {type(wanted).__name__}, not {shown(given)}"
    elif dataclasses.is_dataclass(wanted):
        for plan in plan_of(type(wanted)):
            inner = f"{path}.{plan.name}" if path else plan.name
            yield from _other_types(getattr(wanted, plan.name), getattr(given, plan.name), inner)
    elif isinstance(wanted, list):
        for index, (item, other) in enumerate(zip(wanted, given, strict=True)):
            yield from _other_types(item, other, f"{path}[{index}]")


def _optional(hint: Any) -> bool:
    return get_origin(hint) in {Union, types.UnionType}


def shown(value: Any) -> str:
    """Return a value as text for an error message: one line of at most ``MAX_SHOWN`` characters, escaped."""
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) > 10**30:
        return "an integer of more than 30 digits"
    if isinstance(value, dict | list):
        return f"{'an object' if isinstance(value, dict) else 'a list'} of {len(value)}"
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    is_cut = isinstance(value, str) and len(value) > MAX_SHOWN
    text = ascii(value[:MAX_SHOWN] if is_cut else value).replace("\n", " ")
    if is_cut or len(text) > MAX_SHOWN:
        return f"{text[: MAX_SHOWN - 3]}..."
    return text


def unprintable(text: str) -> str:
    """Return the first forbidden character of a text, or "" if the text has no forbidden character.

    Control, surrogate, separator and bidi characters are forbidden.
    """
    if text.isprintable():
        return ""
    forbidden = (c for c in text if unicodedata.category(c) in _UNPRINTABLE or c in _BIDI)
    return next(forbidden, "")


class _Reader:
    """A reader of the data of one file.

    Each method returns the value of the data. If the data is wrong, the method adds to ``problems`` and returns None.
    ``notes`` is None if reading is strict.
    """

    def __init__(self, notes: list[str] | None) -> None:
        self.problems: list[str] = []
        self.notes = notes

    def wrong(self, path: str, reason: str) -> Any:
        """Record a problem; return None, which takes the place of the value."""
        if len(self.problems) == MAX_PROBLEMS:
            raise _EnoughError
        self.problems.append(f"{path}: {reason}" if path else reason)
        return None

    def note(self, path: str, reason: Callable[[], str]) -> None:
        """Record a note; do nothing if reading is strict or if ``MAX_PROBLEMS`` notes are already recorded.

        ``reason`` is a function, so that the text of an omitted note is not computed.
        """
        if self.notes is None or len(self.notes) > MAX_PROBLEMS:
            return
        is_full = len(self.notes) == MAX_PROBLEMS
        line = f"there are more than {MAX_PROBLEMS} notes" if is_full else f"{path}: {reason()}"
        self.notes.append(line)

    def value(self, hint: Any, data: Any, path: str, plan: FieldPlan | None = None) -> Any:
        """Return the data as a value of the type ``hint``.

        Args:
            plan: the plan of the field, if the data is the value of a field.
        """
        origin = get_origin(hint)
        if _optional(hint):
            inner = next(arg for arg in get_args(hint) if arg is not type(None))
            return None if data is None else self.value(inner, data, path, plan)
        if origin is Literal:
            return self.word(get_args(hint), data, path, plan)
        if origin in {list, tuple}:
            return self.sequence(hint, data, path)
        if dataclasses.is_dataclass(hint):
            return self.record(hint, data, path)
        return self.scalar(hint, data, path)

    def wrong_type(self, wanted: str, data: Any, path: str) -> Any:
        return self.wrong(path, f"must be {wanted}, not {shown(data)}")

    def scalar(self, hint: Any, data: Any, path: str) -> Any:
        """Read a text, an integer, a boolean or a free JSON object."""
        if get_origin(hint) is dict:
            if not isinstance(data, Mapping):
                return self.wrong_type("an object", data, path)
            return self.free(data, path)
        if type(data) is not hint:
            return self.wrong_type(_NAMES[hint], data, path)
        if hint is int and not MIN_INT <= data <= MAX_INT:
            return self.wrong(path, f"{shown(data)} does not fit 64 bits")
        return self.text(data, path) if hint is str else data

    def text(self, data: str, path: str) -> Any:
        if len(data) > MAX_TEXT:
            return self.wrong(path, f"has {len(data)} characters; at most {MAX_TEXT}")
        if bad := unprintable(data):
            return self.wrong(path, f"holds the control character U+{ord(bad):04X}")
        return data

    def word(self, words: tuple[str, ...], data: Any, path: str, plan: FieldPlan | None) -> Any:
        """Read one of the permitted words, or another word that the plan maps to a permitted word."""
        if isinstance(data, str):
            if plan is not None and data in plan.instead:
                self.note(path, lambda: f"{plan.instead[data]} is taken instead of {data}")
                return plan.instead[data]
            word = data if plan is None else plan.also.get(data, data)
            if word in words:
                return word
        choices = ", ".join(words)
        return self.wrong(path, f"must be one of {choices}, not {shown(data)}{_hint(data, words)}")

    def sequence(self, hint: Any, data: Any, path: str) -> Any:
        """Read a list, or a tuple of items of one type."""
        inner = get_args(hint)
        if get_origin(hint) is list:
            return self.items(inner[0], data, path)
        items = self.items(inner[0], data, path, len(inner))
        is_wrong = items is None or None in items
        return None if is_wrong else tuple(items)

    def items(self, hint: Any, data: Any, path: str, length: int | None = None) -> Any:
        """Read a list of items of the type ``hint``; a wrong item becomes None. ``length`` is the required length."""
        if not isinstance(data, list | tuple):
            return self.wrong_type("a list", data, path)
        if length is not None and len(data) != length:
            return self.wrong(path, f"must be a list of {length}, not of {len(data)}")
        if len(data) > MAX_LIST:
            return self.wrong(path, f"has {len(data)} items; at most {MAX_LIST}")
        return [self.value(hint, item, f"{path}[{index}]") for index, item in enumerate(data)]

    def record(self, cls: Any, data: Any, path: str) -> Any:
        """Read an object of a dataclass; if the class has ``as_list``, a list of integers is also permitted."""
        plans = plan_of(cls)
        as_list = getattr(cls, "as_list", False)
        if as_list and isinstance(data, list | tuple):
            items = self.items(int, data, path, len(plans))
            is_wrong = items is None or None in items
            return None if is_wrong else cls(*items)
        if not isinstance(data, Mapping):
            return self.wrong_type("a list or an object" if as_list else "an object", data, path)
        problem_count = len(self.problems)
        self.check_keys(tuple(key for plan in plans for key in plan.keys), data, path)
        values = {plan.name: self.field(plan, data, path) for plan in plans}
        has_new_problems = len(self.problems) > problem_count
        return None if has_new_problems else cls(**values)

    def check_repeated(self, data: Mapping[Any, Any], path: str) -> None:
        """Record a problem for each key that the file gives more than once."""
        for key in getattr(data, "repeated", ()):
            self.wrong(self.under(path, key), "is given more than once")

    def check_keys(self, known: tuple[str, ...], data: Mapping[Any, Any], path: str) -> None:
        """Record a problem for each repeated key, and a problem or note for each unknown key."""
        self.check_repeated(data, path)
        for key in data:
            if key not in known and self.notes is None:
                self.wrong(self.under(path, key), _unknown(key, known))
            elif key not in known:
                self.note(self.under(path, key), partial(_unknown, key, known))

    def field(self, plan: FieldPlan, data: Mapping[str, Any], path: str) -> Any:
        """Read the value of a field, which may have several keys; an absent field has its default."""
        given = [key for key in plan.keys if key in data]
        if len(given) > 1:
            return self.wrong(self.under(path, given[1]), f"says the same as {given[0]}; give one of them")
        if given:
            return self.value(plan.hint, data[given[0]], self.under(path, given[0]), plan)
        if plan.default is None:
            return self.wrong(self.under(path, plan.keys[0]), "is missing")
        return plan.default()

    def free(self, data: Any, path: str, depth: int = 0) -> Any:
        """Return a copy of any JSON value; ``depth`` is the number of lists and objects around the value."""
        if depth > MAX_DEPTH:
            return self.wrong(path, f"is nested more than {MAX_DEPTH} deep")
        if isinstance(data, Mapping):
            self.check_repeated(data, path)
            copied: dict[str, Any] = {}
            for key in data:
                name = self.free_key(key, path)
                copied[name] = self.free(data[key], self.under(path, key), depth + 1)
            return copied
        if isinstance(data, list | tuple):
            return [self.free(item, f"{path}[{index}]", depth + 1) for index, item in enumerate(data)]
        return self.free_scalar(data, path)

    def free_key(self, key: Any, path: str) -> Any:
        if isinstance(key, str) and not _broken(key):
            return key
        return self.wrong(self.under(path, key), "is not a text")

    def free_scalar(self, data: Any, path: str) -> Any:
        if isinstance(data, str):
            return self.wrong(path, "holds half a character (a lone surrogate)") if _broken(data) else data
        if type(data) is float:
            return data if math.isfinite(data) else self.wrong(path, f"must be a finite number, not {data}")
        if type(data) is int:
            return self.scalar(int, data, path)
        if data is None or isinstance(data, bool):
            return data
        return self.wrong_type("a JSON value", data, path)

    def under(self, path: str, key: Any) -> str:
        """Return the path of the value with a key in the object at ``path``; an unusual key is escaped."""
        is_short = isinstance(key, str) and len(key) <= MAX_SHOWN
        is_plain = is_short and key.isascii() and key.isidentifier()
        name = key if is_plain else shown(key)
        return f"{path}.{name}" if path else name


def _broken(text: str) -> bool:
    """Return whether a text holds a lone surrogate."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False


def _unknown(key: Any, known: tuple[str, ...]) -> str:
    return f"is not a field of the format{_hint(key, known)}"


def _hint(given: Any, known: tuple[str, ...]) -> str:
    """Return a question whether a similar known word was meant; return "" if no known word is similar."""
    if not isinstance(given, str):
        return ""
    close = difflib.get_close_matches(given[:MAX_SHOWN], known, n=1)
    return f"; did you mean {close[0]}?" if close else ""
