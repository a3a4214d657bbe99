"""The planning engines of Unified Planning that may be used, by the name ``--engine`` takes."""

from __future__ import annotations

from importlib.util import find_spec

AUTOMATIC: dict[str, str] = {
    "pyperplan": "up_pyperplan",
    "tamer": "up_tamer",
    "fast-downward": "up_fast_downward",
}
"""Engines tried when none is asked for, with their modules; the fastest first, the most capable last.

On the planner's typical problems pyperplan takes 2-10 ms but knows STRIPS with types only; tamer takes 4-20 ms, adds
negative and disjunctive conditions and equality but no subtypes; Fast Downward takes 150 ms and covers all of
classical PDDL.
"""

ENGINES: dict[str, str] = AUTOMATIC | {
    "pyperplan-opt": "up_pyperplan",
    "fast-downward-opt": "up_fast_downward",
}
"""All engines that can be asked for: the automatic ones and those that find shortest plans."""


def available_engines() -> tuple[str, ...]:
    """Names of the installed engines, without importing them."""
    return tuple(name for name, module in ENGINES.items() if find_spec(module) is not None)
