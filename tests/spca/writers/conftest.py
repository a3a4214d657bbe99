"""The sandbox that the tests of writers share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from spca.sandbox.executor import SandboxExecutor
from spca.writers.running import WriterRunner


@pytest.fixture(scope="session")
def executor() -> Iterator[SandboxExecutor]:
    with SandboxExecutor() as executor:
        yield executor


@pytest.fixture
def runner(executor: SandboxExecutor) -> WriterRunner:
    return WriterRunner(executor)
