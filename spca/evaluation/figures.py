"""An evaluation on the terminal: how far it is, and its figures as tables; 80 columns are enough."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from textwrap import shorten

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from spca.common.jobs.progress import show_bar
from spca.common.statistics import Estimate, Rate
from spca.common.text import counted, one_line
from spca.evaluation.ablations.table import fitting
from spca.evaluation.alike import Alike, alike, replay
from spca.evaluation.eval_folder import EvaluationFolder
from spca.evaluation.harness import OnProgress
from spca.evaluation.options import NO_MODEL
from spca.evaluation.proof.certifying import Solvability
from spca.evaluation.summary import Block, PairRow, Results, Row, Versus
from spca.report.read.origin import describe_continuations, describe_origin

_Rows = list[list[str]]
_PIPED = 120
_LISTED = 10
"""Kinds of failures that are listed; the page and the files have them all."""
_IDS = 3
_REASON = 160
_GOOD = {"episodes": "at the first attempt", "proofs": "decided", "bot": "by the bot"}


@contextmanager
def shown(quiet: bool) -> Iterator[OnProgress]:
    """Show a progress bar for each stage if standard error is a terminal, else a line now and then."""
    is_told = not (quiet or sys.stderr.isatty())
    with ExitStack() as stack:
        bars: dict[str, Callable[[int, int, int], None]] = {}
        tenths: dict[str, int] = {}

        def update(stage: str, finished: int, total: int, good: int) -> None:
            if stage not in bars:
                stack.close()
                bars[stage] = stack.enter_context(show_bar(quiet, stage, _GOOD[stage]))
            bars[stage](finished, total, good)
            done = 10 * finished // total if total else 0
            if is_told and done > tenths.setdefault(stage, 0):
                tenths[stage] = done
                print(f"{stage}: {finished:,} of {total:,}, {good:,} {_GOOD[stage]}", flush=True)

        yield update


def announce(folder: EvaluationFolder, episodes: int) -> None:
    """Say, before anything is played, what is, who plans it, and under which name it can be gone on with."""
    settings, (writers, of_category) = folder.settings(), folder.writers()
    stored = [f"{counted(len(writers), 'writer')}{f' of {of_category}' if of_category else ''}"] * bool(writers)
    model = [settings.planner_model] * (settings.planner_model != NO_MODEL)
    categories = f"; categories: {settings.categories}" if settings.categories else ""
    who = ", then ".join([*stored, *model]) or "nobody"
    what = f"{counted(episodes, 'episode')} of {settings.agent}, seeds {settings.seeds}{categories}"
    print(one_line(f"evaluation {folder.id}: {what}; planned by {who}"), flush=True)


def show(results: Results, folder: EvaluationFolder) -> None:
    """Print the figures."""
    console = Console(highlight=False, width=None if sys.stdout.isatty() else _PIPED)
    settings = folder.settings()
    _say(console, f"{folder.id}  {settings.agent}, frozen", "bold")
    made = ", ".join(f"{count:,} by {name or 'nobody'}" for name, count in results.planners.most_common())
    _say(console, f"{counted(len(results.played), 'episode')} of seeds {settings.seeds}; first plans: {made}")
    record = folder.record()
    for line in (f"source: {describe_origin(record)}", *describe_continuations(record)):
        _say(console, line)
    for name, block in (("category", results.inside), ("outside the curriculum", results.outside)):
        if block.ids:
            _print(console, _block(name, block))
            _say(console, no_width_told(block), "dim")
    for env_id, why in record.get("unplayable", {}).items():
        _say(console, f"not played: {env_id}: {why}")
    for name, versus in (("against the bot", results.versus), ("the bot, outside", results.versus_outside)):
        if versus:
            _print(console, _versus(name, versus))
            _say(console, ratio_told(versus))
    _failures(results, folder, console)
    _say(console, f"folder   {folder.path}")


def rate_told(rate: Rate) -> str:
    """``99.5 % (99.1 to 99.8)``"""
    return _told(rate.value, *rate.interval)


def estimate_told(estimate: Estimate | None) -> str:
    """Return the same of a pooled share, "-" if there is none."""
    return _told(estimate.value, estimate.low, estimate.high) if estimate else "-"


def _told(value: float, low: float, high: float) -> str:
    return f"{100 * value:.2f} % ({100 * low:.1f} to {100 * high:.1f})"


def no_width_told(block: Block) -> str:
    """Return what to think of a pooled interval without width, "" if it has one."""
    interval, (low, high) = block.interval, block.pooled.pass1.interval
    if interval is None or interval.low < interval.high:
        return ""
    return f"no width, since all ids have the same share: Wilson's interval is {100 * low:.2f} to {100 * high:.2f} %"


def ratio_told(versus: Versus) -> str:
    """Return the ratio of summed steps in words."""
    row, interval = versus.pooled, versus.interval
    if interval is None:
        return "no episode was solved by both"
    said = f"{interval.value:.3f} of the bot's steps (95 %: {interval.low:.3f} to {interval.high:.3f})"
    return f"{said} over the {counted(row.both, 'pair')} that both solve; {versus.unsupported} it cannot play"


def _block(name: str, block: Block) -> _Rows:
    several, left_out = block.pooled.solved != block.pooled.pass1, bool(block.pooled.unsolvable)

    def cells(row: Row, interval: str, later: str) -> list[str]:
        more = [f"{row.solved.good:,}/{row.solved.total:,}", later] * several
        told = [row.name, f"{row.pass1.good:,}/{row.pass1.total:,}", interval, *more, f"{row.steps:,}"]
        return told + [str(row.unsolvable)] * left_out

    heads = [name, "pass@1", "95 %", *["pass@N", "95 %"] * several, "steps", *["unsolvable"] * left_out]
    rows = [cells(row, rate_told(row.pass1), rate_told(row.solved)) for row in block.categories]
    return [heads, *rows, cells(block.pooled, estimate_told(block.interval), estimate_told(block.interval_solved))]


def _versus(name: str, versus: Versus) -> _Rows:
    def cells(each: PairRow) -> list[str]:
        solved = (each.both, each.ours_only, each.bots_only, each.neither)
        ratio = "-" if each.ratio is None else f"{each.ratio:.3f}"
        return [each.name, *map(str, solved), f"{each.our_steps:,}", f"{each.bots_steps:,}", ratio]

    heads = [name, "both", "ours only", "bot only", "neither", "steps", "bot's", "ratio"]
    return [heads, *map(cells, versus.categories), cells(versus.pooled)]


def _failures(results: Results, folder: EvaluationFolder, console: Console) -> None:
    groups = alike(results.failed)
    if not groups:
        return
    _say(console, "failed at the first attempt", "bold")
    for names in ([each.played.failure for each in results.failed], [each.proof for each in results.failed]):
        _say(console, ", ".join(f"{count:,} {name}" for name, count in Counter(names).most_common()))
    for group in groups[:_LISTED]:
        _say(console, f"{counted(len(group.failures), 'episode'):>12}  {_cut(group.title)} ({group.example.proof})")
        for line in _details(group, folder):
            _say(console, f"{'':14}{line}", "dim")
    left = groups[_LISTED:]
    if left:
        _say(console, f"and {sum(len(group.failures) for group in left):,} of {len(left)} more kinds: see the page")


def _details(group: Alike, folder: EvaluationFolder) -> Iterator[str]:
    """Yield what is told of a group of failures: certificate, ids, and how to see its first episode."""
    judged = group.example.judged
    if group.example.proof == Solvability.UNSOLVABLE and judged:
        yield _cut(judged.verdict.reason)
    if group.example.refuted_by:
        yield f"the certificate is wrong: {group.example.refuted_by} solved {group.example.played.episode.name}"
    ids = [f"{env_id} ({len(failures)})" for env_id, failures in group.ids.items()]
    more = f" and {len(ids) - _IDS} more" if len(ids) > _IDS else ""
    yield f"{counted(len(ids), 'id')}: {', '.join(ids[:_IDS])}{more}"
    yield replay(group.example, folder.path)


def _cut(text: str) -> str:
    return shorten(text, _REASON, placeholder=" ...")


def _print(console: Console, rows: _Rows) -> None:
    """Print rows, heads first and sums last; columns that do not fit follow below, names are never broken."""
    columns = list(zip(*([one_line(cell) for cell in row] for row in rows), strict=True))
    for part in fitting(columns, console.width):
        table = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False)
        for head, *_ in part:
            table.add_column(head, justify="right" if table.columns else "left", no_wrap=True)
        *each, last = zip(*(cells for _, *cells in part), strict=True)
        for row in each:
            table.add_row(*map(Text, row))
        table.add_section()
        table.add_row(*map(Text, last))
        console.print(table)


def _say(console: Console, line: str, style: str = "") -> None:
    if line:
        console.print(one_line(line), markup=False, soft_wrap=True, style=style)
