"""How long tests wait. What is right happens within milliseconds, what is wrong only after ages or never; the bound
lies far from both, so that no test fails because the machine is busy."""

from __future__ import annotations

import time
from collections.abc import Callable
from itertools import pairwise
from statistics import median
from typing import Final

PATIENCE: Final = 60.0
"""Seconds in which a busy machine too has done what an idle one does at once; less than a test may take."""

AGES: Final = 600.0
"""Seconds of what must not be waited for: a pause, an answer, a time limit that another one must come before."""


def becomes(condition: Callable[[], object], seconds: float = PATIENCE) -> bool:
    """Whether ``condition`` is true, now or within ``seconds``."""
    deadline = time.monotonic() + seconds
    while not (holds := bool(condition())) and time.monotonic() < deadline:
        time.sleep(0.005)
    return holds


def is_punctual() -> bool:
    """Whether a few waits of 50 ms end on time on this machine now: whoever is late then is so by its own doing."""
    begun = [time.monotonic()]
    for _ in range(9):
        time.sleep(0.05)
        begun.append(time.monotonic())
    return median(after - before for before, after in pairwise(begun)) < 0.052
