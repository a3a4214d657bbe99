"""What is known of models: context size, API, end, price; a data file that a user can extend or correct.

The table that comes with the project is ``models.json`` beside this file. A user's table has the same form,
``{"models": {"openai/my-model": {"context": 32768, "input": 0.5, "output": 1.5}}}``; names may hold the wildcards of
:mod:`fnmatch`, and what it says of a model goes before what the built-in table says, field by field. Prices that
neither names are those of :mod:`spca.llm.calls.published`.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from datetime import UTC, date, datetime
from decimal import Decimal
from fnmatch import fnmatchcase
from importlib import resources
from pathlib import Path
from typing import Any, Final

from spca.common.errors import FileError, SettingsError
from spca.common.files import read_text
from spca.llm.calls import published
from spca.llm.calls.rates import RATES, Price, Rates
from spca.llm.providers.base import ModelInfo, Request, Response, Usage
from spca.llm.providers.model_names import EFFORTS, ModelName
from spca.llm.providers.secrets import quoted

_CHOICES: Final[Mapping[str, Sequence[str]]] = {
    "api": ("chat", "responses"),
    "least_effort": EFFORTS,
}
_DATED: Final = re.compile(r"-\d{4}-?\d{2}-?\d{2}$")
_WILD: Final = frozenset("*?[")
_OLLAMA_SERVICE: Final = {"ollama/*": {"input": None, "output": None}}
_INFO: Final = frozenset(field.name for field in fields(ModelInfo))
_FIELDS: Final = _INFO | {*RATES, "price_up_to", "tiers"}
_COUNTS: Final = frozenset({"context", "max_output", "price_up_to"})


class ModelTable:
    """Entries by model name with prefix.

    Args:
        tables: entries by name, the more important ones first.
    """

    def __init__(self, *tables: Mapping[str, Mapping[str, Any]]) -> None:
        self._tables = tables

    @classmethod
    def load(cls, path: Path | None = None) -> ModelTable:
        """The built-in table, after the user's one at ``path``.

        Raises:
            SettingsError: the user's table cannot be read; names the entry.
        """
        text = resources.files(__package__).joinpath("models.json").read_text(encoding="utf-8")
        built_in: Mapping[str, Mapping[str, Any]] = json.loads(text)["models"]
        return cls(_read(path), built_in) if path else cls(built_in)

    def after(self, table: Mapping[str, Mapping[str, Any]]) -> ModelTable:
        """This table, in which another one goes before the built-in one."""
        return ModelTable(*self._tables[:-1], table, self._tables[-1])

    def at_ollama(self, address: str | None) -> ModelTable:
        """This table where Ollama is asked at ``address``: what its own service runs has no known price."""
        return self.after(_OLLAMA_SERVICE) if "ollama.com" in (address or "") else self

    def names(self) -> tuple[str, ...]:
        """Return the models that have an entry of their own."""
        entries = (name for table in self._tables for name in table)
        return tuple(dict.fromkeys(name for name in entries if not _WILD & set(name)))

    def info(self, model: str) -> ModelInfo:
        """What is known of a model; a dated version (``-2025-04-16``) is the model without the date."""
        values = {name: value for name, value in self._fields(model).items() if name in _INFO}
        if "shutdown" in values:
            values["shutdown"] = date.fromisoformat(values["shutdown"])
        return ModelInfo(**values)

    def price(self, model: str, when: float | None = None) -> Price | None:
        """What a model costs on the day of ``when`` (seconds since 1970; None: now), None where that is not known.

        Once it is shut down, a model without a price of its own costs what its successor does: a provider that still
        takes its name answers with that one.
        """
        moment = time.time() if when is None else when
        model = self._answering(ModelName.parse(model).model, datetime.fromtimestamp(moment, UTC).date())
        given = self._fields(model)
        known = published.rates(model, moment) or published.rates(_DATED.sub("", model), moment)
        own = _rates(given)
        larger = {int(size): _rates(rates) for size, rates in given.get("tiers", {}).items()}
        first = known.get(0, {}) | own
        tiers = {size: first | rates for size, rates in larger.items()}
        tiers = {0: first} | (tiers or {size: rates | own for size, rates in known.items()})
        if any(rates.get("input") is None or rates.get("output") is None for rates in tiers.values()):
            return None
        return Price({size: Rates(**rates) for size, rates in tiers.items()}, given.get("price_up_to"))

    def _answering(self, model: str, day: date) -> str:
        """The model whose price holds for a name on a day."""
        seen: set[str] = set()
        while model not in seen:
            seen.add(model)
            info = self.info(model)
            is_gone = info.shutdown is not None and day >= info.shutdown
            if is_gone and info.successor is not None and not self._fields(model).keys() & set(RATES):
                model = info.successor
        return model

    def _fields(self, model: str) -> dict[str, Any]:
        values: dict[str, Any] = {}
        model = ModelName.parse(model).model
        names = (model, _DATED.sub("", model))
        for table in reversed(self._tables):
            fitting = (pattern for pattern in table if any(fnmatchcase(name, pattern) for name in names))
            for pattern in sorted(fitting, key=_precision):
                values = _merged(values, table[pattern])
        return values


def metered(request: Request, response: Response) -> tuple[Usage, bool]:
    """The tokens of an answered request, and whether one of the counts is an estimate because the server told none."""
    usage = response.usage
    if usage.input_tokens is not None and usage.output_tokens is not None:
        return usage, False
    sent, said = usage.input_tokens, usage.output_tokens
    if sent is None:
        sent = asked_tokens(request)
    if said is None:
        arguments = sum(len(str(call.arguments)) for call in response.tool_calls)
        said = estimated_tokens(len(response.text) + arguments)
    return replace(usage, input_tokens=sent, output_tokens=said), True


def asked_tokens(request: Request) -> int:
    """An estimate of the size of a prompt; pictures, schemas and tools do not count."""
    return estimated_tokens(sum(len(message.text) for message in request.messages))


def estimated_tokens(characters: int) -> int:
    """More than a text of that length usually has: PDDL, Python and English hold 3.5 to 4.5 characters a token."""
    return -(-characters // 3)


def _merged(values: dict[str, Any], entry: Mapping[str, Any]) -> dict[str, Any]:
    """``values`` with what a more important entry says; its rates hold in every tier unless it has tiers of its own."""
    tiers = values.get("tiers", {})
    others = {size: {kind: rates[kind] for kind in rates if kind not in entry} for size, rates in tiers.items()}
    return {**values, "tiers": others, **entry}


def _rates(entry: Mapping[str, Any]) -> dict[str, Any]:
    """The rates in an entry as decimals; one that is None there is unknown."""
    return {kind: None if entry[kind] is None else Decimal(str(entry[kind])) for kind in RATES if kind in entry}


def _precision(pattern: str) -> tuple[bool, int]:
    """Exact names come last, so that they win, and of those the dated one; of patterns the longest."""
    return not _WILD & set(pattern), len(pattern)


def _read(path: Path) -> Mapping[str, Mapping[str, Any]]:
    try:
        entries = json.loads(read_text(path))["models"]
        items: Sequence[tuple[str, Any]] = list(entries.items())
    except FileError as error:
        raise SettingsError(f"--model-table {error}") from error
    except json.JSONDecodeError as error:
        raise SettingsError(f"--model-table {path} is not valid JSON: {error}") from error
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        form = '{"models": {"openai/NAME": {"input": 0.5, "output": 1.5}}}'
        raise SettingsError(f"--model-table {path} is no table of models; it looks like {form}") from error
    for name, entry in items:
        _check(path, name, entry)
    return dict(items)


def _check(path: Path, name: str, entry: object) -> None:
    unknown = sorted(entry.keys() - _FIELDS) if isinstance(entry, dict) else []
    if unknown or not isinstance(entry, dict):
        fault = f"unknown field {_told(unknown[0])}: " if unknown else ""
        raise SettingsError(f"{path}: {_told(name)}: {fault}an entry has fields from {', '.join(sorted(_FIELDS))}")
    for key, value in entry.items():
        form = _fault(key, value)
        if form:
            raise SettingsError(f"{path}: {_told(name)}: {key} must be {form}, not {quoted(repr(value))}")
    if effort := ModelName.parse(name).effort:
        raise SettingsError(f"{path}: {_told(name)}: an entry holds for every effort of a model: leave @{effort} out")
    if "/" not in name and "*" not in name:
        raise SettingsError(f"{path}: {_told(name)}: a name has a prefix, such as openai/{_told(name)}")


def _fault(key: str, value: object) -> str:
    """What the value of a field must be, "" where it is that."""
    if key in _CHOICES:
        return "" if value in _CHOICES[key] else f"one of {', '.join(_CHOICES[key])}"
    if key == "shutdown":
        return "" if _is_day(value) else "a day such as 2026-12-31"
    if key == "successor":
        return "" if isinstance(value, str) and "/" in value else "the name of a model with its prefix"
    if key == "tiers":
        return "" if _are_tiers(value) else 'rates by size of the prompt, such as {"200000": {"input": 4}}'
    if key in _COUNTS:
        return "" if type(value) is int and value > 0 else "a whole number of tokens"
    return "" if _is_price(value) else "USD per million tokens"


def _is_day(value: object) -> bool:
    try:
        return isinstance(value, str) and date.fromisoformat(value).isoformat() == value
    except ValueError:
        return False


def _is_price(value: object) -> bool:
    return type(value) in (int, float) and 0 <= value < float("inf")  # type: ignore[operator]  # bool is an int


def _are_tiers(value: object) -> bool:
    return isinstance(value, dict) and all(
        re.fullmatch(r"[1-9]\d{0,8}", size)
        and isinstance(rates, dict)
        and rates.keys() <= set(RATES)
        and all(map(_is_price, rates.values()))
        for size, rates in value.items()
    )


def _told(name: str) -> str:
    return quoted(name if name.isprintable() else repr(name))
