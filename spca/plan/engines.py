"""The planning engines of Unified Planning that may be used, by the name ``--engine`` takes."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Final

OWN: Final = "pyperplan-adl"
"""pyperplan behind a grounding of ours (:mod:`spca.plan.grounding`)."""

AUTOMATIC: dict[str, str] = {
    "pyperplan": "up_pyperplan",
    "tamer": "up_tamer",
    OWN: "up_pyperplan",
    "fast-downward": "up_fast_downward",
}
"""Engines tried when none is asked for, with their modules; the fastest first, the most capable last.

Medians on the 58 different problems of the curriculum, on two busy cores: pyperplan 11 ms, but it knows STRIPS with
types only; tamer 25 ms, it adds negative and disjunctive conditions and equality but no subtypes; Fast Downward 290 ms,
it covers all of classical PDDL. pyperplan-adl solves in 2 to 70 ms most of what was left to it. Their plans were
equally long, and as short as those of Fast Downward's optimal search.
"""

ENGINES: dict[str, str] = AUTOMATIC | {
    "pyperplan-opt": "up_pyperplan",
    "fast-downward-opt": "up_fast_downward",
}
"""All engines that can be asked for: the automatic ones and those that find shortest plans."""


def available_engines() -> tuple[str, ...]:
    """Return the names of the installed engines, without importing them."""
    return tuple(name for name, module in ENGINES.items() if find_spec(module) is not None)
