"""Assemble one HTML file from styles, scripts and data.

The page's Content-Security-Policy admits only its own script and style, by their hashes, and allows no requests.
Untrusted text of scenes and models is compressed in the data and only ever becomes text nodes.
"""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Any, Final

from spca.common.text import visible
from spca.common.web.policy import base_style, content_policy

STYLES: Final = ("explorer.css", "play.css")
SCRIPTS: Final = (
    "dom.js",
    "voxels.js",
    "scenery.js",
    "map.js",
    "stage.js",
    "film.js",
    "player.js",
    "overview.js",
    "keys.js",
    "play.js",
)
"""Scripts in their order: they share one scope, and code that runs on loading may use only earlier scripts."""


def document(title: str, pieces: Mapping[str, Any], begin: str, *, connect: bool = False) -> str:
    """Return a page.

    Args:
        pieces: JSON-compatible data by name.
        begin: the script function to call first.
        connect: whether the page may send requests to its own server.
    """
    from jinja2 import Environment, StrictUndefined

    script = _script(begin)
    return (
        Environment(autoescape=True, undefined=StrictUndefined)
        .from_string(_asset("page.html.jinja"))
        .render(
            title=visible(title),
            policy=policy(begin, connect=connect),
            style=_style(),
            script=script,
            pieces=[(name, piece(value)) for name, value in pieces.items()],
        )
    )


def policy(begin: str, *, connect: bool = False) -> str:
    """Return the Content-Security-Policy of a page."""
    return content_policy(_script(begin), _style(), connect=connect)


def piece(value: Any) -> str:
    """Return a value as base64 of gzip of JSON; equal values give equal pieces. All texts are made visible."""
    text = json.dumps(shown(value), separators=(",", ":"))
    return base64.b64encode(gzip.compress(text.encode(), mtime=0)).decode("ascii")


def shown(value: Any) -> Any:
    """Return a value with :func:`~spca.common.text.visible` applied to every text in it."""
    if isinstance(value, str):
        return visible(value)
    if isinstance(value, Mapping):
        return {shown(key): shown(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [shown(each) for each in value]
    return value


@cache
def _style() -> str:
    return "\n" + "\n".join((base_style(), *map(_asset, STYLES)))


@cache
def _script(begin: str) -> str:
    ours = "\n".join(map(_asset, SCRIPTS))
    return f'\n(() => {{\n"use strict";\n{ours}\n{begin}();\n}})();\n'


@cache
def _asset(name: str) -> str:
    return resources.files("explorer.report").joinpath("page", name).read_text(encoding="utf-8")
