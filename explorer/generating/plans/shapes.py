"""Check a plan without places: compute which hop needs which, in a fraction of a millisecond.

The relation is that of the certificate (a delete relaxation with one hop forbidden), over areas instead of cells. It
avoids building scenes whose keys open each other's gates; it is not a proof.
"""

from __future__ import annotations

from explorer.generating.knobs import Shape
from explorer.generating.plans.keys import block, made_from
from explorer.generating.plans.plan import Area, Gate, Hop, Plan, Thing, Unfit
from explorer.solver.stock import bridges, is_handle

Order = dict[Hop, frozenset[Hop]]
"""Hop -> all hops that must come before it."""


def order(plan: Plan) -> Order:
    """Return the hops that must come before each hop.

    Raises:
        Unfit: a hop cannot be reached at all, or the goal can be reached without it.
    """
    every = _Reach(plan, None).achieved()
    if len(every) < len(plan.hops):
        raise Unfit("plan: a hop is out of reach")
    without = {hop: _Reach(plan, hop).achieved() for hop in plan.hops}
    if any(plan.goal in achieved for hop, achieved in without.items() if hop is not plan.goal):
        raise Unfit("plan: a hop is not needed")
    return {
        hop: frozenset(each for each in plan.hops if each is not hop and hop not in without[each]) for hop in plan.hops
    }


def direct(before: Order) -> dict[Hop, tuple[Hop, ...]]:
    """Return the hops directly before each: the transitive reduction of an order."""
    return {
        hop: tuple(each for each in before if each in earlier and not any(each in before[other] for other in earlier))
        for hop, earlier in before.items()
    }


def shape(before: Order) -> Shape:
    """Return the shape of an order; its last hop is the goal."""
    near = direct(before)
    joins = [hop for hop, earlier in near.items() if len(earlier) > 1]
    if not joins:
        return "chain"
    if sum(not earlier for earlier in near.values()) > 1:
        return "join"
    return "fork" if joins == [list(near)[-1]] else "diamond"


class _Reach:
    """The fixpoint of items that can be obtained and areas that can be entered while one hop stays undone."""

    def __init__(self, plan: Plan, forbidden: Hop | None) -> None:
        self._plan = plan
        self._forbidden = forbidden
        self._never = forbidden.item if forbidden is not None and forbidden.aim == "item" else ""
        self._areas: set[Area] = set()
        self._have: set[str] = set()
        size = -1
        while size != (size := len(self._areas) + len(self._have)):
            self._areas.update(area for area in plan.areas if area not in self._areas and self._entered(area))
            self._have.update(each.item for each in plan.things if each.item and self._had(each))
            self._have.update(drop for area in plan.areas if (drop := self._dug(area)) and drop != self._never)
            table = any(each.kind == "table" and each.area in self._areas for each in plan.things)
            made_from(self._have, table, self._never)

    def achieved(self) -> frozenset[Hop]:
        return frozenset(hop for hop in self._plan.hops if hop is not self._forbidden and self._done(hop))

    def _done(self, hop: Hop) -> bool:
        if hop.aim == "item":
            return hop.item in self._have
        if isinstance(hop.target, Area):
            if hop.aim == "enter":
                return hop.target in self._areas
            gate = hop.target.gate
            return gate is not None and hop.target.parent in self._areas and self._passed(gate)
        return hop.target.area in self._areas and (hop.aim != "put" or hop.item in self._have)

    def _entered(self, area: Area) -> bool:
        if self._forbids(area) or (area.parent is not None and area.parent not in self._areas):
            return False
        return area.gate is None or self._passed(area.gate)

    def _forbids(self, target: Area | Thing) -> bool:
        hop = self._forbidden
        return hop is not None and hop.target is target and hop.aim in ("enter", "gone")

    def _dug(self, area: Area) -> str | None:
        """Return what a plug before an area drops once it is dug."""
        gate = area.gate
        if gate is None or gate.opener != "tool" or area.parent not in self._areas or not self._passed(gate):
            return None
        return block(gate.block).drop

    def _passed(self, gate: Gate) -> bool:
        if gate.kind == "iron_door":
            on = [self._reached(each) for each in gate.devices]
            wired = bool(on) and (all(on) if gate.mode == "all" else any(on))
            return wired or any(is_handle(item) for item in self._have)
        if gate.opener == "tool":
            tools = block(gate.block).tools
            return not tools or not tools.isdisjoint(self._have)
        never = self._forbidden.item if self._forbidden is not None and self._forbidden.aim == "lay" else ""
        return gate.opener != "blocks" or any(bridges(item) and item != never for item in self._have)

    def _reached(self, thing: Thing) -> bool:
        return thing.area in self._areas

    def _had(self, thing: Thing) -> bool:
        if thing.item == self._never or not self._reached(thing) or self._forbids(thing):
            return False
        if thing.kind not in ("block", "tree"):
            return True
        tools = block(thing.block).tools
        return not tools or not tools.isdisjoint(self._have)
