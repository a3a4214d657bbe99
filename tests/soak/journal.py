"""Work of many items that goes on after an interruption: the figures of what is done, and processes for the rest."""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeVar

from tests.soak.common import ROOT, SCRATCH, conclude, gate_parser

Figures = dict[str, Any]
"""What an item comes to, as JSON; what is wrong is listed in it."""
Key = tuple[str | int, ...]
"""Names and numbers that tell an item from all others."""
Found = Mapping[Key, Figures]
Item = TypeVar("Item", bound=Key)


class Slice(NamedTuple):
    """A piece of a gate's work that is done in one go."""

    gate: str
    seed: int
    first: int
    size: int


def slices(shares: Mapping[str, tuple[float, int]], gates: Iterable[str], seed: int, count: int) -> Iterator[Slice]:
    """Yield all the work.

    Args:
        shares: of every gate, its share of the count, and how many items a slice has.
    """
    for gate in gates:
        share, size = shares[gate]
        total = max(1, round(count * share))
        for first in range(0, total, size):
            yield Slice(gate, seed, first, min(size, total - first))


class Journal:
    """Figures by item, a line of JSON each, below a line that names the code they are of.

    Figures of other code are dropped, and so is a line whose writer was killed within it; with ``afresh`` all are.
    """

    def __init__(self, path: Path, code: str, *, afresh: bool = False) -> None:
        self._path, self._code, self._found = path, code, dict[Key, Figures]()
        whole = path.read_bytes().split(b"\n")[:-1] if path.is_file() and not afresh else []
        if whole[:1] == [code.encode()]:
            self._found = {tuple(item): figures for item, figures in map(json.loads, whole[1:])}
        self._write()

    @property
    def found(self) -> Found:
        """The figures of everything that is done."""
        return self._found

    def add(self, item: Key, figures: Figures) -> None:
        """Keep the figures of an item."""
        self._found[item] = figures
        if not self._path.exists():
            self._write()
            return
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps([item, figures]) + "\n")

    def forget(self, items: Iterable[Key]) -> None:
        """Drop the items of work that is complete; what is kept of other work stays."""
        for item in items:
            self._found.pop(item, None)
        self._write()

    def _write(self) -> None:
        if not self._found:
            self._path.unlink(missing_ok=True)
            return
        self._path.parent.mkdir(parents=True, exist_ok=True)
        partial = self._path.with_suffix(".partial")
        lines = [self._code, *map(json.dumps, self._found.items())]
        partial.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        os.replace(partial, self._path)


def code_of(*patterns: str) -> str:
    """A hash of all files below the checkout that match: of everything whose change makes old figures worthless."""
    made = hashlib.sha256()
    for path in sorted({path for pattern in patterns for path in ROOT.glob(pattern)}):
        made.update(path.read_bytes())
    return made.hexdigest()


@dataclass(frozen=True, slots=True)
class Soak(Generic[Item]):
    """A soak of items that have nothing to do with each other.

    Attributes:
        name: as ``scripts/soak`` has it.
        title: of its section in docs/evidence.md.
        parts: what ``--only`` chooses from.
        unit: what the items are called.
        sources: patterns of the files, below the checkout, whose change makes old figures worthless.
        do: what an item comes to, in a process of its own.
        table: the figures as Markdown, and everything that was wrong.
    """

    name: str
    title: str
    parts: tuple[str, ...]
    unit: str
    sources: tuple[str, ...]
    do: Callable[[Item], Figures]
    table: Callable[[Sequence[Item], Found], tuple[str, list[str]]]

    def parser(self, description: str | None) -> argparse.ArgumentParser:
        """With all that such soaks share; ``--count`` and ``--seed`` are theirs to add."""
        parser = gate_parser(self.name, description)
        names = ", ".join(self.parts)
        parser.add_argument("--only", type=self._some, default=self.parts, metavar="NAME,...", help=f"of {names}")
        parser.add_argument("--jobs", type=int, default=2, help="processes")
        parser.add_argument("--afresh", action="store_true", help="forget what was interrupted")
        return parser

    def _some(self, text: str) -> tuple[str, ...]:
        chosen = tuple(dict.fromkeys(text.split(",")))
        if unknown := [name for name in chosen if name not in self.parts]:
            raise argparse.ArgumentTypeError(f"there is no {', '.join(unknown)}; there are {', '.join(self.parts)}")
        return chosen

    def run(self, work: Sequence[Item], options: argparse.Namespace) -> int:
        """Do the work, or go on with it, and tell what it came to; the exit code.

        Raises:
            KeyboardInterrupt: it was interrupted; what was done is in the journal.
        """
        path = SCRATCH / self.name.replace("-", "_") / "journal.jsonl"
        journal = Journal(path, code_of(*self.sources), afresh=options.afresh)
        self._carry_out(work, journal, options.jobs)
        text, wrong = self.table(work, journal.found)
        only = "" if set(options.only) == set(self.parts) else f" --only {','.join(options.only)}"
        flags = f"--count {options.count:.10g} --seed {options.seed}{only}"
        code = conclude(self.name, self.title, flags, text, wrong, is_recorded=options.record)
        journal.forget(work)
        return code

    def _carry_out(self, work: Sequence[Item], journal: Journal, jobs: int) -> None:
        """What the journal does not hold yet, showing on standard error how far it is."""
        left = [item for item in work if item not in journal.found]
        with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
            running = {pool.submit(self.do, item): item for item in left}
            try:
                for number, future in enumerate(as_completed(running), len(work) - len(left) + 1):
                    journal.add(running[future], future.result())
                    print(f"\r{number} of {len(work)} {self.unit}", end="", file=sys.stderr, flush=True)
            finally:
                pool.shutdown(cancel_futures=True)
        print(file=sys.stderr)
