"""Scenes that a command line names, or has made."""

from __future__ import annotations

from pathlib import Path

from explorer.cli.parser import Settings
from explorer.errors import EpisodeError
from explorer.files import Loaded


def made_scene(settings: Settings, folder: Path) -> Loaded:
    """Return a new scene, kept in a folder of its own below ``folder``."""
    raise EpisodeError(f"name the folder of a scene (none of seed {settings.seed} can be made for {folder})")
