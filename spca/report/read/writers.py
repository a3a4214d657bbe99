"""Problem writers in a report, read from events and summaries (no input or output)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from spca.report.read.lenient import count, counts, items, table, text, texts


@dataclass(frozen=True, slots=True)
class TriedWriter:
    """A stored problem writer that was tried on a level.

    Attributes:
        miss: ``refused``, ``invalid``, ``late``, ``failed`` or ``left_out``; "" for the writer whose plan solved the
            level.
        reason: why the writer was not successful.
    """

    label: str
    miss: str
    reason: str


@dataclass(frozen=True, slots=True)
class OfferedWriter:
    """A problem writer that the planner offered with the plan of a solved level.

    Attributes:
        label: label of the accepted version; "" if the writer was rejected.
        reason: why the writer was rejected.
        source, domain: ids of texts; "" if there is no text.
    """

    name: str
    label: str
    reason: str
    source: str = ""
    domain: str = ""


@dataclass(frozen=True, slots=True)
class WriterRow:
    """A version of a problem writer.

    Attributes:
        level: number of the level with whose plan the planner offered the version.
        planned: number of solved levels whose last plan the version made without a call of a model.
        failed: number of executed plans that did not solve the level, over all levels of the run.
        cases: number of levels that later versions must still solve.
        late: number of answers that took too long, over all levels of the run.
        invalid: number of answers that were not a solvable problem, over all levels of the run.
        left_out: the levels on which the version is not tried any more, and the reason; "" if there are no such levels.
    """

    label: str
    level: int
    planned: int
    failed: int
    cases: int
    late: int = 0
    invalid: int = 0
    left_out: str = ""


def read_tried(event: Mapping[str, Any]) -> TriedWriter:
    """Return the tried writer that a ``compiled_plan`` event records."""
    return TriedWriter(**texts(event, "miss", "reason"), label=text(event.get("writer")))


def find_planning_writer(summary: Mapping[str, Any]) -> str:
    """Return the label of the stored writer that made the last plan of a level; "" if no stored writer made it."""
    return text(table(summary.get("writers")).get("plan"))


def offer(summary: Mapping[str, Any]) -> OfferedWriter | None:
    """Return the writer that the planner offered with the plan of a level, without texts; None if there was no offer.

    Args:
        summary: the level's summary.
    """
    recorded = table(summary.get("writers"))
    name = text(recorded.get("offered"))
    if not name:
        return None

    label = text(recorded.get("accepted"))
    reason = text(recorded.get("rejected"))
    return OfferedWriter(name, label, reason)


def writer_rows(
    summaries: Iterable[Mapping[str, Any]], record: Callable[[str], Mapping[str, Any]]
) -> tuple[WriterRow, ...]:
    """Return a row for every version that was accepted in a run, in the order of acceptance.

    Args:
        summaries: summaries of the levels, in order.
        record: returns the content of a version's JSON file, by label.
    """
    level_of: dict[str, int] = {}
    planned = Counter[str]()
    for summary in summaries:
        offered = offer(summary)
        if offered and offered.label:
            level_of[offered.label] = count(summary.get("index"))
        if summary.get("outcome") == "success":
            planned[find_planning_writer(summary)] += 1
    rows = []
    for label, level in level_of.items():
        version = record(label)
        cases = len(items(version.get("cases")))
        fields = texts(version, "left_out") | counts(version, "failed", "late", "invalid")
        rows.append(WriterRow(label, level, planned[label], cases=cases, **fields))
    return tuple(rows)
