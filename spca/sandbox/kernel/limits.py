"""Resources that generated code may use."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """Budgets of one episode.

    Attributes:
        yield_seconds: wall time from sending a state until the answer with the next primitive.
        first_yield_seconds: wall time until the first primitive; includes the loading of the module.
        cpu_seconds: processor time of the whole episode.
        wall_seconds: wall time that the world waits for generated code, summed over the whole episode.
        memory_bytes: size of the address space; includes the interpreter and numpy.
        printed_bytes: length of the printed text that is kept; text beyond this length is dropped.
    """

    yield_seconds: float = 1.0
    first_yield_seconds: float = 2.0
    cpu_seconds: int = 10
    wall_seconds: float = 60.0
    memory_bytes: int = 512 << 20
    printed_bytes: int = 4096
