"""The clocks that a worker may read."""

from __future__ import annotations

import pytest

from spca.sandbox.kernel.lockdown import Layer
from tests.support.spca.kernel import Children

ROOM = "room = ctypes.create_string_buffer(128)\n"
READING = """
import time
names = ("time", "time_ns", "monotonic", "perf_counter", "process_time", "thread_time")
answer = [getattr(time, name)() > 0 for name in names]
answer += [call(228, number, ctypes.addressof(room)) == 0 for number in (0, 1, 2, 3, 4, 5, 6, 7, 11)]
"""


@pytest.mark.long
def test_those_of_everybody_and_its_own() -> None:
    with Children() as children:
        assert children.run(ROOM + READING, Layer.USER | Layer.SECCOMP) == ([True] * 15, 0)


@pytest.mark.long
def test_not_those_of_other_processes() -> None:
    first_process = ROOM + "answer = call(228, ~1 << 3 | 2, ctypes.addressof(room))"
    with Children() as children:
        assert children.run(first_process) == (0, 0)
        assert children.run(first_process, Layer.SECCOMP) == (-1, 0)
