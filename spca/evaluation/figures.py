"""An evaluation on the terminal: how far it is, and its figures as tables; 80 columns are enough."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

from rich.console import Console

from spca.common.jobs.progress import show_bar
from spca.common.printing import open_console, print_line, print_table
from spca.common.statistics import Estimate, Rate
from spca.common.text import beginning, counted, one_line
from spca.evaluation.alike import Alike, alike, replay
from spca.evaluation.eval_folder import EvaluationFolder
from spca.evaluation.options import NO_MODEL
from spca.evaluation.playing.harness import OnProgress
from spca.evaluation.proof.certifying import Solvability
from spca.evaluation.summary import Block, Results, Versus
from spca.report.read.origin import describe_continuations, describe_origin

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
    """Print what will be played, by which planner, and the id of the evaluation."""
    settings = folder.settings
    writers, of_category = folder.writers()
    stored = ""
    if writers:
        stored = counted(len(writers), "writer")
        if of_category:
            stored += f" of {of_category}"

    model = "" if settings.planner_model == NO_MODEL else settings.planner_model
    categories = f"; categories: {settings.categories}" if settings.categories else ""
    planners = ", then ".join(filter(None, (stored, model))) or "nobody"
    played = f"{counted(episodes, 'episode')} of {settings.agent}, seeds {settings.seeds}{categories}"
    print(one_line(f"evaluation {folder.id}: {played}; planned by {planners}"), flush=True)


def show(results: Results, folder: EvaluationFolder) -> None:
    """Print the figures."""
    console = open_console()
    settings = folder.settings
    print_line(console, f"{folder.id}  {settings.agent}, frozen", "bold")
    made = ", ".join(f"{count:,} by {name or 'nobody'}" for name, count in results.planners.most_common())
    print_line(console, f"{counted(len(results.played), 'episode')} of seeds {settings.seeds}; first plans: {made}")
    record = folder.record
    origin = [f"source: {describe_origin(record)}", *describe_continuations(record)]
    for line in origin:
        print_line(console, line)

    for name, block in (("category", results.inside), ("outside the curriculum", results.outside)):
        if block.ids:
            _print_block(console, name, block)
    for env_id, why in record.get("unplayable", {}).items():
        print_line(console, f"not played: {env_id}: {why}")
    for name, versus in (("against the bot", results.versus), ("the bot, outside", results.versus_outside)):
        if versus:
            _print_versus(console, name, versus)
    _print_failures(console, results, folder)
    print_line(console, f"folder   {folder.path}")


def describe_no_width(block: Block) -> str:
    """Return what to think of a pooled interval without width, "" if it has one."""
    interval = block.interval
    if interval is None or interval.low < interval.high:
        return ""
    low, high = block.pooled.pass1.interval
    return f"no width, since all ids have the same share: Wilson's interval is {100 * low:.2f} to {100 * high:.2f} %"


def describe_ratio(versus: Versus) -> str:
    """Return the ratio of summed steps in words."""
    interval = versus.interval
    if interval is None:
        return "no episode was solved by both"
    said = f"{interval.value:.3f} of the bot's steps (95 %: {interval.low:.3f} to {interval.high:.3f}; less is better)"
    pairs = counted(versus.pooled.both, "pair")
    return f"{said} over the {pairs} that both solve; {versus.unsupported} the bot cannot play"


def _print_block(console: Console, name: str, block: Block) -> None:
    rows = []
    for row in (*block.categories, block.pooled):
        is_pooled = row is block.pooled
        cells: dict[str, object] = {name: row.name}
        cells["pass@1"] = f"{row.pass1.good:,}/{row.pass1.total:,}"
        cells["95 %"] = _format_share(block.interval if is_pooled else row.pass1)
        if block.pooled.solved != block.pooled.pass1:
            cells["pass@N"] = f"{row.solved.good:,}/{row.solved.total:,}"
            cells["95 % of N"] = _format_share(block.interval_solved if is_pooled else row.solved)
        cells["steps"] = row.steps
        if block.pooled.unsolvable:
            cells["unsolvable"] = row.unsolvable
        rows.append(cells)
    print_table(console, rows, has_total=True)
    print_line(console, describe_no_width(block), "dim")


def _print_versus(console: Console, name: str, versus: Versus) -> None:
    rows = []
    for row in (*versus.categories, versus.pooled):
        solved = {"both": row.both, "ours only": row.ours_only, "bot only": row.bots_only, "neither": row.neither}
        ratio = None if row.ratio is None else f"{row.ratio:.3f}"
        rows.append({name: row.name, **solved, "steps": row.our_steps, "bot's": row.bots_steps, "ratio": ratio})
    print_table(console, rows, has_total=True)
    print_line(console, describe_ratio(versus))


def _format_share(share: Rate | Estimate | None) -> str:
    """Return ``99.50 % (99.1 to 99.8)``, "-" if there is no share."""
    if share is None:
        return "-"
    low, high = share.interval if isinstance(share, Rate) else (share.low, share.high)
    percent = f"{100 * share.value:.2f} %"
    return f"{percent} ({100 * low:.1f} to {100 * high:.1f})"


def _print_failures(console: Console, results: Results, folder: EvaluationFolder) -> None:
    groups = alike(results.failed)
    if not groups:
        return
    print_line(console, "failed at the first attempt", "bold")
    statuses = Counter(failure.played.failure for failure in results.failed)
    proofs = Counter(failure.proof for failure in results.failed)
    for counts in (statuses, proofs):
        print_line(console, ", ".join(f"{count:,} {name}" for name, count in counts.most_common()))

    for group in groups[:_LISTED]:
        episodes = counted(len(group.failures), "episode")
        print_line(console, f"{episodes:>12}  {beginning(group.title, _REASON)} ({group.example.proof})")
        for line in _describe_group(group, folder):
            print_line(console, line, "dim", indent=14)
    left = groups[_LISTED:]
    if left:
        episodes_left = sum(len(group.failures) for group in left)
        print_line(console, f"and {episodes_left:,} of {len(left)} more kinds: see the page")


def _describe_group(group: Alike, folder: EvaluationFolder) -> Iterator[str]:
    """Yield what is told of a group of failures: certificate, ids, and how to see its first episode."""
    judged = group.example.judged
    if group.example.proof == Solvability.UNSOLVABLE and judged:
        yield beginning(judged.verdict.reason, _REASON)
    if group.example.refuted_by:
        yield f"the certificate is wrong: {group.example.refuted_by} solved {group.example.played.episode.name}"
    ids = [f"{env_id} ({len(failures)})" for env_id, failures in group.ids.items()]
    more = f" and {len(ids) - _IDS} more" if len(ids) > _IDS else ""
    yield f"{counted(len(ids), 'id')}: {', '.join(ids[:_IDS])}{more}"
    yield replay(group.example, folder.path)
