"""The command ``replay``: re-simulate an attempt and show it as text on the terminal, or as PNG, GIF or MP4.

The last line of the output is the check: whether the re-simulation equals the recording.
"""

from __future__ import annotations

import importlib.util
import os
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from spca.act.frame import Frame, WorldFrame, WorldMaker
from spca.bodies.recorded import list_primitives
from spca.code.agent_source import split_lines
from spca.common.command import EXIT_FAILED, EXIT_FINISHED, program
from spca.common.files import write_atomic
from spca.common.installation import pip_install
from spca.common.jobs.progress import track_items
from spca.common.names import make_file_name
from spca.common.printing import make_cell, make_table, make_text, print_line
from spca.common.text import one_line
from spca.errors import ReportError
from spca.plugins.loaded import format_plugin_flags
from spca.report.finding import check_target
from spca.report.read.lenient import items, text
from spca.report.read.recordings import RecordedAttempt, Recording, Step
from spca.report.replay.replay_options import ReplayOptions
from spca.report.replay.resimulation import (
    ELSEWHERE,
    MAX_PICTURES,
    Replayed,
    is_elsewhere,
    is_judged_as_upstream,
    replay_attempts,
)
from spca.sense.map_text import crop_map, draw, legend
from spca.sense.perception import AGENT, DIRECTIONS, grid_words

if TYPE_CHECKING:
    from rich.console import Console

    from spca.report.replay.pictures import Picture


def replay(recording: Recording, options: ReplayOptions, make_world: WorldMaker, console: Console) -> int:
    """Show an attempt on the terminal, or write the files that the options name; return the exit code.

    Raises:
        ReportError: the attempt or the step does not exist, a file cannot be written, or the level is a task of
            gridworld.
    """
    trajectory = recording.trajectory
    if is_elsewhere(trajectory):
        raise ReportError(f"{recording.title}: {ELSEWHERE}")
    recorded = items(trajectory.get("attempts"))
    primitives = list_primitives(recording.info)
    attempts = [RecordedAttempt(attempt, recording.read_source, primitives) for attempt in recorded]
    index = _find_attempt(attempts, options.attempt)
    attempt = attempts[index]
    if options.png is not None and options.png > len(attempt.steps):
        raise ReportError(f"step {options.png} is out of range: the attempt has steps 0 to {len(attempt.steps)}")
    env_id = text(trajectory.get("env_id"))
    targets = _find_targets(options, f"{make_file_name(env_id)}-{attempt.name}")
    upstream_rules = is_judged_as_upstream(recording.info)
    # Files need the chosen attempt only; the terminal shows the checks of all attempts.
    only = index if targets else None
    max_pictures = None if targets else MAX_PICTURES
    mission, replayed = replay_attempts(
        make_world, trajectory, upstream_rules=upstream_rules, only=only, max_pictures=max_pictures
    )
    chosen = replayed[0] if targets else replayed[index]
    print_line(console, f"{recording.title}, attempt {attempt.name}")
    print_line(console, f"mission: {mission}")
    if not targets:
        _show(console, attempts, index, replayed)
        if _has_pictures(chosen):
            command = _command(recording, attempt.name)
            console.print(make_text(f"to see it move: {command}"), soft_wrap=True)  # in one line, to be copied
    elif chosen.frames:
        captions = list(_write_captions(mission, attempt, chosen))
        _write_files(targets, chosen.frames, captions, options, console)
    print_line(console, _verdict(chosen))
    return EXIT_FAILED if chosen.check.result == "different" else EXIT_FINISHED


# Options -------------------------------------------------------------------------------------------------------------


