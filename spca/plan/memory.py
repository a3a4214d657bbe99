"""Memory of a solver's plans, by the words of domain and problem, so that each problem is solved only once."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from threading import Lock

from spca.contracts import SolveResult
from spca.plan.pddl import MAX_CHARS, words

MAX_KEPT = 4096
"""Largest number of remembered results; each takes at most one kilobyte."""


class SolvedTexts:
    """The latest plans by the words of their domain and problem; safe for use by several threads.

    The words are independent of spaces, comments and case. Only successful results are kept, because a failure may be
    temporary, and its message quotes the exact text.
    """

    def __init__(self, most: int = MAX_KEPT) -> None:
        self._most = most
        self._lock = Lock()
        self._results: OrderedDict[bytes, SolveResult] = OrderedDict()

    def find(self, domain: str, problem: str) -> SolveResult | None:
        """Return the remembered result for texts with the same words; None if there is no such result."""
        key = _key(domain, problem)
        with self._lock:
            if key in self._results:
                self._results.move_to_end(key)
            return self._results.get(key)

    def keep(self, domain: str, problem: str, result: SolveResult) -> None:
        """Remember ``result`` if it contains a plan."""
        if not result.solved:
            return
        with self._lock:
            self._results[_key(domain, problem)] = result
            while len(self._results) > self._most:
                self._results.popitem(last=False)


def _key(domain: str, problem: str) -> bytes:
    """Return a hash of the words of both texts.

    If a text is too long or its words are ambiguous, the exact text is used instead of its words.
    """
    digest = hashlib.sha256()
    for text in (domain, problem):
        plain = words(text) if len(text) <= MAX_CHARS else None
        normalized = text if plain is None else " ".join(plain)
        digest.update(f"{len(normalized)};{normalized}".encode(errors="surrogatepass"))
    return digest.digest()
