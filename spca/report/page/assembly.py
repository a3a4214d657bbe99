"""Assembly of a page from run folders: every level is read, re-simulated and packed."""

from __future__ import annotations

import pickle
import time
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Final

from spca.act.frame import WorldMaker
from spca.bodies.recorded import list_primitives
from spca.common.web.document import PageKind
from spca.common.web.packing import Text, pack, strip_paths
from spca.report.level.levels import Simulate, level
from spca.report.level.origins import UNKNOWN, Origins, list_methods, read_origins
from spca.report.read import model
from spca.report.read.comparison import Comparison
from spca.report.read.run_files import RunFiles
from spca.report.read.runs import overview
from spca.report.replay.minigrid_films import minigrid_tiles
from spca.report.replay.resimulation import is_judged_as_upstream, resimulate
from spca.version import __version__

PAGE: Final = PageKind("spca.report", open="openReport", libraries=("vendor/chart.umd.js", "vendor/diff.umd.js"))

Progress = Callable[[str], None]
"""Function that receives the environment id of each finished level."""


def report_of(
    title: str,
    runs: Sequence[model.Run],
    comparisons: Sequence[Comparison] = (),
    view: str = "",
) -> model.Report:
    """Return the part of the report that a page shows first.

    Paths of this machine are removed, because pages are passed on to other people.

    Args:
        view: address, within the page, of the view with which the page opens; "" for the overview.
    """
    without_folders = tuple(replace(run, folder="") for run in runs)
    is_running = any(run.state == "running" for run in runs)
    return model.Report(
        title=title,
        program=f"sense-plan-code-act {__version__}",
        made=time.time(),
        runs=strip_paths(without_folders),
        running=is_running,
        tiles=minigrid_tiles(),
        comparisons=strip_paths(tuple(comparisons)),
        view=view,
    )


def simulator(files: RunFiles, make_world: WorldMaker) -> Simulate:
    """Return a function that re-simulates trajectories of a run under the rules of that run."""
    return partial(resimulate, make_world, upstream_rules=is_judged_as_upstream(files.info))


def read_run(files: RunFiles) -> tuple[model.Run, Origins]:
    """Return the overview of a run including headlines and methods, and the origins of the methods by level."""
    run = overview(files)
    origins = read_origins(files)
    rows = []
    for row in run.levels:
        level_origins = origins.get(row.number, UNKNOWN)
        rows.append(replace(row, headline=level_origins.headline, group=level_origins.group))
    return replace(run, levels=tuple(rows), methods=list_methods(origins, list_primitives(files.info))), origins


def pack_run(number: int, files: RunFiles, make_world: WorldMaker, done: Progress) -> tuple[model.Run, dict[str, str]]:
    """Return the overview of a run, and the packed pieces of the run by name.

    Args:
        number: position of the run in the report, from 0.
        done: called with the environment id of each level that has been read.
    """
    simulate = simulator(files, make_world)
    levels = _FrozenLevels()
    checks: dict[int, str] = {}
    run, origins = read_run(files)
    for row in run.levels:
        if row.outcome != "pending":
            details = level(files, row.number, simulate, origins)
            levels.add(details)
            checks[row.number] = _check(details)
            done(row.env_id)
    rows = [replace(row, check=checks.get(row.number, "")) for row in run.levels]
    # Reading the levels may have added warnings.
    run = replace(run, levels=tuple(rows), warnings=tuple(files.warnings))
    return run, dict(_pieces(number, levels))


def _check(level: model.Level) -> str:
    """Return the worst result among the checks of a level's attempts; "" if no attempt was checked.

    The order, from the worst, is ``different``, ``unrecorded``, ``equal``.
    """
    turns = (turn for level_round in level.rounds for turn in level_round.tries)
    results = {turn.attempt.check.result for turn in turns if turn.attempt}
    for result in ("different", "unrecorded", "equal"):
        if result in results:
            return result
    return ""


class _FrozenLevels:
    """Levels in a compressed form, a twentieth of their size, because a run may have thousands of them."""

    def __init__(self) -> None:
        self._frozen: list[bytes] = []

    def add(self, level: model.Level) -> None:
        self._frozen.append(zlib.compress(pickle.dumps(level), 1))

    def __iter__(self) -> Iterator[model.Level]:
        for frozen in self._frozen:
            yield pickle.loads(zlib.decompress(frozen))  # noqa: S301 - made by this process, see add


def _pieces(number: int, levels: Iterable[model.Level]) -> Iterator[tuple[str, str]]:
    """Yield pairs (name, packed content): first the piece with the shared texts, then the piece of each level.

    A text is shared if several levels use the same lines.

    Args:
        levels: the levels, through which the function goes three times.
    """
    uses = Counter[int]()  # number of levels that use the lines with a hash
    for each in levels:
        uses.update({hash(text.lines) for text in each.texts.values()})
    shared: dict[str, Text] = {}
    for each in levels:
        shared |= {name: text for name, text in each.texts.items() if uses[hash(text.lines)] > 1}
    yield f"run/{number}/texts", pack(shared)
    for each in levels:
        unshared = {name: text for name, text in each.texts.items() if name not in shared}
        piece = pack(replace(each, texts=unshared))
        yield f"run/{number}/level/{each.number}", piece


def document(title: str, report: model.Report, pieces: dict[str, str]) -> str:
    """Return the HTML page with a report and the pieces of its levels."""
    return PAGE.render(title, {"report": pack(report), **pieces})
