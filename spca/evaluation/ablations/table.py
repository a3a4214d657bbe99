"""What each part of learning is worth, as a table: on the terminal, in Markdown and as data."""

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
    """Figures of one setting.

    Attributes:
        solved: levels solved while learning.
        compiled: levels whose plan came from a stored problem writer.
        tokens: input and output; partly guessed where ``estimated``.
        cost_unknown: requests whose price is not known.
        actions: high-level actions of the library at the end, of all libraries where there are several.
        pass1: frozen episodes that the first plan solved.
        by_writers: frozen episodes whose first plan came from a stored problem writer.
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
        """Return the sums over the runs of a setting and the evaluations of what each has learned.

        Args:
            learned: ``summary.json`` of the runs.
            frozen: ``summary.json`` of the evaluations.
        """
        usage = [run["usage"] for run in learned]
        counters = [run["counters"] for run in learned]
        libraries = [run["library"] for run in learned if run["library"]]
        pass1 = [each["curriculum"]["pooled"]["pass1"] for each in frozen]
        return cls(
            name=name,
            solved=Rate(_sum(learned, "solved"), _sum(learned, "levels")),
            planner_calls=_sum(counters, "planner_calls"),
            coder_calls=_sum(counters, "coder_calls"),
            compiled=_sum(counters, "planner_compiled"),
            tokens=_sum(usage, "input_tokens") + _sum(usage, "output_tokens"),
            estimated=_sum(usage, "estimated"),
            cost_usd=_sum(usage, "cost_usd"),
            cost_unknown=_sum(usage, "cost_unknown"),
            actions=_sum(libraries, "actions"),
            code_bytes=_sum(libraries, "bytes"),
            pass1=Rate(_sum(pass1, "good"), _sum(pass1, "total")),
            by_writers=_sum([each["planners"] for each in frozen], "writers"),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as JSON-compatible data."""
        return asdict(self) | {"solved": self.solved.to_dict(), "pass1": self.pass1.to_dict()}

    def cells(self) -> dict[str, str]:
        """Return the figures as they are printed, by the heads of their columns."""
        low, high = self.pass1.interval
        unknown = f"+{self.cost_unknown}?" if self.cost_unknown else ""
        return {
            "setting": self.name,
            "solved": f"{self.solved.good}/{self.solved.total}",
            "planner": f"{self.planner_calls:,}",
            "coder": f"{self.coder_calls:,}",
            "writers": f"{self.compiled:,}",
            "tokens": f"{'~' if self.estimated else ''}{self.tokens:,}",
            "USD": f"{self.cost_usd:.2f}{unknown}",
            "actions": f"{self.actions:,}",
            "episodes": f"{self.pass1.total:,}",
            "pass@1": f"{100 * self.pass1.value:.2f} %",
            "95 %": f"{100 * low:.1f} to {100 * high:.1f}",
        }


def show(rows: Iterable[AblationRow]) -> None:
    """Print the rows."""
    print_table(open_console(), [row.cells() for row in rows])


def markdown(rows: Iterable[AblationRow], levels: Mapping[str, int], seeds: str, planner: str, source: str) -> str:
    """Return the rows as a page.

    Args:
        levels: how many were chosen of each category.
        seeds: of the frozen episodes.
        planner: the model that was asked where no writer had a plan.
        source: commit and hashes of the program.
    """
    cells = [row.cells() for row in rows]
    heads = list(cells[0])
    lines = [heads, ("---", *("---:",) * (len(heads) - 1)), *(row.values() for row in cells)]
    table = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    counts = ", ".join(f"{count} of {name}" for name, count in levels.items())
    chosen = f"Levels: {counts}."
    played = f"Frozen on seeds {seeds}; planner after the writers: {planner}."
    return f"# Ablations\n\n{chosen} {played} Source: {source}.\n\n{table}\n\n{_MEANINGS}\n"


def _sum(records: Iterable[Mapping[str, Any]], key: str) -> Any:
    return sum(record.get(key, 0) for record in records)
