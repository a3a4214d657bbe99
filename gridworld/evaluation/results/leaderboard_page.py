"""The leaderboard as one HTML file that needs nothing else.

Everything from results files becomes escaped text. The policy of the page lets in its own script and style, known by
their hashes, and pictures that are part of it; nothing gets out.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Mapping, Sequence
from importlib import resources
from typing import Final

from gridworld import library
from gridworld.errors import GridworldError, missing_part
from gridworld.evaluation.results.leaderboard import Group, overview
from gridworld.task_spec import TaskSpecification
from spca.common.web.policy import content_policy

_THUMBNAIL: Final = 112
"""Width that pictures of tasks come close to, in pixels; they are shown at half of it."""


def page(groups: Sequence[Group], thumbnails: Mapping[tuple[str, str], str]) -> str:
    """The HTML.

    Args:
        groups: what is shown.
        thumbnails: data URLs of pictures by group title and task id.

    Raises:
        MissingPartError: jinja2 is not installed.
    """
    try:
        from jinja2 import Environment, StrictUndefined
    except ImportError as error:
        raise missing_part(error, "a leaderboard") from error

    style, script = f"\n{_asset('leaderboard.css')}", f"\n{_asset('leaderboard.js')}"
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    environment.filters |= {"percent": _percent, "duration": _duration}
    return environment.from_string(_asset("leaderboard.html.jinja")).render(
        groups=groups,
        overview=overview(groups),
        entries=[entry for group in groups for entry in group.entries],
        models=len({entry.model for group in groups for entry in group.entries}),
        thumbnails=thumbnails,
        policy=content_policy(script, style),
        style=style,
        script=script,
    )


def thumbnails_of(groups: Iterable[Group]) -> dict[tuple[str, str], str]:
    """Pictures of those tasks that ship, revealed; none where a file was another, or pictures cannot be made."""
    shipped = _shipped()
    found: dict[tuple[str, str], str] = {}
    for group in groups:
        for task in group.task_ids:
            spec, digest = shipped.get(task, (None, ""))
            if spec is None or group.digests.get(task, digest) not in ("", digest):
                continue
            try:
                found[group.title, task] = _thumbnail(spec, group.tiling)
            except GridworldError:
                continue
    return found


def _shipped() -> dict[str, tuple[TaskSpecification, str]]:
    tasks: dict[str, tuple[TaskSpecification, str]] = {}
    for path in library.shipped_files():
        spec = TaskSpecification.from_json(path)
        tasks[spec.task_id] = spec, hashlib.sha256(path.read_bytes()).hexdigest()
    return tasks


def _thumbnail(spec: TaskSpecification, tiling: str) -> str:
    from gridworld.drawing import png_bytes, task_picture

    size = max(8, min(16, _THUMBNAIL // max(spec.maze.dimensions)))
    data = png_bytes(task_picture(spec, tiling, reveal=True, tile_size=size))
    return f"data:image/png;base64,{base64.b64encode(data).decode('ascii')}"


def _percent(share: float) -> str:
    return f"{100 * share:.1f}%"


def _duration(seconds: float) -> str:
    if seconds < 1:
        return f"{1000 * seconds:.0f} ms"
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 120 else f"{minutes / 60:.1f} h"


def _asset(name: str) -> str:
    return resources.files("gridworld.evaluation.results").joinpath("page", name).read_text(encoding="utf-8")