def _find_targets(options: ReplayOptions, name: str) -> dict[str, Path]:
    """Return the path of each file to be written, by kind (``gif``, ``mp4``, ``png``).

    Args:
        name: beginning of the file name of a picture for which the user gave no path.

    Raises:
        ReportError: a file cannot be written, or a library is missing.
    """
    if options.output and options.png is None:
        raise ReportError("--output goes with --png STEP; --gif and --mp4 name their own files")
    picture = None
    if options.png is not None:
        picture = options.output or f"{name}-step{options.png}.png"
    names = {"gif": options.gif, "mp4": options.mp4, "png": picture}
    targets = {kind: Path.cwd() / target for kind, target in names.items() if target}
    for path in targets.values():
        check_target(path)
    if options.mp4 and importlib.util.find_spec("av") is None:
        raise ReportError(f"--mp4 needs PyAV: {pip_install('av')}")
    return targets


def _find_attempt(attempts: Sequence[RecordedAttempt], name: str | None) -> int:
    """Return the index of the last attempt called ``name``; if ``name`` is None, of the last attempt.

    Raises:
        ReportError: no attempt has this name.
    """
    for index in reversed(range(len(attempts))):
        if name in (None, attempts[index].name):
            return index
    names = ", ".join(dict.fromkeys(attempt.name for attempt in attempts))
    raise ReportError(f"there is no attempt {one_line(name or '')!r}: the level has {names}")


# On the terminal -----------------------------------------------------------------------------------------------------


def _show(console: Console, attempts: Sequence[RecordedAttempt], index: int, replayed: Sequence[Replayed]) -> None:
    """Print a table of all attempts. For the attempt at ``index``, also print the plan, the primitives and the last
    map.
    """
    print_line(console, "attempts", "bold")
    table_of_attempts = make_table("attempt", "status", "steps", "check", "why", left=5)
    for attempt, result in zip(attempts, replayed, strict=True):
        cells = (attempt.name, attempt.status, len(attempt.steps), result.check.result, attempt.message)
        table_of_attempts.add_row(*map(make_cell, cells))
    console.print(table_of_attempts)

    chosen = attempts[index]
    print_line(console, f"attempt {chosen.name}, step by step", "bold")
    has_pictures = _has_pictures(replayed[index])
    numbers_title = "--png" if has_pictures else "steps"
    table_of_steps = make_table("step of the plan", "action", numbers_title, "primitives", left=4)
    last = 0  # number of the last primitive in the table, from 1
    for position, group in groupby(chosen.steps, key=lambda step: step.position):
        steps = list(group)
        first = last + 1
        last += len(steps)
        pictures = f"{first} to {last}" if len(steps) > 1 else first
        primitives = "; ".join(_describe_primitives(steps))
        action = chosen.action(steps[0])
        table_of_steps.add_row(*map(make_cell, (position + 1, action, pictures, primitives)))
    console.print(table_of_steps)

    if has_pictures:
        numbers = f"1 to {last} for a primitive, " if last else ""
        print_line(console, f"--png takes {numbers}0 for the beginning")
    blamed = chosen.find_blamed()
    if blamed:
        print_line(console, f"failed: {blamed}")
    if replayed[index].frames:
        print_line(console, "what the agent knows at the end:")
        for line in _draw_rows(replayed[index].frames[-1]):
            print_line(console, line)


def _has_pictures(replayed: Replayed) -> bool:
    """Return whether an attempt can be shown in pictures; True if nothing of it can be shown."""
    if not replayed.frames:
        return True
    first = replayed.frames[0]
    return isinstance(first, Frame) or first.picture is not None


def _describe_primitives(steps: Iterable[Step]) -> Iterator[str]:
    """Yield a description of each sequence of equal steps, such as ``move_forward x3 (line 70)``."""
    for step, group in groupby(steps):
        description = step.primitive
        times = len(list(group))
        if times > 1:
            description += f" x{times}"
        if step.line > 0:
            description += f" (line {step.line})"
        yield description


def _draw_rows(frame: WorldFrame) -> Sequence[str]:
    """Return a frame as rows of text: the agent's map with a legend as the last line, or what the world shows."""
    if not isinstance(frame, Frame):
        return frame.rows
    codes = frame.known.copy()
    row, column = frame.position
    top, left = frame.known_at
    codes[row - top, column - left] = AGENT
    facing = DIRECTIONS[frame.direction]
    rows = draw(crop_map(grid_words(codes)), facing)
    return [*rows, f"({legend(rows)}; the agent faces {facing})"]


