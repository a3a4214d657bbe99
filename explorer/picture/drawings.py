"""Drawings of devices, plants, items and animals; ``drawings.txt`` holds them as letters."""

from __future__ import annotations

from pathlib import Path
from typing import Final

INKS: Final = {
    "k": 0x16161A,
    "w": 0xF2F2F0,
    "g": 0x8A8A8E,
    "G": 0x5C5C62,
    "t": 0x7A5732,
    "T": 0x54391D,
    "y": 0xF6CF45,
    "o": 0xF08A24,
    "r": 0xC8322B,
    "p": 0xE9A0A0,
    "n": 0x4E8C2E,
    "N": 0x35641E,
}
"""Letter -> colour: black, white, greys, wood, yellow, orange, red, pink, greens."""


def _read() -> dict[str, tuple[str, ...]]:
    sections = Path(__file__).with_name("drawings.txt").read_text("utf-8").split("[")[1:]
    named = (section.split("]", 1) for section in sections)
    return {name: tuple(lines.split()) for name, lines in named}


DRAWINGS: Final = _read()
"""Name of a drawing -> its lines from top to bottom, at most 16 lines of at most 16 letters."""
