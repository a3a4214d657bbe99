"""The mechanisms of a task as one list, each with the field in which it stands."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from gridworld.reading import shown
from gridworld.task_spec import (
    BlockSpec,
    DoorSpec,
    GateSpec,
    HazardSpec,
    KeySpec,
    MechanismSet,
    SwitchSpec,
    TeleporterSpec,
)

Cell: TypeAlias = tuple[int, int]
Mechanism: TypeAlias = KeySpec | DoorSpec | SwitchSpec | GateSpec | BlockSpec | TeleporterSpec | HazardSpec

KINDS = {
    "keys": "key",
    "doors": "door",
    "switches": "switch",
    "gates": "gate",
    "blocks": "block",
    "teleporters": "teleporter",
    "hazards": "hazard",
}


@dataclass(frozen=True, slots=True)
class Thing:
    """A mechanism, its kind, and its field."""

    field: str
    kind: str
    spec: Mechanism

    def __str__(self) -> str:
        return f"{self.kind} {shown(self.spec.id)}"

    @property
    def passage(self) -> bool:
        """Whether it may replace a wall."""
        return isinstance(self.spec, DoorSpec | GateSpec)

    def cells(self) -> Iterator[tuple[str, Cell]]:
        """Its cells, each with its field."""
        if isinstance(self.spec, TeleporterSpec):
            yield f"{self.field}.position_a", self.spec.position_a.to_tuple()
            yield f"{self.field}.position_b", self.spec.position_b.to_tuple()
        else:
            yield f"{self.field}.position", self.spec.position.to_tuple()


def things_of(mechanisms: MechanismSet) -> tuple[Thing, ...]:
    """Every mechanism, in the order of the file format."""
    return tuple(
        Thing(f"mechanisms.{name}[{index}]", kind, spec)
        for name, kind in KINDS.items()
        for index, spec in enumerate(getattr(mechanisms, name))
    )


def repeats(items: Sequence[Hashable]) -> list[int]:
    """Indices of the items that stood in the list before."""
    seen: set[Hashable] = set()
    found = []
    for index, item in enumerate(items):
        if item in seen:
            found.append(index)
        seen.add(item)
    return found
