"""The leaderboard as one HTML file that needs nothing else: rankings, and every episode step by step.

Results hold actions and no grids, so the episodes of tasks that ship are played again when the page is made.
"""

from __future__ import annotations

import hashlib
import shlex
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, TypeAlias

from gridworld import library
from gridworld.actions import ACTION_NAMES
from gridworld.drawing.films import draw_looks, list_codes, take_frame
from gridworld.errors import EvaluationError, GridworldError, missing_part
from gridworld.evaluation.results.leaderboard import Entry, Group, overview
from gridworld.evaluation.results.spending import Spending, is_amount
from gridworld.evaluation.running import history
from gridworld.evaluation.terminal import program
from gridworld.multigrid.world import tiling_named
from gridworld.rules.episode import Episode
from gridworld.rules.layout import Layout
from gridworld.rules.observation import Observation
from gridworld.runner.encoding import file_stem
from gridworld.task_spec import TaskSpecification
from spca.common.statistics import Rate
from spca.common.text import strip_folders
from spca.common.web.document import PageKind
from spca.common.web.films import GridFrame, make_film
from spca.common.web.packing import pack

Shipped: TypeAlias = Mapping[str, tuple[TaskSpecification, str]]
"""Tasks by id, each with the digest of its file."""

TITLE: Final = "Gridworld leaderboard"
PAGE: Final = PageKind("gridworld.evaluation.results", ("leaderboard.css",), ("leaderboard.js",), "openLeaderboard")

_OF_ENTRY: Final = (
    *("rank", "model", "label", "source", "settings", "finished", "solved", "errors", "bounded"),
    *("points", "available", "point_rate", "optimality", "mean_steps", "seconds", "spending"),
)
_ANSWER: Final = ("raw_output", "reasoning", "confidence", "planned")
"""What the record of a step says of the model's answer, each after ``model_``."""


def make_page(groups: Sequence[Group]) -> str:
    """Return the HTML.

    Raises:
        MissingPartError: jinja2 or Pillow is not installed.
    """
    try:
        return PAGE.render(TITLE, dict(_pack_pieces(groups)))
    except ImportError as error:
        raise missing_part(error, "a leaderboard") from error


def _pack_pieces(groups: Sequence[Group]) -> Iterator[tuple[str, str]]:
    """Yield the pieces of the page; results and tasks are named by their places, as in its addresses."""
    yield "report", pack(_describe_board(groups))
    shipped = _read_shipped()
    drawn: dict[str, set[int]] = {}
    for number, group in enumerate(groups, 1):
        for result, entry in enumerate(group.entries, 1):
            for place, task in enumerate(group.task_ids, 1):
                if task in entry.episodes:
                    episode = _describe_episode(entry, task, shipped, drawn)
                    yield f"episode-{number}.{result}-{place}", pack(episode)
    for tiling, codes in drawn.items():
        yield f"tiles-{tiling}", pack(draw_looks(tiling, codes))


def _describe_board(groups: Sequence[Group]) -> dict[str, Any]:
    """Return what the page shows first."""
    rows = []
    for model, best in overview(groups):
        places = [entry and group.entries.index(entry) for group, entry in zip(groups, best, strict=True)]
        rows.append({"model": model, "best": places})
    described = [_describe_group(group) for group in groups]
    view = "#/benchmark/1" if len(groups) == 1 else ""
    return {"program": TITLE, "made": time.time(), "view": view, "overview": rows, "groups": described}


def _describe_group(group: Group) -> dict[str, Any]:
    entries = []
    for entry in group.entries:
        shown = {name: getattr(entry, name) for name in _OF_ENTRY}
        shown["finished"] = entry.finished.replace("T", " ")[:16]
        if group.is_mixed:
            shown["settings"] = ", ".join(filter(None, (entry.settings, f"{entry.tasks} tasks: {entry.tasks_hash}")))
        shown["rate"] = Rate(entry.solved, entry.tasks).to_dict()
        shown["outcomes"] = [entry.outcomes.get(task) for task in group.task_ids]
        entries.append(shown)
    tasks = [{"id": task, "tier": group.tiers.get(task)} for task in group.task_ids]
    return {"title": group.title, "mixed": group.is_mixed, "tasks": tasks, "entries": entries}


