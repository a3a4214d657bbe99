"""The leaderboard as one HTML file that needs nothing else: rankings, and every episode step by step.

Results hold actions and no grids, so the episodes of tasks that ship are played again when the page is made.
"""

from __future__ import annotations

import hashlib
import math
import shlex
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from statistics import fmean
from typing import Any, Final, TypeAlias

from gridworld import library
from gridworld.actions import ACTION_NAMES
from gridworld.drawing.films import draw_looks, list_codes, take_frame
from gridworld.errors import EvaluationError, GridworldError, missing_part
from gridworld.evaluation.models.registry import MODELS
from gridworld.evaluation.results.leaderboard import Entry, Group
from gridworld.evaluation.results.spending import Spending, is_amount
from gridworld.evaluation.running import history
from gridworld.evaluation.running.player import Telling
from gridworld.evaluation.terminal import program
from gridworld.multigrid.world import find_tiling
from gridworld.rules.episode import Episode
from gridworld.rules.layout import Layout
from gridworld.rules.observation import Observation
from gridworld.runner.encoding import file_stem
from gridworld.task_spec import TaskSpecification
from spca.common.statistics import Rate
from spca.common.text import format_count, one_line
from spca.common.web.document import PageKind
from spca.common.web.films import GridFrame, make_film
from spca.common.web.packing import pack, strip_paths

Shipped: TypeAlias = Mapping[str, tuple[TaskSpecification, str]]
"""Tasks by id, each with the digest of its file."""

TITLE: Final = "Gridworld leaderboard"
PAGE: Final = PageKind("gridworld.evaluation.results", open="openLeaderboard")

_MAX_ENDING: Final = 100
_ABOUT: Final = {"spca": "the agent of this project", **{name: entry.help for name, entry in MODELS.items()}}
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
    described = strip_paths([_describe_group(group) for group in groups])
    view = "#/benchmark/1" if len(groups) == 1 else ""
    report = {"program": TITLE, "made": time.time(), "view": view, "groups": described}
    yield "report", pack(report)
    shipped = _read_shipped()
    drawn: dict[str, set[int]] = {}
    for number, group in enumerate(groups, 1):
        for result, entry in enumerate(group.entries, 1):
            episodes: list[dict[str, Any] | None] = []
            for task in group.tiers:
                is_played = task in entry.tasks
                episodes.append(_describe_episode(entry, task, shipped, drawn) if is_played else None)
            yield f"episodes-{number}.{result}", pack(strip_paths(episodes))
    for tiling, codes in drawn.items():
        yield f"tiles-{tiling}", pack(draw_looks(tiling, codes))


def _describe_group(group: Group) -> dict[str, Any]:
    return {
        "title": group.title,
        "mixed": group.is_mixed,
        "tasks": [{"id": task, "tier": tier} for task, tier in group.tiers.items()],
        "entries": [_describe_entry(entry, group.tiers) for entry in group.entries],
    }


def _describe_entry(entry: Entry, tasks: Iterable[str]) -> dict[str, Any]:
    """Return a result by the names of its file, and what is shown of it besides."""
    results = entry.results.to_dict()
    results.pop("run", None)
    outcomes = {each["task_id"]: _describe_outcome(**each) for each in results.pop("task_results")}
    seconds = [each["seconds"] for each in outcomes.values() if each["seconds"] is not None]
    return {
        **results,
        "rank": entry.rank,
        "label": entry.label,
        "about": _ABOUT.get(entry.results.model_name.partition(" ")[0]),
        "source": entry.source,
        "settings": f"{entry.run.settings}, {format_count(len(outcomes), 'task')} ({entry.tasks_hash})",
        "finished": entry.run.finished.replace("T", " ")[:16],
        "rate": Rate(entry.results.num_success, len(outcomes)).to_dict(),
        "errors": sum(each["error"] is not None for each in outcomes.values()),
        "mean_steps": fmean(each["steps_taken"] for each in outcomes.values()),
        "seconds": math.fsum(seconds) if seconds else None,
        "outcomes": [outcomes.get(task) for task in tasks],
    }


