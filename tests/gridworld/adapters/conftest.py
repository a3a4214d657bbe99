"""Each adapter with a server that speaks its protocol."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.gridworld.serving import PROTOCOLS, Protocol, ScriptedServer


@pytest.fixture(params=PROTOCOLS)
def protocol(request: pytest.FixtureRequest) -> Protocol:
    return PROTOCOLS[request.param]


@pytest.fixture
def server(protocol: Protocol) -> Iterator[ScriptedServer]:
    with ScriptedServer(protocol.dialect) as running:
        yield running