def _verdict(chosen: Replayed) -> str:
    """Return the result of the check in words."""
    words = {"different": "DIFFERS: ", "unrecorded": "NOT CHECKED: "}
    return f"{words.get(chosen.check.result, '')}{chosen.check.message}"


def _command(recording: Recording, attempt: str) -> str:
    """Return the shell command that writes an attempt as an animation."""
    path = str(recording.path)
    if recording.path.is_relative_to(Path.cwd()):
        path = os.path.relpath(recording.path)
    level = f"{shlex.quote(path)} {shlex.quote(recording.name)}"
    return f"{program()} replay {level} --attempt {attempt} --gif episode.gif{format_plugin_flags()}"


# As pictures ---------------------------------------------------------------------------------------------------------


def _write_captions(mission: str, attempt: RecordedAttempt, replayed: Replayed) -> Iterator[list[str]]:
    """Yield the lines of the caption for each frame; frame 0 is the beginning, frame n the state after step n."""
    sources = split_lines(attempt.source or "")
    total = len(attempt.steps)
    for number, frame in enumerate(replayed.frames):
        inventory = frame.inventory if isinstance(frame, Frame) else None
        hand = f", carrying {inventory}" if inventory else ""
        lines = [f"mission: {mission}"]
        if number == 0:
            before = f", {attempt.before} primitives after the reset" if attempt.before else ""
            # Two empty lines keep the last line at the same place as in the other captions.
            lines += [f"attempt {attempt.name}, {total} steps: the beginning{before}{hand}", "", ""]
        else:
            step = attempt.steps[number - 1]
            lines.append(f"step {number} of {total}: {step.primitive}{hand}")
            action = f"action {step.position + 1} of {len(attempt.plan)}"
            lines.append(f"{action}: {attempt.action(step)}")
            lines.append(_describe_line(step.line, sources))
        if number == len(replayed.frames) - 1:
            is_complete = number == total  # else a step could not be replayed
            outcome = f"{attempt.status}: {attempt.message}"
            lines.append(outcome if is_complete else f"DIFFERS: {replayed.check.message}")
        yield lines


def _describe_line(number: int, sources: Sequence[str]) -> str:
    """Return the number and the code of line ``number`` (from 1); "" if no line is known.

    Args:
        sources: the lines of the source.
    """
    if number <= 0:
        return ""
    code = sources[number - 1].strip() if number <= len(sources) else ""
    return f"line {number}: {code}"


def _write_files(
    targets: Mapping[str, Path],
    frames: Sequence[WorldFrame],
    captions: Sequence[Sequence[str]],
    options: ReplayOptions,
    console: Console,
) -> None:
    """Write the files ``targets`` (by kind) and print their paths.

    Raises:
        ReportError: the re-simulation ends before the step of the picture, the world draws no pictures, or a file
            cannot be written.
    """
    from spca.common.images import gif, mp4, png
    from spca.report.replay.pictures import make_painter

    painter = make_painter(frames)
    step = options.png or 0
    if "png" in targets and step >= len(frames):
        raise ReportError(f"step {step} cannot be shown: the re-simulation ends at step {len(frames) - 1}")

    def draw_all(kind: str) -> Iterable[Picture]:
        pictures = map(painter.draw, range(len(frames)), captions)
        return track_items(pictures, len(frames), f"drawing {kind}")

    for kind, path in targets.items():
        if kind == "png":
            data = png(painter.draw(step, captions[step]), optimize=True)
        elif kind == "gif":
            data = gif(draw_all("GIF"), 1 / options.fps)
        else:
            data = mp4(draw_all("MP4"), painter.size, options.fps)
        write_atomic(path, data)
        kilobytes = path.stat().st_size / 1000
        print_line(console, f"{kind}: {path} ({kilobytes:.0f} kB)")
