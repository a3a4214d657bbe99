"""The table of an ablation study, with a row for each setting: on the terminal, in Markdown and as JSON data."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final, Self

from spca.common.printing import open_console, print_table
from spca.common.statistics import Rate

_MEANINGS: Final = """\
Solved: levels, while learning. Planner, coder: requests to the models. Writers: levels that a stored problem writer
planned. Actions: of the library at the end. Episodes: frozen ones, without those that nothing can solve. Pass@1: those
of them that the first plan solved, with Wilson's interval."""


@dataclass(frozen=True, slots=True)
class AblationRow:
    """Figures of one setting, summed over its runs and evaluations.

    Attributes:
        solved: rate of the levels that were solved during learning.
        planner_calls, coder_calls: number of requests to the planner models and to the coder model.
        compiled: number of levels whose plan came from a stored problem writer.
        tokens: number of input and output tokens.
        estimated: number of requests whose numbers of tokens are estimated.
        cost_unknown: number of requests whose price is not known.
        actions: number of high-level actions in all libraries of the setting after learning.
        code_bytes: size of all libraries of the setting after learning, in bytes.
        pass1: rate of the evaluations' episodes that the first plan solved.
        by_writers: number of the evaluations' episodes whose first plan came from a stored problem writer.
    """

    name: str
    solved: Rate
    planner_calls: int
    coder_calls: int
    compiled: int
    tokens: int
    estimated: int
    cost_usd: float
    cost_unknown: int
    actions: int
    code_bytes: int
    pass1: Rate
    by_writers: int

    @classmethod
    def sum_runs(cls, name: str, learned: Sequence[Mapping[str, Any]], frozen: Sequence[Mapping[str, Any]]) -> Self:
        """Return the sums over the runs of a setting and over the evaluations of these runs.

        Args:
            learned: contents of the runs' ``summary.json``.
            frozen: contents of the evaluations' ``summary.json``.
        """
        usage = [run["usage"] for run in learned]
        counters = [run["counters"] for run in learned]
        libraries = [run["library"] for run in learned if run["library"]]
        pass1 = [each["curriculum"]["pooled"]["pass1"] for each in frozen]
        planners = [each["planners"] for each in frozen]
        tokens = _sum(usage, "input_tokens") + _sum(usage, "output_tokens")
        return cls(
            name=name,
            solved=Rate(_sum(learned, "solved"), _sum(learned, "levels")),
            planner_calls=_sum(counters, "planner_calls"),
            coder_calls=_sum(counters, "coder_calls"),
            compiled=_sum(counters, "planner_compiled"),
            tokens=tokens,
            estimated=_sum(usage, "estimated"),
            cost_usd=_sum(usage, "cost_usd"),
            cost_unknown=_sum(usage, "cost_unknown"),
            actions=_sum(libraries, "actions"),
            code_bytes=_sum(libraries, "bytes"),
            pass1=Rate(_sum(pass1, "good"), _sum(pass1, "total")),
            by_writers=_sum(planners, "writers"),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as JSON-compatible data."""
        return asdict(self) | {"solved": self.solved.to_dict(), "pass1": self.pass1.to_dict()}

    def cells(self) -> dict[str, str]:
        """Return the printed text of each column by column head, in the order of the columns."""
        low, high = self.pass1.interval
        estimated = "~" if self.estimated else ""
        unknown = f"+{self.cost_unknown}?" if self.cost_unknown else ""
        cells = {"setting": self.name}
        cells["solved"] = f"{self.solved.good}/{self.solved.total}"
        cells["planner"] = f"{self.planner_calls:,}"
        cells["coder"] = f"{self.coder_calls:,}"
        cells["writers"] = f"{self.compiled:,}"
        cells["tokens"] = f"{estimated}{self.tokens:,}"
        cells["USD"] = f"{self.cost_usd:.2f}{unknown}"
        cells["actions"] = f"{self.actions:,}"
        cells["episodes"] = f"{self.pass1.total:,}"
        cells["pass@1"] = f"{100 * self.pass1.value:.2f} %"
        cells["95 %"] = f"{100 * low:.1f} to {100 * high:.1f}"
        return cells


def show(rows: Iterable[AblationRow]) -> None:
    """Print the rows as a table."""
    print_table(open_console(), [row.cells() for row in rows])


def markdown(rows: Iterable[AblationRow], levels: Mapping[str, int], seeds: str, planner: str, source: str) -> str:
    """Return the rows as a Markdown document.

    Args:
        rows: at least one row.
        levels: number of the learned levels by category.
        seeds: the seeds of the evaluations' episodes.
        planner: the model that the evaluations asked when no writer had a plan.
        source: commit and hashes of the program.
    """
    cells = [row.cells() for row in rows]
    heads = list(cells[0])
    alignments = ["---", *["---:"] * (len(heads) - 1)]  # names to the left, numbers to the right
    lines = [heads, alignments]
    lines += [list(row.values()) for row in cells]
    table = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    counts = [f"{count} of {name}" for name, count in levels.items()]
    chosen = f"Levels: {', '.join(counts)}."
    played = f"Frozen on seeds {seeds}; planner after the writers: {planner}."
    heading = f"# Ablations\n\n{chosen} {played} Source: {source}."
    return f"{heading}\n\n{table}\n\n{_MEANINGS}\n"


def _sum(records: Iterable[Mapping[str, Any]], key: str) -> Any:
    """Return the sum of the records' values at ``key``; a record without the key counts as 0."""
    return sum(record.get(key, 0) for record in records)
