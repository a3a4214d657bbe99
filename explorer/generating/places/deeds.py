"""List the deeds by which the witness of a scene achieves the goal, and the order in which they achieve the hops.

A deed is an abstract step of :mod:`explorer.solver.steps`. The witness opens each gate before it goes to what lies
behind the gate. An area is a room with a gate; a hop is a planned milestone.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from explorer.generating.places.draft import Box
from explorer.generating.places.furnishing import Furnished
from explorer.generating.places.gates import door_cells, door_name
from explorer.generating.places.rooms import STEPS, Passage
from explorer.generating.plans.plan import Area, Gate, Hop, Plan, RejectedDraw, Thing
from explorer.scene import Cell
from explorer.solver import steps as do
from explorer.solver.steps import Step

LOOK_WITHIN: Final = 4.0
"""Greatest distance in metres from the body to the target of a hop to look."""


class Deeds:
    """The abstract steps that achieve the goal of a placed plan.

    The steps are found recursively from the goal: before each hop come the steps for everything that this hop needs.

    Attributes:
        steps: steps for :func:`explorer.solver.witness.carry_out`.
        hops: all hops, in the order in which the steps achieve them.
    """

    def __init__(self, plan: Plan, placed: Furnished) -> None:
        self._plan = plan
        self._placed = placed
        self.steps: list[Step] = []
        self.hops: list[Hop] = []
        self._entered_areas: set[Area] = {plan.areas[0]}
        self._current_area = plan.areas[0]
        self._taken_things: set[Thing] = set()
        self._crafted_items: set[str] = set()
        self._do_hop(plan.goal)

    def _do_hop(self, hop: Hop) -> None:
        """Append the steps for everything that a hop needs, and then the steps that achieve the hop."""
        target = hop.target
        if hop.aim == "item":
            self._get_item(hop.item)
        elif isinstance(target, Area):
            self._enter_area(target)
        elif hop.aim == "gone":
            self._get_thing(target)
        elif hop.aim == "put":
            self._get_item(hop.item)
            self._go_to(target.area)
            self.steps.append(do.Place(self._aim_cell(target), hop.item))
        else:
            # The only aim left is "look".
            self._go_to(target.area)
            self.steps.append(do.LookAt(self._aim_cell(target), LOOK_WITHIN))
        self._mark_done(hop)

    def _aim_cell(self, thing: Thing) -> Cell:
        """Return the cell of a thing at which the witness aims, or in which it stands."""
        return self._placed.cells[thing][0]

    def _mark_done(self, hop: Hop | None) -> None:
        if hop is not None and hop not in self.hops:
            self.hops.append(hop)

    # areas

    def _enter_area(self, area: Area) -> None:
        """Append steps that open the gates on the way to an area and enter it; if earlier steps enter it, append
        nothing.
        """
        if area in self._entered_areas:
            return
        parent, gate = area.entrance
        self._enter_area(parent)
        if gate.item:
            self._get_item(gate.item)

        # The second device of a timed door is behind the door.
        devices = gate.devices[:1] if gate.timed else gate.devices
        for device in devices:
            self._go_to(device.area)
            cell = self._aim_cell(device)
            self.steps.append(do.GoTo(cell) if device.kind == "plate" else do.Use(cell))

        self._go_to(parent)
        self._pass_gate(gate, self._placed.layout.passages[area.number])
        self._step_in(area)
        self._entered_areas.add(area)
        self._mark_done(gate.hop)

    def _go_to(self, area: Area) -> None:
        """Append steps that go to an area.

        The steps open each timed door on the way, because the door has closed since it was last passed.
        """
        self._enter_area(area)
        current_path = list(self._current_area.walk_to_root())
        target_path = list(area.walk_to_root())
        areas_to_leave = [each for each in current_path if each not in target_path]
        areas_to_enter = [each for each in reversed(target_path) if each not in current_path]

        for each in areas_to_leave:
            _, gate = each.entrance
            if gate.timed:
                self._leave_by_timed_door(each)
        for each in areas_to_enter:
            _, gate = each.entrance
            if gate.timed:
                self._use_device(gate.devices[0])
                self._step_in(each)
        self._current_area = area

    def _leave_by_timed_door(self, area: Area) -> None:
        """Append steps that open the timed door of an area from inside and step out into the parent area."""
        parent, gate = area.entrance
        self._use_device(gate.devices[1])
        x, z = self._placed.layout.passages[area.number].middle[0]
        outside = (x, self._placed.room(parent).floor, z)
        self.steps.append(do.GoTo(outside))

    def _use_device(self, device: Thing) -> None:
        self.steps.append(do.Use(self._aim_cell(device)))

    def _step_in(self, area: Area) -> None:
        """Append a step into an area through its gate, which earlier steps have opened."""
        inside = room_box(self._placed.layout.passages[area.number])
        self.steps.append(do.Enter(inside.least, inside.most))
        self._current_area = area

    def _pass_gate(self, gate: Gate, passage: Passage) -> None:
        """Append steps that open a gate with its key, or that lay blocks to cross the gate.

        When these steps begin, the body is in the parent area.
        """
        if gate.opener == "handle":
            self.steps.append(do.PlaceBeside(door_name(passage), gate.item))
        elif gate.kind == "wooden_door":
            self.steps.append(do.Use(door_cells(passage)[0]))
        elif gate.opener == "blocks":
            x, z = passage.middle[passage.last + 1]
            far_side = (x, passage.child.floor, z)
            cross = do.BridgeTo if gate.kind == "moat" else do.PillarTo
            self.steps.append(cross(far_side, gate.item))
        elif gate.kind == "plug":
            level = passage.parent.floor
            for x, z in passage.middle[passage.first : passage.last + 1]:
                self.steps.append(do.Dig((x, level + 1, z)))
                self.steps.append(do.Dig((x, level, z)))

    # items

    def _get_item(self, item: str) -> None:
        """Append steps that craft an item or take it from its sources; if a hop asks for the item, mark this hop as
        done.
        """
        hop = next(self._hops_for(item), None)
        if item in self._plan.crafts:
            self._craft_item(item)
        else:
            for thing in self._sources_of(item, hop):
                self._get_thing(thing)
        self._mark_done(hop)

    def _hops_for(self, item: str) -> Iterator[Hop]:
        """Yield the hops whose aim is to have an item."""
        for hop in self._plan.hops:
            if hop.aim == "item" and hop.item == item:
                yield hop

    def _sources_of(self, item: str, hop: Hop | None) -> list[Thing]:
        """Return the things from which the witness takes an item.

        If the target of ``hop`` is a thing, return only this thing; otherwise, return all things of the plan that give
        the item.

        Args:
            hop: the hop that asks for the item, or None.

        Raises:
            RejectedDraw: no thing gives the item.
        """
        if hop is not None and isinstance(hop.target, Thing):
            return [hop.target]
        sources = [thing for thing in self._plan.things if thing.item == item]
        if not sources:
            raise RejectedDraw(f"deeds: no {item}")
        return sources

    def _get_thing(self, thing: Thing) -> None:
        """Append steps that take what a thing gives, with the tool that it needs; if earlier steps do so, append
        nothing.
        """
        if thing in self._taken_things:
            return
        self._taken_things.add(thing)
        if thing.tool:
            self._get_item(thing.tool)
        self._go_to(thing.area)
        cells = self._placed.cells[thing]
        if thing.kind == "chest":
            self.steps.append(do.TakeChest(cells[0]))
        elif thing.kind == "lying":
            self.steps.append(do.PickUp(cells[0]))
        elif thing.kind == "mob":
            self.steps.extend(do.Hunt(name) for name in self._placed.names[thing])
        else:
            self.steps.extend(do.Dig(cell) for cell in cells[: thing.count])

    def _craft_item(self, item: str) -> None:
        """Append steps that get the raw materials of an item and craft it; if earlier steps do so, append nothing."""
        if item in self._crafted_items:
            return
        self._crafted_items.add(item)
        for raw in self._plan.raws[item]:
            self._get_item(raw)

        area = next(self._hops_for(item)).area
        tables = [thing for thing in self._plan.things if thing.kind == "table" and thing.area is area]
        if tables:
            self._go_to(area)
            self.steps.append(do.GoTo(self._cell_before(tables[0])))
        self.steps.extend(do.Craft(name, times) for name, times in self._plan.crafts[item])

    def _cell_before(self, table: Thing) -> Cell:
        """Return a cell beside a table in which a body can stand.

        Raises:
            RejectedDraw: no cell beside the table is free.
        """
        draft = self._placed.draft
        x, y, z = self._aim_cell(table)
        for i, j in STEPS:
            feet = (x + i, y, z + j)
            head = (x + i, y + 1, z + j)
            if draft.is_air(feet) and draft.is_air(head):
                return feet
        raise RejectedDraw("deeds: nobody can stand at the table")


def room_box(passage: Passage) -> Box:
    """Return the smallest box around the child room of a passage and the rows of the passage behind its gate."""
    box = passage.child.inside
    floor = passage.child.floor
    # The first row behind a moat does not count.
    first_row = passage.last + (2 if passage.gate.kind == "moat" else 1)
    for row in passage.lanes[first_row:]:
        for x, z in row:
            box = box.include((x, floor, z))
    return box
