"""What a report shows of problem writers."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TriedWriter:
    """A stored problem writer that was tried on a level. ``miss``: ``refused``, ``invalid`` or ``failed``, and why; ""
    for the one whose plan solved it."""

    label: str
    miss: str
    reason: str
