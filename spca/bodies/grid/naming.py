"""The rules of the grid's body for names of objects in plans; see :mod:`spca.sense.object_names`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from spca.body import Renamer
from spca.contracts import LevelInfo, PlanStep, Snapshot
from spca.sense import object_names
from spca.sense.mission_words import mission_words
from spca.sense.renaming import find_meaning

_KINDS: Final = ("key", "door", "ball", "box")
"""Kinds of objects: if a parameter's name is one of these words, the parameter takes an object of this kind."""


class GridNames:
    """Names are ``kind_colour``, which a side or a number may follow; the first argument of an action is the agent."""

    def list_shown_words(self, snapshot: Snapshot, level: LevelInfo) -> frozenset[str]:
        return object_names.words_told(snapshot, level)

    def find_name_faults(self, step: PlanStep, shown: frozenset[str], rename: Renamer) -> Iterator[tuple[str, str]]:
        for name in _iterate_objects(step):
            if fault := object_names.fault_of(name, shown):
                yield name, f"{fault}; {object_names.advice(name, shown, rename)}"

    def find_wrong_argument(self, passed: Mapping[str, str]) -> tuple[str, str] | None:
        """Return (parameter, argument) of an object of the wrong kind, such as a key for the parameter ``door``.

        If no door is involved, a wrong kind is a fault only if another parameter also got a wrong object and wants this
        kind.
        """
        wrong = {name: arg for name, arg in passed.items() if _has_other_kind(name, arg)}
        wanted_kinds = {_kind(name) for name in wrong}
        for name, arg in wrong.items():
            kind = object_names.kind_of(arg)
            if "door" in (kind, _kind(name)) or kind in wanted_kinds:
                return name, arg
        return None

    def find_object_words(self, mission: str, names: Sequence[str]) -> dict[str, str]:
        return mission_words(mission, names)


def _iterate_objects(step: PlanStep) -> Iterator[str]:
    """Yield the arguments of a step, without the agent, which may be the first argument."""
    return (arg for number, arg in enumerate(step.args) if number or object_names.is_thing(arg))


def _kind(parameter: str) -> str:
    """Return the kind of object that a parameter's name denotes; "" if the name denotes no kind."""
    kind = find_meaning(parameter.rstrip("_0123456789"))
    return kind if kind in _KINDS else ""


def _has_other_kind(parameter: str, arg: str) -> bool:
    """Return whether an argument is an object of another kind than the kind that the parameter's name denotes."""
    kind = object_names.kind_of(arg)
    return kind in _KINDS and _kind(parameter) not in ("", kind)
