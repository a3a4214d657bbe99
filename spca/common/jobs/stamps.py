"""When and with what something was made."""

from __future__ import annotations

import platform
from contextlib import suppress
from datetime import UTC, datetime
from importlib import metadata


def versions(*distributions: str) -> dict[str, str]:
    """Versions of Python and of what is installed; this project is not where it runs from a checkout."""
    found = {"python": platform.python_version()}
    for name in distributions:
        with suppress(metadata.PackageNotFoundError):
            found[name] = metadata.version(name)
    return found


def now() -> str:
    """The time in UTC, in ISO 8601."""
    return datetime.now(UTC).isoformat(timespec="seconds")
