"""From run folders to one page: every level read, re-simulated and packed."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Final

from spca import __version__
from spca.act.frame import WorldMaker
from spca.common.web.document import PageKind
from spca.common.web.packing import pack, strip_paths
from spca.contracts import PRIMITIVE_METHODS
from spca.report.level.levels import Simulate, level
from spca.report.level.origins import UNKNOWN, Origins, list_methods, read_origins
from spca.report.read import model
from spca.report.read.comparison import Comparison
from spca.report.read.run_files import RunFiles
from spca.report.read.runs import overview
from spca.report.replay.minigrid_films import minigrid_tiles
from spca.report.replay.resimulation import is_judged_as_upstream, resimulate

PAGE: Final = PageKind("spca.report", open="openReport", libraries=("vendor/chart.umd.js", "vendor/diff.umd.js"))

Progress = Callable[[str], None]


def report_of(
    title: str,
    runs: Sequence[model.Run],
    comparisons: Sequence[Comparison] = (),
    view: str = "",
) -> model.Report:
    """Return what a page shows first, without paths of this machine: pages are passed on.

    ``view`` is the address within it that it opens with.
    """
    return model.Report(
        title=title,
        program=f"sense-plan-code-act {__version__}",
        made=time.time(),
        runs=strip_paths(tuple(replace(run, folder="") for run in runs)),
        running=any(run.state == "running" for run in runs),
        tiles=minigrid_tiles(),
        primitives=PRIMITIVE_METHODS,
        comparisons=strip_paths(tuple(comparisons)),
        view=view,
    )


def simulator(files: RunFiles, make_world: WorldMaker) -> Simulate:
    """Return a function that re-simulates trajectories of a run by the rules it was judged by."""
    return partial(resimulate, make_world, upstream_rules=is_judged_as_upstream(files.info))


def read_run(files: RunFiles) -> tuple[model.Run, Origins]:
    """Return the overview of a run with what its attempts tell, and who wrote its methods."""
    run = overview(files)
    origins = read_origins(files)
    rows = []
    for row in run.levels:
        known = origins.get(row.number, UNKNOWN)
        rows.append(replace(row, headline=known.headline, group=known.group))
    return replace(run, levels=tuple(rows), methods=list_methods(origins)), origins


def pack_run(number: int, files: RunFiles, make_world: WorldMaker, done: Progress) -> tuple[model.Run, dict[str, str]]:
    """Return the overview of a run and its pieces; ``done`` is called after each level."""
    simulate = simulator(files, make_world)
    levels: list[model.Level] = []
    run, origins = read_run(files)
    for row in run.levels:
        if row.outcome != "pending":
            levels.append(level(files, row.number, simulate, origins))
            done(row.env_id)
    checks = {each.number: _check(each) for each in levels}
    rows = tuple(replace(row, check=checks.get(row.number, "")) for row in run.levels)
    # What could not be read of a level is known only now.
    return replace(run, levels=rows, warnings=tuple(files.warnings)), dict(_pieces(number, levels))


def _check(level: model.Level) -> str:
    """Return the worst result of a level's checks, or "" if there is none."""
    turns = (turn for level_round in level.rounds for turn in level_round.tries)
    results = {turn.attempt.check.result for turn in turns if turn.attempt}
    for result in ("different", "unrecorded", "equal"):
        if result in results:
            return result
    return ""


def _pieces(number: int, levels: Sequence[model.Level]) -> Iterator[tuple[str, str]]:
    """Yield one piece per level; texts whose lines several levels use lie in a piece of their own."""
    uses = Counter(lines for each in levels for lines in {text.lines for text in each.texts.values()})
    shared = {name: text for each in levels for name, text in each.texts.items() if uses[text.lines] > 1}
    yield f"run/{number}/texts", pack(shared)
    for each in levels:
        own = {name: text for name, text in each.texts.items() if name not in shared}
        yield f"run/{number}/level/{each.number}", pack(replace(each, texts=own))


def document(title: str, report: model.Report, pieces: dict[str, str]) -> str:
    """Return the page."""
    return PAGE.render(title, {"report": pack(report), **pieces})
