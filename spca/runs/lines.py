"""Lines of a run that fit the columns there are: what is waited for, and a level's result in aligned columns (pure)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Final

from rich.cells import cell_len, set_cell_size

from spca.common.text import beginning, counted, one_line
from spca.llm import spending
from spca.llm.calls.retry import AGAIN
from spca.runs.curriculum import Task

_MARK: Final = 6
"""Columns of "solved" and "failed"."""
_WIDTHS: Final = {"rounds": 6, "calls": 5, "steps": 5, "tokens": 6, "USD": 7, "time": 6, "solved": 7, "spent": 7}
"""Columns of a result's figures, in their order; "solved" and "spent" are sums of the run so far."""
_WANTED: Final = ("solved", "time", "spent", "calls", "USD", "steps", "tokens", "rounds")
"""The figures, what is shown wherever there is room for it first."""
_PAID: Final = frozenset({"tokens", "USD", "spent"})
_NAME: Final = 12
"""Columns that the name of a model is cut to before it is left out."""
_FAULT: Final = 160
"""Characters of what is wrong with an answer."""
_REPEATED: Final = 60
"""Characters of a line that stands there already."""
_GIVEN_UP: Final = (
    *("counts", "category", "level", "spent", "counts", "model", "round", "spent", "counts", "model", "model", "spent"),
    *("level", "spent", "spent", "level"),
)
"""The parts of the live line, that which is said in fewer words first where room is short first."""


