"""The supported planning engines of Unified Planning, by the names that the option ``--engine`` accepts."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec
from typing import Final

from spca.common.plugins.sources import PluginSource

OWN: Final = "pyperplan-adl"
"""This project's engine: pyperplan, applied to the problem as grounded by :mod:`spca.plan.grounding`."""

AUTOMATIC: dict[str, str] = {
    "pyperplan": "up_pyperplan",
    "tamer": "up_tamer",
    OWN: "up_pyperplan",
    "fast-downward": "up_fast_downward",
}
"""Engines to try if the user chose no engine, each with its Python module, from the fastest to the most capable.

Median times for the 58 different problems of the curriculum, on two busy cores: pyperplan takes 11 ms, but supports
only STRIPS with types. tamer takes 25 ms and also supports negative conditions, disjunctive conditions and equality,
but no subtypes. pyperplan-adl solves most problems that pyperplan and tamer refuse, in 2 to 70 ms. Fast Downward takes
290 ms and supports all of classical PDDL. All plans were as short as the plans of Fast Downward's optimal search.
"""

ENGINES: dict[str, str] = AUTOMATIC | {
    "pyperplan-opt": "up_pyperplan",
    "fast-downward-opt": "up_fast_downward",
}
"""All engines that a user can choose: the automatic engines and two engines that find shortest plans."""


@dataclass(frozen=True, slots=True)
class AddedEngine:
    """An engine of a plugin.

    Attributes:
        name: name that the option ``--engine`` accepts.
        unified_planning_name: a name that Unified Planning's factory knows, or ``module:Class`` of an engine class.
        given, module: the plugin, see :class:`spca.common.plugins.sources.PluginSource`.
    """

    name: str
    unified_planning_name: str
    given: str
    module: str


ADDED: Final[dict[str, AddedEngine]] = {}
"""Engines that plugins have added, by name; the solver's process gets them when it starts."""


def add_engine(name: str, unified_planning_name: str, source: PluginSource) -> None:
    """Add an engine that a user can choose.

    Raises:
        ValueError: the name is taken.
    """
    if name in ENGINES or name in ADDED:
        raise ValueError(f"engine {name!r} exists already: choose another name")
    ADDED[name] = AddedEngine(name, unified_planning_name, source.given, source.module)


def available_engines() -> tuple[str, ...]:
    """Return the names of the installed engines, without importing them, and of the engines of plugins."""
    installed = [name for name, module in ENGINES.items() if find_spec(module) is not None]
    return (*installed, *ADDED)
