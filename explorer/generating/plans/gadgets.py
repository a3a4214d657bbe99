"""Add gates and their keys to a plan.

A hop is a planned milestone. A gadget is a gate together with the way in which the agent gets its key. An area is a
room behind a gate. The number of hops is a budget: a method with the parameter ``hops`` adds exactly this number of
hops to the plan.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from explorer.generating.knobs import Knobs
from explorer.generating.plans.keys import DROPPED, find_block, source_block, take_apart, tasks_for, tasks_of
from explorer.generating.plans.plan import Aim, Area, Gate, Hop, Plan, RejectedDraw, Thing, ThingKind
from explorer.rules.recipes import RECIPES, recipe
from explorer.solver.stock import bridges
from explorer.tasks.pool import Task

FOUND_TOOLS: Final[tuple[str, ...]] = ("shears", "iron_sword", "iron_pickaxe", "diamond_pickaxe")
"""Tools that may lie in a scene."""
PLUGS: Final = ("stone", "granite", "diorite", "andesite", "cobblestone", "coal_ore")
"""Blocks from which plugs are built that only a pickaxe clears."""
MAX_AREAS: Final = 9
"""Number of areas from which a plan gets no more side rooms without a door."""
MOAT: Final = 7
"""Width of a moat in cells; for comparison, a sprint jump from a pillar crosses 5 cells."""
CLIFF: Final = 3
"""Height of a cliff in cells, measured from the top of the step before it."""
_SCHEMAS_WITH_TOOLS: Final = ("mine_stone", "mine_ore", "cut_cobweb")
"""Schemas of tasks about a block that may need a tool; getting the tool takes at least one further hop."""


class Draw:
    """A plan that is being drawn at random.

    A method with the parameter ``hops`` adds exactly this number of hops, including the hop for its own gate or item;
    if it cannot, it raises RejectedDraw. The optional parameter ``parent`` is the area from which the new gate is
    entered.
    """

    def __init__(self, rng: random.Random, knobs: Knobs) -> None:
        self.rng = rng
        self.knobs = knobs
        self.plan = Plan()
        self.root = self.plan.add_area()
        self._tasks: set[str] = set()

    # areas

    def extend(self, area: Area, hops: int) -> Area:
        """Return an area that takes ``hops`` hops to reach from ``area``; if ``hops`` is above 0, add it behind a
        random gate.
        """
        if hops == 0:
            return self._wander(area)
        fitting = [gadget for gadget in GADGETS if gadget.least <= hops]
        weights = [gadget.weight for gadget in fitting]
        gadget = self.rng.choices(fitting, weights)[0]
        return gadget.build(self, area, hops)

    def merge(self, area: Area, hops: int) -> Area:
        """Add a gate that needs two branches of hops, both starting at ``area``; return the area behind the gate.

        Each branch has at least 1 hop.
        """
        first_hops = self.rng.randint(1, hops - 2)
        second_hops = hops - 1 - first_hops
        kind = self.rng.choice(("two_devices", "device", "key", "key"))
        parent = self.extend(area, first_hops)
        if kind == "two_devices":
            return self._add_two_device_door(area, parent, self.extend(area, second_hops))
        if kind == "device":
            return self.add_device_door(parent, self.extend(area, second_hops))
        gates = (self.add_handle_door, self.add_moat, self.add_ledge, self.add_plug, self.add_curtain)
        build = self.rng.choice(gates)
        # The key takes the hops of the second branch, the gate one hop more.
        return build(area, second_hops + 1, parent)

    def _wander(self, area: Area) -> Area:
        """Return ``area``, or by chance a new side room of ``area`` without a door.

        At the first area, a new room is likelier than elsewhere.
        """
        probability = (0.7 if area is self.root else 0.2) * self.knobs.distance
        if len(self.plan.areas) >= MAX_AREAS or self.rng.random() >= probability:
            return area
        return self.plan.add_area(area, Gate("", "open"))

    def split(self, area: Area, hops: int, key: int) -> tuple[Area, Area]:
        """Add the hops before a new gate; return two areas: the parent of the gate, and the area for the key.

        Args:
            hops: number of hops including the hops for the gate and the key.
            key: number of hops for getting the key; the caller adds these hops.
        """
        where = self.extend(area, hops - 1 - key)
        return self.rng.choice((area, where)), where

    def _add_gated_area(self, parent: Area, gate: Gate, schema: str = "", thing: str = "", roomy: float = 0.25) -> Area:
        """Add an area behind a gate and a hop for passing the gate; return the area.

        Args:
            schema, thing: schema and object of the hop's task.
            roomy: probability that the task is to enter a room with a named floor instead; if ``thing`` is "", it
                always is.
        """
        area = self.plan.add_area(parent, gate)
        if thing and self.rng.random() > roomy:
            task = self._draw_task(schema, thing)
        else:
            unused = [each for each in tasks_of("enter_room") if each.id not in self._tasks]
            task = self.rng.choice(unused)
            area.look = task.object
        gate.hop = self.add_hop(task, "enter", area)
        return area

    # hops

    def add_hop(self, task: Task, aim: Aim, target: Area | Thing, item: str = "") -> Hop:
        """Add a hop with a task; return the hop.

        Raises:
            RejectedDraw: another hop of the plan has the same task.
        """
        if task.id in self._tasks:
            raise RejectedDraw("plan: a task twice")
        self._tasks.add(task.id)
        return self.plan.add_hop(Hop(task.schema, task.object, aim, target, item))

    def _draw_task(self, schema: str, thing: str = "") -> Task:
        """Return a random task of a schema; if ``thing`` is given, the object of the task is ``thing``."""
        fitting = [task for task in tasks_of(schema) if not thing or task.object == thing]
        if not fitting:
            raise RejectedDraw(f"plan: no task {schema} {thing}".rstrip())
        return self.rng.choice(fitting)

    def add_thing(self, kind: ThingKind, area: Area, item: str = "", count: int = 1, of: str = "") -> Thing:
        """Add a thing to an area; return the thing.

        Args:
            item, count: what the thing gives.
            of: the block that the thing is made of, or the kind of a mob.
        """
        return self.plan.add_thing(Thing(kind, area, item, count, of))

    # keys

    def obtain(self, item: str, area: Area, hops: int, count: int = 1, schema: str = "") -> Area:
        """Add an item that takes ``hops`` hops to get; return the area where the agent gets the item.

        Args:
            count: number of items.
            schema: schema of the task to get the item; "" for any schema.
        """
        tasks = [task for task in tasks_for(item) if not schema or task.schema == schema]
        if not tasks:
            raise RejectedDraw(f"plan: no task for {item}")
        task = self.rng.choice(tasks)
        if task.schema.startswith("craft_"):
            return self.craft(task, area, hops, count)

        tool = ""
        if task.schema in _SCHEMAS_WITH_TOOLS:
            tool = self._draw_tool(source_block(item))
        if tool:
            if hops < 2:
                raise RejectedDraw("plan: no hop left for a tool")
            way_hops = self.rng.randint(0, hops - 2)
            where = self.extend(area, way_hops)
            self.obtain(tool, where, hops - 1 - way_hops)
        else:
            where = self.extend(area, hops - 1)

        source = self._add_source(task, item, where, count)
        source.tool = tool
        self.add_hop(task, "item", source, item)
        return where

    def _add_source(self, task: Task, item: str, where: Area, count: int) -> Thing:
        """Add a thing that gives an item; return the thing. The schema of the task determines the kind of thing."""
        schema = task.schema
        if schema == "get_drop":
            return self.add_thing("mob", where, item, count, DROPPED[item])
        if schema == "chop_log":
            return self.add_thing("tree", where, item, max(count, 4), item)
        if schema in ("take_from_chest", "take_from_third_chest"):
            empty_chests = 2 if schema == "take_from_third_chest" else 0
            for _ in range(empty_chests):
                self.add_thing("chest", where)
            return self.add_thing("chest", where, item, count)
        if schema in ("take_item", "take_tool", "take_handle"):
            kind: ThingKind = self.rng.choice(("lying", "lying", "chest"))
            return self.add_thing(kind, where, item, count)
        return self.add_thing("block", where, item, count, source_block(item))

    def _draw_tool(self, name: str) -> str:
        """Return a random tool that digs the block called ``name``, or "" if bare hands dig the block."""
        tools = find_block(name).tools
        if not tools:
            return ""
        options = [tool for tool in FOUND_TOOLS if tool in tools]
        options += [tool for tool in ("wooden_pickaxe", "stone_pickaxe") if tool in tools]
        if not options:
            raise RejectedDraw(f"plan: no tool for {name}")
        return self.rng.choice(options)

    def craft(self, task: Task, area: Area, hops: int, count: int = 1) -> Area:
        """Add an item to craft; return the area where the agent crafts the item.

        With two or more hops, hide one of the ingredients: getting it takes all hops except the last, which is to craft
        the item.
        """
        raw, recipes = self._draw_recipe(task.object, count, hops)
        if hops <= 1:
            where = self.extend(area, 0)
            self._finish_recipe(task, raw, recipes, where, set())
            return where

        names = [name for name in sorted(raw) if _can_be_hidden(name, hops - 1)]
        if not names:
            raise RejectedDraw(f"plan: nothing to hide of {task.object}")
        main = self.rng.choice(names)
        where = self.obtain(main, area, hops - 1, raw[main])
        self._finish_recipe(task, raw, recipes, where, {main})
        return where

    def craft_of_two(self, task: Task, area: Area, hops: int) -> None:
        """Add an item to craft, and hide two of its ingredients, each behind its own hops."""
        raw, recipes = self._draw_recipe(task.object, 1, hops)
        first_hops = self.rng.randint(1, hops - 2)
        second_hops = hops - 1 - first_hops
        least = min(first_hops, second_hops)
        names = [name for name in sorted(raw) if _can_be_hidden(name, least)]
        if len(names) < 2:
            raise RejectedDraw(f"plan: nothing to hide of {task.object}")

        first, second = self.rng.sample(names, 2)
        where = self.obtain(first, area, first_hops, raw[first])
        self.obtain(second, area, second_hops, raw[second])
        self._finish_recipe(task, raw, recipes, where, {first, second})

    def _draw_recipe(self, item: str, count: int, hops: int) -> tuple[dict[str, int], tuple[tuple[str, int], ...]]:
        """Return what crafting an item takes: a dictionary raw material -> count, and the recipes in order.

        Each recipe is a pair (name, times).
        """
        parts = self.rng.choice(_PARTS) if hops > 1 else ("oak_planks",)
        return take_apart(item, count, frozenset(parts))

    def _finish_recipe(
        self, task: Task, raw: dict[str, int], recipes: tuple[tuple[str, int], ...], where: Area, hidden: set[str]
    ) -> None:
        """Complete the plan of a craft: add the other ingredients, a table if a recipe needs it, and the hop.

        Args:
            raw: raw material -> count.
            recipes: the recipes in order, each as (name, times).
            where: area where the agent crafts.
            hidden: raw materials that the plan contains already.
        """
        for name in sorted(raw.keys() - hidden):
            self.supply(name, raw[name], where)
        if any(_needs_table(name) for name, _ in recipes):
            self.add_thing("table", where, of="crafting_table")
        self.plan.crafts[task.object] = recipes
        self.plan.raws[task.object] = tuple(sorted(raw))
        self.add_hop(task, "item", where, task.object)
        self.plan.gadgets.append("recipe")

    def supply(self, item: str, count: int, area: Area) -> None:
        """Add an ingredient to an area, so that the agent gets it there without a hop."""
        if item in DROPPED and self.rng.random() < 0.5:
            self.add_thing("mob", area, item, count, DROPPED[item])
        elif item.endswith("_log"):
            self.add_thing("tree", area, item, max(count, 4), item)
        else:
            self.add_thing("chest", area, item, count)

    # gates: each method spends one hop on its gate

    def add_device_door(self, parent: Area, where: Area) -> Area:
        """Add a door that a lever, button or plate opens for good; return the area behind the door.

        Args:
            where: area of the lever, button or plate.
        """
        schema = self.rng.choice(("pull_lever", "press_button", "stand_on_plate"))
        task = self._draw_task(schema)
        kind: ThingKind = "plate" if schema == "stand_on_plate" else "device"
        device = self.add_thing(kind, where, of=task.object)
        gadget = {"pull_lever": "lever_door", "press_button": "button_door", "stand_on_plate": "plate_door"}[schema]
        gate = Gate(gadget, "iron_door", "devices", "iron_door", [device])
        return self._add_gated_area(parent, gate, schema, task.object)

    def _add_two_device_door(self, parent: Area, first: Area, second: Area) -> Area:
        """Add a door that opens once two devices are both on; return the area behind the door.

        Args:
            first, second: areas of the two devices.
        """
        schema = self.rng.choice(("use_two_levers", "use_lever_and_button"))
        task = self._draw_task(schema)
        lever = self.add_thing("device", first, of="lever")
        other = self.add_thing("device", second, of=task.object)
        gate = Gate("two_device_door", "iron_door", "devices", "iron_door", [lever, other], mode="all")
        return self._add_gated_area(parent, gate, schema, task.object)

    def add_timed_door(self, area: Area, hops: int, parent: Area | None = None) -> Area:
        """Add a door that closes again, with a button on each side; return the area behind the door."""
        parent = parent or self.extend(area, hops - 1)
        task = self._draw_task("pass_timed_door")
        outside = self.add_thing("device", parent, of=task.object)
        gate = Gate("timed_door", "iron_door", "devices", "iron_door", [outside], timed=True)
        area = self._add_gated_area(parent, gate, "pass_timed_door", task.object, roomy=0)
        gate.devices.append(self.add_thing("device", area, of=task.object))
        return area

    def add_handle_door(self, area: Area, hops: int, parent: Area | None = None) -> Area:
        """Add a door without a device; return the area behind the door.

        The agent must find a lever or button and place it beside the door.
        """
        schema = self.rng.choice(("place_lever", "place_button"))
        task = self._draw_task(schema)
        where = self.obtain(task.object, area, hops - 1)
        gate = Gate("handle_door", "iron_door", "handle", "iron_door", item=task.object)
        parent = parent or self.rng.choice((area, where))
        return self._add_gated_area(parent, gate, schema, task.object)

    def add_moat(self, area: Area, hops: int, parent: Area | None = None) -> Area:
        """Add a moat of lava or a chasm, which the agent crosses on a bridge of blocks; return the area behind it."""
        liquid, schema = self.rng.choice((("lava", "bridge_moat"), ("", "bridge_chasm")))
        item, where = self._hide_blocks(area, hops - 1, MOAT, schema)
        gadget = "moat" if liquid else "chasm"
        gate = Gate(gadget, "moat", "blocks", liquid, item=item)
        parent = parent or self.rng.choice((area, where))
        return self._add_crossing(parent, gate, schema, ("far_bank", "island"))

    def add_ledge(self, area: Area, hops: int, parent: Area | None = None) -> Area:
        """Add a cliff, which the agent climbs on blocks that it piles up; return the area above the cliff."""
        item, where = self._hide_blocks(area, hops - 1, CLIFF, "build_step")
        material = self._draw_task("climb_ledge").object
        gate = Gate("ledge", "ledge", "blocks", material, item=item)
        parent = parent or self.rng.choice((area, where))
        upper_area = self.plan.add_area(parent, gate)

        tasks = [task for task in tasks_of("build_step") if task.object == item]
        blocks_there = [thing.block for thing in self.plan.things if thing.area is parent]
        # Blocks of the same name in the parent area would count as laid.
        can_count_blocks = bool(tasks) and item not in blocks_there
        if can_count_blocks and self.rng.random() < 0.6:
            gate.hop = self.add_hop(tasks[0], "lay", upper_area, item)
        else:
            gate.hop = self.add_hop(self._draw_task("climb_ledge", material), "enter", upper_area)
        return upper_area

    def _add_crossing(self, parent: Area, gate: Gate, schema: str, places: tuple[str, ...]) -> Area:
        """Add an area across a moat, and a hop to build the bridge or to reach the far side; return the area.

        The hop may be to build the bridge only if a task of the schema is about the item that is laid.

        Args:
            places: objects of the task to reach the far side, one of which is drawn.
        """
        tasks = [task for task in tasks_of(schema) if task.object == gate.item]
        if tasks and self.rng.random() < 0.7:
            area = self.plan.add_area(parent, gate)
            gate.hop = self.add_hop(tasks[0], "lay", area, gate.item)
            return area
        return self._add_gated_area(parent, gate, "reach_place", self.rng.choice(places), roomy=0.4)

    def _hide_blocks(self, area: Area, hops: int, count: int, schema: str) -> tuple[str, Area]:
        """Hide blocks that the agent will lay; return their item, and the area where the agent gets the blocks.

        Args:
            count: number of blocks that are needed; spare blocks are added.
            schema: schema of the task to lay the blocks; items of its tasks are preferred.
        """
        count += self.knobs.spare
        asked_for = [task.object for task in tasks_of(schema)]
        if hops == 0 or self.rng.random() < 0.25:
            where = self.extend(area, hops)
            item = self.rng.choice([name for name in asked_for if name.endswith("_planks")])
            self.add_thing("chest", where, item, count)
            return item, where

        # Stone needs a tool, and the tool takes a further hop.
        weights = {"dig_ground": 3, "take_wool": 2, "harvest": 1, "mine_stone": 2 if hops > 1 else 0, "chop_log": 1}
        source_schema = self.rng.choices(list(weights), list(weights.values()))[0]
        items = [task.object for task in tasks_of(source_schema) if bridges(task.object)]
        preferred = [name for name in items if name in asked_for]
        item = self.rng.choice(preferred or items)
        where = self.obtain(item, area, hops, count, source_schema)
        return item, where

    def add_plug(self, area: Area, hops: int, parent: Area | None = None) -> Area:
        """Add a plug of stone or ore, which the agent digs with a pickaxe; return the area behind the plug."""
        name = self.rng.choice(PLUGS)
        tool = self._draw_tool(name)
        where = self.obtain(tool, area, hops - 1)
        gate = Gate("plug", "plug", "tool", name, item=tool)
        parent = parent or self.rng.choice((area, where))
        return self._add_plugged_area(parent, gate, "clear_plug")

    def add_curtain(self, area: Area, hops: int, parent: Area | None = None) -> Area:
        """Add a plug of cobweb, which the agent cuts with shears or a sword; return the area behind the plug."""
        tool = self.rng.choice(("shears", "iron_sword"))
        where = self.obtain(tool, area, hops - 1)
        gate = Gate("curtain", "plug", "tool", "cobweb", item=tool)
        parent = parent or self.rng.choice((area, where))
        return self._add_plugged_area(parent, gate, "")

    def add_leaves(self, area: Area, hops: int, parent: Area | None = None) -> Area:
        """Add a plug of leaves, which the agent clears with bare hands; return the area behind the plug."""
        parent = parent or self.extend(area, hops - 1)
        gate = Gate("leaves", "plug", "tool", self._draw_task("clear_leaves").object)
        return self._add_plugged_area(parent, gate, "clear_leaves", roomy=0.1)

    def _add_plugged_area(self, parent: Area, gate: Gate, schema: str, roomy: float = 0.3) -> Area:
        """Add an area behind a plug, and a hop to clear the plug or to enter the room; return the area.

        Args:
            schema: schema of the tasks to clear plugs, or "". If the schema has no task about the plug's block, the hop
                is to enter the room.
            roomy: probability that the hop is to enter the room although a task to clear the plug exists.
        """
        tasks = [task for task in tasks_of(schema) if task.object == gate.block] if schema else []
        if not tasks or self.rng.random() < roomy:
            return self._add_gated_area(parent, gate)
        area = self.plan.add_area(parent, gate)
        gate.hop = self.add_hop(tasks[0], "gone", area)
        return area

    def add_free_gate(self, area: Area, hops: int, parent: Area | None = None) -> Area:
        """Add a gate that needs no key; return the area behind it.

        The gate is a wooden door, a trench, stairs, a maze, or an opening without a gate.
        """
        parent = parent or self.extend(area, hops - 1)
        kind = self.rng.choice(("wooden_door", "wooden_door", "trench", "stairs_up", "stairs_down", "maze", "room"))
        if kind == "wooden_door":
            task = self._draw_task("open_wooden_door")
            gate = Gate(kind, "wooden_door", block=task.object)
            return self._add_gated_area(parent, gate, task.schema, task.object)
        if kind == "trench":
            task = self._draw_task("jump_over_trench")
            gate = Gate(kind, "trench", block=task.object)
            return self._add_gated_area(parent, gate, task.schema, task.object)
        if kind == "stairs_up":
            height = self._draw_task("reach_high").object
            return self._add_gated_area(parent, Gate(kind, "stairs"), "reach_high", height, roomy=0)
        if kind == "stairs_down":
            return self._add_gated_area(parent, Gate(kind, "stairs"), "reach_place", "cellar", roomy=0)
        if kind == "maze":
            return self._add_gated_area(parent, Gate(kind, "maze"), "reach_place", "maze_exit", roomy=0)
        return self._add_gated_area(parent, Gate("room", "open"))


@dataclass(frozen=True, slots=True)
class Gadget:
    """A kind of gate that a plan may contain.

    Attributes:
        least: least number of hops that the gate and its key take together.
        weight: weight of the kind in the random choice.
        build: function of a draw, an area and a number of hops; it adds a gate and returns the area behind the gate.
    """

    least: int
    weight: float
    build: Callable[[Draw, Area, int], Area]


def _split_device_door(draw: Draw, area: Area, hops: int) -> Area:
    return draw.add_device_door(*draw.split(area, hops, 0))


def _needs_table(name: str) -> bool:
    return RECIPES[recipe(name)].table


def _can_be_hidden(name: str, hops: int) -> bool:
    """Return whether ``hops`` hops are enough for getting an item, including the tool that the item may need."""
    schemas = [task.schema for task in tasks_for(name)]
    return any(hops > 1 or schema not in _SCHEMAS_WITH_TOOLS for schema in schemas)


_PARTS: Final = (("oak_planks",), ("oak_log",), ("oak_planks", "stick"), ("stick",))
"""Choices of raw materials: the items of a choice are hidden instead of crafted, and recipes start from them."""
GADGETS: Final = (
    Gadget(1, 3, _split_device_door),
    Gadget(1, 0.8, Draw.add_timed_door),
    Gadget(2, 2, Draw.add_handle_door),
    Gadget(1, 3, Draw.add_moat),
    Gadget(2, 4, Draw.add_ledge),
    Gadget(2, 3.5, Draw.add_plug),
    Gadget(2, 2, Draw.add_curtain),
    Gadget(1, 0.6, Draw.add_leaves),
    Gadget(1, 3, Draw.add_free_gate),
)
