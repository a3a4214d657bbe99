"""One HTML file for a page: the kit that all our pages share, the page's own styles and scripts, and its data.

The policy of a page lets in nothing but its own script and style, known by their hashes, and lets nothing out. Data
lies compressed in the page (:mod:`spca.common.web.packing`) and only ever becomes text nodes.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from types import MappingProxyType
from typing import Final

from spca.common.text import visible

_LIBRARIES: Final = ("vendor/preact.umd.js", "vendor/hooks.umd.js")
SCRIPTS: Final = ("words.js", "elements.js", "pieces.js", "table.js", "texts.js", "player.js", "grid.js", "shell.js")
"""The kit's scripts in their order: all scripts of a page share one scope."""

_COMMENT: Final = re.compile(r"^ *(?://[^\n]*|/\*.*?\*/ *)$", re.MULTILINE | re.DOTALL)
_INDENTATION: Final = re.compile(r"^\s+", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class PageKind:
    """The parts of one kind of page.

    Attributes:
        package: the package whose folder ``page`` holds its files.
        styles, scripts: names of files there, in their order.
        libraries: names of the kit's files that this kind needs besides preact.
        open: the function that draws the page.
        connects: whether the page asks the server that it came from.
    """

    package: str
    styles: tuple[str, ...]
    scripts: tuple[str, ...]
    open: str
    libraries: tuple[str, ...] = ()
    connects: bool = False

    def render(self, title: str, pieces: Mapping[str, str] = MappingProxyType({})) -> str:
        """Return the page; ``pieces`` are values as :func:`~spca.common.web.packing.pack` makes them, by name."""
        from jinja2 import Environment, StrictUndefined

        template = Environment(autoescape=True, undefined=StrictUndefined).from_string(_read_kit("page.html.jinja"))
        return template.render(
            title=visible(title),
            policy=self.policy(),
            style=_join_styles(self),
            script=_join_scripts(self),
            pieces=pieces.items(),
            connects=self.connects,
        )

    def policy(self) -> str:
        """Return the Content-Security-Policy of the page."""
        return "; ".join(
            (
                "default-src 'none'",
                f"script-src '{_digest(_join_scripts(self))}'",
                f"style-src '{_digest(_join_styles(self))}'",
                "img-src data:",
                f"connect-src '{'self' if self.connects else 'none'}'",
                "base-uri 'none'",
                "form-action 'none'",
            )
        )


def _digest(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


@cache
def _join_styles(kind: PageKind) -> str:
    own = [_read(kind.package, f"page/{name}") for name in kind.styles]
    return "\n" + _drop_comments("\n".join([_read_kit("kit.css"), *own]))


@cache
def _join_scripts(kind: PageKind) -> str:
    libraries = map(_read_kit, (*_LIBRARIES, *kind.libraries))
    own = [_read(kind.package, f"page/{name}") for name in kind.scripts]
    scripts = _drop_comments("\n".join([*map(_read_kit, SCRIPTS), *own]))
    return "\n".join(["", *libraries, f'(() => {{\n"use strict";\n{scripts}\n{kind.open}();\n}})();\n'])


def _drop_comments(text: str) -> str:
    """Return a script or a style without lines of comments, blank lines and indentation: a fifth of its size."""
    return _INDENTATION.sub("", _COMMENT.sub("", text))


def _read_kit(name: str) -> str:
    return _read("spca.common.web", f"kit/{name}")


@cache
def _read(package: str, name: str) -> str:
    return resources.files(package).joinpath(*name.split("/")).read_text(encoding="utf-8")
