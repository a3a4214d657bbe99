"""The released sets of scenes: the same for everyone, so that results can be compared.

``python -m explorer release`` makes them again; ``README.md`` beside them says what they are.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

SETS: Final = ("train", "test", "hard")
"""Names of the sets; each is a file with a scene a line."""


def file_of(name: str) -> Path:
    """Return the file of a set."""
    return Path(__file__).with_name(f"{name}.jsonl")
