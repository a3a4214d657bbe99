"""``draw``: pictures of tasks, and episodes as animations."""

from __future__ import annotations

import argparse
import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from gridworld import library
from gridworld.errors import EvaluationError, TaskError
from gridworld.evaluation.models.registry import add_limit, count, seconds
from gridworld.evaluation.tooling.common import (
    add_strict,
    find_task,
    load,
    shipped_files,
    tiling_of,
    tool_parser,
)
from gridworld.rules.tilings import TILINGS
from gridworld.task_spec import TaskSpecification
from spca.common.command import EXIT_FINISHED
from spca.common.files import make_folder
from spca.common.text import counted, one_line

_TILE_SIZE = 32


def build_parser() -> argparse.ArgumentParser:
    """The parser of the tool."""
    parser = tool_parser(
        "draw",
        "Draw tasks at their start as PNG, or an episode as GIF: one of a results file (--episode), or a shortest\n"
        "solution (--optimal).",
        [
            "hidden_switch_001 --revealed",
            "my_tasks/ --out pictures/",
            "my_task.json --optimal --gif solution.gif",
            "--episode results/greedy_tiers.json --task tier2_single_key_001 --gif episode.gif",
        ],
    )
    add = parser.add_argument
    add("tasks", nargs="*", metavar="TASK", help="a file, folder or benchmark, or the id of a shipped task")
    add("--out", type=Path, metavar="PATH", help="PNG file, or folder of files (default: ID.png here)")
    add("--tiling", choices=tuple(TILINGS), help="default: the one of the task, else square")
    add("--revealed", action="store_true", help="everything, hidden mechanisms framed; else what a model sees")
    add("--tile-size", type=count, default=_TILE_SIZE, metavar="N", help="width of a cell in pixels (default 32)")
    add("--gif", type=Path, metavar="FILE", help="animation of an episode")
    add("--optimal", action="store_true", help="of a shortest solution")
    add("--episode", metavar="RESULTS", help="of one in this results file")
    add("--task", metavar="ID", help="the task in it")
    add("--seconds", type=seconds, default=0.25, metavar="S", help="per picture (default 0.25)")
    add("--overwrite", action="store_true", help="replace files that are there")
    add_limit(parser)
    add_strict(parser)
    return parser


def run(argv: Sequence[str]) -> int:
    """Draw.

    Raises:
        GridworldError: a task, results file or picture cannot be used or made.
    """
    arguments = build_parser().parse_args(argv)
    if problem := _contradiction(arguments):
        raise EvaluationError(problem)
    if arguments.gif is not None:
        return _animate(arguments)
    return _draw(arguments)


def _contradiction(asked: argparse.Namespace) -> str | None:
    """What does not go together, and the fix."""
    animated = asked.optimal or asked.episode is not None
    rules = {
        "--task goes with --episode RESULTS": asked.task is not None and asked.episode is None,
        "take one of --optimal and --episode": asked.optimal and asked.episode is not None,
        "--optimal and --episode make an animation: add --gif FILE": animated and asked.gif is None,
        "--gif animates an episode: add --optimal, or --episode RESULTS --task ID": asked.gif is not None
        and not animated,
        "--gif names the file; --out is for pictures": asked.gif is not None and asked.out is not None,
        "name a task to draw; `list` tells those that ship": not asked.tasks and asked.episode is None,
        "--gif takes one task": asked.gif is not None and len(asked.tasks) > 1,
    }
    return next((problem for problem, holds in rules.items() if holds), None)


def _draw(asked: argparse.Namespace) -> int:
    from gridworld.drawing import save_png, task_picture

    specs = [
        load(path, strict=asked.strict) for path in dict.fromkeys(file for name in asked.tasks for file in _files(name))
    ]
    targets = _targets([spec.task_id for spec in specs], asked.out)
    for target in targets:
        _must_be_free(target, asked.overwrite)
    for spec, target in zip(specs, targets, strict=True):
        tiling = tiling_of(spec, asked.tiling)
        make_folder(target.parent)
        save_png(target, task_picture(spec, tiling, reveal=asked.revealed, tile_size=asked.tile_size))
        print(one_line(str(target)))
    return EXIT_FINISHED


def _files(name: str) -> list[Path]:
    try:
        return library.task_files(name)
    except TaskError:
        return [find_task(name)]


