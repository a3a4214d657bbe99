"""Traces that may refute a certificate: steps that win, with mistakes."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from explorer.rules.actions import Primitive


def mistaken(codes: Sequence[int], draw: Random, most: int = 3) -> list[int]:
    """Return codes with a few steps dropped, doubled, preceded by another one of them, or replaced by any primitive.

    Args:
        most: mistakes.
    """
    wrong = list(codes)
    for _ in range(draw.randint(1, most)):
        at = draw.randrange(len(wrong)) if wrong else 0
        here = wrong[at : at + 1]
        wrong[at : at + 1] = draw.choice(
            ([], here * 2, [draw.choice(codes), *here], [draw.randrange(Primitive.DONE)]),
        )
    return wrong
