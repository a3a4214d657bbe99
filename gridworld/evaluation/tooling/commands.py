"""The tools of ``multinet-run-eval`` around tasks and results, each imported when it is called.

A tool takes its arguments and gives the exit code: 0 done, 2 a mistake of the user or a file that cannot be used, 130
interrupted; ``certify`` gives 1 where a proof does not hold.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from types import MappingProxyType
from typing import Final, TypeAlias

Tool: TypeAlias = Callable[[Sequence[str]], int]

_MODULES: Final = {
    "validate": "validating",
    "generate": "generating",
    "certify": "certifying",
    "draw": "drawing",
    "leaderboard": "ranking",
    "list": "listing",
}


def _tool(module: str) -> Tool:
    def run(argv: Sequence[str]) -> int:
        code: int = import_module(f"gridworld.evaluation.tooling.{module}").run(argv)
        return code

    return run


COMMANDS: Final[Mapping[str, Tool]] = MappingProxyType({name: _tool(module) for name, module in _MODULES.items()})
"""Tools by the word that calls them."""
