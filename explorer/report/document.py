"""One HTML file: styles, scripts and pieces put together.

The policy of the page lets nothing in but its own script and style, known by their hashes, and lets nothing out; what
scenes and models say is compressed in the pieces and becomes text nodes only.
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
"""In this order: they share one scope, and what runs on loading may use what stands before it."""


def document(title: str, pieces: Mapping[str, Any], begin: str, *, connect: bool = False) -> str:
    """Return a page.

    Args:
        pieces: JSON-able values by name.
        begin: the function of the scripts that it begins with.
        connect: it may ask the server that it came from.
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
    """Return the Content-Security-Policy of such a page."""
    return content_policy(_script(begin), _style(), connect=connect)


def piece(value: Any) -> str:
    """Return a value as base64 of gzip of JSON; equal values give equal pieces, and no text in it hides anything."""
    text = json.dumps(shown(value), separators=(",", ":"))
    return base64.b64encode(gzip.compress(text.encode(), mtime=0)).decode("ascii")


def shown(value: Any) -> Any:
    """Return a value with every text in it as :func:`~spca.common.text.visible` makes it."""
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
