"""Descriptions of the source of a result: commit, edited files, and hashes of product, prompts and curriculum."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from spca.common.source_state import CONTINUATIONS
from spca.common.text import format_count
from spca.report.read.lenient import count, items, table, text, texts
from spca.runs.provenance import EARLIER_MODELS

HASHED: Final = ("product", "prompts", "curriculum")
_SHOWN_DIGITS: Final = 12
_ROLES: Final = ("planner", "planner_small", "coder")


def read_commit(record: Mapping[str, Any]) -> str | None:
    """Return the recorded commit; None if no commit is recorded."""
    return text(record.get("git_commit")) or None


def read_dirty(record: Mapping[str, Any]) -> bool | None:
    """Return whether files had been edited since the commit; None if this is not recorded."""
    dirty = record.get("git_dirty")
    return dirty if isinstance(dirty, bool) else None


def read_hashes(record: Mapping[str, Any]) -> dict[str, str]:
    """Return the recorded hashes by name (:data:`HASHED`); names without a recorded hash are left out."""
    recorded = table(record.get("hashes"))
    return {name: recorded[name] for name in HASHED if text(recorded.get(name))}


def describe_continuations(record: Mapping[str, Any]) -> tuple[str, ...]:
    """Return a line for each time that a run was resumed with another source or other models."""
    sources = filter(None, map(table, items(record.get(CONTINUATIONS))))
    lines = [f"the run went on with another source: {describe_origin(source)}" for source in sources]

    for earlier in filter(None, map(table, items(record.get(EARLIER_MODELS)))):
        levels = format_count(count(earlier.get("finished")), "level")
        models = []
        for role, model in texts(earlier, *_ROLES).items():
            role_words = role.replace("_", " ")
            models.append(f"{role_words} {model}")
        lines.append(f"other models after {levels}; before: {', '.join(models)}")
    return tuple(lines)


def describe_origin(record: Mapping[str, Any]) -> str:
    """Return commit and hashes in one line of words."""
    commit = describe_commit(read_commit(record), read_dirty(record))
    hashes = describe_hashes(read_hashes(record))
    return f"{commit}, {hashes}"


def describe_commit(commit: str | None, dirty: bool | None) -> str:
    """Return words for the commit, and for whether files had been edited since the commit.

    None means that a value is not known.
    """
    if commit is None:
        return "commit unknown"
    edits = {True: " with edited files", False: "", None: " (edits unknown)"}[dirty]
    return f"commit {shorten_hash(commit)}{edits}"


def describe_hashes(hashes: Mapping[str, str]) -> str:
    """Return the name and the beginning of each hash, such as ``product 0123456789ab, prompts unknown``."""
    shortened = [f"{name} {shorten_hash(hashes.get(name))}" for name in HASHED]
    return ", ".join(shortened)


def shorten_hash(value: str | None) -> str:
    """Return the first digits of a hash; "unknown" for None."""
    return "unknown" if value is None else value[:_SHOWN_DIGITS]
