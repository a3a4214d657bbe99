"""One HTML file: template, styles, scripts and pieces put together.

The policy of the page lets nothing in but its own script and style, known by their hashes, and lets nothing out;
what runs and models said is compressed in the pieces and becomes text nodes only.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Final

from spca.common.web.policy import base_style, content_policy

STYLES: Final = ("overview.css", "level.css")
LIBRARIES: Final = ("vendor/preact.umd.js", "vendor/hooks.umd.js", "vendor/chart.umd.js")
SCRIPTS: Final = (
    "dom.js",
    "pieces.js",
    "grid.js",
    "code.js",
    "calls.js",
    "rounds.js",
    "plots.js",
    "writers.js",
    "levels.js",
    "overview.js",
    "compare.js",
    "player.js",
    "level.js",
    "app.js",
)
"""In this order: they share one scope, and what runs on loading may use what stands before it."""


def static(title: str, pieces: Mapping[str, str]) -> str:
    """A page that holds everything; ``pieces`` are those of :func:`spca.report.page.packing.piece`, by name."""
    return _render(title, pieces, live=False)


def live(title: str) -> str:
    """A page that asks the server it came from for its pieces."""
    return _render(title, {}, live=True)


@cache
def policy(*, live: bool) -> str:
    """The Content-Security-Policy of the page."""
    return content_policy(_script(), _style(), connect=live)


def _render(title: str, pieces: Mapping[str, str], *, live: bool) -> str:
    from jinja2 import Environment, StrictUndefined

    from spca.common.text import visible

    template = Environment(autoescape=True, undefined=StrictUndefined).from_string(_asset("page.html.jinja"))
    return template.render(
        title=visible(title), csp=policy(live=live), css=_style(), script=_script(), pieces=pieces.items(), live=live
    )


@cache
def _style() -> str:
    return "\n" + "\n".join((base_style(), *map(_asset, STYLES)))


@cache
def _script() -> str:
    ours = "\n".join(map(_asset, SCRIPTS))
    return "\n".join(("", *map(_asset, LIBRARIES), f'(() => {{\n"use strict";\n{ours}\n}})();\n'))


@cache
def _asset(name: str) -> str:
    return resources.files("spca.report").joinpath("page", *name.split("/")).read_text(encoding="utf-8")
