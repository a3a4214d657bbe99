"""What a run was made with: versions, git commit, models."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping
from dataclasses import asdict
from importlib import metadata
from pathlib import Path
from typing import Any

from spca import __version__
from spca.common.installation import APPLICATIONS
from spca.common.jobs import stamps
from spca.errors import ResumeError
from spca.runs.settings import Settings

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
_OF_THE_WORLD = ("spca", "minigrid", "gymnasium")


def run_info(settings: Settings, root: Path, sandbox: str) -> dict[str, Any]:
    """For ``run.json``: settings, models, versions, git commit, level of the sandbox."""
    return {
        "settings": asdict(settings),
        "models": {
            "planner": settings.planner_model,
            "planner_small": settings.planner_small_model,
            "coder": settings.coder_model,
        },
        "versions": versions(),
        "git_commit": _git_commit(root),
        "sandbox": sandbox,
    }


def check_versions(recorded: Mapping[str, str]) -> None:
    """Refuse to go on with a run whose worlds were other ones.

    Raises:
        ResumeError: names the package whose version has changed since.
    """
    now = versions()
    for name in _OF_THE_WORLD:
        if recorded.get(name) != now.get(name):
            raise ResumeError(
                f"the run was begun with {name} {recorded.get(name)}, installed is {now.get(name)}: begin a new run"
            )


def check_sandbox(recorded: str | None, level: str) -> None:
    """Refuse to go on with a run in another sandbox: every result of a run has the same stamp.

    Raises:
        ResumeError: the levels differ.
    """
    if recorded != level:
        raise ResumeError(f"the run was begun with sandbox {recorded}, here it is {level}: begin a new run")


def versions() -> dict[str, str]:
    """Versions of this program, Python and the packages that matter, by name."""
    return {"spca": __version__, **stamps.versions(*_PACKAGES)}


def _git_commit(root: Path) -> str | None:
    """The commit of a checkout, else the one that was installed from a repository, else None."""
    if root == APPLICATIONS:
        return _installed_commit()
    if not (root / ".git").exists():
        return None
    try:
        asked = subprocess.run(
            ["git", "-C", str(root), "rev-parse", "HEAD"], capture_output=True, text=True, timeout=10, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return asked.stdout.strip() or None


def _installed_commit() -> str | None:
    """What the installer has recorded (PEP 610)."""
    try:
        recorded = metadata.distribution("sense-plan-code-act").read_text("direct_url.json")
        commit: str | None = json.loads(recorded or "{}").get("vcs_info", {}).get("commit_id")
    except (metadata.PackageNotFoundError, ValueError):
        return None
    return commit
