"""What the gate ``size`` says of a tenth of its levels."""

from __future__ import annotations

import pytest

from tests.soak.size import Sample, measure_tenth

SAMPLES = [Sample(time=0.5 * number, cpu=0.25 * number, rss=100.0 + number) for number in range(9)]
"""Of a process that uses half a processor."""


@pytest.mark.parametrize(
    ("ends", "rss"),
    [
        ([1.0, 2.0, 3.0], 106),
        ([1.1, 1.2, 1.3], 103),  # between two samples
        ([3.6, 4.2, 4.8], 108),  # after the last one
        ([0.1, 0.2], 101),
    ],
)
def test_a_tenth_costs_what_the_samples_around_it_say(ends: list[float], rss: float) -> None:
    tenth = measure_tenth(ends, SAMPLES)
    assert tenth.seconds == pytest.approx(ends[1] - ends[0])
    assert tenth.cpu == pytest.approx(tenth.seconds / 2)
    assert tenth.rss == rss
