"""Prompt templates as data files, rendered strictly: a missing variable is an error, never an empty string."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, lru_cache, partial
from importlib import resources
from typing import Any, Final

import jinja2

from spca.errors import PromptError
from spca.sense.map_text import format_data, format_state
from spca.sense.renaming import TRUE_WORDS, Renaming

_BARE: Final = "bare_"
"""What the name of a template begins with that stands for another one in a run with bare prompts."""


@dataclass(frozen=True, slots=True)
class Wording:
    """How the prompts of a run are worded.

    Attributes:
        bare: forms and primitives only, nothing of how such worlds work.
        renaming: the words of the run's worlds; those of a template are replaced before anything is filled in.
    """

    bare: bool = False
    renaming: Renaming = TRUE_WORDS

    def render(self, name: str, /, **variables: object) -> str:
        """Return the text of template ``name`` (without suffix), or of its bare variant where there is one.

        Raises:
            PromptError: the template is unknown or a variable it uses is missing.
        """
        bare = f"{_BARE}{name}"
        chosen = bare if self.bare and _source(f"{bare}.jinja") else name
        try:
            template = _environment(self.renaming).get_template(f"{chosen}.jinja")
            return template.render(**variables).strip()
        except jinja2.TemplateError as error:
            raise PromptError(f"prompt {name}: {error}") from error

    def templates(self) -> dict[str, str]:
        """Name and text of every template that a run uses, in order of name."""
        files = [file.name for file in resources.files(__package__).iterdir()]
        names = sorted(name for name in files if name.endswith(".jinja"))
        bare = {name for name in names if name.startswith(_BARE)}
        left_out = {name.removeprefix(_BARE) for name in bare} if self.bare else bare
        used = [name for name in names if name not in left_out]

        texts: dict[str, str] = {}
        for name in used:
            texts[name.removesuffix(".jinja")] = self.renaming.text(_source(name) or "")
        return texts

    def describe_templates(self) -> str:
        """Return all templates that a run uses as a page of Markdown."""
        sections = [f"## {name}\n\n```\n{text}```\n" for name, text in self.templates().items()]
        return "# Prompt templates of this run\n\n" + "\n".join(sections)


USUAL: Final = Wording()


@lru_cache(maxsize=4)
def _environment(renaming: Renaming) -> jinja2.Environment:
    # Prompts are plain text for a model, not markup: data blocks are made safe by the `data` filter.
    def load_source(name: str) -> str | None:
        source = _source(name)
        return source and renaming.text(source)

    environment = jinja2.Environment(  # noqa: S701
        loader=jinja2.FunctionLoader(load_source),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["data"] = partial(_strict, format_data)
    environment.filters["state"] = partial(_strict, format_state)
    environment.filters["quoted"] = quote_untrusted
    return environment


def render(name: str, /, **variables: object) -> str:
    """Return the text of a template as :meth:`Wording.render` does, in the usual wording."""
    return USUAL.render(name, **variables)


@cache
def _source(name: str) -> str | None:
    path = resources.files(__package__).joinpath(name)
    return path.read_text(encoding="utf-8") if path.is_file() else None


def _strict(written: Callable[[Any], str], value: object) -> str:
    return str(value) if isinstance(value, jinja2.Undefined) else written(value)  # str() of an undefined one raises


def quote_untrusted(text: str, limit: int = 4000) -> str:
    """Return untrusted text as data: without control characters, our own tags' brackets defused, length bounded."""
    lines = [line if line.isprintable() else _printable(line) for line in text.split("\n")]
    clean = "\n".join(lines)
    if len(clean) > limit:
        head = clean[: limit // 2]
        tail = clean[-limit // 2 :]
        clean = f"{head}\n[... {len(clean) - limit} characters left out ...]\n{tail}"
    return clean.replace("</", "<\\/")


def _printable(line: str) -> str:
    return "".join(c for c in line if c == "\t" or c.isprintable())
