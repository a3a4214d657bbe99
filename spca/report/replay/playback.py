"""The command ``replay``: an attempt again, as text on the terminal, as a picture, as GIF or as MP4.

The check is always said: whether what is shown is what was recorded.
"""

from __future__ import annotations

import importlib.util
import os
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spca.act.frame import Frame, WorldMaker
from spca.common.command import EXIT_FAILED, EXIT_FINISHED, program
from spca.common.installation import pip_install
from spca.common.jobs.progress import track_items
from spca.common.printing import make_table, make_text, print_line
from spca.common.text import one_line
from spca.contracts import DIRECTIONS
from spca.errors import ReportError
from spca.report.finding import check_target
from spca.report.read.lenient import items, text
from spca.report.read.recordings import RecordedAttempt, Recordings, Step, recording
from spca.report.read.run_files import RunFiles
from spca.report.replay.replay_options import ReplayOptions
from spca.report.replay.resimulation import ELSEWHERE, Replayed, is_elsewhere, judged_as_upstream, replay_attempts
from spca.sense.map_text import cropped, draw, legend
from spca.sense.perception import AGENT, grid_words

if TYPE_CHECKING:
    from rich.console import Console

    from spca.report.replay.pictures import Painter, Picture


def replay(files: RunFiles, level: str, options: ReplayOptions, make_world: WorldMaker, console: Console) -> int:
    """Show an attempt of a level, or write it into files; returns the exit code.

    Args:
        level: number of a level, environment id, or category/environment-id.

    Raises:
        ReportError: no such level, attempt or step, a file that cannot be written, or a task of gridworld.
    """
    trajectory, title = recording(files, level)
    if is_elsewhere(trajectory):
        raise ReportError(f"{title}: {ELSEWHERE}")
    return replay_trajectory(files, level, trajectory, title, options, make_world, console)


def replay_trajectory(
    files: Recordings,
    name: str,
    trajectory: Mapping[str, Any],
    title: str,
    options: ReplayOptions,
    make_world: WorldMaker,
    console: Console,
) -> int:
    """Do the same for a trajectory that the command knows by ``name``."""
    targets = _targets(options)
    attempts = [RecordedAttempt(each, files) for each in items(trajectory.get("attempts"))]
    index = _chosen(attempts, options.attempt)
    if options.png is not None and options.png > len(attempts[index].steps):
        raise ReportError(
            f"step {options.png} is out of range: the attempt has steps 0 to {len(attempts[index].steps)}"
        )
    mission, replayed = replay_attempts(
        make_world,
        trajectory,
        upstream_rules=judged_as_upstream(files.info),
        only=index if targets else None,
    )
    chosen = replayed[0 if targets else index]
    print_line(console, f"{title}, attempt {attempts[index].name}")
    print_line(console, f"mission: {mission}")
    if targets:
        film = f"{text(trajectory.get('env_id'))}-{attempts[index].name}"
        _write(targets, _Film(film, mission, attempts[index], chosen), options, console)
    else:
        _show(console, attempts, index, replayed)
        command = _command(files, name, attempts[index].name)
        console.print(make_text(f"to see it move: {command}"), soft_wrap=True)  # in one line, to be copied
    print_line(console, _verdict(chosen))
    return EXIT_FAILED if chosen.check.result == "different" else EXIT_FINISHED


# What is asked for ---------------------------------------------------------------------------------------------------


def _targets(options: ReplayOptions) -> dict[str, Path | None]:
    """Kind of file -> where it goes; None where its name follows from the level.

    Raises:
        ReportError: a file that cannot be written, or a library that is missing.
    """
    asked = {"gif": options.gif, "mp4": options.mp4, "png": options.output if options.png is not None else None}
    targets = {kind: Path.cwd() / name if name else None for kind, name in asked.items()}
    if options.output and options.png is None:
        raise ReportError("--output goes with --png STEP; --gif and --mp4 name their own files")
    for path in filter(None, targets.values()):
        check_target(path)
    wanted = {kind: path for kind, path in targets.items() if path or (kind == "png" and options.png is not None)}
    if wanted and importlib.util.find_spec("PIL") is None:
        raise ReportError(f"pictures need Pillow: {pip_install('pillow')}")
    return wanted


def _chosen(attempts: Sequence[RecordedAttempt], name: str | None) -> int:
    """Index of the attempt that is meant; the last of those of one name."""
    for index in reversed(range(len(attempts))):
        if name in (None, attempts[index].name):
            return index
    names = ", ".join(dict.fromkeys(attempt.name for attempt in attempts))
    raise ReportError(f"there is no attempt {one_line(name or '')!r}: the level has {names}")


# On the terminal -----------------------------------------------------------------------------------------------------


