"""Gates and their keys: each gadget spends some hops on hiding an area behind a gate that something opens."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from explorer.generating.knobs import Knobs
from explorer.generating.plans.keys import DROPPED, block, source_block, taken_apart, tasks_for, tasks_of
from explorer.generating.plans.plan import Aim, Area, Gate, Hop, Plan, Thing, ThingKind, Unfit
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


class Draw:
    """A plan being drawn.

    Every method that takes ``hops`` spends exactly that many, its own included, and raises Unfit if it cannot.
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
        if kind == "two_devices":
            ends = self.extend(area, first), self.extend(area, second)
            return self._two_devices(area, *ends)
        if kind == "device":
            parent = self.extend(area, first)
            return self.device_door(parent, self.extend(area, second))
        parent = self.extend(area, first)
        return self.rng.choice((self.handle_door, self.moat, self.ledge, self.plug, self.curtain))(
            area, second + 1, parent
        )

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

    def _gated(self, parent: Area, gate: Gate, schema: str = "", thing: str = "", roomy: float = 0.25) -> Area:
        """Add an area behind a gate, with a hop for passing it.

        Args:
            schema, thing: schema and object of the hop's task.
            roomy: how often the task is to enter a room with a named floor instead; always, without ``thing``.
        """
        area = self.plan.add_area(parent, gate)
        if thing and self.rng.random() > roomy:
            task = self._task(schema, thing)
        else:
            task = self.rng.choice([each for each in tasks_of("enter_room") if each.id not in self._tasks])
            area.look = task.object
        gate.hop = self.hop(task, "enter", area)
        return area

    # hops

    def hop(self, task: Task, aim: Aim, target: Area | Thing, item: str = "") -> Hop:
        """Add a hop; each task may occur once per scene."""
        if task.id in self._tasks:
            raise Unfit("plan: a task twice")
        self._tasks.add(task.id)
        return self.plan.add_hop(Hop(task.schema, task.object, aim, target, item))

    def _task(self, schema: str, thing: str = "") -> Task:
        """Return a task of a schema, about ``thing`` if that is given."""
        fitting = [task for task in tasks_of(schema) if not thing or task.object == thing]
        if not fitting:
            raise Unfit(f"plan: no task {schema} {thing}".rstrip())
        return self.rng.choice(fitting)

    def thing(self, kind: ThingKind, area: Area, item: str = "", count: int = 1, of: str = "") -> Thing:
        """Add a thing to an area."""
        return self.plan.add_thing(Thing(kind, area, item, count, of))

    # keys

    def obtain(self, item: str, area: Area, hops: int, count: int = 1, schema: str = "") -> Area:
        """Hide an item so that getting it takes ``hops`` hops; return the area where the agent gets it."""
        tasks = [task for task in tasks_for(item) if not schema or task.schema == schema]
        if not tasks:
            raise Unfit(f"plan: no task for {item}")
        task = self.rng.choice(tasks)
        if task.schema.startswith("craft_"):
            return self.craft(task, area, hops, count)
        tool = self._tool_for(source_block(item)) if task.schema in ("mine_stone", "mine_ore", "cut_cobweb") else ""
        if tool:
            if hops < 2:
                raise Unfit("plan: no hop left for a tool")
            before = self.rng.randint(0, hops - 2)
            where = self.extend(area, before)
            self.obtain(tool, where, hops - 1 - before)
        else:
            where = self.extend(area, hops - 1)
        found = self._source(task, item, where, count)
        found.tool = tool
        self.hop(task, "item", found, item)
        return where

    def _source(self, task: Task, item: str, where: Area, count: int) -> Thing:
        schema = task.schema
        if schema == "get_drop":
            return self.thing("mob", where, item, count, DROPPED[item])
        if schema == "chop_log":
            return self.thing("tree", where, item, max(count, 4), item)
        if schema in ("take_from_chest", "take_from_third_chest"):
            for _ in range(2 if schema == "take_from_third_chest" else 0):
                self.thing("chest", where)
            return self.thing("chest", where, item, count)
        if schema in ("take_item", "take_tool", "take_handle"):
            return self.thing(self.rng.choice(("lying", "lying", "chest")), where, item, count)
        return self.thing("block", where, item, count, source_block(item))

    def _tool_for(self, name: str) -> str:
        """Return a tool that digs a block, or "" if bare hands do."""
        tools = block(name).tools
        if not tools:
            return ""
        options = [tool for tool in FOUND_TOOLS if tool in tools]
        options += [tool for tool in ("wooden_pickaxe", "stone_pickaxe") if tool in tools]
        if not options:
            raise Unfit(f"plan: no tool for {name}")
        return self.rng.choice(options)

    def craft(self, task: Task, area: Area, hops: int, count: int = 1) -> Area:
        """Hide the ingredients of an item; one of them takes all the hops but one."""
        raw, times = self._recipe(task.object, count, hops)
        main = [name for name in sorted(raw) if hops > 1 and _can_be_hidden(name, hops - 1)]
        if hops > 1 and not main:
            raise Unfit(f"plan: nothing to hide of {task.object}")
        chosen = self.rng.choice(main) if main else ""
        where = self.obtain(chosen, area, hops - 1, raw[chosen]) if chosen else self.extend(area, 0)
        self._made(task, raw, times, where, {chosen})
        return where

    def craft_of_two(self, task: Task, area: Area, hops: int) -> None:
        """Hide two ingredients of an item, each behind its own hops."""
        raw, times = self._recipe(task.object, 1, hops)
        first = self.rng.randint(1, hops - 2)
        hidden = [name for name in sorted(raw) if _can_be_hidden(name, min(first, hops - 1 - first))]
        if len(hidden) < 2:
            raise Unfit(f"plan: nothing to hide of {task.object}")
        one, other = self.rng.sample(hidden, 2)
        where = self.obtain(one, area, first, raw[one])
        self.obtain(other, area, hops - 1 - first, raw[other])
        self._made(task, raw, times, where, {one, other})

    def _recipe(self, item: str, count: int, hops: int) -> tuple[dict[str, int], tuple[tuple[str, int], ...]]:
        return taken_apart(item, count, frozenset(self.rng.choice(_PARTS) if hops > 1 else ("oak_planks",)))

    def _made(
        self, task: Task, raw: dict[str, int], times: tuple[tuple[str, int], ...], where: Area, hidden: set[str]
    ) -> None:
        """Lay out the other ingredients of a recipe, and add its hop."""
        for name in sorted(raw.keys() - hidden):
            self.supply(name, raw[name], where)
        if any(_needs_table(name) for name, _ in times):
            self.thing("table", where, of="crafting_table")
        self.plan.crafts[task.object], self.plan.raws[task.object] = times, tuple(sorted(raw))
        self.hop(task, "item", where, task.object)
        self.plan.gadgets.append("recipe")

    def supply(self, item: str, count: int, area: Area) -> None:
        """Lay out an ingredient without a hop of its own."""
        if item in DROPPED and self.rng.random() < 0.5:
            self.thing("mob", area, item, count, DROPPED[item])
        elif item.endswith("_log"):
            self.thing("tree", area, item, max(count, 4), item)
        else:
            self.thing("chest", area, item, count)

    # gates: each spends one hop on itself

    def device_door(self, parent: Area, where: Area) -> Area:
        """Add a door that a lever, button or plate opens for good."""
        schema = self.rng.choice(("pull_lever", "press_button", "stand_on_plate"))
        task = self._task(schema)
        kind: ThingKind = "plate" if schema == "stand_on_plate" else "device"
        device = self.thing(kind, where, of=task.object)
        gadget = {"pull_lever": "lever_door", "press_button": "button_door", "stand_on_plate": "plate_door"}[schema]
        return self._gated(parent, Gate(gadget, "iron_door", "devices", "iron_door", [device]), schema, task.object)

    def _two_devices(self, parent: Area, first: Area, second: Area) -> Area:
        schema = self.rng.choice(("use_two_levers", "use_lever_and_button"))
        task = self._task(schema)
        devices = [self.thing("device", first, of="lever"), self.thing("device", second, of=task.object)]
        gate = Gate("two_device_door", "iron_door", "devices", "iron_door", devices, mode="all")
        return self._gated(parent, gate, schema, task.object)

    def timed_door(self, area: Area, hops: int, parent: Area | None = None) -> Area:
        """Add a door that closes again, with a button on each side."""
        parent = parent or self.extend(area, hops - 1)
        task = self._task("pass_timed_door")
        outside = self.thing("device", parent, of=task.object)
        gate = Gate("timed_door", "iron_door", "devices", "iron_door", [outside], timed=True)
        area = self._gated(parent, gate, "pass_timed_door", task.object, roomy=0)
        gate.devices.append(self.thing("device", area, of=task.object))
        return area

    def handle_door(self, area: Area, hops: int, parent: Area | None = None) -> Area:
        """Add a door without a device; its lever or button lies elsewhere."""
        schema = self.rng.choice(("place_lever", "place_button"))
        task = self._task(schema)
        where = self.obtain(task.object, area, hops - 1)
        gate = Gate("handle_door", "iron_door", "handle", "iron_door", item=task.object)
        return self._gated(parent or self.rng.choice((area, where)), gate, schema, task.object)

    def moat(self, area: Area, hops: int, parent: Area | None = None) -> Area:
        """Add a moat of lava or a chasm, to be bridged with blocks."""
        liquid, schema = self.rng.choice((("lava", "bridge_moat"), ("", "bridge_chasm")))
        item, where = self._blocks(area, hops - 1, MOAT, [task.object for task in tasks_of(schema)])
        gate = Gate("moat" if liquid else "chasm", "moat", "blocks", liquid, item=item)
        return self._laid(parent or self.rng.choice((area, where)), gate, schema, ("far_bank", "island"))

    def ledge(self, area: Area, hops: int, parent: Area | None = None) -> Area:
        """Add a cliff, to be climbed by piling up blocks."""
        item, where = self._blocks(area, hops - 1, CLIFF, [task.object for task in tasks_of("build_step")])
        material = self._task("climb_ledge").object
        gate = Gate("ledge", "ledge", "blocks", material, item=item)
        parent = parent or self.rng.choice((area, where))
        new = self.plan.add_area(parent, gate)
        built = [task for task in tasks_of("build_step") if task.object == item]
        lies_there = any(thing.area is parent and thing.block == item for thing in self.plan.things)
        if built and not lies_there and self.rng.random() < 0.6:
            gate.hop = self.hop(built[0], "lay", new, item)
        else:
            gate.hop = self.hop(self._task("climb_ledge", material), "enter", new)
        return new

    def _laid(self, parent: Area, gate: Gate, schema: str, places: tuple[str, ...]) -> Area:
        """Add an area across a moat: its hop is the bridge, if the pool has that block, or reaching the far side."""
        built = [task for task in tasks_of(schema) if task.object == gate.item]
        if built and self.rng.random() < 0.7:
            area = self.plan.add_area(parent, gate)
            gate.hop = self.hop(built[0], "lay", area, gate.item)
            return area
        return self._gated(parent, gate, "reach_place", self.rng.choice(places), roomy=0.4)

    def _blocks(self, area: Area, hops: int, count: int, known: list[str]) -> tuple[str, Area]:
        """Hide blocks to lay; return the item and its area."""
        count += self.knobs.spare
        if hops == 0 or self.rng.random() < 0.25:
            where = self.extend(area, hops)
            item = self.rng.choice([name for name in known if name.endswith("_planks")])
            self.thing("chest", where, item, count)
            return item, where
        pools = {
            "dig_ground": 3,
            "take_wool": 2,
            "harvest": 1,
            "mine_stone": 2 if hops > 1 else 0,
            "chop_log": 1,
        }
        schema = self.rng.choices(list(pools), list(pools.values()))[0]
        items = [task.object for task in tasks_of(schema) if bridges(task.object)]
        item = self.rng.choice([name for name in items if name in known] or items)
        where = self.obtain(item, area, hops, count, schema)
        return item, where

    def plug(self, area: Area, hops: int, parent: Area | None = None) -> Area:
        """Add a plug of natural stone, to be cleared with a pickaxe."""
        name = self.rng.choice(PLUGS)
        tool = self._tool_for(name)
        where = self.obtain(tool, area, hops - 1)
        gate = Gate("plug", "plug", "tool", name, item=tool)
        return self._cleared(parent or self.rng.choice((area, where)), gate, "clear_plug")

    def curtain(self, area: Area, hops: int, parent: Area | None = None) -> Area:
        """Add a plug of cobweb, to be cut with shears or a sword."""
        tool = self.rng.choice(("shears", "iron_sword"))
        where = self.obtain(tool, area, hops - 1)
        gate = Gate("curtain", "plug", "tool", "cobweb", item=tool)
        return self._cleared(parent or self.rng.choice((area, where)), gate, "")

    def leaves(self, area: Area, hops: int, parent: Area | None = None) -> Area:
        """Add a plug of leaves, to be cleared with bare hands."""
        parent = parent or self.extend(area, hops - 1)
        gate = Gate("leaves", "plug", "tool", self._task("clear_leaves").object)
        return self._cleared(parent, gate, "clear_leaves", roomy=0.1)

    def _cleared(self, parent: Area, gate: Gate, schema: str, roomy: float = 0.3) -> Area:
        known = [task for task in tasks_of(schema) if task.object == gate.block] if schema else []
        if not known or self.rng.random() < roomy:
            return self._gated(parent, gate)
        area = self.plan.add_area(parent, gate)
        gate.hop = self.hop(known[0], "gone", area)
        return area

    def free(self, area: Area, hops: int, parent: Area | None = None) -> Area:
        """Add a gate without a key: a wooden door, a trench, stairs, a maze, or just a room."""
        parent = parent or self.extend(area, hops - 1)
        kind = self.rng.choice(("wooden_door", "wooden_door", "trench", "stairs_up", "stairs_down", "maze", "room"))
        if kind == "wooden_door":
            task = self._task("open_wooden_door")
            return self._gated(parent, Gate(kind, "wooden_door", block=task.object), task.schema, task.object)
        if kind == "trench":
            task = self._task("jump_over_trench")
            return self._gated(parent, Gate(kind, "trench", block=task.object), task.schema, task.object)
        if kind == "stairs_up":
            return self._gated(parent, Gate(kind, "stairs"), "reach_high", self._task("reach_high").object, roomy=0)
        if kind == "stairs_down":
            return self._gated(parent, Gate(kind, "stairs"), "reach_place", "cellar", roomy=0)
        if kind == "maze":
            return self._gated(parent, Gate(kind, "maze"), "reach_place", "maze_exit", roomy=0)
        return self._gated(parent, Gate("room", "open"))


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


def _device(draw: Draw, area: Area, hops: int) -> Area:
    return draw.device_door(*draw.split(area, hops, 0))


def _needs_table(name: str) -> bool:
    return RECIPES[recipe(name)].table


def _can_be_hidden(name: str, hops: int) -> bool:
    """Return whether some task asks for an item within so many hops, including its tool."""
    needs_tool = ("mine_stone", "mine_ore", "cut_cobweb")
    return any(hops > 1 or task.schema not in needs_tool for task in tasks_for(name))


_PARTS: Final = (("oak_planks",), ("oak_log",), ("oak_planks", "stick"), ("stick",))
GADGETS: Final = (
    Gadget(1, 3, _device),
    Gadget(1, 0.8, Draw.timed_door),
    Gadget(2, 2, Draw.handle_door),
    Gadget(1, 3, Draw.moat),
    Gadget(2, 4, Draw.ledge),
    Gadget(2, 3.5, Draw.plug),
    Gadget(2, 2, Draw.curtain),
    Gadget(1, 0.6, Draw.leaves),
    Gadget(1, 3, Draw.free),
)
