"""Versions of packages and the current time, which are recorded with results."""

from __future__ import annotations

import platform
from contextlib import suppress
from datetime import UTC, datetime
from importlib import metadata


def find_versions(*distributions: str) -> dict[str, str]:
    """Return name -> version for Python and for the installed ones among ``distributions``."""
    version_of = {"python": platform.python_version()}
    for name in distributions:
        with suppress(metadata.PackageNotFoundError):
            version_of[name] = metadata.version(name)
    return version_of


def utc_now() -> str:
    """Return the current UTC time in ISO 8601, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")
