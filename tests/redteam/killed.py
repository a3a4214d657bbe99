"""Episodes that end by violence, for counting what they leave behind."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import cycle, islice
from typing import Final

from spca.sandbox.kernel.limits import Limits
from tests.redteam.attack import agent_source

LIMITS: Final = Limits(first_yield_seconds=0.05, yield_seconds=0.05)
"""Short, since every second episode waits for its time to be over."""

_BODIES: Final = (
    "while True: pass",
    "yield 1\nwhile True: pass",
    "import ctypes\nctypes.string_at(0)",
    "import os\nos._exit(3)",
    "yield 1\nyield 'x'",
    "while True: yield 0",
    "import os\nos.write(4, b'x' * 100000)",
    "import os\nwhile True:\n    try: os.fork()\n    except OSError: pass",
    "yield 1\nraise SystemExit",
    "keep = [bytes(1 << 28), bytes(1 << 28)]",
    "import os\nos.close(4)\nos.close(3)",
)


def sources(count: int) -> Iterator[str]:
    """``count`` sources of agents."""
    return islice(cycle(map(agent_source, _BODIES)), count)
