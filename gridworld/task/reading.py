"""From JSON values to the dataclasses of :mod:`gridworld.task.records` and back, strictly and by name.

The dataclasses are the only description of the format: their types, defaults and field metadata say what may stand in
a file, and :mod:`gridworld.task.schema` derives the JSON Schema from the same plan. Nothing is guessed or dropped
silently: all that is wrong is reported at once, each problem with the path of its field. A field that the format
does not know is a problem where reading is strict, else a note.

Metadata of a field: ``keys``, its names in JSON (the first is written), ``absent``, makes its value if the file has
none, ``also``, other words for values, ``instead``, words that another value replaces, with a note, ``bounds``, the
least and greatest value that makes sense (validation and schema use them; reading accepts any). A class with
``as_list`` is written as the list of its fields.
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
    """What may stand in one field: its attribute, keys in JSON, type, default maker (None: required) and the rest."""

    name: str
    keys: tuple[str, ...]
    hint: Any
    default: Callable[[], Any] | None
    also: Mapping[str, str]
    instead: Mapping[str, str]
    bounds: tuple[int | None, int | None] | None


def plan_of(cls: type) -> tuple[FieldPlan, ...]:
    """Return the fields of a dataclass in order."""
    hashable: Any = cls  # it is, though instances of a dataclass that can change are not
    return _plans(hashable)


@cache
def _plans(cls: Any) -> tuple[FieldPlan, ...]:
    hints = get_type_hints(cls)
    return tuple(_plan(field, hints[field.name]) for field in dataclasses.fields(cls))


def _plan(field: dataclasses.Field[Any], hint: Any) -> FieldPlan:
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
    """As many problems as anybody reads."""


def read(cls: type[T], data: Any, source: str = "", notes: list[str] | None = None) -> T:
    """Return an object of a dataclass from JSON data.

    Args:
        notes: gets a line for each unknown field, which is then ignored, and for each value that another one replaces,
            at most ``MAX_PROBLEMS`` and a last one; None: an unknown field is a problem.

    Raises:
        TaskError: with the problems of the data, the first ``MAX_PROBLEMS`` of them, and the notes.
    """
    reader = _Reader(notes)
    made = None
    try:
        made = reader.value(cls, data, "")
    except _EnoughError:
        reader.problems.append(f"there are more than {MAX_PROBLEMS} problems; the others are not listed")
    if reader.problems:
        raise TaskError([*reader.problems, *(notes or ())], source)
    return made  # type: ignore[return-value]


def noting(
    reading: Callable[[list[str] | None], T], source: str, *, strict: bool, notes: list[str] | None, depth: int = 3
) -> T:
    """Read with the notes that a caller wants.

    Args:
        reading: reads; is given the list for its notes.
        strict: an unknown field is a problem.
        notes: gets the notes; None: they become one :class:`~gridworld.errors.TaskWarning`.
        depth: of the call that the warning names.
    """
    found: list[str] = []
    made = reading(None if strict else found)
    if notes is not None:
        notes += found
    elif found:
        warnings.warn(str(TaskError(found, source)), TaskWarning, stacklevel=depth)
    return made


def write(value: Any) -> Any:
    """Return the JSON value of an object, without its optional fields that are None. Shares nothing with the object."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        plans = plan_of(type(value))
        if getattr(value, "as_list", False):
            return [write(getattr(value, plan.name)) for plan in plans]
        found: dict[str, Any] = {}
        for plan in plans:
            item = getattr(value, plan.name)
            if item is not None or not _optional(plan.hint):
                found[plan.keys[0]] = write(item)
        return found
    if isinstance(value, Mapping):
        return {key: write(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [write(item) for item in value]
    return value


def form_problems(value: Any) -> list[str]:
    """Find what of an object made by hand is not of the type of its field."""
    try:
        again = read(type(value), write(value))
    except TaskError as error:
        return list(error.problems)
    except RecursionError:
        return ["is nested too deeply"]
    return list(islice(_other_types(again, value, ""), MAX_PROBLEMS))


def _other_types(wanted: Any, given: Any, path: str) -> Iterator[str]:
    """Find places where a tuple, list or mapping stands for what JSON writes the same way."""
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
    """Return a value for an error message: short, on one line, control characters escaped."""
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
    """Return the first character that may not stand in a text, "" if there is none."""
    if text.isprintable():
        return ""
    return next((c for c in text if unicodedata.category(c) in _UNPRINTABLE or c in _BIDI), "")


class _Reader:
    """Reads one file; collects what is wrong with it, and notes if they are wanted."""

    def __init__(self, notes: list[str] | None) -> None:
        self.problems: list[str] = []
        self.notes = notes

    def wrong(self, path: str, reason: str) -> Any:
        """Note a problem; None, in place of the value."""
        if len(self.problems) == MAX_PROBLEMS:
            raise _EnoughError
        self.problems.append(f"{path}: {reason}" if path else reason)
        return None

    def note(self, path: str, reason: Callable[[], str]) -> None:
        """Note something, as long as anybody reads it."""
        if self.notes is None or len(self.notes) > MAX_PROBLEMS:
            return
        full = len(self.notes) == MAX_PROBLEMS
        line = f"there are more than {MAX_PROBLEMS} notes" if full else f"{path}: {reason()}"
        self.notes.append(line)

    def value(self, hint: Any, data: Any, path: str, plan: FieldPlan | None = None) -> Any:
        """Return the value that ``hint`` describes; None with a problem noted if the data is not of that form."""
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

    def note_type(self, wanted: str, data: Any, path: str) -> Any:
        return self.wrong(path, f"must be {wanted}, not {shown(data)}")

    def scalar(self, hint: Any, data: Any, path: str) -> Any:
        if get_origin(hint) is dict:
            if not isinstance(data, Mapping):
                return self.note_type("an object", data, path)
            return self.free(data, path)
        if type(data) is not hint:
            return self.note_type(_NAMES[hint], data, path)
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
        if isinstance(data, str):
            if plan is not None and data in plan.instead:
                self.note(path, lambda: f"{plan.instead[data]} is taken instead of {data}")
                return plan.instead[data]
            found = data if plan is None else plan.also.get(data, data)
            if found in words:
                return found
        choices = ", ".join(words)
        return self.wrong(path, f"must be one of {choices}, not {shown(data)}{_hint(data, words)}")

    def sequence(self, hint: Any, data: Any, path: str) -> Any:
        inner = get_args(hint)
        if get_origin(hint) is list:
            return self.items(inner[0], data, path)
        found = self.items(inner[0], data, path, len(inner))
        return None if found is None or None in found else tuple(found)

    def items(self, hint: Any, data: Any, path: str, length: int | None = None) -> Any:
        if not isinstance(data, list | tuple):
            return self.note_type("a list", data, path)
        if length is not None and len(data) != length:
            return self.wrong(path, f"must be a list of {length}, not of {len(data)}")
        if len(data) > MAX_LIST:
            return self.wrong(path, f"has {len(data)} items; at most {MAX_LIST}")
        return [self.value(hint, item, f"{path}[{index}]") for index, item in enumerate(data)]

    def record(self, cls: Any, data: Any, path: str) -> Any:
        plans = plan_of(cls)
        if getattr(cls, "as_list", False) and isinstance(data, list | tuple):
            found = self.items(int, data, path, len(plans))
            return None if found is None or None in found else cls(*found)
        if not isinstance(data, Mapping):
            return self.note_type("a list or an object" if getattr(cls, "as_list", False) else "an object", data, path)
        before = len(self.problems)
        self.keys(tuple(key for plan in plans for key in plan.keys), data, path)
        values = {plan.name: self.field(plan, data, path) for plan in plans}
        return cls(**values) if len(self.problems) == before else None

    def once(self, data: Mapping[Any, Any], path: str) -> None:
        for key in getattr(data, "repeated", ()):
            self.wrong(self.under(path, key), "is given more than once")

    def keys(self, known: tuple[str, ...], data: Mapping[Any, Any], path: str) -> None:
        """Check keys: each must be given once; one that is not known is a problem or noted."""
        self.once(data, path)
        for key in data:
            if key not in known and self.notes is None:
                self.wrong(self.under(path, key), _unknown(key, known))
            elif key not in known:
                self.note(self.under(path, key), partial(_unknown, key, known))

    def field(self, plan: FieldPlan, data: Mapping[str, Any], path: str) -> Any:
        given = [key for key in plan.keys if key in data]
        if len(given) > 1:
            return self.wrong(self.under(path, given[1]), f"says the same as {given[0]}; give one of them")
        if given:
            return self.value(plan.hint, data[given[0]], self.under(path, given[0]), plan)
        if plan.default is None:
            return self.wrong(self.under(path, plan.keys[0]), "is missing")
        return plan.default()

    def free(self, data: Any, path: str, depth: int = 0) -> Any:
        """Return a copy of any JSON value."""
        if depth > MAX_DEPTH:
            return self.wrong(path, f"is nested more than {MAX_DEPTH} deep")
        if isinstance(data, Mapping):
            self.once(data, path)
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
        return self.note_type("a JSON value", data, path)

    def under(self, path: str, key: Any) -> str:
        is_short = isinstance(key, str) and len(key) <= MAX_SHOWN
        is_plain = is_short and key.isascii() and key.isidentifier()
        name = key if is_plain else shown(key)
        return f"{path}.{name}" if path else name


def _broken(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False


def _unknown(key: Any, known: tuple[str, ...]) -> str:
    return f"is not a field of the format{_hint(key, known)}"


def _hint(given: Any, known: tuple[str, ...]) -> str:
    if not isinstance(given, str):
        return ""
    close = difflib.get_close_matches(given[:MAX_SHOWN], known, n=1)
    return f"; did you mean {close[0]}?" if close else ""
