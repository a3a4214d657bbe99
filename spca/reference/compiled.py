"""Read the problem writers that ship with the package, and choose one that can read the state in a prompt.

A problem writer is Python code whose function ``make_problem`` turns a state into a PDDL problem.
"""

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

    Attributes:
        text: the writer in the form in which an answer contains it.
        make_problem: the writer's function, ready to call.
    """

    text: ProblemWriter
    version: int
    make_problem: Callable[[Mapping[str, Any]], str]


@lru_cache(maxsize=1)
def writers() -> tuple[ShippedWriter, ...]:
    """Return all shipped writers, sorted by file name, so that the smaller version of two versions comes first."""
    return tuple(_read_writers())


def choose_writer(state: Mapping[str, Any], known: Container[str] = ()) -> tuple[ProblemWriter, str] | None:
    """Return a writer that can read the state, and the PDDL problem that this writer makes for the state.

    Return None if no writer can read the state. If several versions of the writer can read the state, the smallest
    version is chosen. If ``known`` contains the writer's name, the largest version is chosen. The reason is that a new
    version has to read all states that the known version reads.

    Args:
        state: the state from :func:`spca.writers.stored.writer_state`.
        known: the names of the writers of which the caller already has a version.
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
    """Return the PDDL problem that the writer makes for the state, or "" if the writer cannot read the state."""
    try:
        return writer.make_problem(state)
    except ValueError:
        return ""


def _read_writers() -> Iterator[ShippedWriter]:
    """Yield the writers in the package's folder, sorted by file name.

    A writer consists of two files: ``NAME_VERSION.pddl`` with the domain, and ``NAME_VERSION.py`` with the function.
    """
    folder = resources.files(_FOLDER)
    files = [entry.name for entry in folder.iterdir()]
    stems = [file.removesuffix(".pddl") for file in files if file.endswith(".pddl")]
    for stem in sorted(stems):
        domain = folder.joinpath(f"{stem}.pddl").read_text(encoding="utf-8")
        source = folder.joinpath(f"{stem}.py").read_text(encoding="utf-8")
        name, _, version = stem.rpartition("_")
        make_problem = import_module(f"{_FOLDER}.{stem}").make_problem
        yield ShippedWriter(ProblemWriter(name, domain, source), int(version), make_problem)
