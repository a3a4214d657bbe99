"""The plan of a scene, without places: areas behind gates, things in areas, and hops about areas and things."""

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
"""What a hop asks for.

``item``: have an item; ``enter``: be in an area; ``lay``: place a block in a gate; ``gone``: remove a plug or mobs;
``look``: look at a thing; ``put``: place a block at a thing.
"""


class RejectedDraw(Exception):  # noqa: N818  # a draw that does not fit is not an error
    """A draw that leads to no scene; ``str`` is the reason by which statistics count the draw."""


@dataclass(slots=True, eq=False)
class Hop:
    """A planned milestone.

    Attributes:
        schema, object: schema and object of the atomic task.
        target: the area or thing to which the rule of the milestone refers.
        item: the item to have, lay or put; "" for all other aims.
    """

    schema: str
    object: str
    aim: Aim
    target: Area | Thing
    item: str = ""

    @property
    def area(self) -> Area:
        """The area where the hop is achieved."""
        return self.target if isinstance(self.target, Area) else self.target.area

    @property
    def task(self) -> str:
        """Id of the atomic task."""
        return f"{self.schema}_{self.object}"


@dataclass(slots=True, eq=False)
class Thing:
    """Something in an area.

    Attributes:
        item: the item that the thing gives; "" if the thing gives nothing.
        count: how many items the thing gives.
        block: the block that the thing is made of, or the kind of a mob.
        role: for a target, the schema of the task, which decides how the target looks.
        tool: the tool with which the witness digs the thing; "" for bare hands.
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
        gadget: name of the gadget, by which statistics count the gate; "" for a mere opening.
        block: block of the plug, door or cliff, or what the moat or trench holds; "" for nothing.
        devices: levers, buttons and plates that open the gate.
        mode: whether all devices or any device must be on to open the gate.
        timed: whether the gate closes again; if so, the first device is in front of the gate, the second behind it.
        item: the key that the witness uses.
        hop: the milestone for passing the gate, or None.
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
    """A room that is entered from its parent through its gate; the first area has no parent and no gate.

    Attributes:
        number: index of the area in its plan.
        look: key of :data:`explorer.generating.places.styles.FLOORS`, or "" for any floor.
    """

    number: int
    parent: Area | None = None
    gate: Gate | None = None
    look: str = ""

    @property
    def entrance(self) -> tuple[Area, Gate]:
        """The parent and the gate of the area.

        Raises:
            GenerationError: this is the first area.
        """
        if self.parent is None or self.gate is None:
            raise GenerationError("the first area has no entrance")
        return self.parent, self.gate

    def walk_to_root(self) -> Iterator[Area]:
        """Yield the area, its parent, and so on up to the first area."""
        area: Area | None = self
        while area is not None:
            yield area
            area = area.parent


@dataclass(slots=True, eq=False)
class Plan:
    """A whole scene, before its areas and things have places.

    Attributes:
        hops: all hops; the goal is the last hop.
        crafts: item to craft -> recipes that the witness uses as (name, times), in order.
        raws: item to craft -> its raw materials.
        gadgets: names of the gadgets used, with repetitions.
    """

    areas: list[Area] = field(default_factory=list)
    things: list[Thing] = field(default_factory=list)
    hops: list[Hop] = field(default_factory=list)
    crafts: dict[str, tuple[tuple[str, int], ...]] = field(default_factory=dict)
    raws: dict[str, tuple[str, ...]] = field(default_factory=dict)
    gadgets: list[str] = field(default_factory=list)

    def add_area(self, parent: Area | None = None, gate: Gate | None = None) -> Area:
        """Add an area behind a gate, and return the area."""
        area = Area(len(self.areas), parent, gate)
        self.areas.append(area)
        if gate is not None and gate.gadget:
            self.gadgets.append(gate.gadget)
        return area

    def add_thing(self, thing: Thing) -> Thing:
        """Add a thing, and return the thing."""
        self.things.append(thing)
        return thing

    def add_hop(self, hop: Hop) -> Hop:
        """Add a hop, and return the hop; the hop that is added last is the goal."""
        self.hops.append(hop)
        return hop

    @property
    def goal(self) -> Hop:
        """The last hop, which is the only hop that the text for the agent names."""
        return self.hops[-1]
