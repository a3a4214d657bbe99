"""``anthropic/...`` through the official SDK."""

from __future__ import annotations

from spca.llm.providers.anthropic.anthropic import AnthropicProvider
from spca.llm.providers.anthropic.messages import MAX_OUTPUT
from tests.fakes.anthropic_wire import ANTHROPIC
from tests.support.contracts.provider_listing_suite import ProviderListingSuite
from tests.support.contracts.provider_peer_suite import EndingPeerSuite
from tests.support.contracts.provider_suite import ProviderFaultSuite, ProviderSuite, RefusalSuite
from tests.support.contracts.providing import ProviderBench


class Bench(ProviderBench):
    make = AnthropicProvider
    dialect = ANTHROPIC
    key = "ANTHROPIC_API_KEY"
    limit = MAX_OUTPUT


class TestAnthropic(Bench, ProviderSuite, RefusalSuite):
    pass


class TestAnthropicListing(Bench, ProviderListingSuite):
    pass


class TestAnthropicFaults(Bench, ProviderFaultSuite):
    pass


class TestAnthropicPeer(Bench, EndingPeerSuite):
    pass
