"""What generated code may use."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """Budgets of one episode.

    Attributes:
        yield_seconds: wall time from one state shown to the next primitive.
        first_yield_seconds: the same for the first primitive, loading of the module included.
        cpu_seconds: processor time of the whole episode.
        wall_seconds: time that the world waits for generated code, over the whole episode.
        memory_bytes: address space, the interpreter and numpy included.
        printed_bytes: text that is kept of what ``print`` was given.
    """

    yield_seconds: float = 1.0
    first_yield_seconds: float = 2.0
    cpu_seconds: int = 10
    wall_seconds: float = 60.0
    memory_bytes: int = 512 << 20
    printed_bytes: int = 4096
