"""The scenes that a user names: folders of scenes, folders of such folders, and files with a scene a line."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path

from explorer.errors import SceneError
from explorer.files.json_text import file_text
from explorer.files.loaded import Loaded
from explorer.files.loading import load_scene, scene_of_line
from spca.common.files import MAX_BYTES


def scenes_at(paths: Iterable[Path]) -> Iterator[Loaded]:
    """Yield the scenes at paths; those of a folder in the order of their names.

    Raises:
        SceneError: nothing is there, or a scene cannot be used; names file and field.
    """
    return (read() for _, read in places_at(paths))


def places_at(paths: Iterable[Path]) -> Iterator[tuple[str, Callable[[], Loaded]]]:
    """Yield where each scene is, and what reads it.

    Raises:
        SceneError: nothing is there. What is yielded raises it if the scene cannot be used.
    """
    for path in paths:
        if path.is_file():
            yield from _lines(path)
        else:
            folders = [path] if (path / "metadata.json").exists() else _folders(path)
            yield from ((str(folder), partial(load_scene, folder)) for folder in folders)


def _folders(path: Path) -> list[Path]:
    try:
        folders = sorted(each for each in path.iterdir() if (each / "metadata.json").exists())
    except OSError as error:
        raise SceneError(f"no scenes can be read: {error.strerror or error}", str(path)) from None
    if not folders:
        raise SceneError("no scenes are there: name a folder of scenes, or a file with one a line", str(path))
    return folders


def _lines(path: Path) -> Iterator[tuple[str, Callable[[], Loaded]]]:
    lines = [line for line in enumerate(file_text(path, MAX_BYTES).split("\n"), start=1) if line[1].strip()]
    if not lines:
        raise SceneError("no scenes are there: the file is empty", str(path))
    for number, line in lines:
        source = f"{path}:{number}"
        yield source, partial(scene_of_line, line, source)
