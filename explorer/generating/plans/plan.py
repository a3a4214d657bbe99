"""The plan of a scene: areas behind gates, things in the areas, and hops about areas and things.

An area is a room. A hop is a planned milestone that the agent must achieve. A plan contains no coordinates.
"""

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

``item``: have an item. ``enter``: be in an area. ``lay``: place blocks to cross a gate. ``gone``: remove a plug or
mobs. ``look``: look at a thing. ``put``: place a block into the cell of a thing.
"""


class RejectedDraw(Exception):  # noqa: N818  # a draw that does not fit is not an error
    """The error that a random draw does not lead to a scene; ``str`` is the reason, by which statistics count draws."""


@dataclass(slots=True, eq=False)
class Hop:
    """A planned milestone.

    Attributes:
        schema, object: schema and object of the hop's atomic task.
        aim: what the hop asks for.
        target: the area or thing to which the milestone's rule refers.
        item: the item to have, lay or put; "" for all other aims.
    """

    schema: str
    object: str
    aim: Aim
    target: Area | Thing
    item: str = ""

    @property
    def area(self) -> Area:
        """The area that the hop is about, or that contains the thing that the hop is about."""
        return self.target if isinstance(self.target, Area) else self.target.area

    @property
    def task(self) -> str:
        """Id of the atomic task."""
        return f"{self.schema}_{self.object}"


@dataclass(slots=True, eq=False)
class Thing:
    """An object in an area: a chest, a block, a mob, a lever and so on.

    Attributes:
        item: the item that the thing gives; "" if the thing gives nothing.
        count: how many items the thing gives.
        block: the block that the thing is made of, or the kind of a mob.
        role: for a target, the schema of the task, which decides what the target looks like.
        tool: the tool with which the thing is dug; "" for bare hands.
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
    """The barrier between an area and its parent.

    Attributes:
        gadget: name of the gate in statistics; "" for a plain opening.
        opener: what the agent needs to pass the gate.
        block: block of the plug, door or cliff, or what the moat or trench contains; "" for none.
        devices: levers, buttons and plates that open the gate.
        mode: whether all devices must be on to open the gate, or any device suffices.
        timed: whether the gate closes again; if so, the first device is in front of the gate, the second behind it.
        item: the key: the item with which the agent is meant to pass the gate; "" for none.
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
    """A room, which is entered from the area ``parent`` through a gate; the first area has neither parent nor gate.

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
        """The parent and the gate of the area, in this order.

        Raises:
            GenerationError: this is the first area.
        """
        if self.parent is None or self.gate is None:
            raise GenerationError("the first area has no entrance")
        return self.parent, self.gate

    def walk_to_root(self) -> Iterator[Area]:
        """Yield the area, then its parent, and so on up to the first area."""
        area: Area | None = self
        while area is not None:
            yield area
            area = area.parent


@dataclass(slots=True, eq=False)
class Plan:
    """All areas, things and hops of a scene, before areas and things have coordinates.

    Attributes:
        hops: all hops; the last hop is the goal.
        crafts: item to craft -> the recipes to use, in order, each as (name, times).
        raws: item to craft -> its raw materials.
        gadgets: names of the gates and recipes used, with repetitions.
    """

    areas: list[Area] = field(default_factory=list)
    things: list[Thing] = field(default_factory=list)
    hops: list[Hop] = field(default_factory=list)
    crafts: dict[str, tuple[tuple[str, int], ...]] = field(default_factory=dict)
    raws: dict[str, tuple[str, ...]] = field(default_factory=dict)
    gadgets: list[str] = field(default_factory=list)

    def add_area(self, parent: Area | None = None, gate: Gate | None = None) -> Area:
        """Add an area behind ``gate`` as a child of ``parent``, and return the area."""
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
        """Add a hop as the last hop, so that it is the goal until another hop is added; return the hop."""
        self.hops.append(hop)
        return hop

    @property
    def goal(self) -> Hop:
        """The last hop; the text for the agent names only this hop."""
        return self.hops[-1]
