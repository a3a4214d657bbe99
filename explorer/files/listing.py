"""Find the scenes that a user names.

A name refers to the folder of a scene, to a folder that contains folders of scenes, to a file with one scene per line,
or to a released set. ``FILE:12`` refers to the scene in line 12 of a file. ``test`` refers to a released set and
``test:12`` to a scene of the set, unless a file or folder of the name ``test`` exists.
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
    """Yield the scenes at paths; the scenes in a folder are sorted by name.

    Raises:
        SceneError: there are no scenes, or a scene cannot be used. The error names file and field.
    """
    return (read() for _, read in places_at(paths))


def places_at(paths: Iterable[Path]) -> Iterator[tuple[str, Callable[[], Loaded]]]:
    """Yield (location, function that reads the scene) for each scene.

    Raises:
        SceneError: there are no scenes. A yielded function raises SceneError if its scene cannot be used.
    """
    for path in paths:
        yield from _find_places(path)


def _find_places(path: Path) -> Iterator[tuple[str, Callable[[], Loaded]]]:
    """Return an iterator of (location, function that reads the scene) over the scenes at one path.

    Raises:
        SceneError: the path contains no scenes. If the path is a file, the error is raised by the iterator, not by the
            call.
    """
    try:
        file, number = _file_and_line(path)
        if file.is_file():
            return _read_lines(file, number)
        folders = [path] if (path / "metadata.json").exists() else _find_folders(path)
    except SceneError:
        raise
    except (OSError, ValueError) as error:  # ValueError: the operating system allows no file with the name
        reason = getattr(error, "strerror", None) or "no file can have that name"
        raise SceneError(f"cannot read scenes: {reason}", one_line(str(path))[:4096]) from error
    return ((str(folder), partial(load_scene, folder)) for folder in folders)


def scene_at(path: Path) -> Loaded:
    """Return the only scene at a path.

    Raises:
        SceneError: the path contains no scene or several scenes, or the scene cannot be used.
    """
    places = list(islice(places_at([path]), 2))
    if len(places) > 1:
        raise SceneError("there are several scenes: name the folder of one, or a line as FILE:1", str(path))
    return places[0][1]()


def _file_and_line(path: Path) -> tuple[Path, int | None]:
    """Return (file, number of the line) for a path such as ``FILE:12``.

    If the path names only a file, the number is None, which stands for all lines.
    """
    file = path
    line = None
    name, _, number = str(path).rpartition(":")
    ends_with_number = name != "" and number.isascii() and number.isdigit()
    if ends_with_number and not path.exists():
        file = Path(name)
        line = int(number)
    if str(file) in SETS and not file.exists():
        file = file_of(str(file))
    return file, line


def _find_folders(path: Path) -> list[Path]:
    """Return the folders of scenes in a folder, sorted by name.

    Raises:
        SceneError: the folder contains no scenes.
    """
    folders = sorted(each for each in path.iterdir() if (each / "metadata.json").exists())
    if not folders:
        raise SceneError("there are no scenes: name a folder of scenes, or a file with one per line", str(path))
    return folders


def _read_lines(path: Path, only: int | None) -> Iterator[tuple[str, Callable[[], Loaded]]]:
    """Yield (location, function that reads the scene) for each scene of a file.

    Args:
        only: number of the line of the only scene to yield, counted from 1; None for all scenes.
    """
    all_lines = enumerate(file_text(path, MAX_BYTES).split("\n"), start=1)
    lines = {number: line for number, line in all_lines if line.strip()}
    if not lines:
        raise SceneError("there are no scenes: the file is empty", str(path))
    if only is not None and only not in lines:
        raise SceneError(f"there is no scene in line {only}; the last one is in line {max(lines)}", str(path))

    numbers = lines if only is None else [only]
    for number in numbers:
        source = f"{path}:{number}"
        yield source, partial(scene_of_line, lines[number], source)
