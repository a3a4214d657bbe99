"""Templates of the user that replace ours of the same names (``--prompts DIR``), and the check of their variables."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final, Self

import jinja2
from jinja2 import meta, nodes

from spca.common.errors import SettingsError
from spca.common.files import read_text
from spca.common.names import find_nearest
from spca.common.text import one_line

SUFFIX: Final = ".jinja"
FILTERS: Final = ("data", "state", "quoted", "renamed")
"""Names of the filters that templates may use, besides those of Jinja."""
BARE: Final = "bare_"
"""Prefix of a template's bare variant, which replaces the template in runs with bare prompts."""
PART: Final = re.compile(r'\{% include "(\w+)\.jinja" %\}')
"""The place of a part in a template; group: name of the part."""
_EVERYWHERE: Final = "body"
"""The variable that every template has: the body of the agent."""
_UNUSED: Final = "reask"
"""The template of clients without a role, which no run uses."""


@dataclass(frozen=True, slots=True)
class TemplateFolder:
    """Templates of the user.

    Attributes:
        folder: path of the folder.
        texts: name without suffix and text of each template, sorted by name.
    """

    folder: str
    texts: tuple[tuple[str, str], ...]

    @classmethod
    def read(cls, folder: str) -> Self:
        """Return the templates in a folder; files without the suffix ``.jinja`` are left alone.

        Raises:
            SettingsError: there is no such folder, or it has no template.
            FileError: a file cannot be read.
        """
        paths = sorted(Path(folder).glob(f"*{SUFFIX}")) if Path(folder).is_dir() else []
        if not paths:
            raise SettingsError(f"--prompts {folder}: there is no such folder with templates, which end in {SUFFIX}")
        stamps = tuple((path.name, path.stat().st_mtime_ns, path.stat().st_size) for path in paths)
        return cls(folder, _read_texts(folder, stamps))

    def find(self, name: str) -> str | None:
        """Return the text of a template, None if the folder lacks it."""
        return dict(self.texts).get(name)


@lru_cache(maxsize=4)
def _read_texts(folder: str, stamps: tuple[tuple[str, int, int], ...]) -> tuple[tuple[str, str], ...]:
    """Return name and text of the templates.

    Args:
        stamps: name, time of the last change and size of each file; unchanged files are read once.
    """
    names = [name for name, _, _ in stamps]
    return tuple((name.removesuffix(SUFFIX), read_text(Path(folder, name))) for name in names)


def list_variables(name: str, known: Mapping[str, str]) -> frozenset[str]:
    """Return the variables that a template may use: those of the template and of the templates that include it.

    The variable ``body``, which every template has, is left out.

    Args:
        name: name of the template.
        known: our templates and their parts, by name.
    """
    stem = name.removeprefix(BARE)
    found: set[str] = set()
    for other, text in known.items():
        is_same = other.removeprefix(BARE) == stem
        if is_same or name in PART.findall(text):
            found.update(*_list_undeclared(text, known))
    return frozenset(found - {_EVERYWHERE})


def _list_undeclared(text: str, known: Mapping[str, str]) -> Iterator[set[str]]:
    """Yield the undeclared variables of a text, and of each part that it includes."""
    yield _find_variables(text)
    for part in PART.findall(text):
        if part in known:
            yield from _list_undeclared(known[part], known)


def _find_variables(text: str) -> set[str]:
    """Return the variables that a template reads, without those that it sets itself.

    Raises:
        jinja2.TemplateSyntaxError: the text is no template.
    """
    tree = _make_reader().parse(text)
    set_here = {target.name for target in tree.find_all(nodes.Name) if target.ctx == "store"}
    return meta.find_undeclared_variables(tree) - set_here


@lru_cache(maxsize=1)
def _make_reader() -> jinja2.Environment:
    """Return an environment that parses templates and knows the names of our filters."""
    environment = jinja2.Environment(autoescape=False)  # noqa: S701 - nothing is rendered
    environment.filters.update(dict.fromkeys(FILTERS, str))
    return environment


def check_overrides(overrides: TemplateFolder, known: Mapping[str, str]) -> None:
    """Check the names, the syntax and the variables of the user's templates, before a run pays for any call.

    Args:
        known: our templates and their parts, by name.

    Raises:
        SettingsError: names the first template that cannot be used, and why.
    """
    names = known.keys() - {_UNUSED}
    for name, text in overrides.texts:
        where = f"--prompts {overrides.folder}: {one_line(name)}{SUFFIX}"
        if name not in names:
            near = find_nearest(name, names, 1)
            hint = f"did you mean {near[0]}{SUFFIX}?" if near else f"there are {', '.join(sorted(names))}"
            raise SettingsError(f"{where}: no run has such a template; {hint}")
        try:
            used = _find_variables(text)
        except jinja2.TemplateSyntaxError as error:
            raise SettingsError(f"{where}, line {error.lineno}: {one_line(str(error.message))}") from error

        missing = [part for part in PART.findall(text) if part not in known]
        if missing:
            raise SettingsError(f"{where}: it includes {missing[0]}, which does not exist")
        permitted = list_variables(name, known) | {_EVERYWHERE}
        if unknown := sorted(used - permitted):
            variables = ", ".join(sorted(permitted))
            raise SettingsError(f"{where}: the variable {unknown[0]} is unknown; this template has {variables}")
