"""Rates by hops."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from explorer.evaluation.metrics import by_hops, rate_lines
from explorer.evaluation.results import Episode
from spca.common.statistics import Rate


def episode(hops: int, latched: int, restores: int = 0, calls: int = 0) -> Episode:
    names = {f"m{number}": number for number in range(latched)}
    return Episode("s", hops, "m", names, solved=latched == hops, steps=10 * hops, restores=restores, calls=calls)


def test_nothing_counted_says_nothing() -> None:
    assert by_hops([]) == ()


def test_episodes_are_counted_by_hops() -> None:
    played = [episode(2, 2), episode(2, 2, restores=1), episode(2, 0), episode(1, 1), episode(4, 3, calls=8)]
    one, two, four, everything = by_hops(played)
    assert [row.hops for row in (one, two, four, everything)] == [1, 2, 4, None]
    assert (two.tsr, two.tsr_restored, two.msr) == (Rate(1, 3), Rate(2, 3), Rate(4, 6))
    assert (everything.tsr, everything.msr) == (Rate(2, 5), Rate(8, 11))
    assert four.calls == 8
    assert everything.steps == pytest.approx(22)
    assert json.loads(json.dumps(everything.to_dict()))["msr"]["good"] == 8
    assert str(one.tsr) == "100.0% (20.7% to 100.0%)"


def test_lines_tell_models_and_hops() -> None:
    played = [episode(1, 1), episode(2, 1), replace(episode(2, 2), model="b")]
    assert list(rate_lines(played)) == [
        "b, 2 hops: 1 episode, TSR 100.0% (20.7% to 100.0%), MSR 100.0% (34.2% to 100.0%)",
        "b, all: 1 episode, TSR 100.0% (20.7% to 100.0%), MSR 100.0% (34.2% to 100.0%)",
        "m, 1 hop: 1 episode, TSR 100.0% (20.7% to 100.0%), MSR 100.0% (20.7% to 100.0%)",
        "m, 2 hops: 1 episode, TSR 0.0% (0.0% to 79.3%), MSR 50.0% (9.5% to 90.5%)",
        "m, all: 2 episodes, TSR 50.0% (9.5% to 90.5%), MSR 66.7% (20.8% to 93.9%)",
    ]
