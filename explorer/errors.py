"""Every error that the explorer raises on purpose, in one tree below :mod:`spca.common.errors`.

::

    ExplorerError
    ├── SceneError           a scene, milestone or file of one that cannot be used (also a ValueError)
    │   ├── UnknownNameError     a block, item, recipe or mob that the rules do not know
    │   └── OutsideArenaError    a part of a scene that is outside its world
    ├── RefutedError         a scene of which something does not hold or cannot be proven
    ├── ActionError          a code that is no primitive, or a step after the end (also a ValueError)
    ├── GenerationError      no scene as asked for could be made
    └── EpisodeError         results or settings of an evaluation that cannot be used

``str(error)`` is one line that names the thing and the fix. A refused action and a lost episode are results, no errors.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import Self

from explorer.findings import Finding
from spca.common.errors import SPCAError


class ExplorerError(SPCAError):
    """Root of the tree."""


class SceneError(ExplorerError, ValueError):
    """A scene that cannot be used.

    Args:
        problem: what is wrong and how to mend it.
        source: the file it came from, "" if none.
        field: the path of the field within the file, such as ``milestones[2].rules[0].max_count``, "" if none.
    """

    def __init__(self, problem: str, source: str = "", field: str = "") -> None:
        super().__init__(problem)
        self.problem, self.source, self.field = problem, source, field

    def __str__(self) -> str:
        return ": ".join(filter(None, (self.source, self.field, self.problem)))

    def at(self, source: str, field: str = "") -> Self:
        """Return this error with the place where it was found.

        Args:
            field: what the error's own field is inside of.
        """
        self.source = source
        self.field = ".".join(filter(None, (field, self.field)))
        return self


class UnknownNameError(SceneError):
    """A name that the rules do not know; the message offers the nearest ones.

    Args:
        kind: what it should name: "block", "item", "recipe", "mob".
        name: as given.
        known: the names that exist.
    """

    def __init__(self, kind: str, name: str, known: Iterable[str], source: str = "", field: str = "") -> None:
        near = difflib.get_close_matches(name.removeprefix("minecraft:")[:80], list(known), n=3)
        hint = f"; did you mean {' or '.join(near)}?" if near else ""
        super().__init__(f"unknown {kind} {name[:80]!a}{hint}", source, field)
        self.kind, self.name = kind, name


class OutsideArenaError(SceneError):
    """A part of a scene that is outside its world, or a world larger than any can be."""


class RefutedError(ExplorerError):
    """A scene that cannot be certified.

    Args:
        findings: what does not hold, or cannot be proven; at least one.
    """

    def __init__(self, findings: Iterable[Finding]) -> None:
        self.findings = tuple(findings)
        super().__init__("; ".join(map(str, self.findings)))


class ActionError(ExplorerError, ValueError):
    """A code that is no primitive, or a step after the end of an episode."""


class GenerationError(ExplorerError):
    """No scene as asked for could be made."""


class EpisodeError(ExplorerError):
    """Results or settings of an evaluation that cannot be used."""
