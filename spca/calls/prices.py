"""What is known of models: context size, price, API; a data file that a user can extend or correct.

The table that comes with the project is ``models.json`` beside this file. A user's table has the same form,
``{"models": {"openai/my-model": {"context": 32768, "input": 0.5, "output": 1.5}}}``; names may hold the wildcards of
:mod:`fnmatch`, and what it says of a model goes before what the built-in table says.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from decimal import Decimal
from fnmatch import fnmatchcase
from importlib import resources
from pathlib import Path
from typing import Any, Final

from spca.errors import FileError, SettingsError
from spca.files import read_text
from spca.providers.base import ModelInfo, Request, Response, Usage

APIS: Final = ("chat", "responses")
_DATED: Final = re.compile(r"-\d{4}-?\d{2}-?\d{2}$")
_FIELDS: Final = frozenset(field.name for field in fields(ModelInfo))
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

    def info(self, model: str) -> ModelInfo:
        """What is known of a model; a dated version (``-2025-04-16``) is the model without the date."""
        values: dict[str, Any] = {}
        names = (model, _DATED.sub("", model))
        for table in reversed(self._tables):
            fitting = (pattern for pattern in table if any(fnmatchcase(name, pattern) for name in names))
            for pattern in sorted(fitting, key=_precision):
                values |= table[pattern]
        return ModelInfo(**values)


def cost(info: ModelInfo, usage: Usage) -> Decimal | None:
    """USD of one answered request; None when a price or a count is unknown."""
    if info.input == 0 and info.output == 0:
        return Decimal(0)
    if info.input is None or info.output is None or usage.input_tokens is None or usage.output_tokens is None:
        return None
    if info.price_up_to is not None and usage.input_tokens > info.price_up_to:
        return None
    cached = min(usage.cached_tokens or 0, usage.input_tokens)
    cached_price = info.input if info.cached is None else info.cached
    millionths = (
        (usage.input_tokens - cached) * _exact(info.input)
        + cached * _exact(cached_price)
        + usage.output_tokens * _exact(info.output)
    )
    return millionths / 1_000_000


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


def _exact(price: float) -> Decimal:
    return Decimal(str(price))


def _precision(pattern: str) -> tuple[bool, int]:
    """Exact names come last, so that they win, and of those the dated one; of patterns the longest."""
    return not set("*?[") & set(pattern), len(pattern)


def _read(path: Path) -> Mapping[str, Mapping[str, Any]]:
    try:
        entries = json.loads(read_text(path))["models"]
        items: Sequence[tuple[str, Any]] = list(entries.items())
    except FileError as error:
        raise SettingsError(f"--model-table {error}") from None
    except json.JSONDecodeError as error:
        raise SettingsError(f"--model-table {path} is not valid JSON: {error}") from None
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        form = '{"models": {"openai/NAME": {"input": 0.5, "output": 1.5}}}'
        raise SettingsError(f"--model-table {path} is no table of models; it looks like {form}") from None
    for name, entry in items:
        _check(path, name, entry)
    return dict(items)


def _check(path: Path, name: str, entry: object) -> None:
    unknown = sorted(entry.keys() - _FIELDS) if isinstance(entry, dict) else []
    if unknown or not isinstance(entry, dict):
        fault = f"unknown field {_told(unknown[0])}: " if unknown else ""
        raise SettingsError(f"{path}: {_told(name)}: {fault}an entry has fields from {', '.join(sorted(_FIELDS))}")
    for key, value in entry.items():
        if key == "api":
            good, form = value in APIS, f"one of {', '.join(APIS)}"
        elif key in _COUNTS:
            good, form = type(value) is int and value > 0, "a whole number of tokens"
        else:
            good = type(value) in (int, float) and 0 <= value < float("inf")
            form = "USD per million tokens"
        if not good:
            raise SettingsError(f"{path}: {_told(name)}: {key} must be {form}, not {value!r}")
    if "/" not in name and "*" not in name:
        raise SettingsError(f"{path}: {_told(name)}: a name has a prefix, such as openai/{_told(name)}")


def _told(name: str) -> str:
    return name if name.isprintable() else repr(name)