def _targets(names: Sequence[str], out: Path | None) -> list[Path]:
    """A file for each task; of equal names the later ones get a number."""
    from gridworld.runner.encoding import file_stem

    if out is not None and out.suffix.lower() == ".png" and not out.is_dir():
        if len(names) > 1:
            raise EvaluationError(f"--out {str(out)!a} is one file, but there are {len(names)} tasks: give a folder")
        return [out]
    folder = out or Path()
    stems = [file_stem(name) for name in names]
    return [
        folder / f"{stem}{'' if stem not in stems[:number] else f'-{number + 1}'}.png"
        for number, stem in enumerate(stems)
    ]


def _animate(asked: argparse.Namespace) -> int:
    from gridworld.drawing import episode_frames, save_gif

    _must_be_free(asked.gif, asked.overwrite)
    if asked.optimal:
        spec = load(find_task(asked.tasks[0]), strict=asked.strict)
        tiling = tiling_of(spec, asked.tiling)
        actions = _optimal(spec, tiling, asked.limit)
    else:
        spec, tiling, actions = _recorded(asked)
    make_folder(asked.gif.parent)
    frames = episode_frames(spec, tiling, actions, reveal=asked.revealed, tile_size=asked.tile_size)
    save_gif(asked.gif, frames, asked.seconds)
    print(one_line(f"{asked.gif}: {spec.task_id}, {counted(len(actions), 'step')}"))
    return EXIT_FINISHED


def _optimal(spec: TaskSpecification, tiling: str, limit: int) -> list[int]:
    from gridworld.search.optimum import find_optimum

    optimum = find_optimum(spec, TILINGS[tiling], limit)
    if not optimum.known:
        raise TaskError(f"task {spec.task_id!a} is not decided after {limit} states: raise --limit")
    if not optimum.actions:
        raise TaskError(f"task {spec.task_id!a} cannot be solved on the {tiling} tiling")
    return [int(action) for action in optimum.actions]


def _recorded(asked: argparse.Namespace) -> tuple[TaskSpecification, str, list[int]]:
    """Task, tiling and actions of an episode in a results file."""
    from gridworld.evaluation.metrics import BenchmarkEvaluationResult

    results = BenchmarkEvaluationResult.load(asked.episode)
    told = results.run
    ids = [result.task_id for result in results.task_results]
    wanted = asked.task if asked.task is not None or len(ids) != 1 else ids[0]
    if wanted not in ids:
        known = ", ".join(ids[:20]) + (", ..." if len(ids) > 20 else "")
        what = "name a task with --task" if wanted is None else f"there is no task {wanted!a}"
        raise EvaluationError(f"{asked.episode}: {what}; there are {known}")
    episode = results.task_results[ids.index(wanted)].episode
    spec = load(find_task(asked.tasks[0]), strict=asked.strict) if asked.tasks else _played(wanted, told, asked.episode)
    settings = told.get("settings")
    played_on = settings.get("tiling") if isinstance(settings, Mapping) else None
    tiling = asked.tiling or (played_on if played_on in TILINGS else "square")
    return spec, tiling, episode.actions


def _played(task_id: str, told: Mapping[str, Any], results: str) -> TaskSpecification:
    """The task of a results file, from the file that it was read from, if that still holds the same."""
    tasks = told.get("tasks")
    entries = [each for each in tasks if isinstance(each, Mapping)] if isinstance(tasks, list) else []
    entry = next((each for each in entries if each.get("task_id") == task_id), {})
    named, digest = entry.get("file"), entry.get("sha256")
    candidates = [library.resolve(named)] if isinstance(named, str) and _leads_to_file(named) else shipped_files()
    for path in candidates:
        if digest in (None, hashlib.sha256(path.read_bytes()).hexdigest()):
            spec = load(path)
            if spec.task_id == task_id:
                return spec
    raise EvaluationError(
        f"{results}: the task {task_id!a} as it was played is not found: name its file, as in draw FILE"
    )


def _leads_to_file(name: str) -> bool:
    try:
        return library.resolve(name).is_file()
    except TaskError:
        return False


def _must_be_free(target: Path, overwrite: bool) -> None:
    if not overwrite and (target.exists() or target.is_symlink()):
        raise EvaluationError(f"{str(target)!a} exists: choose another file, or --overwrite it")
