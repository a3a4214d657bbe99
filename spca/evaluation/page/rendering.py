"""The pieces of an evaluation's page; ``evaluation.js`` draws them."""

from __future__ import annotations

import json
import shlex
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from spca import __version__
from spca.act.frame import WorldMaker
from spca.common.command import program
from spca.common.errors import SPCAError
from spca.common.files import LARGEST, read_text
from spca.common.installation import where_runs_lie
from spca.common.web.document import PageKind
from spca.common.web.packing import Text, pack, strip_paths
from spca.contracts import PRIMITIVE_METHODS
from spca.evaluation.alike import alike, replay
from spca.evaluation.eval_folder import CALLS, REPORT, EvaluationFolder
from spca.evaluation.figures import describe_ratio
from spca.evaluation.options import EMBEDDED
from spca.evaluation.page.filming import film_failures
from spca.evaluation.proof.certificates import LEGEND
from spca.evaluation.summary import Results
from spca.report.read.model import Usage
from spca.report.read.origin import describe_continuations, describe_origin
from spca.report.read.runs import used
from spca.report.replay.minigrid_films import minigrid_tiles

CHUNK: Final = 16
"""Failures of a piece: what many of them share is packed once."""
PAGE: Final = PageKind("spca.evaluation", open="openEvaluation")


def render_page(results: Results, folder: EvaluationFolder, make_world: WorldMaker, target: Path) -> str:
    """Return the page of a finished evaluation; ``target`` is where it will lie."""
    where = _describe_place(folder.path.parent)
    groups = alike(results.failed)
    footage = film_failures(groups, make_world, upstream_rules=folder.settings.upstream_rules)
    agents = {category: Text("python", tuple(text.split("\n"))) for category, text in folder.agent_texts().items()}
    pieces = {"tiles": pack(minigrid_tiles())}
    failed = []
    played = []
    by_kind = []
    for group in groups:
        for failure in group.failures:
            by_kind.append((f"{group.title} ({failure.proof})", failure))

    for number, (kind, failure) in enumerate(by_kind, 1):
        trials = strip_paths([asdict(trial) for trial in failure.played.trials])
        played.append({"trials": trials, "footage": footage.get(failure.played.episode.name)})
        category = failure.played.episode.category
        more = {"number": number, "group": kind, "plan": trials[0]["plan"], "attempts": len(trials)}
        more |= {"agent": category if category in agents else "", "command": replay(failure, folder.path, where)}
        failed.append(failure.to_dict() | more)

    for first in range(0, len(played), CHUNK):
        chunk = played[first : first + CHUNK]
        pieces[f"failures/{first // CHUNK}"] = pack(chunk)

    told = _describe_evaluation(results, folder, target, where)
    report = strip_paths({**told, **results.to_dict(), "failed": failed})
    pieces["report"] = pack({**report, "texts": agents})
    return PAGE.render(report["title"], pieces)


def _describe_evaluation(results: Results, folder: EvaluationFolder, target: Path, where: str) -> dict[str, Any]:
    """Return what was evaluated, when, and what it cost."""
    record = folder.record
    versus_bot = {"bot": results.versus, "bot_outside": results.versus_outside}
    run = folder.path.parent / folder.settings.agent
    has_page = (run / REPORT).is_file()
    return {
        "title": f"Evaluation {folder.id}",
        "program": f"sense-plan-code-act {__version__}",
        "made": time.time(),
        "agent": run.name,
        "run_page": f"../{quote(run.name)}/{REPORT}" if has_page and target.parent == folder.path else None,
        "run_command": f"{program()} report {shlex.quote(run.name)}{where}" if run.is_dir() and not has_page else None,
        "coder": record.get("coder_model"),
        "began": folder.began,
        "ended": record.get("ended"),
        "work": sum(each.seconds for each in results.played),
        "usage": _sum_usage(results, folder),
        "settings": {name: value for name, value in record["settings"].items() if name not in ("agent", "planning")},
        "made_with": {**record["versions"], "sandbox": record["sandbox"], "source": describe_origin(record)},
        "continuations": describe_continuations(record),
        "unplayable": record.get("unplayable", {}),
        "ratios": {name: describe_ratio(versus) for name, versus in versus_bot.items() if versus},
        "chunk": CHUNK,
        "legend": LEGEND,
        "primitives": PRIMITIVE_METHODS,
    }


def _describe_place(runs: Path) -> str:
    """Return the option that says where runs lie, "" where that would tell a path of this machine."""
    folder = Path.cwd()
    if not where_runs_lie(runs) or not runs.is_relative_to(folder):
        return ""
    relative = str(runs.relative_to(folder))
    return f" --runs {shlex.quote(relative)}"


def _sum_usage(results: Results, folder: EvaluationFolder) -> Usage | None:
    """Return what was asked of a model that was named; None if that is not known."""
    path = folder.path / CALLS
    model = folder.settings.planner_model
    if not path.is_file():
        return None if model != EMBEDDED and model in results.planners else Usage()
    try:
        return used(json.loads(line) for line in read_text(path, LARGEST).splitlines())
    except (SPCAError, ValueError):
        return None
