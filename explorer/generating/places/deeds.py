"""The deeds of a scene's witness, in the order in which its gates open, and the resulting order of the hops."""

from __future__ import annotations

from typing import Final

from explorer.generating.places.draft import Box
from explorer.generating.places.furnishing import Furnished
from explorer.generating.places.gates import door_cells, door_name
from explorer.generating.places.rooms import Passage
from explorer.generating.plans.plan import Area, Gate, Hop, Plan, Thing, Unfit
from explorer.solver import steps as do
from explorer.solver.steps import Step

LOOK_WITHIN: Final = 4.0
"""Metres within which a target counts as found."""


class Deeds:
    """The abstract steps of a placed plan.

    Attributes:
        steps: steps for :func:`explorer.solver.witness.carry_out`.
        hops: hops in the order in which the steps achieve them.
    """

    def __init__(self, plan: Plan, placed: Furnished) -> None:
        self._plan = plan
        self._placed = placed
        self.steps: list[Step] = []
        self.hops: list[Hop] = []
        self._areas: set[Area] = {plan.areas[0]}
        self._at = plan.areas[0]
        self._things: set[Thing] = set()
        self._crafted: set[str] = set()
        self._do(plan.goal)

    def _do(self, hop: Hop) -> None:
        """Do a hop, after everything that it needs."""
        target = hop.target
        if isinstance(target, Area):
            if hop.aim == "item":
                self._have(hop.item)
            else:
                self._enter(target)
        elif hop.aim == "item":
            self._have(hop.item)
        elif hop.aim == "gone":
            self._get(target)
        elif hop.aim == "put":
            self._have(hop.item)
            self._go(target.area)
            self.steps.append(do.Place(self._placed.cells[target][0], hop.item))
        else:
            self._go(target.area)
            self.steps.append(do.LookAt(self._placed.cells[target][0], LOOK_WITHIN))
        self._done(hop)

    def _done(self, hop: Hop | None) -> None:
        if hop is not None and hop not in self.hops:
            self.hops.append(hop)

    # areas

    def _enter(self, area: Area) -> None:
        """Open the way to an area for good."""
        if area in self._areas:
            return
        parent, gate = area.entrance
        self._enter(parent)
        if gate.item:
            self._have(gate.item)
        for device in gate.devices[: 1 if gate.timed else None]:
            self._go(device.area)
            cell = self._placed.cells[device][0]
            self.steps.append(do.GoTo(cell) if device.kind == "plate" else do.Use(cell))
        self._go(parent)
        self._pass(gate, self._placed.layout.passages[area.number])
        self._step_in(area)
        self._areas.add(area)
        self._done(gate.hop)

    def _go(self, area: Area) -> None:
        """Go to an area, opening doors on the way that have closed again."""
        self._enter(area)
        here = list(self._at.way())
        there = list(area.way())
        for each in here:
            if each not in there and each.entrance[1].timed:
                self._use(each.entrance[1].devices[1])
                x, z = self._placed.layout.passages[each.number].middle[0]
                self.steps.append(do.GoTo((x, self._placed.room(each.entrance[0]).floor, z)))
        for each in reversed(there):
            if each not in here and each.entrance[1].timed:
                self._use(each.entrance[1].devices[0])
                self._step_in(each)
        self._at = area

    def _use(self, device: Thing) -> None:
        self.steps.append(do.Use(self._placed.cells[device][0]))

    def _step_in(self, area: Area) -> None:
        inside = room_box(self._placed.layout.passages[area.number])
        self.steps.append(do.Enter(inside.least, inside.most))
        self._at = area

    def _pass(self, gate: Gate, passage: Passage) -> None:
        """Open a gate from in front of it, with its key in hand."""
        if gate.opener == "handle":
            self.steps.append(do.PlaceBeside(door_name(passage), gate.item))
        elif gate.kind == "wooden_door":
            self.steps.append(do.Use(door_cells(passage)[0]))
        elif gate.opener == "blocks":
            x, z = passage.middle[passage.last + 1]
            far = (x, passage.child.floor, z)
            self.steps.append(do.BridgeTo(far, gate.item) if gate.kind == "moat" else do.PillarTo(far, gate.item))
        elif gate.kind == "plug":
            rows = passage.middle[passage.first : passage.last + 1]
            level = passage.parent.floor
            self.steps.extend(do.Dig((x, level + height, z)) for x, z in rows for height in (1, 0))

    # items

    def _have(self, item: str) -> None:
        hop = next((hop for hop in self._plan.hops if hop.aim == "item" and hop.item == item), None)
        if item in self._plan.crafts:
            self._craft(item)
        else:
            found = [thing for thing in self._plan.things if thing.item == item]
            if hop is not None and isinstance(hop.target, Thing):
                found = [hop.target]
            if not found:
                raise Unfit(f"deeds: no {item}")
            for thing in found:
                self._get(thing)
        self._done(hop)

    def _get(self, thing: Thing) -> None:
        if thing in self._things:
            return
        self._things.add(thing)
        if thing.tool:
            self._have(thing.tool)
        self._go(thing.area)
        cells = self._placed.cells[thing]
        if thing.kind == "chest":
            self.steps.append(do.TakeChest(cells[0]))
        elif thing.kind == "lying":
            self.steps.append(do.PickUp(cells[0]))
        elif thing.kind == "mob":
            self.steps.extend(do.Hunt(name) for name in self._placed.names[thing])
        else:
            self.steps.extend(do.Dig(cell) for cell in cells[: thing.count])

    def _craft(self, item: str) -> None:
        recipes = self._plan.crafts[item]
        if item in self._crafted:
            return
        self._crafted.add(item)
        area = next(hop.area for hop in self._plan.hops if hop.aim == "item" and hop.item == item)
        for raw in self._plan.raws[item]:
            self._have(raw)
        table = next((thing for thing in self._plan.things if thing.kind == "table" and thing.area is area), None)
        if table is not None:
            self._go(area)
            self.steps.append(do.GoTo(self._before(table)))
        self.steps.extend(do.Craft(name, times) for name, times in recipes)

    def _before(self, table: Thing) -> tuple[int, int, int]:
        """Return a cell beside a table from which it is in reach."""
        x, y, z = self._placed.cells[table][0]
        for i, j in ((1, 0), (-1, 0), (0, 1), (0, -1)):
            cell = (x + i, y, z + j)
            head = (x + i, y + 1, z + j)
            if self._placed.draft.is_air(cell) and self._placed.draft.is_air(head):
                return cell
        raise Unfit("deeds: nobody can stand at the table")


def room_box(passage: Passage) -> Box:
    """Return the cells that count as behind a gate: the room, and its passage beyond the gate."""
    box = passage.child.inside
    for number, row in enumerate(passage.lanes):
        if number > passage.last + 1 or (number > passage.last and passage.gate.kind != "moat"):
            for x, z in row:
                box = box.joined((x, passage.child.floor, z))
    return box
