"""The folder that a command writes, with the log, the film, the map and other files."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Final

from robot_bridge.cli.film import Film, TopView
from robot_bridge.cli.journals import Narrator
from robot_bridge.cli.map_picture import MapPicture
from robot_bridge.cli.options import OutputOptions, RobotOptions
from robot_bridge.config import RobotConfig
from robot_bridge.contracts import Frontier, Pose
from robot_bridge.decisions.memory.exploration_memory import ExplorationMemory
from robot_bridge.decisions.memory.memory_state import START
from robot_bridge.errors import SetupError
from robot_bridge.navigation.mapping import OccupancyMap
from robot_bridge.protocols import Journal
from robot_bridge.ros.log.recorder import BagRecorder
from spca.common.files import make_folder, write_atomic
from spca.common.images import png
from spca.runs.recording.folder import new_run_id

RUNS: Final = Path("runs/robot")
LOG = "log"
MAP = "map.png"
MEMORY = "memory.yaml"
FILM = "film.mp4"
SUMMARY = "summary.json"


def require_filmable(robot: RobotOptions, output: OutputOptions) -> None:
    """Raise a SetupError if a film of a real robot is asked for, because a film needs the simulation."""
    if output.film and not robot.is_simulated:
        raise SetupError("--film is for the simulated robot: look at the log of a real one with a viewer of bags")


def make_output_folder(output: OutputOptions) -> Path:
    """Make the folder that a command writes, and return its path.

    Raises:
        SetupError: the folder that the options name is a file or is not empty.
        SettingsError: the folder cannot be made.
    """
    path = output.folder or RUNS / new_run_id()
    # Path.exists raises OSError if a name is too long. os.path.exists does not, and make_folder explains the fault.
    is_in_use = os.path.exists(path) and (not path.is_dir() or any(path.iterdir()))
    if is_in_use:
        raise SetupError(f"--output {path}: it holds something already: choose a new folder")
    make_folder(path)
    return path


def open_journals(
    output: OutputOptions, config: RobotConfig, folder: Path, began: float, top_view: TopView | None, stack: ExitStack
) -> list[Journal]:
    """Open and return the journals of a command.

    The log is always opened. The lines in the terminal and the film are opened if the options want them.

    Args:
        output: says which journals are wanted.
        config: the robot's configuration, which becomes part of the log.
        folder: folder of the log and the film.
        began: time on the robot's clock at which the times in the lines begin.
        top_view: draws the robot for the film, see :class:`Film`.
        stack: closes the log and the film.
    """
    journals: list[Journal] = [stack.enter_context(open_log(folder, config))]
    if not output.quiet:
        journals.append(Narrator(began=began))
    if output.film:
        journals.append(stack.enter_context(closing(Film(folder / FILM, top_view))))
    return journals


@contextmanager
def open_log(folder: Path, config: RobotConfig) -> Iterator[BagRecorder]:
    """Yield the recorder of a command's log and close it after the block; print an error if the log is incomplete."""
    recorder = BagRecorder(folder / LOG, config)
    try:
        yield recorder
    finally:
        recorder.close()
        if recorder.fault:
            print(f"error: {recorder.fault}", file=sys.stderr, flush=True)


def write_map(
    path: Path,
    known: OccupancyMap,
    way: list[Pose],
    frontiers: tuple[Frontier, ...],
    memory: ExplorationMemory | None = None,
) -> None:
    """Write a picture of the map with the path, the frontiers and the rooms in the memory.

    The room in which the robot started is left out.
    """
    drawing = MapPicture(known.codes, known.resolution, known.x, known.y)
    drawing.way(way)
    drawing.frontiers(frontiers)
    if memory is not None:
        rooms = [room for room in memory.state.rooms if room.name != START]
        places = []
        for room in rooms:
            x, y = room.position
            places.append((x, y, room.name))
        drawing.places(places)
    write_atomic(path, png(drawing.sheet()))


def print_files(folder: Path) -> None:
    """Print the names of the files in a command's folder."""
    names = sorted(path.name for path in folder.iterdir())
    print(f"see {folder}: {', '.join(names)}")
