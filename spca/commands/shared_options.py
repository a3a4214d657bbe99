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
"""A parameter of a command that its program hands to it."""


@Parameter(name="*")
@dataclass(frozen=True, slots=True, kw_only=True)
class RunsOption:
    """Where runs lie.

    Attributes:
        runs: where run folders lie (default runs)
    """

    runs: Annotated[str | None, FOLDER] = None

    @property
    def folder(self) -> Path:
        """The folder of the runs."""
        return find_runs(self.runs)


@contextmanager
def pause_garbage_collection() -> Iterator[None]:
    """Collect no garbage until the block ends.

    Looking for cycles among the values of a million events takes a quarter of the time, and there are none.
    """
    is_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if is_enabled:
            gc.enable()
