"""The leaderboard as one self-contained HTML file: rankings, and every episode step by step.

Results files hold actions but no grids. To show the grids, the episodes of shipped tasks are played again.
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
"""Maps the id of each shipped task to (task, SHA-256 of its file)."""

TITLE: Final = "Gridworld leaderboard"
PAGE: Final = PageKind("gridworld.evaluation.results", open="openLeaderboard")

_MAX_ENDING: Final = 100
"""Largest number of characters that the description of an ending takes from an error message."""
_ABOUT: Final = {"spca": "the agent of this project", **{name: entry.help for name, entry in MODELS.items()}}
"""Descriptions of models, by the first word of a model's name in results."""
_ANSWER: Final = ("raw_output", "reasoning", "confidence", "planned")
"""Notes on a model's answer that the page shows: keys of a step's ``info``, without their prefix ``model_``."""


def make_page(groups: Sequence[Group]) -> str:
    """Return the HTML of the page.

    Raises:
        MissingPartError: jinja2 or Pillow is not installed.
    """
    try:
        return PAGE.render(TITLE, dict(_pack_pieces(groups)))
    except ImportError as error:
        raise missing_part(error, "a leaderboard") from error


def _pack_pieces(groups: Sequence[Group]) -> Iterator[tuple[str, str]]:
    """Yield the data of the page as pairs (name, packed content).

    Groups and results are numbered from 1, as in the addresses of the page; tasks are in the order of the group.
    """
    described = strip_paths([_describe_group(group) for group in groups])
    view = "#/benchmark/1" if len(groups) == 1 else ""
    report = {"program": TITLE, "made": time.time(), "view": view, "groups": described}
    yield "report", pack(report)
    shipped = _read_shipped()
    drawn: dict[str, set[int]] = {}  # the codes of looks that the films show, by tiling
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
    """Return the fields of a results file, and further fields that the page shows.

    ``tasks`` are the ids of the tasks in the order of the page.
    """
    results = entry.results.to_dict()
    results.pop("run", None)
    outcomes = {each["task_id"]: _describe_outcome(**each) for each in results.pop("task_results")}
    seconds = [each["seconds"] for each in outcomes.values() if each["seconds"] is not None]
    first_word, _, _ = entry.results.model_name.partition(" ")
    return {
        **results,
        "rank": entry.rank,
        "label": entry.label,
        "about": _ABOUT.get(first_word),
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
    """Return the outcome of a task for the page.

    The field ``ending`` names the reason for the end; it is equal for episodes that ended for the same reason.

    Args:
        episode: the episode of the task, as in the results file.
        outcome: the other fields of the task's entry in the results file.
    """
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
    """Return the data of an episode for the page.

    The codes of the looks in the episode's grids are added to ``drawn``, which holds codes by tiling.
    """
    episode = entry.tasks[task].episode
    command = ("draw", "--episode", entry.source, "--task", task, "--gif", f"{file_stem(task)}.gif")
    shown = {
        "mission": episode.mission,
        "max_steps": episode.max_steps,
        "spending": Spending.of([episode.info.get("details")]),
        "command": f"{program()} {shlex.join(command)}",
    }
    try:
        frames, observations = _play_again(entry, task, shipped)
    except GridworldError as error:
        return {**shown, "steps": _list_steps(entry, task, ()), "reason": str(error)}

    tiling = entry.run.settings.tiling
    drawn.setdefault(tiling, set()).update(list_codes(frames))
    steps = _list_steps(entry, task, observations)
    return {**shown, "steps": steps, "film": make_film(frames), "tiles": f"tiles-{tiling}"}


def _list_steps(entry: Entry, task: str, observations: Sequence[Observation]) -> list[dict[str, str]]:
    """Return the action, the answer and the input text of each step.

    Args:
        entry: the results file.
        task: id of the task.
        observations: observation before each action and after the last action. If empty, the input texts are left out.
    """
    steps: list[dict[str, str]] = []
    for step in entry.tasks[task].episode.trajectory:
        answer: dict[str, str] = {}
        for name in _ANSWER:
            if f"model_{name}" in step.info:
                answer[name] = str(step.info[f"model_{name}"])
        if answer.get("reasoning", "") in answer.get("raw_output", ""):
            answer.pop("reasoning", None)  # the page shows the whole answer
        if "raw_output" in answer and observations:
            earlier_actions = [each["action"] for each in steps]
            answer["told"] = _input_text(entry.run.settings, earlier_actions, observations)
        action = ACTION_NAMES.get(step.action, f"unknown action {step.action}")
        steps.append({"action": action, **answer})
    return steps


def _input_text(telling: Telling, actions: Sequence[str], observations: Sequence[Observation]) -> str:
    """Return the text that a model was given before its next action, without the task and the rules.

    Args:
        telling: settings of the model's input.
        actions: names of the actions done so far.
        observations: observation before each action and after the last action.
    """
    count = len(actions)
    parts: list[str] = []
    if telling.history_text:
        first = max(0, count - telling.history_text_window)
        lines: list[str] = []
        for index in range(first, count):
            lines.append(history.line(index + 1, actions[index], observations[index], observations[index + 1]))
        if lines:
            parts.append("\n".join(("Last steps:", *lines)))
    if telling.text_observation or telling.observation == "text":
        parts.append(observations[count].text())
    return "\n\n".join(parts)


def _read_shipped() -> Shipped:
    tasks = [(TaskSpecification.from_json(path), path.read_bytes()) for path in library.shipped_files()]
    return {spec.task_id: (spec, hashlib.sha256(content).hexdigest()) for spec, content in tasks}


def _play_again(entry: Entry, task: str, shipped: Shipped) -> tuple[list[GridFrame], list[Observation]]:
    """Play an episode again; return (frames, observations), each for the start and after each action.

    Raises:
        GridworldError: the task does not ship in the version that was played, or the episode ends otherwise than the
            results say.
    """
    spec, digest = shipped.get(task, (None, ""))
    if spec is None or entry.digests.get(task, "") not in ("", digest):
        raise EvaluationError("the task does not ship with this program, or not as it was played")

    episode = Episode(Layout(spec, find_tiling(entry.run.settings.tiling)))
    observations = [episode.observe()]
    frames = [take_frame(episode, observations[0])]
    result = entry.tasks[task]
    for action in result.episode.actions:
        episode.step(action)
        observations.append(episode.observe())
        frames.append(take_frame(episode, observations[-1]))
    if (episode.goal_reached, episode.step_count) != (result.success, result.steps_taken):
        raise EvaluationError("they would not end as the results say")
    return frames, observations
