"""Scenes in files: the published format, the explorer's extension of this format, and sets with one scene per line."""

from explorer.files.loaded import Loaded, certificate_file
from explorer.files.loading import load_scene, scene_of_line
from explorer.files.saving import save_scene, scene_line

__all__ = ["Loaded", "certificate_file", "load_scene", "save_scene", "scene_line", "scene_of_line"]
