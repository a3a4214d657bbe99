"""Terminal output of an evaluation: progress bars, and tables of figures with at most 80 columns of text."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

from rich.console import Console

from spca.common.jobs.progress import show_bar
from spca.common.printing import open_console, print_line, print_table
from spca.common.statistics import Estimate, Rate
from spca.common.text import beginning, format_count, one_line
from spca.evaluation.eval_folder import EvaluationFolder
from spca.evaluation.failure_groups import Alike, group_failures, replay
from spca.evaluation.options import NO_MODEL
from spca.evaluation.playing.harness import OnProgress
from spca.evaluation.proof.certifying import Solvability
from spca.evaluation.summary import Block, Results, Versus
from spca.report.read.origin import describe_continuations, describe_origin

_MAX_GROUPS = 10
"""Largest number of groups of failures that are printed; the page and the files contain all groups."""
_MAX_IDS = 3
_MAX_REASON = 160
"""Largest number of characters of a reason that are printed."""
_GOOD = {"episodes": "at the first attempt", "proofs": "decided", "bot": "by the bot"}
"""Words for the successful episodes of a stage, by name of the stage; they follow the number of these episodes."""


@contextmanager
def show_progress(quiet: bool) -> Iterator[OnProgress]:
    """Open a context whose value is the function that reports progress.

    Each stage has a progress bar. If standard error is not a terminal, a line is printed for every 10 % of a stage. If
    ``quiet`` is set, nothing is shown.
    """
    prints_lines = not (quiet or sys.stderr.isatty())
    with ExitStack() as stack:
        bars: dict[str, Callable[[int, int, int], None]] = {}
        tenths: dict[str, int] = {}

        def update(stage: str, finished: int, total: int, good: int) -> None:
            if stage not in bars:
                stack.close()  # ends the bar of the stage before
                bars[stage] = stack.enter_context(show_bar(quiet, stage, _GOOD[stage]))
            bars[stage](finished, total, good)
            finished_tenths = 10 * finished // total if total else 0
            if prints_lines and finished_tenths > tenths.setdefault(stage, 0):
                tenths[stage] = finished_tenths
                successes = f"{good:,} {_GOOD[stage]}"
                print(f"{stage}: {finished:,} of {total:,}, {successes}", flush=True)

        yield update


def announce(folder: EvaluationFolder, episodes: int) -> None:
    """Print the id of the evaluation, the number and source of its episodes, and the planners.

    Args:
        episodes: the number of all episodes of the evaluation.
    """
    settings = folder.settings
    writers, of_category = folder.writers()
    planners = []
    if writers:
        scope = f" of {of_category}" if of_category else ""
        planners.append(f"{format_count(len(writers), 'writer')}{scope}")
    if settings.planner_model != NO_MODEL:
        planners.append(settings.planner_model)
    planned_by = ", then ".join(planners) or "nobody"

    categories = f"; categories: {settings.categories}" if settings.categories else ""
    count = format_count(episodes, "episode")
    played = f"{count} of {settings.agent}, seeds {settings.seeds}{categories}"
    print(one_line(f"evaluation {folder.id}: {played}; planned by {planned_by}"), flush=True)


def show(results: Results, folder: EvaluationFolder) -> None:
    """Print the figures of an evaluation: tables by category, comparisons with the bot, and groups of failures."""
    console = open_console()
    settings = folder.settings
    print_line(console, f"{folder.id}  {settings.agent}, frozen", "bold")
    first_plans = [f"{count:,} by {name or 'nobody'}" for name, count in results.planners.most_common()]
    episodes = format_count(len(results.played), "episode")
    print_line(console, f"{episodes} of seeds {settings.seeds}; first plans: {', '.join(first_plans)}")
    record = folder.record
    origin = [f"source: {describe_origin(record)}", *describe_continuations(record)]
    for line in origin:
        print_line(console, line)

    for name, block in (("category", results.inside), ("outside the curriculum", results.outside)):
        if block.ids:
            _print_block(console, name, block)
    for env_id, reason in record.get("unplayable", {}).items():
        print_line(console, f"not played: {env_id}: {reason}")
    for name, versus in (("against the bot", results.versus), ("the bot, outside", results.versus_outside)):
        if versus:
            _print_versus(console, name, versus)
    _print_failures(console, results, folder)
    print_line(console, f"folder   {folder.path}")


def describe_no_width(block: Block) -> str:
    """Return Wilson's interval in words if the pooled bootstrap interval has no width; else return ""."""
    interval = block.interval
    if interval is None or interval.low < interval.high:
        return ""
    low, high = block.pooled.pass1.interval
    percents = f"{100 * low:.2f} to {100 * high:.2f} %"
    return f"no width, since all ids have the same share: Wilson's interval is {percents}"


