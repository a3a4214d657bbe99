"""The released sets of scenes: identical for everyone, so that results are comparable.

``python -m explorer release`` makes them again; ``README.md`` beside them describes them.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

SETS: Final = ("train", "test", "hard")
"""Names of the sets; each is a file with one scene per line."""


def file_of(name: str) -> Path:
    """Return the file of a set."""
    return Path(__file__).with_name(f"{name}.jsonl")
