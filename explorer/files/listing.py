"""The scenes that a user names: folders of scenes, folders of such folders, and files with a scene a line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from explorer.errors import SceneError
from explorer.files.json_text import file_text
from explorer.files.loaded import Loaded
from explorer.files.loading import load_scene, scene_of_line


def scenes_at(paths: Iterable[Path]) -> Iterator[Loaded]:
    """Yield the scenes at paths; those of a folder in the order of their names.

    Raises:
        SceneError: nothing is there, or a scene cannot be used; names file and field.
    """
    for path in paths:
        if path.is_file():
            yield from _scenes_of_lines(path)
        elif (path / "metadata.json").exists():
            yield load_scene(path)
        else:
            yield from map(load_scene, _folders(path))


def _folders(path: Path) -> list[Path]:
    try:
        folders = sorted(each for each in path.iterdir() if (each / "metadata.json").exists())
    except OSError as error:
        raise SceneError(f"no scenes can be read: {error.strerror or error}", str(path)) from None
    if not folders:
        raise SceneError("no scenes are there: name a folder of scenes, or a file with one a line", str(path))
    return folders


def _scenes_of_lines(path: Path) -> Iterator[Loaded]:
    lines = [line for line in enumerate(file_text(path).split("\n"), start=1) if line[1].strip()]
    if not lines:
        raise SceneError("no scenes are there: the file is empty", str(path))
    for number, line in lines:
        yield scene_of_line(line, f"{path}:{number}")
