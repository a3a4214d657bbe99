"""What a report shows of problem writers, as events and summaries tell it (pure)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from spca.report.read.lenient import count, counts, items, table, text, texts


@dataclass(frozen=True, slots=True)
class TriedWriter:
    """A stored problem writer that was tried on a level. ``miss``: ``refused``, ``invalid`` or ``failed``, and why; ""
    for the one whose plan solved it."""

    label: str
    miss: str
    reason: str


@dataclass(frozen=True, slots=True)
class OfferedWriter:
    """The problem writer that came with the plan of a solved level: the ``label`` of the new version, or "" and the
    ``reason`` why it was not accepted. ``source`` and ``domain`` are ids of texts, "" where there are none."""

    name: str
    label: str
    reason: str
    source: str = ""
    domain: str = ""


@dataclass(frozen=True, slots=True)
class WriterRow:
    """A version of a problem writer.

    Attributes:
        level: number of the level that it came with.
        planned: levels that it planned without a call.
        failed, late, invalid: its strikes in the whole run, of its own file, as the others.
        cases: levels that it has to go on reading.
        left_out: where and why it is not tried any more, "" if nowhere.
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
    """Read a ``compiled_plan`` event."""
    return TriedWriter(**texts(event, "miss", "reason"), label=text(event.get("writer")))


def find_planning_writer(summary: Mapping[str, Any]) -> str:
    """Return the label of the stored writer that made the last plan of a level, "" if a model did."""
    return text(table(summary.get("writers")).get("plan"))


def offer(summary: Mapping[str, Any]) -> OfferedWriter | None:
    """Return the writer that came with the plan of a level, without its texts."""
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
    """Return every version that was accepted in a run, in that order; ``record`` gives the JSON of a label."""
    born = dict[str, int]()
    planned = Counter[str]()
    for summary in summaries:
        offered = offer(summary)
        if offered and offered.label:
            born[offered.label] = count(summary.get("index"))
        if summary.get("outcome") == "success":
            planned[find_planning_writer(summary)] += 1
    rows = []
    for label, level in born.items():
        known = record(label)
        cases = len(items(known.get("cases")))
        more = texts(known, "left_out") | counts(known, "failed", "late", "invalid")
        rows.append(WriterRow(label, level, planned[label], cases=cases, **more))
    return tuple(rows)
