"""Executors that the tests of the sandbox share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from spca.sandbox.executor import SandboxExecutor
from spca.sandbox.kernel.limits import Limits
from tests.support.waiting import AGES


@pytest.fixture(scope="session")
def sandboxed() -> Iterator[SandboxExecutor]:
    """The sandbox itself, without the policy."""
    with SandboxExecutor(check=None) as executor:
        yield executor


@pytest.fixture(scope="session")
def impatient() -> Iterator[SandboxExecutor]:
    """Little time for each primitive; no other limit comes before ages have passed."""
    limits = Limits(yield_seconds=0.3, first_yield_seconds=0.6, cpu_seconds=int(AGES), wall_seconds=AGES)
    with SandboxExecutor(check=None, limits=limits) as executor:
        yield executor
