"""When a request is sent again: exponential back-off with jitter, the server's own word first."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Final

from spca.errors import TransientError

AGAIN: Final = "; trying again in"
"""Ends what is wrong in the line on a request that is sent again; when that is done follows."""


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """``attempts`` requests at most for one call; waits in seconds.

    The ``n``-th wait is ``first_s * 2**(n-1)``, at most ``cap_s``, of which a random half is left out, so that clients
    that failed together do not return together (M. Brooker, "Exponential Backoff And Jitter", 2015). A server that
    asks for more than ``longest_s`` is not waited for.
    """

    attempts: int = 6
    first_s: float = 1.0
    cap_s: float = 60.0
    longest_s: float = 300.0

    def wait(self, failed: int, error: TransientError, rng: random.Random) -> float | None:
        """Seconds to wait after the ``failed``-th failure (from 1); None when the call is to be given up."""
        if failed >= self.attempts or (error.retry_after or 0) > self.longest_s:
            return None
        backoff = min(self.cap_s, self.first_s * 2.0 ** (failed - 1)) * rng.uniform(0.5, 1.0)
        return max(backoff, error.retry_after) if error.retry_after is not None else backoff
