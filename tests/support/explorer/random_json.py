"""JSON documents with anything anywhere, for hypothesis."""

from __future__ import annotations

import copy
from typing import Any

from hypothesis import strategies as st

Steps = tuple[str | int, ...]
"""From a document to a value in it: keys and places."""
ANYTHING = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=8)
    | st.sampled_from(["~1", "/fill", "oak_log"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


def paths_in(value: Any, before: Steps = ()) -> list[Steps]:
    """Return the way to every value in a document, the document's own first."""
    steps: list[tuple[Any, Any]] = []
    if isinstance(value, dict | list):
        steps = list(value.items() if isinstance(value, dict) else enumerate(value))
    return [before, *(path for step, inner in steps for path in paths_in(inner, (*before, step)))]


def with_value(document: Any, path: Steps, value: object) -> Any:
    """Return a document with one value replaced, or taken out for ``...``."""
    made = copy.deepcopy(document)
    at = made
    for step in path[:-1]:
        at = at[step]
    if value is ...:
        del at[path[-1]]
    else:
        at[path[-1]] = value
    return made
