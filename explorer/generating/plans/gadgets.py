"""Gates and their keys: each gadget spends some hops on hiding an area behind a gate that something opens."""

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
PLUGS: Final = ("stone", "granite", "diorite", "andesite", "cobblestone", "coal_ore")
MOST_AREAS: Final = 9
MOAT: Final = 7
"""Cells across a moat; a sprint jump from a pillar clears 5."""
CLIFF: Final = 3
"""Cells that a cliff rises above the step before it."""
_SCHEMAS_WITH_TOOLS: Final = ("mine_stone", "mine_ore", "cut_cobweb")
"""Schemas whose block may need a tool, which takes a hop of its own."""


class Draw:
    """A plan being drawn.

    Every method that takes ``hops`` spends exactly that many, its own included, and raises RejectedDraw if it cannot.
    """

    def __init__(self, rng: random.Random, knobs: Knobs) -> None:
        self.rng = rng
        self.knobs = knobs
        self.plan = Plan()
        self.root = self.plan.add_area()
        self._tasks: set[str] = set()

    # areas

    def extend(self, area: Area, hops: int) -> Area:
        """Return an area that is ``hops`` hops away from another."""
        if hops == 0:
            return self._wander(area)
        fitting = [gadget for gadget in GADGETS if gadget.least <= hops]
        gadget = self.rng.choices(fitting, [gadget.weight for gadget in fitting])[0]
        return gadget.build(self, area, hops)

    def merge(self, area: Area, hops: int) -> Area:
        """Return an area that needs two branches from another, of at least 1 hop each, besides its own hop."""
        first = self.rng.randint(1, hops - 2)
        second = hops - 1 - first
        kind = self.rng.choice(("two_devices", "device", "key", "key"))
        parent = self.extend(area, first)
        if kind == "two_devices":
            return self._add_two_device_door(area, parent, self.extend(area, second))
        if kind == "device":
            return self.add_device_door(parent, self.extend(area, second))
        gates = (self.add_handle_door, self.add_moat, self.add_ledge, self.add_plug, self.add_curtain)
        build = self.rng.choice(gates)
        return build(area, second + 1, parent)

    def _wander(self, area: Area) -> Area:
        """Return the area itself or a doorless room beside it; the latter is likelier at the spawn."""
        likely = (0.7 if area is self.root else 0.2) * self.knobs.distance
        if len(self.plan.areas) >= MOST_AREAS or self.rng.random() >= likely:
            return area
        return self.plan.add_area(area, Gate("", "open"))

    def split(self, area: Area, hops: int, key: int) -> tuple[Area, Area]:
        """Return the parent of a new gate and the area of its key; spend all hops but the gate's and the key's."""
        where = self.extend(area, hops - 1 - key)
        return self.rng.choice((area, where)), where

    def _add_gated_area(self, parent: Area, gate: Gate, schema: str = "", thing: str = "", roomy: float = 0.25) -> Area:
        """Add an area behind a gate, with a hop for passing it.

        Args:
            schema, thing: schema and object of the hop's task.
            roomy: how often the task is to enter a room with a named floor instead; always, without ``thing``.
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
        """Add a hop; each task may occur once per scene."""
        if task.id in self._tasks:
            raise RejectedDraw("plan: a task twice")
        self._tasks.add(task.id)
        return self.plan.add_hop(Hop(task.schema, task.object, aim, target, item))

    def _draw_task(self, schema: str, thing: str = "") -> Task:
        """Return a task of a schema, about ``thing`` if that is given."""
        fitting = [task for task in tasks_of(schema) if not thing or task.object == thing]
        if not fitting:
            raise RejectedDraw(f"plan: no task {schema} {thing}".rstrip())
        return self.rng.choice(fitting)

    def add_thing(self, kind: ThingKind, area: Area, item: str = "", count: int = 1, of: str = "") -> Thing:
        """Add a thing to an area."""
        return self.plan.add_thing(Thing(kind, area, item, count, of))

    # keys

    def obtain(self, item: str, area: Area, hops: int, count: int = 1, schema: str = "") -> Area:
        """Hide an item so that getting it takes ``hops`` hops; return the area where the agent gets it."""
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
            before = self.rng.randint(0, hops - 2)
            where = self.extend(area, before)
            self.obtain(tool, where, hops - 1 - before)
        else:
            where = self.extend(area, hops - 1)

        found = self._add_source(task, item, where, count)
        found.tool = tool
        self.add_hop(task, "item", found, item)
        return where

    def _add_source(self, task: Task, item: str, where: Area, count: int) -> Thing:
        """Add the thing that gives an item, as its task says."""
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
        """Return a tool that digs a block, or "" if bare hands do."""
        tools = find_block(name).tools
        if not tools:
            return ""
        options = [tool for tool in FOUND_TOOLS if tool in tools]
        options += [tool for tool in ("wooden_pickaxe", "stone_pickaxe") if tool in tools]
        if not options:
            raise RejectedDraw(f"plan: no tool for {name}")
        return self.rng.choice(options)

    def craft(self, task: Task, area: Area, hops: int, count: int = 1) -> Area:
        """Hide the ingredients of an item; one of them takes all the hops but one."""
        raw, times = self._draw_recipe(task.object, count, hops)
        if hops <= 1:
            where = self.extend(area, 0)
            self._finish_recipe(task, raw, times, where, set())
            return where

        names = [name for name in sorted(raw) if _can_be_hidden(name, hops - 1)]
        if not names:
            raise RejectedDraw(f"plan: nothing to hide of {task.object}")
        main = self.rng.choice(names)
        where = self.obtain(main, area, hops - 1, raw[main])
        self._finish_recipe(task, raw, times, where, {main})
        return where

    def craft_of_two(self, task: Task, area: Area, hops: int) -> None:
        """Hide two ingredients of an item, each behind its own hops."""
        raw, times = self._draw_recipe(task.object, 1, hops)
        first_hops = self.rng.randint(1, hops - 2)
        second_hops = hops - 1 - first_hops
        least = min(first_hops, second_hops)
        names = [name for name in sorted(raw) if _can_be_hidden(name, least)]
        if len(names) < 2:
            raise RejectedDraw(f"plan: nothing to hide of {task.object}")

        first, second = self.rng.sample(names, 2)
        where = self.obtain(first, area, first_hops, raw[first])
        self.obtain(second, area, second_hops, raw[second])
        self._finish_recipe(task, raw, times, where, {first, second})

    def _draw_recipe(self, item: str, count: int, hops: int) -> tuple[dict[str, int], tuple[tuple[str, int], ...]]:
        """Return the raw materials of an item, and the recipes with times."""
        parts = self.rng.choice(_PARTS) if hops > 1 else ("oak_planks",)
        return take_apart(item, count, frozenset(parts))

    def _finish_recipe(
        self, task: Task, raw: dict[str, int], times: tuple[tuple[str, int], ...], where: Area, hidden: set[str]
    ) -> None:
        """Lay out the other ingredients of a recipe, and add its hop."""
        for name in sorted(raw.keys() - hidden):
            self.supply(name, raw[name], where)
        if any(_needs_table(name) for name, _ in times):
            self.add_thing("table", where, of="crafting_table")
        self.plan.crafts[task.object] = times
        self.plan.raws[task.object] = tuple(sorted(raw))
        self.add_hop(task, "item", where, task.object)
        self.plan.gadgets.append("recipe")

    def supply(self, item: str, count: int, area: Area) -> None:
        """Lay out an ingredient without a hop of its own."""
        if item in DROPPED and self.rng.random() < 0.5:
            self.add_thing("mob", area, item, count, DROPPED[item])
        elif item.endswith("_log"):
            self.add_thing("tree", area, item, max(count, 4), item)
        else:
            self.add_thing("chest", area, item, count)

    # gates: each spends one hop on itself

    def add_device_door(self, parent: Area, where: Area) -> Area:
        """Add a door that a lever, button or plate opens for good."""
        schema = self.rng.choice(("pull_lever", "press_button", "stand_on_plate"))
        task = self._draw_task(schema)
        kind: ThingKind = "plate" if schema == "stand_on_plate" else "device"
        device = self.add_thing(kind, where, of=task.object)
        gadget = {"pull_lever": "lever_door", "press_button": "button_door", "stand_on_plate": "plate_door"}[schema]
        gate = Gate(gadget, "iron_door", "devices", "iron_door", [device])
        return self._add_gated_area(parent, gate, schema, task.object)

    def _add_two_device_door(self, parent: Area, first: Area, second: Area) -> Area:
        """Add a door that two devices open together."""
        schema = self.rng.choice(("use_two_levers", "use_lever_and_button"))
        task = self._draw_task(schema)
        lever = self.add_thing("device", first, of="lever")
        other = self.add_thing("device", second, of=task.object)
        gate = Gate("two_device_door", "iron_door", "devices", "iron_door", [lever, other], mode="all")
        return self._add_gated_area(parent, gate, schema, task.object)

    def add_timed_door(self, area: Area, hops: int, parent: Area | None = None) -> Area:
        """Add a door that closes again, with a button on each side."""
        parent = parent or self.extend(area, hops - 1)
        task = self._draw_task("pass_timed_door")
        outside = self.add_thing("device", parent, of=task.object)
        gate = Gate("timed_door", "iron_door", "devices", "iron_door", [outside], timed=True)
        area = self._add_gated_area(parent, gate, "pass_timed_door", task.object, roomy=0)
        gate.devices.append(self.add_thing("device", area, of=task.object))
        return area

    def add_handle_door(self, area: Area, hops: int, parent: Area | None = None) -> Area:
        """Add a door without a device; its lever or button lies elsewhere."""
        schema = self.rng.choice(("place_lever", "place_button"))
        task = self._draw_task(schema)
        where = self.obtain(task.object, area, hops - 1)
        gate = Gate("handle_door", "iron_door", "handle", "iron_door", item=task.object)
        parent = parent or self.rng.choice((area, where))
        return self._add_gated_area(parent, gate, schema, task.object)

    def add_moat(self, area: Area, hops: int, parent: Area | None = None) -> Area:
        """Add a moat of lava or a chasm, to be bridged with blocks."""
        liquid, schema = self.rng.choice((("lava", "bridge_moat"), ("", "bridge_chasm")))
        item, where = self._hide_blocks(area, hops - 1, MOAT, schema)
        gadget = "moat" if liquid else "chasm"
        gate = Gate(gadget, "moat", "blocks", liquid, item=item)
        parent = parent or self.rng.choice((area, where))
        return self._add_crossing(parent, gate, schema, ("far_bank", "island"))

    def add_ledge(self, area: Area, hops: int, parent: Area | None = None) -> Area:
        """Add a cliff, to be climbed by piling up blocks."""
        item, where = self._hide_blocks(area, hops - 1, CLIFF, "build_step")
        material = self._draw_task("climb_ledge").object
        gate = Gate("ledge", "ledge", "blocks", material, item=item)
        parent = parent or self.rng.choice((area, where))
        new = self.plan.add_area(parent, gate)

        built = [task for task in tasks_of("build_step") if task.object == item]
        blocks_there = [thing.block for thing in self.plan.things if thing.area is parent]
        if built and item not in blocks_there and self.rng.random() < 0.6:
            gate.hop = self.add_hop(built[0], "lay", new, item)
        else:
            gate.hop = self.add_hop(self._draw_task("climb_ledge", material), "enter", new)
        return new

    def _add_crossing(self, parent: Area, gate: Gate, schema: str, places: tuple[str, ...]) -> Area:
        """Add an area across a moat: its hop is the bridge, if the pool has that block, or reaching the far side."""
        built = [task for task in tasks_of(schema) if task.object == gate.item]
        if built and self.rng.random() < 0.7:
            area = self.plan.add_area(parent, gate)
            gate.hop = self.add_hop(built[0], "lay", area, gate.item)
            return area
        return self._add_gated_area(parent, gate, "reach_place", self.rng.choice(places), roomy=0.4)

    def _hide_blocks(self, area: Area, hops: int, count: int, schema: str) -> tuple[str, Area]:
        """Hide blocks to lay, preferably such as the tasks of a schema ask for; return the item and its area."""
        count += self.knobs.spare
        known = [task.object for task in tasks_of(schema)]
        if hops == 0 or self.rng.random() < 0.25:
            where = self.extend(area, hops)
            item = self.rng.choice([name for name in known if name.endswith("_planks")])
            self.add_thing("chest", where, item, count)
            return item, where

        # Stone needs a tool, and so a hop more.
        weights = {"dig_ground": 3, "take_wool": 2, "harvest": 1, "mine_stone": 2 if hops > 1 else 0, "chop_log": 1}
        source = self.rng.choices(list(weights), list(weights.values()))[0]
        items = [task.object for task in tasks_of(source) if bridges(task.object)]
        item = self.rng.choice([name for name in items if name in known] or items)
        where = self.obtain(item, area, hops, count, source)
        return item, where

    def add_plug(self, area: Area, hops: int, parent: Area | None = None) -> Area:
        """Add a plug of natural stone, to be cleared with a pickaxe."""
        name = self.rng.choice(PLUGS)
        tool = self._draw_tool(name)
        where = self.obtain(tool, area, hops - 1)
        gate = Gate("plug", "plug", "tool", name, item=tool)
        parent = parent or self.rng.choice((area, where))
        return self._add_plugged_area(parent, gate, "clear_plug")

    def add_curtain(self, area: Area, hops: int, parent: Area | None = None) -> Area:
        """Add a plug of cobweb, to be cut with shears or a sword."""
        tool = self.rng.choice(("shears", "iron_sword"))
        where = self.obtain(tool, area, hops - 1)
        gate = Gate("curtain", "plug", "tool", "cobweb", item=tool)
        parent = parent or self.rng.choice((area, where))
        return self._add_plugged_area(parent, gate, "")

    def add_leaves(self, area: Area, hops: int, parent: Area | None = None) -> Area:
        """Add a plug of leaves, to be cleared with bare hands."""
        parent = parent or self.extend(area, hops - 1)
        gate = Gate("leaves", "plug", "tool", self._draw_task("clear_leaves").object)
        return self._add_plugged_area(parent, gate, "clear_leaves", roomy=0.1)

    def _add_plugged_area(self, parent: Area, gate: Gate, schema: str, roomy: float = 0.3) -> Area:
        """Add an area behind a plug; its hop is to clear it, if the pool has such a task, or to enter the room."""
        tasks = [task for task in tasks_of(schema) if task.object == gate.block] if schema else []
        if not tasks or self.rng.random() < roomy:
            return self._add_gated_area(parent, gate)
        area = self.plan.add_area(parent, gate)
        gate.hop = self.add_hop(tasks[0], "gone", area)
        return area

    def add_free_gate(self, area: Area, hops: int, parent: Area | None = None) -> Area:
        """Add a gate without a key: a wooden door, a trench, stairs, a maze, or just a room."""
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
    """A way to gate an area.

    Attributes:
        least: least number of hops that it takes.
        weight: weight in the draw.
    """

    least: int
    weight: float
    build: Callable[[Draw, Area, int], Area]


def _split_device_door(draw: Draw, area: Area, hops: int) -> Area:
    return draw.add_device_door(*draw.split(area, hops, 0))


def _needs_table(name: str) -> bool:
    return RECIPES[recipe(name)].table


def _can_be_hidden(name: str, hops: int) -> bool:
    """Return whether some task asks for an item within so many hops, including its tool."""
    return any(hops > 1 or task.schema not in _SCHEMAS_WITH_TOOLS for task in tasks_for(name))


_PARTS: Final = (("oak_planks",), ("oak_log",), ("oak_planks", "stick"), ("stick",))
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
