"""What is known of models: context size, API, end, price; a data file that a user can extend or correct.

The table that comes with the project is ``models.json`` beside this file. A user's table has the same form,
``{"models": {"openai/my-model": {"context": 32768, "input": 0.5, "output": 1.5}}}``; names may hold the wildcards of
:mod:`fnmatch`, and what it says of a model goes before what the built-in table says, field by field. Prices that
neither names are those of :func:`spca.llm.catalogue.prices.find_published_rates`.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from datetime import UTC, date, datetime
from decimal import Decimal
from fnmatch import fnmatchcase
from importlib import resources
from pathlib import Path
from typing import Any, Final

from spca.common.errors import FileError, SettingsError
from spca.common.files import read_text
from spca.llm.catalogue.model_ref import EFFORTS, ModelRef
from spca.llm.catalogue.prices import RATES, Price, Rates, find_published_rates, list_published_models
from spca.llm.providers.base import ModelInfo
from spca.llm.providers.secrets import quoted

Entries = Mapping[str, Mapping[str, Any]]
"""What a table says: fields by name or pattern; a field that is None is unknown, whatever is said below."""

_DATED: Final = re.compile(r"-\d{4}-?\d{2}-?\d{2}$")
_WILD: Final = frozenset("*?[")
_OLLAMA_SERVICE: Final = {"ollama/*": {"input": None, "output": None}}
_INFO: Final = frozenset(field.name for field in fields(ModelInfo))


class ModelTable:
    """Entries by model name with prefix.

    Args:
        tables: entries by name, the more important ones first.
    """

    def __init__(self, *tables: Entries) -> None:
        self._tables = tables

    @classmethod
    def load(cls, path: Path | None = None) -> ModelTable:
        """Return the built-in table, after the user's one at ``path``.

        Raises:
            SettingsError: the user's table cannot be read; names the entry.
        """
        text = resources.files(__package__).joinpath("models.json").read_text(encoding="utf-8")
        built_in: Entries = json.loads(text)["models"]
        return cls(_read_entries(path), built_in) if path else cls(built_in)

    def after(self, table: Entries) -> ModelTable:
        """Return this table, in which another one goes before the built-in one."""
        return ModelTable(*self._tables[:-1], table, self._tables[-1])

    def at_ollama(self, address: str | None) -> ModelTable:
        """Return this table where Ollama is asked at ``address``: what its own service runs has no known price."""
        return self.after(_OLLAMA_SERVICE) if "ollama.com" in (address or "") else self

    def names(self) -> tuple[str, ...]:
        """Return the models that have an entry of their own."""
        entries = (name for table in self._tables for name in table)
        return tuple(dict.fromkeys(name for name in entries if not _WILD & set(name)))

    def known_names(self) -> list[str]:
        """Return these and all models with a published price, sorted."""
        return sorted({*self.names(), *list_published_models()})

    def info(self, ref: ModelRef) -> ModelInfo:
        """Return what is known of a model; a dated version (``-2025-04-16``) is the model without the date."""
        values = {name: value for name, value in self._fields(ref).items() if name in _INFO}
        if "shutdown" in values:
            values["shutdown"] = date.fromisoformat(values["shutdown"])
        return ModelInfo(**values)

    def price(self, ref: ModelRef, when: float | None = None) -> Price | None:
        """Return what a model costs on a day, None where that is not known.

        Once it is shut down, a model without a price of its own costs what its successor does: a provider that still
        takes its name answers with that one.

        Args:
            when: seconds since 1970; None for now.
        """
        moment = time.time() if when is None else when
        ref = self._find_answering(ref, datetime.fromtimestamp(moment, UTC).date())
        entry = self._fields(ref)
        tiers = _join_rates(entry, find_published_rates(ref, moment) or find_published_rates(_undated(ref), moment))
        if any(rates.get("input") is None or rates.get("output") is None for rates in tiers.values()):
            return None
        return Price({size: Rates(**rates) for size, rates in tiers.items()}, entry.get("price_up_to"))

    def _find_answering(self, ref: ModelRef, day: date) -> ModelRef:
        """Return the model whose price holds for a name on a day."""
        seen: set[ModelRef] = set()
        while ref not in seen:
            seen.add(ref)
            info = self.info(ref)
            is_gone = info.shutdown is not None and day >= info.shutdown
            if not is_gone or info.successor is None or self._fields(ref).keys() & set(RATES):
                return ref
            ref = ModelRef.parse(info.successor)
        return ref

    def _fields(self, ref: ModelRef) -> dict[str, Any]:
        values: dict[str, Any] = {}
        names = (ref.model, _undated(ref).model)
        for table in reversed(self._tables):
            fitting = [pattern for pattern in table if any(fnmatchcase(name, pattern) for name in names)]
            for pattern in sorted(fitting, key=_precision):
                values = _merge_entry(values, table[pattern])
        return values


def _undated(ref: ModelRef) -> ModelRef:
    return replace(ref, name=_DATED.sub("", ref.name))


def _precision(pattern: str) -> tuple[bool, int]:
    """Return a key that sorts exact names last, so that they win: of these the dated one, of patterns the longest."""
    return not _WILD & set(pattern), len(pattern)


def _merge_entry(values: dict[str, Any], entry: Mapping[str, Any]) -> dict[str, Any]:
    """Return ``values`` with what a more important entry says.

    Its rates hold in every tier unless it has tiers of its own.
    """
    tiers = values.get("tiers", {})
    remaining_tiers = {}
    for size, rates in tiers.items():
        remaining_tiers[size] = {kind: rate for kind, rate in rates.items() if kind not in entry}
    return {**values, "tiers": remaining_tiers, **entry}


def _join_rates(entry: Mapping[str, Any], published: Mapping[int, Mapping[str, Decimal]]) -> dict[int, dict[str, Any]]:
    """Return rates by size: those of an entry before those that are published."""
    given = _read_rates(entry)
    first = {**published.get(0, {}), **given}
    larger = {int(size): first | _read_rates(rates) for size, rates in entry.get("tiers", {}).items()}
    if not larger:
        larger = {size: {**rates, **given} for size, rates in published.items()}
    return {0: first} | larger


def _read_rates(entry: Mapping[str, Any]) -> dict[str, Any]:
    """Return the rates in an entry as decimals; one that is None there is unknown."""
    rates: dict[str, Any] = {}
    for kind in RATES:
        if kind in entry:
            rate = entry[kind]
            rates[kind] = None if rate is None else Decimal(str(rate))
    return rates


def _read_entries(path: Path) -> Entries:
    try:
        entries = json.loads(read_text(path))["models"]
        items: list[tuple[str, Any]] = list(entries.items())
    except FileError as error:
        raise SettingsError(f"--model-table {error}") from error
    except json.JSONDecodeError as error:
        raise SettingsError(f"--model-table {path} is not valid JSON: {error}") from error
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        form = '{"models": {"openai/NAME": {"input": 0.5, "output": 1.5}}}'
        raise SettingsError(f"--model-table {path} is no table of models; it looks like {form}") from error
    for name, entry in items:
        if fault := _find_fault(name, entry):
            raise SettingsError(f"{path}: {_show_name(name)}: {fault}")
    return dict(items)


def _find_fault(name: str, entry: object) -> str:
    """Return what is wrong with an entry, "" where nothing is."""
    has_fields = f"an entry has fields from {', '.join(sorted(_FORMS))}"
    if not isinstance(entry, dict):
        return has_fields
    unknown = sorted(entry.keys() - _FORMS.keys())
    if unknown:
        return f"unknown field {_show_name(unknown[0])}: {has_fields}"
    for key, value in entry.items():
        is_right, form = _FORMS[key]
        if not is_right(value):
            return f"{key} must be {form}, not {quoted(repr(value))}"
    if effort := ModelRef.parse(name).effort:
        return f"an entry holds for every effort of a model: leave @{effort} out"
    if "/" not in name and "*" not in name:
        return f"a name has a prefix, such as openai/{_show_name(name)}"
    return ""


def _is_day(value: object) -> bool:
    try:
        return isinstance(value, str) and date.fromisoformat(value).isoformat() == value
    except ValueError:
        return False


def _is_count(value: object) -> bool:
    return type(value) is int and value > 0


def _is_price(value: object) -> bool:
    return type(value) in (int, float) and 0 <= value < float("inf")  # type: ignore[operator]  # bool is an int


def _are_tiers(value: object) -> bool:
    return isinstance(value, dict) and all(_is_tier(size, rates) for size, rates in value.items())


def _is_tier(size: str, rates: object) -> bool:
    if not re.fullmatch(r"[1-9]\d{0,8}", size) or not isinstance(rates, dict):
        return False
    return rates.keys() <= set(RATES) and all(map(_is_price, rates.values()))


_COUNT: Final = (_is_count, "a whole number of tokens")
_APIS: Final = ("chat", "responses")
_FORMS: Final[Mapping[str, tuple[Callable[[object], bool], str]]] = {
    **dict.fromkeys(RATES, (_is_price, "USD per million tokens")),
    **dict.fromkeys(("context", "max_output", "price_up_to"), _COUNT),
    "tiers": (_are_tiers, 'rates by size of the prompt, such as {"200000": {"input": 4}}'),
    "api": (lambda value: value in _APIS, f"one of {', '.join(_APIS)}"),
    "least_effort": (lambda value: value in EFFORTS, f"one of {', '.join(EFFORTS)}"),
    "shutdown": (_is_day, "a day such as 2026-12-31"),
    "successor": (lambda value: isinstance(value, str) and "/" in value, "the name of a model with its prefix"),
}
"""Fields of an entry -> whether a value can be meant, and what it has to be."""


def _show_name(name: str) -> str:
    return quoted(name if name.isprintable() else repr(name))
