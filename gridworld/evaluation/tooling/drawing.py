"""``draw``: pictures of tasks, and animations of episodes."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from gridworld import library
from gridworld.errors import EvaluationError, TaskError
from gridworld.evaluation.options import Limit, Strict, Tiling
from gridworld.evaluation.tooling.common import find_task, find_tasks, load, tiling_of
from gridworld.rules.tilings import TILINGS
from gridworld.search.solver import DEFAULT_LIMIT
from gridworld.task_spec import TaskSpecification
from spca.common.command import EXIT_FINISHED
from spca.common.files import make_folder
from spca.common.options.values import FILE, NAME, amount, name_value, whole_number
from spca.common.text import format_count, one_line


@Parameter(name="*")
@dataclass(frozen=True, slots=True, kw_only=True)
class DrawOptions:
    """Options of the pictures and animations.

    Attributes:
        output: PNG file, or folder of files (default: ID.png here)
        tiling: default: the one of the task, else square
        revealed: everything, hidden mechanisms framed; else what a model sees
        tile_size: width of a cell in pixels (default 32)
        gif: animation of an episode, with --optimal or --episode
        optimal: animate a shortest solution
        episode: animate an episode of this results file
        task: the task of the episode
        seconds: how long each picture of it is shown (default 0.25)
        overwrite: replace files that are there
    """

    output: Annotated[Path | None, name_value("PATH")] = None
    tiling: Annotated[Tiling | None, NAME] = None
    revealed: bool = False
    tile_size: Annotated[int, whole_number(1)] = 32
    gif: Annotated[Path | None, FILE] = None
    optimal: bool = False
    episode: Annotated[str | None, name_value("RESULTS")] = None
    task: Annotated[str | None, name_value("ID")] = None
    seconds: Annotated[float, amount("seconds"), name_value("S")] = 0.25
    overwrite: bool = False
    limit: Limit = None
    strict: Strict = False


def draw_tasks(
    *tasks: Annotated[str, Parameter(name="TASK", help="a file, folder or benchmark, or the id of a shipped task")],
    options: DrawOptions = DrawOptions(),
) -> int:
    """Draw tasks as PNG files, or an episode as a GIF file; return the exit code.

    Raises:
        GridworldError: the options contradict each other, or a task, a results file or a picture cannot be used.
    """
    problem = _find_contradiction(tasks, options)
    if problem:
        raise EvaluationError(problem)
    if options.gif is not None:
        return _animate(tasks, options, options.gif)
    return _draw(tasks, options)


def _find_contradiction(tasks: Sequence[str], options: DrawOptions) -> str | None:
    """Return an error message for the first rule that the options break; None if the options agree."""
    animated = options.optimal or options.episode is not None
    has_gif = options.gif is not None
    # Each error message with whether the options break the rule.
    rules = {
        "--task goes with --episode RESULTS": options.task is not None and options.episode is None,
        "take one of --optimal and --episode": options.optimal and options.episode is not None,
        "--optimal and --episode make an animation: add --gif FILE": animated and not has_gif,
        "--gif animates an episode: add --optimal, or --episode RESULTS --task ID": has_gif and not animated,
        "--gif names the file; --output is for pictures": has_gif and options.output is not None,
        "name a task to draw; `list` tells those that ship": not tasks and options.episode is None,
        "--gif takes one task": has_gif and len(tasks) > 1,
    }
    return next((problem for problem, is_broken in rules.items() if is_broken), None)


def _draw(tasks: Sequence[str], options: DrawOptions) -> int:
    """Write a PNG of the start of each task and return the exit code.

    If a task or the path of a PNG cannot be used, no file is written.
    """
    from gridworld.drawing import save_png, task_picture

    files = dict.fromkeys(chain.from_iterable(map(find_tasks, tasks)))  # in order, without repetitions
    specs = [load(path, strict=options.strict) for path in files]
    targets = _targets([spec.task_id for spec in specs], options.output)
    for target in targets:
        _must_be_free(target, options.overwrite)
    for spec, target in zip(specs, targets, strict=True):
        tiling = tiling_of(spec, options.tiling)
        make_folder(target.parent)
        save_png(target, task_picture(spec, tiling, reveal=options.revealed, tile_size=options.tile_size))
        print(one_line(str(target)))
    return EXIT_FINISHED


def _targets(names: Sequence[str], output: Path | None) -> list[Path]:
    """Return the path of each task's PNG, in order. If two paths would be equal, the later path gets a number."""
    from gridworld.runner.encoding import file_stem

    if output is not None and output.suffix.lower() == ".png" and not output.is_dir():
        if len(names) > 1:
            raise EvaluationError(
                f"--output {str(output)!a} is one file, but there are {len(names)} tasks: give a folder"
            )
        return [output]
    folder = output or Path()
    stems = [file_stem(name) for name in names]
    targets: list[Path] = []
    for number, stem in enumerate(stems):
        ending = f"-{number + 1}" if stem in stems[:number] else ""
        targets.append(folder / f"{stem}{ending}.png")
    return targets


