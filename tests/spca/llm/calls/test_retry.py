"""When a request is sent again."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spca.errors import TransientError
from spca.llm.calls.retry import RetryPolicy

POLICY = RetryPolicy(attempts=5, first_s=1.0, cap_s=4.0, longest_s=30.0)


def wait(failed: int, retry_after: float | None = None, seed: int = 0, policy: RetryPolicy = POLICY) -> float | None:
    return policy.wait(failed, TransientError("busy", retry_after=retry_after), random.Random(seed))


@given(st.integers(1, 4), st.integers())
def test_waits_double_up_to_a_cap_and_are_spread(failed: int, seed: int) -> None:
    longest = min(4.0, 2.0 ** (failed - 1))
    waited = wait(failed, seed=seed)
    assert waited is not None
    assert longest / 2 <= waited <= longest


def test_clients_that_failed_together_do_not_return_together() -> None:
    assert len({wait(1, seed=seed) for seed in range(20)}) == 20


@pytest.mark.parametrize("failed", [5, 6, 100])
def test_a_call_is_given_up_after_so_many_requests(failed: int) -> None:
    assert wait(failed) is None
    assert wait(failed, retry_after=0.0) is None


@given(st.integers(1, 4), st.floats(0, 30), st.integers())
def test_the_server_is_never_asked_again_before_its_time(failed: int, retry_after: float, seed: int) -> None:
    waited = wait(failed, retry_after, seed)
    assert waited is not None
    assert max(retry_after, min(4.0, 2.0 ** (failed - 1)) / 2) <= waited <= max(retry_after, 4.0)


@pytest.mark.parametrize("retry_after", [30.1, 1e9, float("inf")])
def test_a_server_that_asks_for_too_long_is_not_waited_for(retry_after: float) -> None:
    assert wait(1, retry_after) is None


def test_one_attempt_is_no_retry() -> None:
    assert wait(1, policy=RetryPolicy(attempts=1)) is None


def test_by_default_a_short_outage_is_outlasted() -> None:
    policy, total = RetryPolicy(), 0.0
    for failed in range(1, policy.attempts):
        waited = wait(failed, policy=policy)
        assert waited is not None
        total += waited
    assert 10 < total < 60
