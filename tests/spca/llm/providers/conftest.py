"""Independent servers, started once for each process of the tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.fakes import peers


@pytest.fixture(scope="session", name="aimock")
def running_aimock() -> Iterator[peers.Aimock]:
    with peers.aimock() as server:
        yield server
