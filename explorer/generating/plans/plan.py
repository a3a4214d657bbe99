"""The plan of a scene before it has places: areas behind gates, things in areas, and hops about both."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

from explorer.errors import GenerationError

GateKind = Literal["open", "iron_door", "wooden_door", "plug", "moat", "ledge", "trench", "stairs", "maze"]
Opener = Literal["none", "devices", "handle", "tool", "blocks"]
ThingKind = Literal[
    "lying", "chest", "block", "tree", "mob", "device", "plate", "table", "pedestal", "hole", "gap", "target"
]
Aim = Literal["item", "enter", "lay", "gone", "look", "put"]
"""What a hop asks for: ``item``: have it; ``enter``: be in an area; ``lay``: a block in a gate; ``gone``: a plug or mob
removed; ``look``: look at a thing; ``put``: a block at a thing."""


class RejectedDraw(Exception):  # noqa: N818  # a draw that does not fit is not an error
    """A draw that leads to no scene; ``str`` is the reason under which it is counted."""


@dataclass(slots=True, eq=False)
class Hop:
    """A planned milestone.

    Attributes:
        schema, object: schema and object of the atomic task.
        target: the area or thing that its rule refers to.
        item: the item, for ``item``, ``lay`` and ``put``.
    """

    schema: str
    object: str
    aim: Aim
    target: Area | Thing
    item: str = ""

    @property
    def area(self) -> Area:
        """The area where it is achieved."""
        return self.target if isinstance(self.target, Area) else self.target.area

    @property
    def task(self) -> str:
        """Id of the atomic task."""
        return f"{self.schema}_{self.object}"


@dataclass(slots=True, eq=False)
class Thing:
    """Something in an area.

    Attributes:
        item, count: what it gives, "" for nothing.
        block: the block it is made of, or the kind of a mob.
        tool: tool with which the witness digs it.
        role: for a target, the schema that decides how it looks.
    """

    kind: ThingKind
    area: Area
    item: str = ""
    count: int = 1
    block: str = ""
    role: str = ""
    tool: str = ""


@dataclass(slots=True, eq=False)
class Gate:
    """What lies between an area and its parent.

    Attributes:
        gadget: name under which its use is counted.
        block: block of the plug or door, or liquid of the moat.
        devices: levers, buttons and plates that open it.
        timed: whether it closes again; then the first device is in front of it, the second behind.
        item: the key that the witness uses.
        hop: the milestone for passing it, or None.
    """

    gadget: str
    kind: GateKind
    opener: Opener = "none"
    block: str = ""
    devices: list[Thing] = field(default_factory=list)
    mode: Literal["all", "any"] = "any"
    timed: bool = False
    item: str = ""
    hop: Hop | None = None


@dataclass(slots=True, eq=False)
class Area:
    """A room, reached from its parent through its gate; the first area has neither.

    Attributes:
        look: key of :data:`explorer.generating.places.styles.FLOORS`.
    """

    number: int
    parent: Area | None = None
    gate: Gate | None = None
    look: str = ""

    @property
    def entrance(self) -> tuple[Area, Gate]:
        """The parent and the gate.

        Raises:
            GenerationError: it is the first area.
        """
        if self.parent is None or self.gate is None:
            raise GenerationError("the first area has no entrance")
        return self.parent, self.gate

    def walk_to_root(self) -> Iterator[Area]:
        """Yield the area and its ancestors."""
        area: Area | None = self
        while area is not None:
            yield area
            area = area.parent


@dataclass(slots=True, eq=False)
class Plan:
    """A whole scene without places.

    Attributes:
        crafts: item -> intended recipes as (recipe, times), in order.
        raws: item -> its raw materials.
    """

    areas: list[Area] = field(default_factory=list)
    things: list[Thing] = field(default_factory=list)
    hops: list[Hop] = field(default_factory=list)
    crafts: dict[str, tuple[tuple[str, int], ...]] = field(default_factory=dict)
    raws: dict[str, tuple[str, ...]] = field(default_factory=dict)
    gadgets: list[str] = field(default_factory=list)

    def add_area(self, parent: Area | None = None, gate: Gate | None = None) -> Area:
        """Add an area behind a gate."""
        area = Area(len(self.areas), parent, gate)
        self.areas.append(area)
        if gate is not None and gate.gadget:
            self.gadgets.append(gate.gadget)
        return area

    def add_thing(self, thing: Thing) -> Thing:
        """Add a thing to its area."""
        self.things.append(thing)
        return thing

    def add_hop(self, hop: Hop) -> Hop:
        """Add a hop; the goal comes last."""
        self.hops.append(hop)
        return hop

    @property
    def goal(self) -> Hop:
        """The only hop that the agent is told about."""
        return self.hops[-1]
