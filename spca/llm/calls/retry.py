"""Waits before a failed request is sent again: exponential back-off with jitter, or the time the server asks for."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Final

from spca.errors import TransientError

AGAIN: Final = "; trying again in"
"""Separates the fault from the wait in the line about a repeated request: "FAULT; trying again in 4 s (2 of 6)"."""


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How often a request is repeated, and after which waits.

    The ``n``-th wait (``n`` from 1) is ``min(cap_s, first_s * 2**(n-1))`` seconds, times a random factor between 0.5
    and 1. The random factor spreads clients that failed together (M. Brooker, "Exponential Backoff And Jitter", 2015).

    Attributes:
        attempts: maximum number of requests for one call.
        first_s: upper limit of the first wait, in seconds.
        cap_s: upper limit of every wait, in seconds, unless the server asks for a longer wait.
        longest_s: maximum wait that a server may ask for, in seconds; the call is given up if the server asks for more.
    """

    attempts: int = 6
    first_s: float = 1.0
    cap_s: float = 60.0
    longest_s: float = 300.0

    def wait(self, failed: int, error: TransientError, rng: random.Random) -> float | None:
        """Return the seconds to wait before the next request, None if the call is to be given up.

        Args:
            failed: number of failures of this call so far, from 1.
            error: the latest failure.
            rng: source of the jitter.
        """
        asked_wait = error.retry_after or 0
        if failed >= self.attempts or asked_wait > self.longest_s:
            return None
        longest_backoff = min(self.cap_s, self.first_s * 2.0 ** (failed - 1))
        backoff = longest_backoff * rng.uniform(0.5, 1.0)
        return max(backoff, asked_wait)
