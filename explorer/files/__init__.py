"""Scenes in files: the published format, ours within it, and one line for each in a set."""

from explorer.files.loaded import Loaded
from explorer.files.loading import load_scene, scene_of_line
from explorer.files.saving import save_scene, scene_line

__all__ = ["Loaded", "load_scene", "save_scene", "scene_line", "scene_of_line"]