def _describe_episode(entry: Entry, task: str, shipped: Shipped, drawn: dict[str, set[int]]) -> dict[str, Any]:
    """Return what the page shows of an episode; what its grids show is added to ``drawn``."""
    episode = entry.episodes[task]
    seconds = episode.info.get("model_seconds")
    command = ("draw", "--episode", entry.source, "--task", task, "--gif", f"{file_stem(task)}.gif")
    shown = {
        "mission": episode.mission,
        "max_steps": episode.max_steps,
        "error": strip_folders(str(episode.info.get("model_error") or "")),
        "seconds": seconds if is_amount(seconds) else None,
        "spending": Spending.of([episode.info.get("details")]),
        "command": f"{program()} {shlex.join(command)}",
    }
    try:
        frames, seen = _play_again(entry, task, shipped)
    except GridworldError as error:
        return {**shown, "steps": _list_steps(entry, task, ()), "reason": str(error)}

    drawn.setdefault(entry.tiling, set()).update(list_codes(frames))
    film = {"film": make_film(frames), "tiles": f"tiles-{entry.tiling}"}
    return {**shown, "steps": _list_steps(entry, task, seen), **film}


def _list_steps(entry: Entry, task: str, seen: Sequence[Observation]) -> list[dict[str, str]]:
    """Return what the model did and said, and what it was told as far as ``seen`` gives it back."""
    steps: list[dict[str, str]] = []
    for step in entry.episodes[task].trajectory:
        said = {name: str(step.info[f"model_{name}"]) for name in _ANSWER if f"model_{name}" in step.info}
        if said.get("reasoning", "") in said.get("raw_output", ""):
            said.pop("reasoning", None)
        if "raw_output" in said and seen:
            said["told"] = _tell_again(entry.options, [each["action"] for each in steps], seen)
        steps.append({"action": ACTION_NAMES.get(step.action, f"unknown action {step.action}"), **said})
    return steps


def _tell_again(options: Mapping[str, Any], actions: Sequence[str], seen: Sequence[Observation]) -> str:
    """Return what a model was told in words after some actions, besides the task and the rules."""
    window = options.get("history_text_window", 3) if options.get("history_text") is not False else 0
    first = max(0, len(actions) - round(window if is_amount(window) else 0))
    told = [history.line(i + 1, actions[i], seen[i], seen[i + 1]) for i in range(first, len(actions))]
    if told:
        told = ["\n".join(("Last steps:", *told))]
    if options.get("text_observation") is True or options.get("observation") == "text":
        told.append(seen[len(actions)].text())
    return "\n\n".join(told)


def _read_shipped() -> Shipped:
    files = library.shipped_files()
    tasks = [(TaskSpecification.from_json(path), hashlib.sha256(path.read_bytes()).hexdigest()) for path in files]
    return {spec.task_id: (spec, digest) for spec, digest in tasks}


def _play_again(entry: Entry, task: str, shipped: Shipped) -> tuple[list[GridFrame], list[Observation]]:
    """Return frames and observations, of the start and after each action.

    Raises:
        GridworldError: the task does not ship as it was played, or its actions end otherwise than the results say.
    """
    spec, digest = shipped.get(task, (None, ""))
    if spec is None or entry.digests.get(task, "") not in ("", digest):
        raise EvaluationError("the task does not ship with this program, or not as it was played")

    episode = Episode(Layout(spec, tiling_named(entry.tiling)))
    seen = [episode.observe()]
    frames = [take_frame(episode, seen[0])]
    for action in entry.episodes[task].actions:
        episode.step(action)
        seen.append(episode.observe())
        frames.append(take_frame(episode, seen[-1]))
    outcome = entry.outcomes[task]
    if (episode.goal_reached, episode.step_count) != (outcome.solved, outcome.steps):
        raise EvaluationError("they would not end as the results say")
    return frames, seen