def _animate(tasks: Sequence[str], options: DrawOptions, gif: Path) -> int:
    """Write the GIF of a recorded episode (--episode) or of a shortest solution (--optimal); return the exit code."""
    from gridworld.drawing import episode_frames, save_gif

    _must_be_free(gif, options.overwrite)
    if options.episode is not None:
        spec, tiling, actions = _read_recorded(tasks, options, options.episode)
    else:
        spec = load(find_task(tasks[0]), strict=options.strict)
        tiling = tiling_of(spec, options.tiling)
        actions = _find_optimal(spec, tiling, options.limit or DEFAULT_LIMIT)
    make_folder(gif.parent)
    frames = episode_frames(spec, tiling, actions, reveal=options.revealed, tile_size=options.tile_size)
    save_gif(gif, frames, options.seconds)
    length = format_count(len(actions), "step")
    print(one_line(f"{gif}: {spec.task_id}, {length}"))
    return EXIT_FINISHED


def _find_optimal(spec: TaskSpecification, tiling: str, limit: int) -> list[int]:
    """Return the actions of a shortest solution; raise a :class:`TaskError` if none is found."""
    from gridworld.search.optimum import find_optimum

    optimum = find_optimum(spec, TILINGS[tiling], limit)
    if not optimum.known:
        raise TaskError(f"task {spec.task_id!a} is not decided after {limit} states: raise --limit")
    if not optimum.actions:
        raise TaskError(f"task {spec.task_id!a} cannot be solved on the {tiling} tiling")
    return [int(action) for action in optimum.actions]


def _read_recorded(tasks: Sequence[str], options: DrawOptions, path: str) -> tuple[TaskSpecification, str, list[int]]:
    """Return (task, tiling, actions) of an episode in the results file at ``path``."""
    from gridworld.evaluation.metrics import BenchmarkEvaluationResult

    results = BenchmarkEvaluationResult.load(path)
    run = results.run
    ids = [result.task_id for result in results.task_results]
    task_id = options.task
    if task_id is None and len(ids) == 1:
        task_id = ids[0]
    if task_id not in ids:
        known = ", ".join(ids[:20])
        more = ", ..." if len(ids) > 20 else ""
        what = "name a task with --task" if task_id is None else f"there is no task {task_id!a}"
        raise EvaluationError(f"{path}: {what}; there are {known}{more}")
    episode = results.task_results[ids.index(task_id)].episode

    # A task that the command line names wins over the task file that the results name.
    spec = load(find_task(tasks[0]), strict=options.strict) if tasks else _find_played(task_id, run, path)
    settings = run.get("settings")
    played_on = settings.get("tiling") if isinstance(settings, Mapping) else None
    tiling = options.tiling or (played_on if played_on in TILINGS else "square")
    return spec, tiling, episode.actions


def _find_played(task_id: str, run: Mapping[str, Any], results: str) -> TaskSpecification:
    """Return the task that was played, from the file that was played or from the shipped files.

    If the results file holds a SHA-256, a file is used only if its SHA-256 is the same. Older results files hold no
    SHA-256.

    Args:
        task_id: id of the task.
        run: the entries under ``run`` in the results file.
        results: path of the results file, for the error message.

    Raises:
        EvaluationError: no file holds the task as it was played.
    """
    tasks = run.get("tasks")
    entries = [each for each in tasks if isinstance(each, Mapping)] if isinstance(tasks, list) else []
    entry = next((each for each in entries if each.get("task_id") == task_id), {})
    file = entry.get("file")
    digest = entry.get("sha256")
    candidates = library.shipped_files()
    if isinstance(file, str) and _leads_to_file(file):
        candidates = [library.resolve(file)]
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
