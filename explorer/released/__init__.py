"""The released sets of scenes, which are identical for all users, so that results are comparable.

``python -m explorer release`` makes the sets again. ``README.md`` in the same folder describes the sets.
"""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path
from typing import Final

SETS: Final = ("train", "test", "hard")
"""Names of the sets; each set is a file with one scene per line."""


def file_of(name: str) -> Path:
    """Return the file of a set."""
    return Path(__file__).with_name(f"{name}.jsonl")


@cache
def is_released(path: Path) -> bool:
    """Return whether a file is the unchanged file of a released set, judged by the checksum."""
    if path not in map(file_of, SETS):
        return False
    line = f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}"
    return line in path.with_name("SHA256SUMS").read_text("utf-8").splitlines()
