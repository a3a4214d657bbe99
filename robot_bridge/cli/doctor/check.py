"""Line of the doctor's report."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Check:
    """Line of the doctor's report: name of the checked part, whether the part is in order, and the finding in words."""

    name: str
    holds: bool
    found: str
