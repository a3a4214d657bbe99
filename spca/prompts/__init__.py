"""Prompt templates as data files; rendering a template without one of its variables is an error."""

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
"""Prefix of a template's bare variant, which replaces the template in runs with bare prompts."""


@dataclass(frozen=True, slots=True)
class Wording:
    """The wording of a run's prompts.

    Attributes:
        bare: whether prompts describe only forms of answers and primitives, and not how the worlds work.
        renaming: the words of the run's worlds; they replace words of a template before its variables are filled in.
    """

    bare: bool = False
    renaming: Renaming = TRUE_WORDS

    def render(self, name: str, /, **variables: object) -> str:
        """Return the text of the template ``name`` (without suffix).

        With bare prompts, use the template's bare variant if there is one.

        Raises:
            PromptError: the template is unknown, or a variable of the template is missing.
        """
        bare = f"{_BARE}{name}"
        chosen = bare if self.bare and _source(f"{bare}.jinja") else name
        try:
            template = _environment(self.renaming).get_template(f"{chosen}.jinja")
            return template.render(**variables).strip()
        except jinja2.TemplateError as error:
            raise PromptError(f"prompt {name}: {error}") from error

    def templates(self) -> dict[str, str]:
        """Return every template that a run uses, as name -> text, sorted by name."""
        files = [file.name for file in resources.files(__package__).iterdir()]
        names = sorted(name for name in files if name.endswith(".jinja"))
        bare_variants = {name for name in names if name.startswith(_BARE)}
        replaced = {name.removeprefix(_BARE) for name in bare_variants}
        unused = replaced if self.bare else bare_variants

        texts: dict[str, str] = {}
        for name in names:
            if name not in unused:
                texts[name.removesuffix(".jinja")] = self.renaming.text(_source(name) or "")
        return texts

    def describe_templates(self) -> str:
        """Return all templates that a run uses, as a page of Markdown."""
        sections = [f"## {name}\n\n```\n{text}```\n" for name, text in self.templates().items()]
        return "# Prompt templates of this run\n\n" + "\n".join(sections)


USUAL: Final = Wording()


@lru_cache(maxsize=4)
def _environment(renaming: Renaming) -> jinja2.Environment:
    """Return the Jinja environment whose templates have the words of ``renaming``."""

    def load_source(name: str) -> str | None:
        source = _source(name)
        return source and renaming.text(source)

    # Nothing is escaped as HTML, because prompts are plain text; the filter `data` makes untrusted data safe.
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
    """Return the text of a template in the usual wording; see :meth:`Wording.render`."""
    return USUAL.render(name, **variables)


@cache
def _source(name: str) -> str | None:
    """Return the source of a template file, None if there is no such file."""
    path = resources.files(__package__).joinpath(name)
    return path.read_text(encoding="utf-8") if path.is_file() else None


def _strict(format_value: Callable[[Any], str], value: object) -> str:
    """Return ``value`` formatted by ``format_value``; raise jinja2.UndefinedError for a missing variable."""
    if isinstance(value, jinja2.Undefined):
        return str(value)  # raises the error, because the environment is strict
    return format_value(value)


def quote_untrusted(text: str, limit: int = 4000) -> str:
    """Return untrusted text as data for a prompt.

    Control characters are removed, the middle of a text over ``limit`` characters is left out, and "</" is altered so
    that the text cannot close a tag of the prompt.
    """
    lines = [line if line.isprintable() else _remove_control_characters(line) for line in text.split("\n")]
    clean = "\n".join(lines)
    if len(clean) > limit:
        head = clean[: limit // 2]
        tail = clean[-limit // 2 :]
        clean = f"{head}\n[... {len(clean) - limit} characters left out ...]\n{tail}"
    return clean.replace("</", "<\\/")


def _remove_control_characters(line: str) -> str:
    return "".join(char for char in line if char == "\t" or char.isprintable())
