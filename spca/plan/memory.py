"""What a solver has found, by the words of domain and problem: the same question is solved once."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from threading import Lock

from spca.contracts import SolveResult
from spca.plan.pddl import MAX_CHARS, words

MOST = 4096
"""Results that are remembered; a kilobyte each, at most."""


class SolvedTexts:
    """The latest plans by the words of their PDDL, whatever its spaces, comments and case; safe between threads.

    Only plans are kept: they depend on the words alone. Messages quote the text, and a failure may be one of the
    moment.
    """

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._lock = Lock()
        self._found: OrderedDict[bytes, SolveResult] = OrderedDict()

    def find(self, domain: str, problem: str) -> SolveResult | None:
        """Return the plan for these words, None when it is not known."""
        key = _key(domain, problem)
        with self._lock:
            if key in self._found:
                self._found.move_to_end(key)
            return self._found.get(key)

    def keep(self, domain: str, problem: str, result: SolveResult) -> None:
        """Remember a plan; anything else is not kept."""
        if not result.solved:
            return
        with self._lock:
            self._found[_key(domain, problem)] = result
            while len(self._found) > self._most:
                self._found.popitem(last=False)


def _key(domain: str, problem: str) -> bytes:
    digest = hashlib.sha256()
    for text in (domain, problem):
        plain = words(text) if len(text) <= MAX_CHARS else None
        said = text if plain is None else " ".join(plain)
        digest.update(f"{len(said)};{said}".encode(errors="surrogatepass"))
    return digest.digest()
