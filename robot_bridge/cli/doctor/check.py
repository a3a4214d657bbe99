"""One line of the doctor's report."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Check:
    """What was looked at, whether it is as it has to be, and what was found."""

    name: str
    holds: bool
    found: str
