"""Render a page as one HTML file that contains its styles, scripts and data.

The styles and scripts come from the kit, which all pages share, and from the package of the page. The
Content-Security-Policy of a page permits only the script and the style with known hashes, and no connection to other
servers. The data of a page is compressed (:mod:`spca.common.web.packing`), and is shown only as text nodes, never as
markup.
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
from spca.common.web.packing import pack

_LOADER: Final = "loader.js"
_LIBRARIES: Final = ("vendor/preact.umd.js", "vendor/hooks.umd.js")

_COMMENT: Final = re.compile(r"^ *(?://[^\n]*|/\*.*?\*/ *)$", re.MULTILINE | re.DOTALL)
_INDENTATION: Final = re.compile(r"^\s+", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class PageKind:
    """One kind of page, with styles and scripts from the kit and from the folder ``page`` of a package.

    All scripts share one scope, and are joined in the order of their file names. Therefore code that runs while the
    scripts load may use only definitions of its own file.

    Attributes:
        package: name of the package.
        open: name of the JavaScript function that draws the page.
        libraries: names of files in the kit that this kind of page needs besides preact.
        connects: whether the page sends requests to its server.
        leaves_out: names of files in the folder ``page`` that belong to another kind of page.
    """

    package: str
    open: str
    libraries: tuple[str, ...] = ()
    connects: bool = False
    leaves_out: tuple[str, ...] = ()

    def render(self, title: str, pieces: Mapping[str, str] = MappingProxyType({})) -> str:
        """Return the HTML of the page.

        Args:
            pieces: name -> data, packed by :func:`~spca.common.web.packing.pack`.
        """
        from jinja2 import Environment, StrictUndefined

        environment = Environment(autoescape=True, undefined=StrictUndefined)
        template = environment.from_string(_read_kit("page.html.jinja"))
        all_pieces = {"script": pack(_join_scripts(self)), **pieces}
        return template.render(
            title=visible(title),
            policy=self.policy(),
            style=_join_styles(self),
            loader=_read_loader(),
            pieces=all_pieces.items(),
            connects=self.connects,
        )

    def policy(self) -> str:
        """Return the Content-Security-Policy of the page."""
        loader = _digest(_read_loader())
        script = _digest(_join_scripts(self))
        style = _digest(_join_styles(self))
        server = "self" if self.connects else "none"
        directives = (
            "default-src 'none'",
            f"script-src '{loader}' '{script}'",
            f"style-src '{style}'",
            "img-src data:",
            f"connect-src '{server}'",
            "base-uri 'none'",
            "form-action 'none'",
        )
        return "; ".join(directives)


def _digest(text: str) -> str:
    """Return the hash of a script or a style, in the form of a Content-Security-Policy."""
    digest = hashlib.sha256(text.encode()).digest()
    return f"sha256-{base64.b64encode(digest).decode()}"


@cache
def _join_styles(kind: PageKind) -> str:
    return "\n" + _join_files(kind, ".css")


@cache
def _join_scripts(kind: PageKind) -> str:
    """Return the libraries and the scripts of a page; the scripts are wrapped in a function, which is called."""
    libraries = map(_read_kit, (*_LIBRARIES, *kind.libraries))
    scripts = _join_files(kind, ".js")
    program = f'(() => {{\n"use strict";\n{scripts}\n{kind.open}();\n}})();\n'
    return "\n".join(["", *libraries, program])


def _read_loader() -> str:
    return "\n" + _drop_comments(_read_kit(_LOADER))


def _join_files(kind: PageKind, suffix: str) -> str:
    """Return the files of the kit and of a page whose names end with ``suffix``: joined, and without comments."""
    kit = resources.files("spca.common.web").joinpath("kit")
    page = resources.files(kind.package).joinpath("page")
    left_out = (_LOADER, *kind.leaves_out)
    texts = []
    for folder in (kit, page):
        for file in sorted(folder.iterdir(), key=lambda file: file.name):
            if file.name.endswith(suffix) and file.name not in left_out:
                texts.append(file.read_text(encoding="utf-8"))
    return _drop_comments("\n".join(texts))


def _drop_comments(text: str) -> str:
    """Return a script or a style without comment lines, blank lines and indentation; this saves a fifth."""
    return _INDENTATION.sub("", _COMMENT.sub("", text))


@cache
def _read_kit(name: str) -> str:
    return resources.files("spca.common.web").joinpath("kit", *name.split("/")).read_text(encoding="utf-8")