def shortened(text: str, room: int) -> str:
    """The text in at most ``room`` columns: of a longer one the two ends, which tell names apart."""
    if cell_len(text) <= room:
        return text
    if room < 2:
        return "…"[: max(room, 0)]
    tail = text[-(room // 2) :] if room > 3 else ""
    while cell_len(tail) > room // 2:
        tail = tail[1:]
    return f"{set_cell_size(text, room - 1 - cell_len(tail)).rstrip()}…{tail}"


def folded(text: str, room: int) -> list[str]:
    """The text in lines of at most ``room`` columns, parted between words; a longer word stays whole."""
    lines = list[str]()
    for paragraph in text.split("\n"):
        line, *words = paragraph.split(" ")
        for word in words:
            if cell_len(line) + 1 + cell_len(word) > room:
                lines.append(line)
                line = word
            else:
                line += f" {word}"
        lines.append(line)
    return lines


class RepeatedLine:
    """Has lines that say the same one after another stand there once, and then how often they were said."""

    def __init__(self) -> None:
        self._said = ""
        self._indent = 0
        self._count = 0

    def add(self, line: str, indent: int = 0) -> list[tuple[str, int]]:
        """Return the lines to show now that ``line`` is said, with their indents: none if it says the same again."""
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
        """Return what to show before something else: how often the last line was said, if more than once."""
        count, self._count = self._count, 0
        said, self._said = self._said, ""
        return [(f"{count} times: {beginning(said, _REPEATED)}", self._indent)] if count > 1 else []


def unusable_line(role: str, error: str, began: str) -> str:
    """Return a line on an answer that could not be used: who gave it, what is wrong with it and how it began."""
    fault = beginning(error.partition("\n")[0], _FAULT)
    return f'{role}: {fault}; the answer began: "{began}"' if began else f"{role}: {fault}"


def failed_line(summary: Mapping[str, Any]) -> str:
    """Return why a level failed, behind who failed in its rounds, in order."""
    reason = summary["reason"].partition("\n")[0]
    culprits = [culprit for culprit, _ in groupby(summary.get("failed_rounds", ()))]
    return f"{', '.join(culprits)} failed: {reason}" if culprits else reason


def failures_line(failures: Sequence[Mapping[str, Any]]) -> str:
    """Return who failed in the end how often, "" where nobody did."""
    culprits = Counter(each["failed_by"] for each in failures if each.get("failed_by"))
    counts = ", ".join(f"{count} by {culprit}" for culprit, count in culprits.most_common())
    return f"failed: {counts}" if counts else ""


def elapsed(seconds: float) -> str:
    """``0:42``, ``12:03``, ``1:02:03``."""
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"


def duration(seconds: float) -> str:
    """``0.9s``, ``12:03``, ``1h02m``."""
    if seconds < 99.95:
        return f"{seconds:.1f}s"
    minutes = int(seconds) // 60
    return elapsed(seconds) if minutes < 60 else f"{minutes // 60}h{minutes % 60:02d}m"


@dataclass(frozen=True, slots=True)
class Moment:
    """A level in progress.

    Attributes:
        number: of the level, counted from 1, of ``total``.
        round: 0 before the first.
        who: is waited for: planner, coder, solver, checks or world; ``model`` where it is one.
        waited: seconds since then.
        elapsed: seconds since the run was begun or gone on with.
        usage: what the run has taken so far (:func:`spca.llm.calls.ledger.sums`).
    """

    task: Task
    number: int
    total: int
    round: int
    who: str
    model: str
    waited: float
    solved: int
    failed: int
    elapsed: float
    usage: Mapping[str, Any]

    def live(self, room: int) -> str:
        """All that is known in ``room`` columns; the name of the level is shortened last."""
        ended = self.solved + self.failed
        so_far = f"{self.solved} solved, {self.failed} failed"
        counts = (f"{elapsed(self.elapsed)}  {so_far}", so_far, f"{self.solved}/{ended} solved" if ended else "", "")
        waited = f"{self.waited:.0f}s" if self.waited < 600 else elapsed(self.waited)
        number, env_id = f"{self.number}/{self.total}", one_line(self.task.env_id)
        level = (
            f"{number} {one_line(self.task.level)}: {env_id}",
            f"{number} {env_id}",
            f"{self.number} {env_id}",
            env_id,
        )
        return fitted(
            {"counts": counts, "category": (one_line(self.task.category), ""), "level": level, **self._work(waited)},
            room,
        )

    def logged(self, room: int) -> str:
        """For a file, aligned with the results: when what is waited for began, and who it is."""
        clock, number = elapsed(self.elapsed - self.waited), f"{self.number:>{len(str(self.total))}}"
        level = (f"{clock:>{_MARK}} {number} {one_line(self.task.env_id)}",)
        return fitted({"level": level, **self._work("")}, room)

    def _work(self, waited: str) -> dict[str, Sequence[str]]:
        model = one_line(self.model)
        name = model.partition("/")[2]
        names = dict.fromkeys((model, name, shortened(name, _NAME), ""))
        return {
            "round": (f"round {self.round}" if self.round else "", ""),
            "model": [" ".join(filter(None, (self.who, name, waited))) for name in names],
            "spent": spending.so_far(self.usage),
        }


def fitted(parts: Mapping[str, Sequence[str]], room: int) -> str:
    """The parts in one line of at most ``room`` columns.

    Args:
        parts: forms of each, the longest first; "level" ends with the name, which is cut last.
    """
    left = {name: list(forms) for name, forms in parts.items()}
    for name in _GIVEN_UP:
        if _length(left) <= room:
            break
        if len(left.get(name, ())) > 1:
            del left[name][0]
    if (excess := _length(left) - room) > 0:
        level = left["level"][0]
        left["level"] = [shortened(level, max(_NAME, cell_len(level) - excess))]
    return _joined(left)


def _length(forms: Mapping[str, Sequence[str]]) -> int:
    return cell_len(_joined(forms))


def _joined(forms: Mapping[str, Sequence[str]]) -> str:
    return "  ".join(filter(None, (given[0] for given in forms.values())))


@dataclass(frozen=True, slots=True)
class Columns:
    """How the results of a run's levels are aligned.

    Attributes:
        number: columns of a level's number.
        name: columns of its name.
        is_full: names are said with that of their level in the curriculum.
        figures: headings of the figures there is room for.
    """

    number: int
    name: int
    is_full: bool
    figures: tuple[str, ...]

    @classmethod
    def of(cls, tasks: Sequence[Task], width: int, *, paid: bool) -> Columns:
        """The columns for ``tasks``, in ``width`` columns of the terminal."""
        number = len(str(len(tasks)))
        room = width - _MARK - number - 2
        name, full = (max((cell_len(_name(task, full)) for task in tasks), default=0) for full in (False, True))
        name = min(name, room)
        left, figures = room - name, set[str]()
        for heading in _WANTED:
            if (heading not in _PAID or paid) and (needed := _width(heading, number) + 1) <= left:
                figures.add(heading)
                left -= needed
        is_full = full - name <= left
        return cls(number, full if is_full else name, is_full, tuple(h for h in _WIDTHS if h in figures))

    @property
    def indent(self) -> int:
        """Columns before a level's name."""
        return _MARK + self.number + 2

    def heading(self, category: str) -> str:
        """The first line of a category."""
        room = self.indent + self.name
        name = _filled(shortened(one_line(category), room), room)
        return f"{name}{self._figures({heading: heading for heading in self.figures})}".rstrip()

    def row(self, mark: str, number: int, task: Task, figures: Mapping[str, str]) -> str:
        """A level's line; ``figures`` by heading."""
        name = _filled(shortened(_name(task, self.is_full), self.name), self.name)
        return f"{mark:{_MARK}} {number:>{self.number}} {name}{self._figures(figures)}".rstrip()

    def _figures(self, figures: Mapping[str, str]) -> str:
        return "".join(f" {figures[heading]:>{_width(heading, self.number)}}" for heading in self.figures)


def _width(heading: str, number: int) -> int:
    return max(len(heading), 2 * number + 1) if heading == "solved" else _WIDTHS[heading]


def _name(task: Task, full: bool) -> str:
    return one_line(f"{task.level}: {task.env_id}" if full else task.env_id)


def _filled(text: str, columns: int) -> str:
    return text + " " * (columns - cell_len(text))


def figures(summary: Mapping[str, Any], seconds: float, solved: str, so_far: Mapping[str, Any]) -> dict[str, str]:
    """The figures of a finished level by heading.

    Args:
        summary: the level's.
        seconds: that it took.
        solved: levels solved of those that are finished.
        so_far: usage of the run.
    """
    counters, usage = summary["counters"], summary["usage"]
    return {
        "rounds": str(counters["spca_rounds"]),
        "calls": str(counters["planner_calls"] + counters["coder_calls"]),
        "steps": str(summary["steps"]),
        "tokens": spending.brief_tokens(usage),
        "USD": spending.brief_usd(usage, _WIDTHS["USD"]),
        "time": duration(seconds),
        "solved": solved,
        "spent": spending.brief_usd(so_far, _WIDTHS["spent"]),
    }


_TROUBLES: Final = {
    "PDDL repair": "planner_syntax",
    "code repair": "coder_syntax",
    "refused plan": "plan_objections",
    "rejected writer": "writer_rejected",
}


def troubles(counters: Mapping[str, int], ended: Sequence[str]) -> str:
    """What failed on the way through a level, "" where nothing did.

    Args:
        counters: of the level.
        ended: statuses of its failed attempts, in order.
    """
    said = [counted(counters[counter], what) for what, counter in _TROUBLES.items() if counters.get(counter)]
    if ended:
        kinds = Counter(ended)
        statuses = (f"{number} {status}" if 1 < number < len(ended) else status for status, number in kinds.items())
        said.append(f"{counted(len(ended), 'failed attempt')}: {', '.join(statuses)}")
    return ", ".join(said)
