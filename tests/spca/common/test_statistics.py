"""Intervals of shares and ratios."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spca.common.statistics import Rate, ratio_of_sums


@pytest.mark.parametrize(("good", "total"), [(0, 100), (5, 100), (50, 100), (100, 100), (1, 1), (3, 7), (0, 1)])
def test_wilsons_interval_is_that_of_scipy(good: int, total: int) -> None:
    from scipy.stats import binomtest  # type: ignore[import-untyped]  # takes half a second

    theirs = binomtest(good, total).proportion_ci(method="wilson")
    assert Rate(good, total).interval == pytest.approx((theirs.low, theirs.high), abs=1e-12)


@given(st.integers(1, 10**6).flatmap(lambda total: st.tuples(st.integers(0, total), st.just(total))))
def test_an_interval_solves_wilsons_equation_and_holds_the_share(counted: tuple[int, int]) -> None:
    rate = Rate(*counted)
    low, high = rate.interval
    assert 0 <= low <= rate.value <= high <= 1
    for bound in (low, high):
        if 0 < bound < 1:
            deviation = abs(rate.value - bound) / math.sqrt(bound * (1 - bound) / rate.total)
            assert deviation == pytest.approx(1.959964, rel=1e-3)


def test_nothing_counted_says_nothing() -> None:
    assert Rate(0, 0).interval == (0.0, 1.0)
    assert ratio_of_sums([]) is None
    assert ratio_of_sums([(3, 0), (0, 0)]) is None


def test_a_ratio_is_of_sums_and_lies_in_its_interval() -> None:
    clusters = [(9 + number, 10 + 3 * number % 7) for number in range(20)]
    found = ratio_of_sums(clusters)
    assert found is not None
    assert found.value == pytest.approx(sum(a for a, _ in clusters) / sum(b for _, b in clusters))
    assert found.low < found.value < found.high
    assert found == ratio_of_sums(clusters)
    assert found != ratio_of_sums(clusters, seed=1)


def test_what_resembles_each_other_counts_once() -> None:
    """A hundred pairs in ten clusters that are all good or all bad say less than a hundred pairs."""
    clustered = ratio_of_sums([(10 * (number < 5), 10) for number in range(10)])
    single = ratio_of_sums([(number < 50, 1) for number in range(100)])
    assert clustered is not None
    assert single is not None
    assert clustered.high - clustered.low == pytest.approx(2 * 1.96 * 0.5 / math.sqrt(10), rel=0.1)
    assert single.high - single.low == pytest.approx(2 * 1.96 * 0.5 / math.sqrt(100), rel=0.1)


def test_empty_clusters_are_no_obstacle() -> None:
    found = ratio_of_sums([(0, 0), (0, 0), (4, 5)])
    assert found is not None
    assert found.value == found.low == found.high == pytest.approx(0.8)
