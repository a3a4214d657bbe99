"""Prompt templates as data files; rendering a template without one of its variables is an error.

A template is made of parts: ``{% include "planner_world.jinja" %}``. A body brings parts of its own, which replace the
plain parts of this folder. A part is inserted as text before the template is read, so that a run can show and hash its
whole templates.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache, lru_cache, partial
from importlib import resources
from typing import Any, Final

import jinja2
from jinja2.sandbox import ImmutableSandboxedEnvironment

from spca.bodies.grid.body import GRID
from spca.body import Body
from spca.common.errors import SettingsError
from spca.errors import PromptError
from spca.prompts.formatting import format_data, format_state
from spca.prompts.overrides import BARE, PART, SUFFIX, TemplateFolder, check_overrides
from spca.sense.renaming import TRUE_WORDS, Renaming

_CODE: Final = re.compile(r"(\{\{.*?\}\}|\{%.*?%\}|\{#.*?#\})", re.DOTALL)
"""Code in a template, in which no word is renamed."""


@dataclass(frozen=True, slots=True)
class Wording:
    """The wording of a run's prompts.

    Attributes:
        bare: whether prompts describe only forms of answers and primitives, and not how the worlds work.
        renaming: the words of the run's worlds; they replace words of a template before its variables are filled in.
        body: the body whose parts and names the prompts have.
        overrides: templates of the user, which replace those of the body and ours of the same names.
    """

    bare: bool = False
    renaming: Renaming = TRUE_WORDS
    body: Body = GRID
    overrides: TemplateFolder | None = None

    def render(self, name: str, /, **variables: object) -> str:
        """Return the text of the template ``name`` (without suffix).

        With bare prompts, use the template's bare variant if there is one.

        Raises:
            PromptError: the template is unknown, or a variable of the template is missing.
            SettingsError: a template of the user fails.
        """
        try:
            template = _environment(self).get_template(name)
            body = _drop_rules(self.body) if self.bare else self.body
            text: str = template.render(body=body, **variables)
            return text.strip()
        except jinja2.TemplateError as error:
            if self.overrides:
                place = f"--prompts {self.overrides.folder}: {self._choose_variant(name)}{SUFFIX}"
                raise SettingsError(f"{place}: {error}") from error
            raise PromptError(f"prompt {name}: {error}") from error

    def templates(self) -> dict[str, str]:
        """Return every template that a run uses, as name -> whole text, sorted by name."""
        texts: dict[str, str] = {}
        for name in _list_templates():
            texts[self._choose_variant(name)] = self._rename_prose(self._compose(name) or "")
        return dict(sorted(texts.items()))

    def describe_templates(self) -> str:
        """Return all templates that a run uses, as a page of Markdown."""
        sections = [f"## {name}\n\n```\n{text}```\n" for name, text in self.templates().items()]
        return "# Prompt templates of this run\n\n" + "\n".join(sections)

    def check(self) -> None:
        """Check the user's templates, if there are any.

        Raises:
            SettingsError: names the first template that cannot be used, and why.
        """
        if self.overrides:
            check_overrides(self.overrides, list_known_texts(self.body))

    def _choose_variant(self, name: str) -> str:
        """Return the name of the bare variant if it is used, else ``name``."""
        bare = f"{BARE}{name}"
        has_override = self.overrides is not None and self.overrides.find(bare) is not None
        return bare if self.bare and (has_override or bare in self.body.prompts) else name

    def _compose(self, name: str) -> str | None:
        """Return the text of a template or part with its parts inserted; None if there is no such template."""
        text = self._find_text(name)
        if text is None:
            return None

        def insert_part(match: re.Match[str]) -> str:
            part = self._compose(match[1])
            if part is None:
                raise PromptError(f"prompt {name}: there is no part {match[1]!r}")
            return part.removesuffix("\n")

        return PART.sub(insert_part, text)

    def _rename_prose(self, source: str) -> str:
        """Return the source of a template with its words renamed, but not its code."""
        pieces = _CODE.split(source)
        pieces[::2] = map(self.renaming.text, pieces[::2])
        return "".join(pieces)

    def _find_text(self, name: str) -> str | None:
        """Return the text of a template or part as it is written: the user's, else the body's, else ours.

        Bare prompts use a body's bare variants and else our own parts, which describe only formats and names.
        """
        variant = self._choose_variant(name)
        text = self.overrides.find(variant) if self.overrides else None
        if text is None and (variant != name or not self.bare):
            text = self.body.prompts.get(variant)
        return _source(name) if text is None else text


USUAL: Final = Wording()


@cache
def _drop_rules(body: Body) -> Body:
    """Return a body without the rules of its world, which bare prompts do not tell."""
    return replace(body, about="")


@lru_cache(maxsize=8)
def _environment(wording: Wording) -> jinja2.Environment:
    """Return the Jinja environment whose templates have the words of ``wording``."""

    def load_source(name: str) -> str | None:
        source = wording._compose(name)
        return source and wording._rename_prose(source)

    # A resumed run reads the user's templates again from the folder that its run folder names, so that they get no
    # access to Python. Nothing is escaped as HTML, because prompts are plain text; the filter `data` makes data safe.
    kind = ImmutableSandboxedEnvironment if wording.overrides else jinja2.Environment
    environment = kind(
        autoescape=False,
        loader=jinja2.FunctionLoader(load_source),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["data"] = partial(_strict, format_data)
    environment.filters["state"] = partial(_strict, format_state)
    environment.filters["quoted"] = quote_untrusted
    environment.filters["renamed"] = wording.renaming.text
    return environment


def render(name: str, /, **variables: object) -> str:
    """Return the text of a template in the usual wording; see :meth:`Wording.render`."""
    return USUAL.render(name, **variables)


@cache
def list_known_texts(body: Body = GRID) -> dict[str, str]:
    """Return all templates and parts as they are written, by name: ours, and those of a body in place of ours."""
    names = [file.name for file in resources.files(__package__).iterdir() if file.name.endswith(SUFFIX)]
    ours = {name.removesuffix(SUFFIX): _source(name.removesuffix(SUFFIX)) or "" for name in sorted(names)}
    return {**ours, **body.prompts}


@cache
def _source(name: str) -> str | None:
    """Return the plain text of a template or part, None if there is none."""
    path = resources.files(__package__).joinpath(f"{name}{SUFFIX}")
    return path.read_text(encoding="utf-8") if path.is_file() else None


@cache
def _list_templates() -> tuple[str, ...]:
    """Return the names of all templates that are no parts of others."""
    names = [file.name.removesuffix(".jinja") for file in resources.files(__package__).iterdir()]
    sources = {name: _source(name) for name in names}
    texts = {name: text for name, text in sources.items() if text is not None}
    parts = {part for text in texts.values() for part in PART.findall(text)}
    return tuple(sorted(texts.keys() - parts))


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
