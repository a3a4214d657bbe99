"""Texts on a run and its levels, and the columns of the levels' results (pure)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Final

from rich.cells import cell_len
from rich.table import Table
from rich.text import Text

from spca.common.command import program
from spca.common.printing import make_text
from spca.common.text import beginning, clock, format_count, one_line
from spca.llm import spending
from spca.llm.calls.budget import Caps
from spca.llm.calls.retry import AGAIN
from spca.runs.curriculum import Task
from spca.runs.default_models import list_configured
from spca.runs.models import Models
from spca.runs.startup import Prepared

_MARK_WIDTH: Final = 6
"""Width of the words "solved" and "failed", in columns of the terminal."""
_WIDTHS: Final = {
    "rounds": 6,
    "calls": 5,
    "steps": 5,
    "tokens": 9,
    "USD": 7,
    "time": 6,
    "solved": 7,
    "spent": 7,
}
"""Heading of a figure -> its width in columns, in the order of printing.

"solved" and "spent" are sums of the run so far; the others belong to one level.
"""
_DROP_ORDER: Final = ("rounds", "tokens", "steps", "USD", "calls", "spent", "time", "solved")
"""Headings of the figures, in the order in which they are left out on a narrow terminal."""
_PAID: Final = frozenset({"tokens", "USD", "spent"})
"""Headings of the figures that are shown only if a model costs money."""
_MAX_FAULT: Final = 160
"""Largest number of characters of the fault in a line on an unusable answer."""
_MAX_REPEATED: Final = 60
"""Largest number of characters of a repeated line that are quoted beside the number of repetitions."""


class RepeatedLine:
    """Reduces equal lines in a row to the first line and a line with their number.

    Lines are equal if they have the same text before :data:`spca.llm.calls.retry.AGAIN`.
    """

    def __init__(self) -> None:
        self._said = ""
        self._indent = 0
        self._count = 0

    def add(self, line: str, indent: int = 0) -> list[tuple[str, int]]:
        """Return the lines to print for ``line``, each with its indent; none if ``line`` repeats the previous line."""
        said = line.partition(AGAIN)[0]
        if said == self._said:
            self._count += 1
            return []
        ended = self.end()
        self._said = said
        self._indent = indent
        self._count = 1
        return [*ended, (line, indent)]

    def end(self) -> list[tuple[str, int]]:
        """End the row of equal lines; return a line with their number and its indent, if there were several."""
        count = self._count
        self._count = 0
        said = self._said
        self._said = ""
        if count <= 1:
            return []
        return [(f"{count} times: {beginning(said, _MAX_REPEATED)}", self._indent)]


def describe_unusable(role: str, error: str, began: str) -> str:
    """Return a line on an unusable answer: the role of the model, the fault, and the beginning of the answer."""
    fault = beginning(error.partition("\n")[0], _MAX_FAULT)
    if not began:
        return f"{role}: {fault}"
    return f'{role}: {fault}; the answer began: "{began}"'


def describe_failure(summary: Mapping[str, Any]) -> str:
    """Return the culprits of a failed level's rounds, in order, and why the level failed."""
    reason = summary["reason"].partition("\n")[0]
    culprits = [culprit for culprit, _ in groupby(summary.get("failed_rounds", ()))]
    return f"{', '.join(culprits)} failed: {reason}" if culprits else reason


def describe_culprits(failures: Sequence[Mapping[str, Any]]) -> str:
    """Return for each culprit how many levels failed because of it, in words, the most frequent culprit first.

    Return "" if no level failed.
    """
    culprits = Counter(failure["failed_by"] for failure in failures if failure.get("failed_by"))
    counts = ", ".join(f"{count} by {culprit}" for culprit, count in culprits.most_common())
    return f"failed: {counts}" if counts else ""


def format_duration(seconds: float) -> str:
    """Return a duration as ``0.9s``, ``12:03`` or ``1:02:03``."""
    return f"{seconds:.1f}s" if seconds < 99.95 else clock(seconds)


@dataclass(frozen=True, slots=True)
class LevelColumns:
    """The layout of the rows with the results of levels. All widths are columns of the terminal.

    Attributes:
        number: width of a level's number.
        name: width of a level's name.
        is_full: whether the name is ``level: environment id``, not only the environment id.
        headings: headings of the figures that fit the terminal, in order.
    """

    number: int
    name: int
    is_full: bool
    headings: tuple[str, ...]

    @classmethod
    def fit(cls, tasks: Sequence[Task], width: int, *, paid: bool) -> LevelColumns:
        """Return the layout for the results of ``tasks`` in a terminal of ``width`` columns."""
        number = len(str(len(tasks)))
        name = max((cell_len(_name_level(task)) for task in tasks), default=0)
        full_name = max((cell_len(_name_level(task, is_full=True)) for task in tasks), default=0)
        room = width - _MARK_WIDTH - number - 2

        headings = [heading for heading in _WIDTHS if paid or heading not in _PAID]
        for heading in _DROP_ORDER:
            if heading in headings and name + _measure_figures(headings) > room:
                headings.remove(heading)

        is_full = full_name + _measure_figures(headings) <= room
        return cls(number, full_name if is_full else name, is_full, tuple(headings))

    @property
    def indent(self) -> int:
        """Number of columns before a level's name."""
        return _MARK_WIDTH + self.number + 2

    def make_heading(self, category: str) -> Table:
        """Return the row above the results of a category: its name and the headings."""
        return self._make_row(make_text(category), {heading: heading for heading in self.headings}, "bold")

    def make_row(self, mark: str, style: str, number: int, task: Task, figures: Mapping[str, str]) -> Table:
        """Return the row of a level's result.

        Args:
            mark: "solved" or "failed", printed in ``style``.
            number: number of the level, from 1.
            figures: heading -> figure.
        """
        level = _name_level(task, is_full=self.is_full)
        name = Text(f"{mark:{_MARK_WIDTH}} {number:>{self.number}} {level}")
        name.stylize(style, 0, _MARK_WIDTH)
        return self._make_row(name, figures)

    def name_wait(self, since: str, number: int, task: Task) -> str:
        """Return the beginning of a line that reports a wait; it is aligned with the results of the levels.

        Args:
            since: when the wait began, as a duration since the start of the run.
            number: number of the level, from 1.
        """
        level = _name_level(task)
        return f"{since:>{_MARK_WIDTH}} {number:>{self.number}} {level}"

    def _make_row(self, name: Text, figures: Mapping[str, str], style: str = "") -> Table:
        """Return a row with ``name`` on the left and the figures that fit on the right."""
        row = Table.grid(padding=(0, 1))
        row.add_column(width=self.indent + self.name, overflow="fold")
        for heading in self.headings:
            row.add_column(min_width=_WIDTHS[heading], justify="right", no_wrap=True)
        row.add_row(name, *(figures[heading] for heading in self.headings), style=style)
        return row


