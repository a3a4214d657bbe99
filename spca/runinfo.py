"""What a run was made with: versions, git commit, models."""

from __future__ import annotations

import platform
import subprocess
from contextlib import suppress
from importlib import metadata
from pathlib import Path
from typing import Any

from spca import __version__
from spca.cli import Settings

_PACKAGES = (
    "minigrid",
    "gymnasium",
    "numpy",
    "unified-planning",
    "up-tamer",
    "up-fast-downward",
    "up-pyperplan",
    "openai",
)


def run_info(settings: Settings, root: Path) -> dict[str, Any]:
    """For ``run.json``: settings, models, versions, git commit."""
    return {
        "settings": settings.to_dict(),
        "models": {
            "planner": settings.planner_model,
            "planner_small": settings.planner_small_model,
            "coder": settings.coder_model,
        },
        "versions": {"spca": __version__, "python": platform.python_version(), **_package_versions()},
        "git_commit": _git_commit(root),
    }


def _package_versions() -> dict[str, str]:
    found: dict[str, str] = {}
    for name in _PACKAGES:
        with suppress(metadata.PackageNotFoundError):
            found[name] = metadata.version(name)
    return found


def _git_commit(root: Path) -> str | None:
    if not (root / ".git").exists():
        return None
    try:
        asked = subprocess.run(
            ["git", "-C", str(root), "rev-parse", "HEAD"], capture_output=True, text=True, timeout=10, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return asked.stdout.strip() or None
