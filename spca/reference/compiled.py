"""The shipped problem writers: read from the package's files, and tried on the state that a prompt shows."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module, resources
from typing import Any, Final

from spca.contracts import ProblemWriter

_FOLDER: Final = "spca.reference.writers"


@dataclass(frozen=True, slots=True)
class ShippedWriter:
    """One version of a problem writer.

    ``text`` is the writer in the form that an answer carries; ``make_problem`` is its function, ready to call.
    """

    text: ProblemWriter
    version: int
    make_problem: Callable[[Mapping[str, Any]], str]


@lru_cache(maxsize=1)
def writers() -> tuple[ShippedWriter, ...]:
    """Return all shipped writers, sorted by file name, so that a smaller version of a writer comes first."""
    return tuple(_read_writers())


def choose_writer(state: Mapping[str, Any], known: Container[str] = ()) -> tuple[ProblemWriter, str] | None:
    """Return a writer that can read the state, and the PDDL problem that the writer makes of the state.

    Return None if no writer can read the state, which comes from :func:`spca.writers.stored.writer_state`.

    Of several versions of the writer, the smallest version is chosen. If ``known`` holds the writer's name, the largest
    version is chosen, because a new version has to read all states that the known version reads.
    """
    readable = []
    for writer in writers():
        problem = _write_problem(writer, state)
        if problem:
            readable.append((writer.text, problem))
    if not readable:
        return None

    name = readable[0][0].name
    versions = [(writer, problem) for writer, problem in readable if writer.name == name]
    return versions[-1] if name in known else versions[0]


def _write_problem(writer: ShippedWriter, state: Mapping[str, Any]) -> str:
    """Return the PDDL problem that the writer makes of the state, or "" if the writer cannot read the state."""
    try:
        return writer.make_problem(state)
    except ValueError:
        return ""


def _read_writers() -> Iterator[ShippedWriter]:
    """Yield the writers of the package's folder; a writer is a pair of files ``NAME_VERSION.pddl`` and ``.py``."""
    folder = resources.files(_FOLDER)
    files = [entry.name for entry in folder.iterdir()]
    stems = [file.removesuffix(".pddl") for file in files if file.endswith(".pddl")]
    for stem in sorted(stems):
        domain = folder.joinpath(f"{stem}.pddl").read_text(encoding="utf-8")
        source = folder.joinpath(f"{stem}.py").read_text(encoding="utf-8")
        name, _, version = stem.rpartition("_")
        make_problem = import_module(f"{_FOLDER}.{stem}").make_problem
        yield ShippedWriter(ProblemWriter(name, domain, source), int(version), make_problem)