def describe_ratio(versus: Versus) -> str:
    """Return, in words, the total of our steps divided by the total of the bot's steps."""
    interval = versus.interval
    if interval is None:
        return "no episode was solved by both"
    bounds = f"{interval.low:.3f} to {interval.high:.3f}"
    ratio = f"{interval.value:.3f} of the bot's steps (95 %: {bounds}; less is better)"
    pairs = format_count(versus.pooled.both, "pair")
    return f"{ratio} over the {pairs} that both solve; {versus.unsupported} the bot cannot play"


def _print_block(console: Console, name: str, block: Block) -> None:
    """Print a table with a row for each category and a last row for all categories.

    Args:
        name: head of the first column.
    """
    has_later_solutions = block.pooled.solved != block.pooled.pass1
    rows = []
    for row in (*block.categories, block.pooled):
        is_pooled = row is block.pooled
        cells: dict[str, object] = {name: row.name}
        cells["pass@1"] = _format_rate(row.pass1)
        cells["95 %"] = _format_share(block.interval if is_pooled else row.pass1)
        if has_later_solutions:
            cells["pass@N"] = _format_rate(row.solved)
            cells["95 % of N"] = _format_share(block.interval_solved if is_pooled else row.solved)
        cells["steps"] = row.steps
        if block.pooled.unsolvable:
            cells["unsolvable"] = row.unsolvable
        rows.append(cells)
    print_table(console, rows, has_total=True)
    print_line(console, describe_no_width(block), "dim")


def _print_versus(console: Console, name: str, versus: Versus) -> None:
    """Print a comparison with the bot: a row for each category and a last row for all categories.

    Args:
        name: head of the first column.
    """
    rows = []
    for row in (*versus.categories, versus.pooled):
        ratio = None if row.ratio is None else f"{row.ratio:.3f}"
        cells = {
            name: row.name,
            "both": row.both,
            "ours only": row.ours_only,
            "bot only": row.bots_only,
            "neither": row.neither,
            "steps": row.our_steps,
            "bot's": row.bots_steps,
            "ratio": ratio,
        }
        rows.append(cells)
    print_table(console, rows, has_total=True)
    print_line(console, describe_ratio(versus))


def _format_rate(rate: Rate) -> str:
    """Return a rate as text, such as ``1,990/2,000``."""
    return f"{rate.good:,}/{rate.total:,}"


def _format_share(share: Rate | Estimate | None) -> str:
    """Return a percentage with its 95 % interval, such as ``99.50 % (99.1 to 99.8)``; "-" for None."""
    if share is None:
        return "-"
    low, high = share.interval if isinstance(share, Rate) else (share.low, share.high)
    percent = f"{100 * share.value:.2f} %"
    return f"{percent} ({100 * low:.1f} to {100 * high:.1f})"


def _print_failures(console: Console, results: Results, folder: EvaluationFolder) -> None:
    """Print how many failures have each status and each verdict, then the largest groups of failures."""
    groups = group_failures(results.failed)
    if not groups:
        return
    print_line(console, "failed at the first attempt", "bold")
    statuses = Counter(failure.played.failure for failure in results.failed)
    proofs = Counter(failure.proof for failure in results.failed)
    for counts in (statuses, proofs):
        parts = [f"{count:,} {name}" for name, count in counts.most_common()]
        print_line(console, ", ".join(parts))

    for group in groups[:_MAX_GROUPS]:
        episodes = format_count(len(group.failures), "episode")
        title = beginning(group.title, _MAX_REASON)
        print_line(console, f"{episodes:>12}  {title} ({group.example.proof})")
        for line in _describe_group(group, folder):
            print_line(console, line, "dim", indent=14)
    omitted = groups[_MAX_GROUPS:]
    if omitted:
        omitted_episodes = sum(len(group.failures) for group in omitted)
        print_line(console, f"and {omitted_episodes:,} of {len(omitted)} more kinds: see the page")


def _describe_group(group: Alike, folder: EvaluationFolder) -> Iterator[str]:
    """Yield lines about a group of failures: certificate, ids, and the command that replays the group's example."""
    example = group.example
    judged = example.judged
    if example.proof == Solvability.UNSOLVABLE and judged:
        yield beginning(judged.verdict.reason, _MAX_REASON)
    if example.refuted_by:
        yield f"the certificate is wrong: {example.refuted_by} solved {example.played.episode.name}"
    ids = [f"{env_id} ({len(failures)})" for env_id, failures in group.ids.items()]
    omitted = f" and {len(ids) - _MAX_IDS} more" if len(ids) > _MAX_IDS else ""
    listed = ", ".join(ids[:_MAX_IDS])
    yield f"{format_count(len(ids), 'id')}: {listed}{omitted}"
    yield replay(example, folder.path)