def _show(console: Console, attempts: Sequence[RecordedAttempt], index: int, replayed: Sequence[Replayed]) -> None:
    print_line(console, "attempts", "bold")
    tried = make_table("attempt", "status", "steps", "check", "why", left=5)
    for attempt, seen in zip(attempts, replayed, strict=True):
        tried.add_row(
            make_text(attempt.name),
            make_text(attempt.status),
            make_text(len(attempt.steps)),
            make_text(seen.check.result),
            make_text(attempt.message),
        )
    console.print(tried)

    chosen = attempts[index]
    print_line(console, f"attempt {chosen.name}, step by step", "bold")
    done = make_table("step of the plan", "action", "--png", "primitives", left=4)
    past = 0
    for position, run in groupby(chosen.steps, key=lambda step: step.position):
        steps = list(run)
        pictures = f"{past + 1} to {past + len(steps)}" if len(steps) > 1 else past + 1
        cells = (position + 1, chosen.action(steps[0]), pictures, "; ".join(_told(steps)))
        done.add_row(*map(make_text, cells))
        past += len(steps)
    console.print(done)

    numbered = f"1 to {past} for a primitive, " if past else ""
    print_line(console, f"--png takes {numbered}0 for the beginning")
    if failed := chosen.blamed():
        print_line(console, f"failed: {failed}")
    if replayed[index].frames:
        print_line(console, "what the agent knows at the end:")
        for line in _map_lines(replayed[index].frames[-1]):
            print_line(console, line)


def _told(steps: Iterable[Step]) -> Iterator[str]:
    """Primitives with the line that yielded them, equal neighbours once: ``move_forward x3 (line 70)``."""
    for step, run in groupby(steps):
        times = len(list(run))
        yield f"{step.primitive}{f' x{times}' if times > 1 else ''}{f' (line {step.line})' if step.line > 0 else ''}"


def _map_lines(frame: Frame) -> list[str]:
    codes = frame.known.copy()
    codes[frame.position[0] - frame.known_at[0], frame.position[1] - frame.known_at[1]] = AGENT
    facing = DIRECTIONS[frame.direction]
    rows = draw(cropped(grid_words(codes)), facing)
    return [*rows, f"({legend(rows)}; the agent faces {facing})"]


def _verdict(chosen: Replayed) -> str:
    words = {"different": "DIFFERS: ", "unrecorded": "NOT CHECKED: "}
    return f"{words.get(chosen.check.result, '')}{chosen.check.message}"


def _command(files: Recordings, level: str, attempt: str) -> str:
    path = os.path.relpath(files.path) if files.path.is_relative_to(Path.cwd()) else str(files.path)
    return f"{program()} replay {shlex.quote(path)} {shlex.quote(level)} --attempt {attempt} --gif episode.gif"


# As pictures ---------------------------------------------------------------------------------------------------------


class _Film:
    """The frames of an attempt and what is written below each; ``name`` is for files."""

    def __init__(self, name: str, mission: str, attempt: RecordedAttempt, replayed: Replayed) -> None:
        self.name, self.frames = name, replayed.frames
        self._mission, self._attempt, self._check = mission, attempt, replayed.check
        self._lines = attempt.sources()

    def caption(self, number: int) -> list[str]:
        """Lines below the picture after step ``number``; 0 is the beginning."""
        attempt, frame = self._attempt, self.frames[number]
        total = len(attempt.steps)
        hand = f", carrying {frame.inventory}" if frame.inventory else ""
        lines = [f"mission: {self._mission}"]
        if number == 0:
            before = f", {attempt.before} primitives after the reset" if attempt.before else ""
            lines += [f"attempt {attempt.name}, {total} steps: the beginning{before}{hand}", "", ""]
        else:
            step = attempt.steps[number - 1]
            lines.append(f"step {number} of {total}: {step.primitive}{hand}")
            lines.append(f"action {step.position + 1} of {len(attempt.plan)}: {attempt.action(step)}")
            code = self._lines[step.line - 1].strip() if 0 < step.line <= len(self._lines) else ""
            lines.append(f"line {step.line}: {code}" if step.line > 0 else "")
        if number == len(self.frames) - 1:
            ended = number == total
            lines.append(f"{attempt.status}: {attempt.message}" if ended else f"DIFFERS: {self._check.message}")
        return lines

    def pictures(self, painter: Painter) -> Iterator[Picture]:
        for number, frame in enumerate(self.frames):
            yield painter.draw(frame, self.caption(number))


def _write(targets: Mapping[str, Path | None], film: _Film, options: ReplayOptions, console: Console) -> None:
    from spca.report.replay import picture_files, pictures

    if not film.frames:
        return
    painter, total, step = pictures.Painter(film.frames), len(film.frames), options.png or 0
    if "png" in targets and step >= total:
        raise ReportError(f"step {step} cannot be shown: the re-simulation ends at step {total - 1}")

    def drawn(kind: str) -> Iterator[Picture]:
        return iter(track_items(film.pictures(painter), total, f"drawing {kind}"))

    def png(path: Path) -> None:
        picture_files.save_png(path, painter.draw(film.frames[step], film.caption(step)))

    def gif(path: Path) -> None:
        picture_files.save_gif(path, drawn("GIF"), options.fps)

    def mp4(path: Path) -> None:
        picture_files.save_mp4(path, drawn("MP4"), painter.size, options.fps)

    writers: dict[str, Callable[[Path], None]] = {"png": png, "gif": gif, "mp4": mp4}
    for kind, target in targets.items():
        path = target or Path.cwd() / f"{film.name}-step{step}.png"
        writers[kind](path)
        print_line(console, f"{kind}: {path} ({path.stat().st_size / 1000:.0f} kB)")
