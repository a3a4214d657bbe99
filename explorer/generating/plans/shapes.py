"""Compute which hops of a plan need which other hops, in a fraction of a millisecond.

A hop is a planned milestone; areas are rooms behind gates. For each hop, the method collects everything that remains
possible if this hop is forbidden. It ignores that items are used up (a delete relaxation).

The certificate of a scene uses the same method over cells. Over areas, the result is not a proof, but it avoids
building scenes in which the key of one gate opens another.
"""

from __future__ import annotations

from itertools import chain

from explorer.generating.knobs import Shape
from explorer.generating.plans.keys import add_craftable, find_block
from explorer.generating.plans.plan import Area, Gate, Hop, Plan, RejectedDraw, Thing
from explorer.solver.stock import bridges, is_handle

Order = dict[Hop, frozenset[Hop]]
"""Hop -> all hops that must be achieved before it."""


def order_hops(plan: Plan) -> Order:
    """Return, for each hop, the hops that must come before it.

    Raises:
        RejectedDraw: a hop cannot be achieved, or the goal does not need every other hop.
    """
    achievable = _Reach(plan, None).achievable_hops()
    if len(achievable) < len(plan.hops):
        raise RejectedDraw("plan: a hop is out of reach")

    # Hop -> the hops that can be achieved while this hop stays undone.
    without = {hop: _Reach(plan, hop).achievable_hops() for hop in plan.hops}
    for hop in plan.hops:
        if hop is not plan.goal and plan.goal in without[hop]:
            raise RejectedDraw("plan: a hop is not needed")

    before: Order = {}
    for hop in plan.hops:
        needed = [each for each in plan.hops if hop not in without[each]]
        before[hop] = frozenset(needed) - {hop}
    return before


def reduce_order(before: Order) -> dict[Hop, tuple[Hop, ...]]:
    """Return, for each hop, the hops that come directly before it (the transitive reduction of the order)."""
    direct = {}
    for hop, earlier in before.items():
        implied = set(chain.from_iterable(before[each] for each in earlier))
        direct[hop] = tuple(each for each in before if each in earlier and each not in implied)
    return direct


def classify_shape(before: Order) -> Shape:
    """Return the shape of an order of hops.

    Args:
        before: hop -> all hops that must come before it; the last key is the goal.
    """
    direct = reduce_order(before)
    joins = [hop for hop, earlier in direct.items() if len(earlier) > 1]
    if not joins:
        return "chain"
    starts = [hop for hop, earlier in direct.items() if not earlier]
    if len(starts) > 1:
        return "join"
    goal = list(direct)[-1]
    return "fork" if joins == [goal] else "diamond"


class _Reach:
    """The items that the agent can get, and the areas that it can enter, if one hop is forbidden.

    Both sets grow until nothing changes: what is possible stays possible, and nothing is used up.

    Args:
        forbidden: the hop that is never achieved, or None.
    """

    def __init__(self, plan: Plan, forbidden: Hop | None) -> None:
        self._plan = plan
        self._forbidden = forbidden
        self._never_held = ""
        self._never_laid = ""
        if forbidden is not None and forbidden.aim == "item":
            self._never_held = forbidden.item
        if forbidden is not None and forbidden.aim == "lay":
            self._never_laid = forbidden.item
        self._areas: set[Area] = set()
        self._have: set[str] = set()

        previous_size = -1
        size = 0
        while size != previous_size:
            self._extend()
            previous_size = size
            size = len(self._areas) + len(self._have)

    def achievable_hops(self) -> frozenset[Hop]:
        """Return the hops that can be achieved although the forbidden hop never is."""
        hops = [hop for hop in self._plan.hops if hop is not self._forbidden]
        return frozenset(hop for hop in hops if self._can_do(hop))

    def _extend(self) -> None:
        """Add the areas that can be entered, and the items that can be got, with the areas and items found so far."""
        for area in self._plan.areas:
            if area not in self._areas and self._can_enter(area):
                self._areas.add(area)
        for thing in self._plan.things:
            if thing.item and self._can_get(thing):
                self._have.add(thing.item)
        for area in self._plan.areas:
            drop = self._plug_drop(area)
            if drop and drop != self._never_held:
                self._have.add(drop)

        tables = [thing for thing in self._plan.things if thing.kind == "table"]
        near_table = any(self._can_reach(table) for table in tables)
        add_craftable(self._have, near_table, self._never_held)

    def _can_do(self, hop: Hop) -> bool:
        """Return whether a hop can be achieved with the areas and items found so far."""
        target = hop.target
        if hop.aim == "item":
            return hop.item in self._have
        if isinstance(target, Thing):
            has_block = hop.aim != "put" or hop.item in self._have
            return has_block and self._can_reach(target)
        if hop.aim == "enter":
            return target in self._areas
        # The aim is "lay" or "gone", about the gate of an area.
        if target.gate is None or target.parent not in self._areas:
            return False
        return self._can_pass(target.gate)

    def _can_enter(self, area: Area) -> bool:
        """Return whether an area can be entered with the areas and items found so far."""
        if self._forbids(area):
            return False
        if area.parent is not None and area.parent not in self._areas:
            return False
        return area.gate is None or self._can_pass(area.gate)

    def _forbids(self, target: Area | Thing) -> bool:
        """Return whether the forbidden hop is to enter the area ``target``, to clear its plug, or to remove the thing
        ``target``.
        """
        hop = self._forbidden
        if hop is None or hop.aim not in ("enter", "gone"):
            return False
        return hop.target is target

    def _plug_drop(self, area: Area) -> str | None:
        """Return the item that the plug in front of an area drops.

        Return None if there is no plug, the plug cannot be dug yet, or it drops nothing.
        """
        gate = area.gate
        if gate is None or gate.opener != "tool":
            return None
        if area.parent not in self._areas or not self._can_pass(gate):
            return None
        return find_block(gate.block).drop

    def _can_pass(self, gate: Gate) -> bool:
        """Return whether a body in front of a gate can pass the gate with the items found so far."""
        if gate.kind == "iron_door":
            return self._is_wired_open(gate) or any(is_handle(item) for item in self._have)
        if gate.opener == "tool":
            return self._can_dig(gate.block)
        if gate.opener == "blocks":
            return any(bridges(item) for item in self._have if item != self._never_laid)
        return True

    def _is_wired_open(self, gate: Gate) -> bool:
        """Return whether the devices that can be reached so far are enough to open a door."""
        reached = [self._can_reach(device) for device in gate.devices]
        if not reached:
            return False
        return all(reached) if gate.mode == "all" else any(reached)

    def _can_dig(self, name: str) -> bool:
        tools = find_block(name).tools
        return not tools or not tools.isdisjoint(self._have)

    def _can_reach(self, thing: Thing) -> bool:
        return thing.area in self._areas

    def _can_get(self, thing: Thing) -> bool:
        """Return whether the item of a thing can be got with the areas and items found so far."""
        if thing.item == self._never_held or self._forbids(thing):
            return False
        if not self._can_reach(thing):
            return False
        return thing.kind not in ("block", "tree") or self._can_dig(thing.block)
