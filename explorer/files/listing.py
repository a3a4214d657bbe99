"""Find the scenes that a user names: scene folders, folders of scene folders, files with one scene per line, sets.

``FILE:12`` is the scene in line 12 of a file. ``test`` and ``test:12`` refer to a released set, unless there is a file
or folder of that name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import islice
from pathlib import Path

from explorer.errors import SceneError
from explorer.files.json_text import file_text
from explorer.files.loaded import Loaded
from explorer.files.loading import load_scene, scene_of_line
from explorer.released import SETS, file_of
from spca.common.files import MAX_BYTES
from spca.common.text import one_line


def scenes_at(paths: Iterable[Path]) -> Iterator[Loaded]:
    """Yield the scenes at paths; those in a folder are sorted by name.

    Raises:
        SceneError: there are no scenes, or a scene cannot be used; the error names file and field.
    """
    return (read() for _, read in places_at(paths))


def places_at(paths: Iterable[Path]) -> Iterator[tuple[str, Callable[[], Loaded]]]:
    """Yield the location of each scene, and a function that reads it.

    Raises:
        SceneError: there are no scenes. The functions raise it if the scene cannot be used.
    """
    for path in paths:
        yield from _places(path)


def _places(path: Path) -> Iterator[tuple[str, Callable[[], Loaded]]]:
    try:
        file, number = _file_and_line(path)
        if file.is_file():
            return _lines(file, number)
        folders = [path] if (path / "metadata.json").exists() else _folders(path)
    except SceneError:
        raise
    except (OSError, ValueError) as error:  # ValueError: no file can have such a name
        reason = getattr(error, "strerror", None) or "no file can have that name"
        raise SceneError(f"cannot read scenes: {reason}", one_line(str(path))[:4096]) from error
    return ((str(folder), partial(load_scene, folder)) for folder in folders)


def scene_at(path: Path) -> Loaded:
    """Return the only scene at a path.

    Raises:
        SceneError: there is no scene, there are several, or the scene cannot be used.
    """
    places = list(islice(places_at([path]), 2))
    if len(places) > 1:
        raise SceneError("there are several scenes: name the folder of one, or a line as FILE:1", str(path))
    return places[0][1]()


def _file_and_line(path: Path) -> tuple[Path, int | None]:
    """Return the file that a path names, and the line within it or None for all lines."""
    name, _, number = str(path).rpartition(":")
    line = int(number) if name and number.isascii() and number.isdigit() and not path.exists() else None
    file = path if line is None else Path(name)
    released = file_of(str(file)) if str(file) in SETS and not file.exists() else file
    return released, line


def _folders(path: Path) -> list[Path]:
    folders = sorted(each for each in path.iterdir() if (each / "metadata.json").exists())
    if not folders:
        raise SceneError("there are no scenes: name a folder of scenes, or a file with one per line", str(path))
    return folders


def _lines(path: Path, only: int | None) -> Iterator[tuple[str, Callable[[], Loaded]]]:
    lines = [line for line in enumerate(file_text(path, MAX_BYTES).split("\n"), start=1) if line[1].strip()]
    if not lines:
        raise SceneError("there are no scenes: the file is empty", str(path))
    chosen = [line for line in lines if only in (None, line[0])]
    if not chosen:
        raise SceneError(f"there is no scene in line {only}; the last one is in line {lines[-1][0]}", str(path))
    for number, line in chosen:
        source = f"{path}:{number}"
        yield source, partial(scene_of_line, line, source)
