"""``main.py`` in a forked process, while every entry into the files of its start is counted; prints them as JSON."""

from __future__ import annotations

import importlib
import json
import sys
from collections import Counter
from functools import cache
from pathlib import Path
from types import FrameType
from typing import Any, Final

ROOT: Final = Path(__file__).resolve().parents[2]
TABLES: Final = ("models.json", "mine.json")
READS_OF_SEQUENCES: Final = frozenset({"__len__", "__iter__", "__getitem__"})
"""Methods that read a sequence. They do not count, because a call of ``len`` leads a reader nowhere."""


class Entries:
    """A profile function.

    Attributes:
        ways: entries by file until the run is prepared, and from there to its first level.
    """

    def __init__(self) -> None:
        self.ways: list[Counter[str]] = [Counter()]
        self._frames: dict[int, FrameType] = {}

    def __call__(self, frame: FrameType, event: str, _about: object) -> None:
        """Count the call of a function by a function of another file."""
        if event != "call" or not (name := _file(frame)):
            return
        code = frame.f_code
        if code.co_name == "<module>" or code.co_name in READS_OF_SEQUENCES or id(frame) in self._frames:
            return
        self._frames[id(frame)] = frame  # kept, so that a generator that goes on is known
        if code.co_qualname in ("Run.play_level", "_report"):
            sys.setprofile(None)
            return
        if code.co_qualname == "Run.__init__":
            self.ways.append(Counter())
        caller = frame.f_back
        while caller and not _file(caller):
            caller = caller.f_back
        if caller is None or _file(caller) != name:
            self.ways[-1][name] += 1


def _file(frame: FrameType) -> str:
    return _named(frame.f_code.co_filename)


@cache
def _named(path: str) -> str:
    name = path.removeprefix(f"{ROOT}/")
    counts = name == "main.py" or name.startswith(("spca/commands/", "spca/runs/"))
    return name if counts and name != "spca/runs/settings.py" else ""


def _is_hashing(frame: FrameType | None) -> bool:
    """Whether a file is opened because every file of the product is hashed."""
    while frame is not None and Path(frame.f_code.co_filename).name == "pathlib.py":
        frame = frame.f_back
    return frame is not None and frame.f_globals["__name__"] == "spca.common.source_state"


def main() -> None:
    """Run the command line."""
    application = importlib.import_module("main")

    opened, entries = list[str](), Entries()

    def listen(event: str, about: tuple[Any, ...]) -> None:
        if event != "open" or not about[1]:  # once for each file, whatever opens its descriptor
            return
        name = Path(str(about[0])).name
        if name in TABLES and not _is_hashing(sys._getframe(1)):
            opened.append(name)

    sys.addaudithook(listen)
    sys.setprofile(entries)
    code = application.main()
    sys.setprofile(None)
    tables = {name: opened.count(name) for name in TABLES}
    print(f"\n{json.dumps({'code': code, 'ways': entries.ways, 'tables': tables})}")
