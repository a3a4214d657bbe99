"""Options that several commands share."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, TypeAlias, TypeVar

from cyclopts import Parameter

from spca.common.installation import find_runs
from spca.common.options.values import FOLDER

Value = TypeVar("Value")
Handed: TypeAlias = Annotated[Value, Parameter(parse=False)]
"""Type of a command's parameter that the program passes, and that is not read from the command line."""


@Parameter(name="*")
@dataclass(frozen=True, slots=True, kw_only=True)
class RunsOption:
    """The option for the folder of runs.

    Attributes:
        runs: where run folders lie (default runs)
    """

    runs: Annotated[str | None, FOLDER] = None

    @property
    def folder(self) -> Path:
        """Path of the folder of runs."""
        return find_runs(self.runs)


@contextmanager
def pause_garbage_collection() -> Iterator[None]:
    """Switch off Python's cyclic garbage collection until the block ends.

    In a command that reads a million events, the search for cycles takes a quarter of the time and finds no cycle.
    """
    is_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if is_enabled:
            gc.enable()
