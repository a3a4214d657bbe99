"""Explain the edges of a graph of hops in words: why one hop comes before another.

A hop is a planned milestone. Each reason has 15 to 25 words.
"""

from __future__ import annotations

from typing import Final

from explorer.generating.plans.plan import Area, Gate, Hop, Plan, Thing
from explorer.tasks.wording import one, words

_KEYS: Final = {
    "handle": "The iron door opens by the {} that is placed beside it, and no other handle can be had before it.",
    "blocks": "Nobody gets across without blocks to lay, and {} is the only kind that can be had on this side.",
    "tool": "Bare hands do not clear {1} from the way, and the {0} as the fit tool has no second source here.",
}
"""What opens a gate -> template of the reason; ``{0}`` is the item that serves as the key, ``{1}`` the gate's block."""


def find_gate(hop: Hop) -> Gate | None:
    """Return the last gate on the way to a hop, or None if only plain openings lie on the way."""
    for area in hop.area.walk_to_root():
        # A gate without the name of a gadget is a mere opening.
        if area.gate is not None and area.gate.gadget:
            return area.gate
    return None


def explain_edge(earlier: Hop, later: Hop, plan: Plan) -> str:
    """Return a sentence that says why the hop ``later`` needs the hop ``earlier``."""
    if earlier.aim == "item":
        return _reason_for_item(earlier.item, later, plan)
    if earlier.aim == "lay":
        return "The later step lies beyond a gap or height that no body clears, so blocks have to be laid there first."
    if earlier.aim == "gone":
        return (
            "The later step lies beyond what fills the passage or needs what it leaves behind, so that has to go first."
        )
    gate = find_gate(later)
    if gate is not None and isinstance(earlier.target, Area):
        for device in gate.devices:
            if earlier.target in device.area.walk_to_root():
                return (
                    f"The {words(device.block)} that opens the door before the later step is behind this place, "
                    "and nobody gets at it from anywhere else."
                )
    return (
        "What the later step needs lies behind this place, walls and ceiling leave no way round it, so it comes first."
    )


def _reason_for_item(item: str, later: Hop, plan: Plan) -> str:
    """Return a sentence that says why the hop ``later`` needs an item: as an ingredient, as a tool, or as the key of a
    gate.
    """
    name = words(item)
    if later.aim == "item" and item in plan.raws.get(later.item, ()):
        return (
            f"Making {one(later.item)} takes {one(item)}, and nothing else in the whole scene gives or makes any "
            "before that."
        )
    if isinstance(later.target, Thing) and later.target.tool == item:
        return (
            f"Bare hands do not break {words(later.target.block)}, and the {name} as the fit tool can be had in no "
            "other way here."
        )
    gate = find_gate(later)
    if gate is not None and gate.item == item and gate.opener in _KEYS:
        return _KEYS[gate.opener].format(name, words(gate.block))
    return (
        f"Without {one(item)} in the inventory the way to what the later step asks for stays shut, "
        "and the scene has no second source."
    )
