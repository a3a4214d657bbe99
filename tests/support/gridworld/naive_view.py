"""What a model may see of a :class:`NaiveWorld`: the look of cells as words, from ``docs/gridworld_rules.md`` alone."""

from __future__ import annotations

from tests.support.gridworld.naive import Cell, NaiveWorld, cell_of

UNSEEN = "unseen"


class NaiveView:
    """Remembers what was seen. ``see`` after every step, and once before the first."""

    def __init__(self, world: NaiveWorld) -> None:
        self.world = world
        self.memory: dict[Cell, str] = {}
        self.see()

    def see(self) -> None:
        for cell in self.world.seen:
            self.memory[cell] = self.truth(cell)

    def look(self, cell: Cell) -> str:
        """A cell as it may be shown now."""
        if self.world.observability == "fog_of_war":
            return self.memory.get(cell, UNSEEN)
        return self.memory[cell] if cell in self.world.seen else UNSEEN

    def looks(self) -> dict[Cell, str]:
        return {cell: self.look(cell) for cell in self.world.cells}

    def truth(self, cell: Cell) -> str:
        """The topmost thing that is known: a block hides a switch, and everything hides the floor."""
        known = [i for i in self.world.ids_at(cell) if i not in self.world.hidden or i in self.world.touched]
        blocks = [i for i in known if i in self.world.blocks]
        for i in blocks or known:
            return self.thing(i, cell)
        return self.ground(cell)

    def ground(self, cell: Cell) -> str:
        world = self.world
        if world.is_wall(cell):
            return "wall"
        if cell == world.goal_square:
            return "goal"
        marks = [cell_of(position) for position in world.goal.get("target_positions") or []]
        return "target" if cell in marks and world.goal["type"] == "push_block_to" else "floor"

    def thing(self, i: str, cell: Cell) -> str:
        world = self.world
        if i in world.keys:
            return f"{world.keys[i]['color']} key"
        if i in world.doors or i in world.gates:
            color = world.doors[i]["requires_key"] if i in world.doors else world.gates[i].get("color", "grey")
            closed, kind = ("locked", "door") if i in world.doors else ("closed", "gate")
            return f"{'open' if world.stands_open(i) else closed} {color} {kind}"
        if i in world.switches:
            return f"{'on' if i in world.active else 'off'} {world.switches[i].get('color', 'yellow')} switch"
        if i in world.blocks:
            fixed = "" if world.blocks[i].get("pushable", True) else "fixed "
            return f"{fixed}{world.blocks[i].get('color', 'grey')} block"
        if i in world.hazards:
            return f"{world.hazards[i].get('hazard_type', 'lava')} hazard"
        way_in = cell == cell_of(world.teleporters[i]["position_a"]) or world.teleporters[i].get("bidirectional", True)
        # The page gives teleporters no colour; the drawing tells pairs apart by one.
        return f"{'entrance' if way_in else 'exit'} teleporter"
