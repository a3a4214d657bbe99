"""The model table: context size, API, day of shutdown and prices of models, which a user can extend or correct.

The built-in table is ``models.json`` beside this file. A user's table has the same form,
``{"models": {"openai/my-model": {"context": 32768, "input": 0.5, "output": 1.5}}}``. Names may contain the wildcards
of :mod:`fnmatch`. Each field of the user's table replaces the same field of the built-in table. Prices that neither
table names come from :func:`spca.llm.catalogue.prices.find_published_rates`.
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
from spca.llm.providers.secrets import quote_line

Entries = Mapping[str, Mapping[str, Any]]
"""Name or pattern of models -> fields; a field of None means unknown, even if a later table has a value."""

_DATE_SUFFIX: Final = re.compile(r"-\d{4}-?\d{2}-?\d{2}$")
_WILDCARDS: Final = frozenset("*?[")
_OLLAMA_SERVICE: Final = {"ollama/*": {"input": None, "output": None}}
_INFO_FIELDS: Final = frozenset(field.name for field in fields(ModelInfo))


class ModelTable:
    """Properties and prices of models, looked up by name with prefix.

    Args:
        tables: entries by name; a table takes precedence over the tables after it.
    """

    def __init__(self, *tables: Entries) -> None:
        self._tables = tables

    @classmethod
    def load(cls, path: Path | None = None) -> ModelTable:
        """Return the built-in table; if ``path`` is given, the user's table at ``path`` takes precedence over it.

        Raises:
            SettingsError: the user's table cannot be read; names the invalid entry.
        """
        text = resources.files(__package__).joinpath("models.json").read_text(encoding="utf-8")
        built_in: Entries = json.loads(text)["models"]
        return cls(_read_entries(path), built_in) if path else cls(built_in)

    def prefer(self, table: Entries) -> ModelTable:
        """Return this table with ``table`` inserted before its last table, which is the built-in one."""
        return ModelTable(*self._tables[:-1], table, self._tables[-1])

    def adapt_to_ollama(self, address: str | None) -> ModelTable:
        """Return this table for Ollama at ``address``; at Ollama's own service, prices of models are unknown."""
        return self.prefer(_OLLAMA_SERVICE) if "ollama.com" in (address or "") else self

    def names(self) -> tuple[str, ...]:
        """Return the names of models that have entries without wildcards."""
        names = dict.fromkeys(name for table in self._tables for name in table)
        return tuple(name for name in names if not _has_wildcard(name))

    def list_names(self) -> list[str]:
        """Return the names of :meth:`names` and of all models with a published price, sorted."""
        return sorted({*self.names(), *list_published_models()})

    def info(self, ref: ModelRef) -> ModelInfo:
        """Return the properties of a model; a dated name (``-2025-04-16``) inherits from the undated name."""
        values = {name: value for name, value in self._fields(ref).items() if name in _INFO_FIELDS}
        if "shutdown" in values:
            values["shutdown"] = date.fromisoformat(values["shutdown"])
        return ModelInfo(**values)

    def price(self, ref: ModelRef, when: float | None = None) -> Price | None:
        """Return the price of a model at a time, None if the price is unknown.

        If a model was shut down and no table gives its price, return the price of its successor. A provider that still
        accepts the old name answers with the successor.

        Args:
            when: seconds since the epoch; None for now.
        """
        moment = time.time() if when is None else when
        day = datetime.fromtimestamp(moment, UTC).date()
        ref = self._find_priced_model(ref, day)
        entry = self._fields(ref)
        published = find_published_rates(ref, moment) or find_published_rates(_strip_date(ref), moment)
        tiers = {}
        for size, rates in _join_rates(entry, published).items():
            if rates.get("input") is None or rates.get("output") is None:
                return None
            tiers[size] = Rates(**rates)
        return Price(tiers, entry.get("price_up_to"))

    def _find_priced_model(self, ref: ModelRef, day: date) -> ModelRef:
        """Return the model whose price holds for a name on a day: the model itself or one of its successors."""
        seen: set[ModelRef] = set()
        while ref not in seen:  # successors in a user's table may form a cycle
            seen.add(ref)
            info = self.info(ref)
            is_shut_down = info.shutdown is not None and day >= info.shutdown
            if not is_shut_down or info.successor is None:
                return ref
            has_own_price = bool(self._fields(ref).keys() & set(RATES))
            if has_own_price:
                return ref
            ref = ModelRef.parse(info.successor)
        return ref

    def _fields(self, ref: ModelRef) -> dict[str, Any]:
        """Return all fields of a model, merged from every entry whose pattern fits its name, dated or undated."""
        values: dict[str, Any] = {}
        names = (ref.model, _strip_date(ref).model)
        for table in reversed(self._tables):  # least important first, so that the important ones replace its fields
            fitting = [pattern for pattern in table if any(fnmatchcase(name, pattern) for name in names)]
            for pattern in sorted(fitting, key=_precision):
                values = _merge_entry(values, table[pattern])
        return values