def _describe_outcome(episode: Mapping[str, Any], **outcome: Any) -> dict[str, Any]:
    """Return how a task went; episodes that ended alike have an ``ending`` of the same few words."""
    error = episode["info"].get("model_error")
    seconds = episode["info"].get("model_seconds")
    if outcome["success"]:
        ending = "solved"
    elif error is not None:
        ending = f"model error: {one_line(str(error)):.{_MAX_ENDING}}"
    elif episode["terminated"]:
        ending = "entered a hazard"
    else:
        ending = "ran out of steps" if episode["truncated"] else "stopped before the end"
    outcome["error"] = error and str(error)
    outcome["seconds"] = seconds if is_amount(seconds) else None
    outcome["ending"] = ending
    return outcome


def _describe_episode(entry: Entry, task: str, shipped: Shipped, drawn: dict[str, set[int]]) -> dict[str, Any]:
    """Return what the page shows of an episode; what its grids show is added to ``drawn``."""
    episode = entry.tasks[task].episode
    command = ("draw", "--episode", entry.source, "--task", task, "--gif", f"{file_stem(task)}.gif")
    shown = {
        "mission": episode.mission,
        "max_steps": episode.max_steps,
        "spending": Spending.of([episode.info.get("details")]),
        "command": f"{program()} {shlex.join(command)}",
    }
    try:
        frames, seen = _play_again(entry, task, shipped)
    except GridworldError as error:
        return {**shown, "steps": _list_steps(entry, task, ()), "reason": str(error)}

    tiling = entry.run.settings.tiling
    drawn.setdefault(tiling, set()).update(list_codes(frames))
    steps = _list_steps(entry, task, seen)
    return {**shown, "steps": steps, "film": make_film(frames), "tiles": f"tiles-{tiling}"}


def _list_steps(entry: Entry, task: str, seen: Sequence[Observation]) -> list[dict[str, str]]:
    """Return what the model did and said, and what it was told as far as ``seen`` gives it back."""
    steps: list[dict[str, str]] = []
    for step in entry.tasks[task].episode.trajectory:
        answer: dict[str, str] = {}
        for name in _ANSWER:
            if f"model_{name}" in step.info:
                answer[name] = str(step.info[f"model_{name}"])
        if answer.get("reasoning", "") in answer.get("raw_output", ""):
            answer.pop("reasoning", None)
        if "raw_output" in answer and seen:
            actions = [each["action"] for each in steps]
            answer["told"] = _tell_again(entry.run.settings, actions, seen)
        action = ACTION_NAMES.get(step.action, f"unknown action {step.action}")
        steps.append({"action": action, **answer})
    return steps


def _tell_again(telling: Telling, actions: Sequence[str], seen: Sequence[Observation]) -> str:
    """Return what a model was told in words after some actions, besides the task and the rules."""
    count = len(actions)
    told = list[str]()
    if telling.history_text:
        first = max(0, count - telling.history_text_window)
        lines = [history.line(i + 1, actions[i], seen[i], seen[i + 1]) for i in range(first, count)]
        if lines:
            told.append("\n".join(("Last steps:", *lines)))
    if telling.text_observation or telling.observation == "text":
        told.append(seen[count].text())
    return "\n\n".join(told)


def _read_shipped() -> Shipped:
    tasks = [(TaskSpecification.from_json(path), path.read_bytes()) for path in library.shipped_files()]
    return {spec.task_id: (spec, hashlib.sha256(content).hexdigest()) for spec, content in tasks}


def _play_again(entry: Entry, task: str, shipped: Shipped) -> tuple[list[GridFrame], list[Observation]]:
    """Return frames and observations, of the start and after each action.

    Raises:
        GridworldError: the task does not ship as it was played, or its actions end otherwise than the results say.
    """
    spec, digest = shipped.get(task, (None, ""))
    if spec is None or entry.digests.get(task, "") not in ("", digest):
        raise EvaluationError("the task does not ship with this program, or not as it was played")

    episode = Episode(Layout(spec, find_tiling(entry.run.settings.tiling)))
    seen = [episode.observe()]
    frames = [take_frame(episode, seen[0])]
    result = entry.tasks[task]
    for action in result.episode.actions:
        episode.step(action)
        seen.append(episode.observe())
        frames.append(take_frame(episode, seen[-1]))
    if (episode.goal_reached, episode.step_count) != (result.success, result.steps_taken):
        raise EvaluationError("they would not end as the results say")
    return frames, seen
