"""Packer of an evaluation's results into the data pieces of its page; the script ``evaluation.js`` draws them."""

from __future__ import annotations

import json
import shlex
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from spca.act.frame import WorldMaker
from spca.bodies.recorded import list_primitives
from spca.common.command import program
from spca.common.errors import SPCAError
from spca.common.files import MAX_RUN_FILE_BYTES, read_text
from spca.common.installation import where_runs_lie
from spca.common.web.document import PageKind
from spca.common.web.packing import Text, pack, strip_paths
from spca.evaluation.eval_folder import CALLS, REPORT, EvaluationFolder
from spca.evaluation.failure_groups import group_failures, replay
from spca.evaluation.figures import describe_ratio
from spca.evaluation.options import EMBEDDED
from spca.evaluation.page.filming import film_failures
from spca.evaluation.proof.certificates import LEGEND
from spca.evaluation.summary import Results
from spca.report.read.model import Usage
from spca.report.read.origin import describe_continuations, describe_origin
from spca.report.read.runs import sum_usage
from spca.report.replay.minigrid_films import minigrid_tiles
from spca.version import __version__

CHUNK: Final = 16
"""Number of failures in one data piece of the page. Text that occurs in several failures of a piece is compressed once.
"""
PAGE: Final = PageKind("spca.evaluation", open="openEvaluation")


def render_page(results: Results, folder: EvaluationFolder, make_world: WorldMaker, target: Path) -> str:
    """Return the HTML page of a finished evaluation.

    Args:
        target: the path that the page will be written to; the page links to the run's page relative to this path.
    """
    runs_option = _describe_place(folder.path.parent)
    groups = group_failures(results.failed)
    films = film_failures(groups, make_world, upstream_rules=folder.settings.upstream_rules)
    agents: dict[str, Text] = {}
    for category, text in folder.agent_texts().items():
        agents[category] = Text("python", tuple(text.split("\n")))

    # ``failed`` lists all failures; the same positions of ``details`` have what the page loads on demand.
    failed: list[dict[str, Any]] = []
    details: list[dict[str, Any]] = []
    for group in groups:
        for failure in group.failures:
            episode = failure.played.episode
            trials = strip_paths([asdict(trial) for trial in failure.played.trials])
            details.append({"trials": trials, "footage": films.get(episode.name)})
            row = failure.to_dict()
            row["number"] = len(failed) + 1
            row["group"] = f"{group.title} ({failure.proof})"
            row["plan"] = trials[0]["plan"]
            row["attempts"] = len(trials)
            row["agent"] = episode.category if episode.category in agents else ""
            row["command"] = replay(failure, folder.path, runs_option)
            failed.append(row)

    pieces = {"tiles": pack(minigrid_tiles())}
    for first in range(0, len(details), CHUNK):
        pieces[f"failures/{first // CHUNK}"] = pack(details[first : first + CHUNK])

    facts = _describe_evaluation(results, folder, target, runs_option)
    report = strip_paths({**facts, **results.to_dict(), "failed": failed})
    pieces["report"] = pack({**report, "texts": agents})
    return PAGE.render(report["title"], pieces)


def _describe_evaluation(results: Results, folder: EvaluationFolder, target: Path, runs_option: str) -> dict[str, Any]:
    """Return the facts of an evaluation other than its figures: agent, settings, times, versions and cost.

    Args:
        runs_option: text of the option ``--runs`` in the commands that the page shows.
    """
    record = folder.record
    run = folder.path.parent / folder.settings.agent
    run_page = None
    run_command = None
    if (run / REPORT).is_file():
        # A relative link holds only if the evaluation's page lies in the evaluation's folder.
        if target.parent == folder.path:
            run_page = f"../{quote(run.name)}/{REPORT}"
    elif run.is_dir():
        run_command = f"{program()} report {shlex.quote(run.name)}{runs_option}"

    settings = {name: value for name, value in record["settings"].items() if name not in ("agent", "planning")}
    versions = {**record["versions"], "sandbox": record["sandbox"], "source": describe_origin(record)}
    comparisons = {"bot": results.versus, "bot_outside": results.versus_outside}
    ratios = {name: describe_ratio(versus) for name, versus in comparisons.items() if versus}
    seconds = sum(each.seconds for each in results.played)
    return {
        "title": f"Evaluation {folder.id}",
        "program": f"sense-plan-code-act {__version__}",
        "made": time.time(),
        "agent": run.name,
        "run_page": run_page,
        "run_command": run_command,
        "coder": record.get("coder_model"),
        "began": folder.began,
        "ended": record.get("ended"),
        "work": seconds,
        "usage": _sum_usage(results, folder),
        "settings": settings,
        "made_with": versions,
        "continuations": describe_continuations(record),
        "unplayable": record.get("unplayable", {}),
        "ratios": ratios,
        "chunk": CHUNK,
        "legend": LEGEND,
        "primitives": list_primitives(record),
    }


def _describe_place(runs: Path) -> str:
    """Return the text of the option ``--runs`` for the folder ``runs``, as a path relative to the working folder.

    Return "" if the option is not needed. Also return "" if only an absolute path would work, because a page must not
    reveal a path of this machine.
    """
    folder = Path.cwd()
    if not where_runs_lie(runs) or not runs.is_relative_to(folder):
        return ""
    relative = str(runs.relative_to(folder))
    return f" --runs {shlex.quote(relative)}"


def _sum_usage(results: Results, folder: EvaluationFolder) -> Usage | None:
    """Return the summed usage of the evaluation's planner model; None if the usage is not known."""
    path = folder.path / CALLS
    model = folder.settings.planner_model
    if not path.is_file():
        is_lost = model != EMBEDDED and model in results.planners  # the model has planned, but its ledger is missing
        return None if is_lost else Usage()
    try:
        return sum_usage(json.loads(line) for line in read_text(path, MAX_RUN_FILE_BYTES).splitlines())
    except (SPCAError, ValueError):
        return None
