"""Fractions and ratios with 95 % confidence intervals (pure).

A fraction has Wilson's interval (E. B. Wilson, JASA 22, 1927). A ratio of sums over clusters has the percentile
interval of a cluster bootstrap (A. C. Davison and D. V. Hinkley, Bootstrap Methods and their Application, 1997, 3.8).
Whole clusters are drawn because episodes of one environment resemble each other.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

_Z: Final = 1.959963984540054
"""The 97.5 % quantile of the normal distribution."""
RESAMPLES: Final = 10_000
"""Number of bootstrap samples; the bounds of an interval then vary by about a hundredth of its width."""
_AT_ONCE: Final = 100_000
"""Number of clusters drawn in one call; this is many times as fast as one call per sample."""


@dataclass(frozen=True, slots=True)
class Rate:
    """A fraction: ``good`` of ``total``."""

    good: int
    total: int

    @property
    def value(self) -> float:
        """The fraction; 0.0 if ``total`` is 0."""
        return self.good / self.total if self.total else 0.0

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson's interval at 95 %; (0.0, 1.0) if ``total`` is 0."""
        if not self.total:
            return 0.0, 1.0
        share = self.value
        weight = _Z * _Z / self.total
        middle = share + weight / 2
        variance = (share * (1 - share) + weight / 4) / self.total
        half = _Z * math.sqrt(variance)
        low = (middle - half) / (1 + weight)
        high = (middle + half) / (1 + weight)

        # For no success and for all successes one bound is exact; rounding may miss it.
        if self.good == 0:
            low = 0.0
        if self.good >= self.total:
            high = 1.0
        return max(0.0, low), min(1.0, high)

    def __str__(self) -> str:
        low, high = self.interval
        return f"{self.value:.1%} ({low:.1%} to {high:.1%})"

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as JSON-compatible data."""
        low, high = self.interval
        return {"good": self.good, "total": self.total, "rate": self.value, "low": low, "high": high}


@dataclass(frozen=True, slots=True)
class Estimate:
    """A value with the bounds of its 95 % confidence interval."""

    value: float
    low: float
    high: float

    def to_dict(self) -> dict[str, float]:
        """Return the figures as JSON-compatible data."""
        return {"value": self.value, "low": self.low, "high": self.high}


def ratio_of_sums(clusters: Sequence[tuple[float, float]], seed: int = 0) -> Estimate | None:
    """Return the sum of numerators divided by the sum of denominators, with a cluster bootstrap interval.

    The same clusters in the same order always give the same interval. If all clusters have the same ratio, such as 1,
    the interval has no width; this does not mean certainty.

    Args:
        clusters: numerator and denominator of each cluster.
        seed: seed of the resampling.

    Returns:
        The ratio with its interval; None if the denominators add up to 0.
    """
    import numpy as np

    pairs = np.array(clusters, dtype=np.float64).reshape(-1, 2)
    above, below = pairs.sum(axis=0)
    if below == 0:
        return None
    rng = np.random.default_rng(seed)
    ratios = np.empty(0)
    at_once = max(1, _AT_ONCE // len(pairs))
    while missing := RESAMPLES - len(ratios):
        size = (min(at_once, missing), len(pairs))
        drawn = pairs[rng.integers(len(pairs), size=size)].sum(axis=1)
        drawn = drawn[drawn[:, 1] > 0]  # a sample with a denominator of 0 has no ratio
        ratios = np.concatenate((ratios, drawn[:, 0] / drawn[:, 1]))
    low, high = np.percentile(ratios, (2.5, 97.5))
    return Estimate(float(above / below), float(low), float(high))