def _strip_date(ref: ModelRef) -> ModelRef:
    return replace(ref, name=_DATE_SUFFIX.sub("", ref.name))


def _has_wildcard(name: str) -> bool:
    return not _WILDCARDS.isdisjoint(name)


def _precision(pattern: str) -> tuple[bool, int]:
    """Return a key that sorts more precise patterns later: exact names after wildcards, longer patterns after shorter.

    A dated name is longer than the undated name, so the fields of the dated entry replace those of the undated entry.
    """
    is_exact = not _has_wildcard(pattern)
    return is_exact, len(pattern)


def _merge_entry(values: dict[str, Any], entry: Mapping[str, Any]) -> dict[str, Any]:
    """Return ``values`` with the fields of a more important entry in place of older fields of the same names.

    A rate of the entry replaces the rate in every older tier, unless the entry has its own tiers.
    """
    tiers = values.get("tiers", {})
    remaining_tiers = {}
    for size, rates in tiers.items():
        remaining_tiers[size] = {kind: rate for kind, rate in rates.items() if kind not in entry}
    return {**values, "tiers": remaining_tiers, **entry}


def _join_rates(entry: Mapping[str, Any], published: Mapping[int, Mapping[str, Decimal]]) -> dict[int, dict[str, Any]]:
    """Return the rates of a model by size; a rate in the model's entry replaces the published rate.

    The rates of a size apply to prompts of more tokens than the size; the smallest size is 0.
    """
    own_rates = _read_rates(entry)
    base = {**published.get(0, {}), **own_rates}
    tiers: dict[int, dict[str, Any]] = {0: base}
    own_tiers = entry.get("tiers", {})
    if own_tiers:
        for size, rates in own_tiers.items():
            tiers[int(size)] = base | _read_rates(rates)
    else:
        for published_size, published_rates in published.items():
            tiers[published_size] = {**published_rates, **own_rates}
    return tiers


def _read_rates(entry: Mapping[str, Any]) -> dict[str, Any]:
    """Return the rates in an entry as decimals; a rate of None, which means unknown, stays None."""
    rates: dict[str, Any] = {}
    for kind in RATES:
        if kind in entry:
            rate = entry[kind]
            rates[kind] = None if rate is None else Decimal(str(rate))
    return rates


def _read_entries(path: Path) -> Entries:
    """Return the entries of the user's table; raise SettingsError if the file or an entry is invalid."""
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
    """Return a message about what is wrong with an entry, "" if the entry is valid."""
    choices = ", ".join(sorted(_FORMS))
    allowed_fields = f"an entry has fields from {choices}"
    if not isinstance(entry, dict):
        return allowed_fields
    unknown = sorted(entry.keys() - _FORMS.keys())
    if unknown:
        return f"unknown field {_show_name(unknown[0])}: {allowed_fields}"
    for key, value in entry.items():
        is_valid, form = _FORMS[key]
        if not is_valid(value):
            return f"{key} must be {form}, not {quote_line(repr(value))}"
    if effort := ModelRef.parse(name).effort:
        return f"an entry holds for every effort of a model: leave @{effort} out"
    if "/" not in name and "*" not in name:
        return f"a name has a prefix, such as openai/{_show_name(name)}"
    return ""


def _is_day(value: object) -> bool:
    """Return whether a value is a day in the form YYYY-MM-DD; refuse other forms that ``fromisoformat`` accepts."""
    if not isinstance(value, str):
        return False
    try:
        return date.fromisoformat(value).isoformat() == value
    except ValueError:
        return False


def _is_count(value: object) -> bool:
    return type(value) is int and value > 0


def _is_price(value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return 0 <= value < float("inf")


def _are_tiers(value: object) -> bool:
    return isinstance(value, dict) and all(_is_tier(size, rates) for size, rates in value.items())


def _is_tier(size: str, rates: object) -> bool:
    if not re.fullmatch(r"[1-9]\d{0,8}", size) or not isinstance(rates, dict):
        return False
    return rates.keys() <= set(RATES) and all(map(_is_price, rates.values()))


def _is_model_name(value: object) -> bool:
    return isinstance(value, str) and "/" in value


_COUNT: Final = (_is_count, "a whole number of tokens")
_APIS: Final = ("chat", "responses")
_FORMS: Final[Mapping[str, tuple[Callable[[object], bool], str]]] = {
    **dict.fromkeys(RATES, (_is_price, "USD per million tokens")),
    **dict.fromkeys(("context", "max_output", "price_up_to"), _COUNT),
    "tiers": (_are_tiers, 'rates by size of the prompt, such as {"200000": {"input": 4}}'),
    "api": (lambda value: value in _APIS, f"one of {', '.join(_APIS)}"),
    "least_effort": (lambda value: value in EFFORTS, f"one of {', '.join(EFFORTS)}"),
    "shutdown": (_is_day, "a day such as 2026-12-31"),
    "successor": (_is_model_name, "the name of a model with its prefix"),
}
"""Field of an entry -> (function that checks a value, description of a valid value)."""


def _show_name(name: str) -> str:
    return quote_line(name if name.isprintable() else repr(name))
