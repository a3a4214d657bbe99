"""Versions and times to record with results."""

from __future__ import annotations

import platform
from contextlib import suppress
from datetime import UTC, datetime
from importlib import metadata


def find_versions(*distributions: str) -> dict[str, str]:
    """Return the versions of Python and of those distributions that are installed."""
    found = {"python": platform.python_version()}
    for name in distributions:
        with suppress(metadata.PackageNotFoundError):
            found[name] = metadata.version(name)
    return found


def utc_now() -> str:
    """Return the current UTC time in ISO 8601."""
    return datetime.now(UTC).isoformat(timespec="seconds")