def _measure_figures(headings: Sequence[str]) -> int:
    """Return the width of all figures, including a space before each figure."""
    return sum(_WIDTHS[heading] + 1 for heading in headings)


def _name_level(task: Task, *, is_full: bool = False) -> str:
    return one_line(f"{task.level}: {task.name}" if is_full else task.name)


def format_figures(
    summary: Mapping[str, Any], seconds: float, solved: str, so_far: Mapping[str, Any]
) -> dict[str, str]:
    """Return the figures of a finished level: heading -> text.

    Args:
        summary: summary of the level.
        seconds: duration of the level.
        solved: numbers of solved and of finished levels, such as "3/4".
        so_far: usage of the run so far.
    """
    counters = summary["counters"]
    usage = summary["usage"]
    return {
        "rounds": str(counters["spca_rounds"]),
        "calls": str(counters["planner_calls"] + counters["coder_calls"]),
        "steps": str(summary["steps"]),
        "tokens": spending.tokens(usage),
        "USD": spending.usd(usage),
        "time": format_duration(seconds),
        "solved": solved,
        "spent": spending.usd(so_far),
    }


_TROUBLES: Final = {
    "PDDL repair": "planner_syntax",
    "code repair": "coder_syntax",
    "refused plan": "plan_objections",
    "rejected writer": "writer_rejected",
}
"""Noun for a trouble -> name of its counter."""


def describe_troubles(counters: Mapping[str, int], ended: Sequence[str]) -> str:
    """Return the numbers of repairs, refusals and failed attempts in a level, in words; "" if there are none.

    Args:
        counters: counters of the level.
        ended: statuses of the failed attempts, in order.
    """
    troubles: list[str] = []
    for noun, counter in _TROUBLES.items():
        if number := counters.get(counter):
            troubles.append(format_count(number, noun))
    if ended:
        statuses: list[str] = []
        for status, number in Counter(ended).items():
            # No number is needed for one attempt, or if all failed attempts have the same status.
            needs_number = 1 < number < len(ended)
            statuses.append(f"{number} {status}" if needs_number else status)
        attempts = format_count(len(ended), "failed attempt")
        troubles.append(f"{attempts}: {', '.join(statuses)}")
    return ", ".join(troubles)


def describe_run(prepared: Prepared, environ: Mapping[str, str]) -> str:
    """Return one line on the models and caps of a run, and on the flags that switch off parts of learning."""
    line = describe_models(prepared.models, environ, prepared.caps)
    flags = prepared.settings.ablations
    return f"{line} Learning with {', '.join(flags)}." if flags else line


def describe_models(models: Models, environ: Mapping[str, str], caps: Caps) -> str:
    """Return one line on the models of a run, their servers, the caps, and other models that could be used."""
    if models.settings.uses_reference:
        return (
            "Models: the embedded reference model (no key needed). "
            "For a real one: set OPENAI_API_KEY in .env or give --planner-model and --coder-model; "
            f"{program()} models lists what there is (docs/models.md)."
        )
    large, small, coder = models.settings.refs
    small_words = "" if small == large else f"small planner {small}, "
    parts = [f"Models: planner {large}, {small_words}coder {coder}"]
    used = {ref.prefix for ref in models.settings.refs}
    for prefix, server in models.settings.servers.items():
        if server.url and prefix in used:
            parts.append(f"{prefix} at {server.url}")
    if limits := _list_limits(caps, models.cost_money):
        parts.append(f"capped at {' and '.join(limits)}")
    configured = list_configured(environ)
    further_providers = configured[1:-1]  # without the preferred provider and the embedded model
    unused = [default.prefix for default in further_providers if default.prefix not in used]
    uses_defaults = configured[0].models == models.settings.refs
    if unused and uses_defaults:
        parts.append(f"{' and '.join(unused)} could be used too (docs/models.md)")
    return "; ".join(parts) + "."


def _list_limits(caps: Caps, cost_money: bool) -> list[str]:
    """Return the caps that can be reached, in words; the cap on cost only if a model costs money."""
    limits = []
    if caps.cost_usd is not None and cost_money:
        limits.append(f"{caps.cost_usd:g} USD")
    if caps.calls is not None:
        limits.append(format_count(caps.calls, "request"))
    if caps.tokens is not None:
        limits.append(format_count(caps.tokens, "token"))
    return limits
