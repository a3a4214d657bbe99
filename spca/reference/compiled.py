"""The problem writers that the embedded planner answers with: read as data, tried on what the prompt shows."""

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
    """A version of a problem writer, as an answer carries it, and its ``make_problem``."""

    text: ProblemWriter
    version: int
    make_problem: Callable[[Mapping[str, Any]], str]


@lru_cache(maxsize=1)
def writers() -> tuple[ShippedWriter, ...]:
    """Return every writer by name, its smaller versions first."""
    return tuple(_read())


def choose_writer(state: Mapping[str, Any], known: Container[str] = ()) -> tuple[ProblemWriter, str] | None:
    """Return a writer that reads a state (:func:`spca.writers.stored.writer_state`), and its problem.

    That is the smallest version, or the largest one if a writer of its name is ``known``: it must go on reading all
    that that one reads.
    """
    found = []
    for writer in writers():
        problem = _write_problem(writer, state)
        if problem:
            found.append((writer.text, problem))
    if not found:
        return None

    name = found[0][0].name
    family = [each for each in found if each[0].name == name]
    return family[-1] if name in known else family[0]


def _write_problem(writer: ShippedWriter, state: Mapping[str, Any]) -> str:
    """Return the problem of a state, "" if the writer cannot read the state."""
    try:
        return writer.make_problem(state)
    except ValueError:
        return ""


def _read() -> Iterator[ShippedWriter]:
    folder = resources.files(_FOLDER)
    files = [entry.name for entry in folder.iterdir()]
    names = [file.removesuffix(".pddl") for file in files if file.endswith(".pddl")]
    for name in sorted(names):
        domain = folder.joinpath(f"{name}.pddl").read_text(encoding="utf-8")
        source = folder.joinpath(f"{name}.py").read_text(encoding="utf-8")
        family, _, version = name.rpartition("_")
        make_problem = import_module(f"{_FOLDER}.{name}").make_problem
        yield ShippedWriter(ProblemWriter(family, domain, source), int(version), make_problem)
