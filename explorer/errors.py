"""Every error that the explorer raises on purpose, in one tree below :mod:`spca.common.errors`.

::

    ExplorerError
    ├── SceneError           a scene, milestone or scene file that cannot be used (also a ValueError)
    │   ├── UnknownNameError     a block, item, recipe or mob that the rules do not know
    │   └── OutsideArenaError    a part of a scene that lies outside its world
    ├── RefutedError         a scene with a required property that is false or cannot be proven
    ├── ActionError          an invalid primitive code, or a step after the end (also a ValueError)
    ├── GenerationError      no scene could be made as requested
    └── EpisodeError         results or settings of an evaluation that cannot be used

``str(error)`` is one line that names the cause and the remedy. A refused action or a lost episode is not an error.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Self, TypeVar

from explorer.findings import Finding
from spca.common.errors import UserError
from spca.common.names import find_nearest

_Value = TypeVar("_Value")


class ExplorerError(UserError):
    """Root of the explorer's errors."""


class SceneError(ExplorerError, ValueError):
    """A scene that cannot be used.

    Args:
        problem: what is wrong, and how to correct the problem.
        source: the file, or "" if unknown.
        field: the path of the field within the file, such as ``milestones[2].rules[0].max_count``, or "" if unknown.
    """

    def __init__(self, problem: str, source: str = "", field: str = "") -> None:
        super().__init__(problem)
        self.problem = problem
        self.source = source
        self.field = field

    def __str__(self) -> str:
        return ": ".join(filter(None, (self.source, self.field, self.problem)))

    def at(self, source: str, field: str = "") -> Self:
        """Set the file of this error, extend the path of the field, and return this error.

        Args:
            source: the file, which replaces the previous file.
            field: a path to put before the path of the field; "" keeps the path.
        """
        self.source = source
        self.field = ".".join(filter(None, (field, self.field)))
        return self


class UnknownNameError(SceneError):
    """A name that the rules do not know; the message suggests the closest known names.

    Args:
        kind: kind of thing that the name should refer to, such as "block", "item", "recipe" or "mob".
        name: the unknown name.
        known: the names that exist.
        source, field: see :class:`SceneError`.
    """

    def __init__(self, kind: str, name: str, known: Iterable[str], source: str = "", field: str = "") -> None:
        problem = f"unknown {kind} {name[:80]!a}"
        near = find_nearest(name.removeprefix("minecraft:")[:80], known)
        if near:
            problem += f"; did you mean {' or '.join(near)}?"
        super().__init__(problem, source, field)


def find_known(kind: str, name: str, known: Mapping[str, _Value]) -> _Value:
    """Return the value of a name in a mapping. The name may begin with ``minecraft:``.

    Args:
        kind: kind of thing that the name should refer to, for the error.

    Raises:
        UnknownNameError: the mapping lacks the name.
    """
    found = known.get(name.removeprefix("minecraft:"))
    if found is None:
        raise UnknownNameError(kind, name, known)
    return found


class OutsideArenaError(SceneError):
    """A part of a scene that lies outside its world, or a world that is too large."""


class RefutedError(ExplorerError):
    """A scene that cannot be certified.

    Args:
        findings: what is false or cannot be proven; at least one.
    """

    def __init__(self, findings: Iterable[Finding]) -> None:
        self.findings = tuple(findings)
        super().__init__("; ".join(map(str, self.findings)))


class ActionError(ExplorerError, ValueError):
    """An invalid primitive code, or a step after the end of an episode."""


class GenerationError(ExplorerError):
    """No scene could be made as requested."""


class EpisodeError(ExplorerError):
    """Results or settings of an evaluation that cannot be used."""
