"""Prompt templates as data files, rendered strictly: a missing variable is an error, never an empty string."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial
from importlib import resources
from typing import Any, Final

import jinja2

from spca.errors import PromptError
from spca.sense.map_text import as_data, as_state

_BARE: Final = "bare_"
"""What the name of a template begins with that stands for another one in a run with bare prompts."""


@lru_cache(maxsize=1)
def _environment() -> jinja2.Environment:
    # Prompts are plain text for a model, not markup: data blocks are made safe by the `data` filter.
    environment = jinja2.Environment(  # noqa: S701
        loader=jinja2.FunctionLoader(_source), undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters["data"] = partial(_strict, as_data)
    environment.filters["state"] = partial(_strict, as_state)
    environment.filters["quoted"] = quoted
    return environment


def _source(name: str) -> str | None:
    path = resources.files(__package__).joinpath(name)
    return path.read_text(encoding="utf-8") if path.is_file() else None


def _strict(written: Callable[[Any], str], value: object) -> str:
    return str(value) if isinstance(value, jinja2.Undefined) else written(value)  # str() of an undefined one raises


def quoted(text: str, limit: int = 4000) -> str:
    """Untrusted text as data: control characters removed, angle brackets of our own tags defused, length bounded."""
    clean = "\n".join(line if line.isprintable() else _printable(line) for line in text.split("\n"))
    if len(clean) > limit:
        clean = f"{clean[: limit // 2]}\n[... {len(clean) - limit} characters left out ...]\n{clean[-limit // 2 :]}"
    return clean.replace("</", "<\\/")


def _printable(line: str) -> str:
    return "".join(c for c in line if c == "\t" or c.isprintable())


def render(name: str, bare: bool = False, /, **variables: object) -> str:
    """The text of template ``name`` (without suffix), or of its ``bare`` variant, which tells nothing of the world.

    Raises:
        PromptError: the template is unknown or a variable it uses is missing.
    """
    try:
        return _environment().get_template(f"{_BARE * bare}{name}.jinja").render(**variables).strip()
    except jinja2.TemplateError as error:
        raise PromptError(f"prompt {name}: {error}") from error


def templates(*, bare: bool = False) -> dict[str, str]:
    """Name and text of every template that a run uses, in order of name."""
    files = sorted(f.name for f in resources.files(__package__).iterdir() if f.name.endswith(".jinja"))
    others = {f"{'' if bare else _BARE}{name.removeprefix(_BARE)}" for name in files if name.startswith(_BARE)}
    return {name.removesuffix(".jinja"): _source(name) or "" for name in files if name not in others}
