"""Values as text for prompts: JSON that cannot close a tag, with one line per row of a map (pure)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any


def format_data(value: object) -> str:
    """Return a value as JSON with ``<`` and ``>`` escaped, so that the JSON cannot close a tag of the prompt."""
    text = json.dumps(value, ensure_ascii=False, indent=None)
    return text.replace("<", "\\u003c").replace(">", "\\u003e")


def format_state(state: Mapping[str, Any]) -> str:
    """Return a state as JSON like :func:`format_data`, with one line per row of the ``map``.

    ``<`` and ``>`` are not escaped in a row that has only one of them, because there it is a symbol of the map.
    """
    quoted_rows = [f'"{row}"' if _is_plain_row(row) else format_data(row) for row in state.get("map", ())]
    if not quoted_rows:
        return format_data(state)

    rows = ",\n".join(quoted_rows)
    rest = format_data({key: value for key, value in state.items() if key != "map"})
    separator = ", " if len(rest) > 2 else ""
    return f'{rest[:-1]}{separator}"map": [\n{rows}\n]}}'


def _is_plain_row(row: object) -> bool:
    """Return whether a row of a map can stand in JSON as it is, and cannot open or close a tag of the prompt."""
    if not isinstance(row, str) or not row.isprintable():
        return False
    has_tag = ("<" in row and ">" in row) or "/" in row
    return not has_tag and '"' not in row and "\\" not in row
