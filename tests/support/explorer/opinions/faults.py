"""Scenes that are sound but for one fault, of each kind that ``certify`` has to refuse and name.

A fault is put into a certified scene as an author would make it. The scene is sealed again, its fingerprint included,
so that only the fault itself can be what is found.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from explorer.certificate import Certificate
from explorer.codes import packed, unpacked
from explorer.files.loaded import Loaded
from explorer.files.saving import save_scene
from explorer.findings import FaultKind
from explorer.graph import Edge, Graph, Node
from explorer.milestones import AtMost, InsideBox, InventoryHas, Milestone, NearWithFacing, Rule, cell_offset
from explorer.rules.actions import Primitive
from explorer.rules.blocks import BLOCKS, code
from explorer.scene import Cell, Scene
from explorer.solver.certificate import fingerprint
from explorer.worlds.voxel import VoxelWorld

Mutation = Callable[[Loaded, random.Random], Loaded]


def plant(kind: FaultKind, loaded: Loaded, rng: random.Random, folder: Path) -> None:
    """Write a scene with a fault into a folder.

    Args:
        loaded: a certified scene of two hops or more.
    """
    if kind == FaultKind.UNKNOWN_NAME:
        save_scene(folder, loaded)
        _misspell(folder, rng)
    else:
        save_scene(folder, sealed(MUTATIONS[kind](loaded, rng)))


def sealed(loaded: Loaded) -> Loaded:
    """Return the scene with a certificate that names it as it is now."""
    certificate = loaded.certificate
    assert certificate is not None
    made = fingerprint(loaded.scene, loaded.milestones, loaded.graph)
    return replace(loaded, certificate=replace(certificate, fingerprint=made))


def _with_rule(loaded: Loaded, number: int, rule: Rule) -> Loaded:
    milestones = list(loaded.milestones)
    milestones[number] = replace(milestones[number], rules=(rule,))
    return replace(loaded, milestones=tuple(milestones))


def _any_hop(loaded: Loaded, rng: random.Random) -> int:
    return rng.randrange(len(loaded.milestones))


def _with_hop(loaded: Loaded, name: str, rule: Rule, reason: str) -> Loaded:
    """Return the scene with one more hop before its goal."""
    milestone = Milestone(loaded.milestones[0].task, name, reason, (rule,))
    *others, goal = loaded.graph.nodes
    nodes = (*others, Node(name, milestone.task), goal)
    graph = Graph(nodes, (*loaded.graph.edges, Edge(name, goal.id, reason)))
    return replace(loaded, milestones=(*loaded.milestones[:-1], milestone, loaded.milestones[-1]), graph=graph)


def true_at_start(loaded: Loaded, rng: random.Random) -> Loaded:
    """The inventory begins with what a hop asks for, or a box reaches to the spawn."""
    number = _any_hop(loaded, rng)
    rule = loaded.milestones[number].rules[0]
    if isinstance(rule, InventoryHas):
        has = dict(loaded.scene.inventory) | {rule.item: rule.min_count}
        return replace(loaded, scene=replace(loaded.scene, inventory=has))
    wide = InsideBox((-2.0, -1.0, -2.0), (60.0, 20.0, 60.0))
    return _with_rule(loaded, number, wide)


def near_at_spawn(loaded: Loaded, rng: random.Random) -> Loaded:
    """The goal is to look at something that stands within its radius behind the spawn's back."""
    behind = loaded.scene.spawn.turn(2).direction
    away = rng.uniform(1.5, 4.0)
    target = behind[0] * away, 0.0, behind[2] * away
    return _with_rule(loaded, len(loaded.milestones) - 1, NearWithFacing(target, 5.0, 60.0))


def visited(loaded: Loaded) -> list[Cell]:
    """Return the cells in which the body stands after each step of the witness."""
    assert loaded.certificate is not None
    world = VoxelWorld(observe=False)
    world.reset(loaded.scene)
    cells = []
    for step in unpacked(loaded.certificate.witness.codes):
        world.step(step)
        cells.append(world.state().pose.cell)
    return cells


def unnecessary(loaded: Loaded, rng: random.Random) -> Loaded:
    """A hop asks to pass a spot that one may as well walk around or jump across."""
    spawn = loaded.scene.spawn.cell
    away = [cell for cell in visited(loaded) if cell != spawn]
    spot = cell_offset(rng.choice(away), spawn)
    return _with_hop(loaded, "pass_by", InsideBox(spot, spot), "The way to the goal seems to lead past this spot.")


def unordered(loaded: Loaded, rng: random.Random) -> Loaded:
    """An edge that the world does not enforce: between two branches, or against the order."""
    assert loaded.certificate is not None
    after = {proof.milestone_id: {proof.milestone_id, *proof.after} for proof in loaded.certificate.milestones}
    ids = [node.id for node in loaded.graph.nodes]
    free = [(a, b) for n, a in enumerate(ids) for b in ids[n + 1 :] if a not in after[b]]
    if not free:
        free = [(b, a) for n, a in enumerate(ids) for b in ids[n + 1 :]]
    before, later = rng.choice(free)
    edges = (*loaded.graph.edges, Edge(before, later, "What comes first gives what is needed for what comes second."))
    return replace(loaded, graph=Graph(loaded.graph.nodes, edges))


def unreachable(loaded: Loaded, rng: random.Random) -> Loaded:
    """The spawn is walled in, or everything beyond a wall is."""
    blocks = loaded.scene.blocks.copy()
    x, y, z = loaded.scene.spawn.cell
    brick = code("stone_bricks")
    ring = rng.randint(1, 2)
    for dx in range(-ring, ring + 1):
        for dz in range(-ring, ring + 1):
            for dy in range(-1, 4):
                inside = max(abs(dx), abs(dz)) < ring and 0 <= dy < 3
                within = zip((x + dx, y + dy, z + dz), loaded.scene.size, strict=True)
                if not inside and all(0 <= c < n for c, n in within):
                    blocks[y + dy, z + dz, x + dx] = brick
    return replace(loaded, scene=_emptied(replace(loaded.scene, blocks=blocks)))


def _emptied(scene: Scene) -> Scene:
    """Return a scene without contents and wires of what was built over."""

    def still(cell: Cell, kinds: Sequence[str]) -> bool:
        x, y, z = cell
        return BLOCKS[int(scene.blocks[y, z, x])].kind in kinds

    return replace(
        scene,
        items={cell: stacks for cell, stacks in scene.items.items() if still(cell, ("air",))},
        chests={cell: stacks for cell, stacks in scene.chests.items() if still(cell, ("chest",))},
        mobs=tuple(mob for mob in scene.mobs if still(mob.cell, ("air",))),
        wires=tuple(
            wire
            for wire in scene.wires
            if all(still(cell, ("door",)) for cell in wire.cells)
            and all(still(cell, ("device", "plate")) for cell in wire.needs)
        ),
    )


def _misspell(folder: Path, rng: random.Random) -> None:
    """A block, an item or the type of a rule has a name that does not exist."""
    what = rng.choice(("block", "item", "type"))
    path = folder / ("metadata.json" if what == "block" else "milestones.json")
    document: Any = json.loads(path.read_text("utf-8"))
    if what == "block":
        commands = document["commands"]
        number = rng.choice([n for n, each in enumerate(commands) if each.lstrip("/").startswith("fill")])
        words = commands[number].split(" ")
        words[7] += "x"
        commands[number] = " ".join(words)
    else:
        rule = rng.choice(document["milestones"])["rules"][0]
        if what == "type":
            rule["type"] += "_maybe"
        else:
            rule["type"], rule["params"] = "inventory_has", {"item": "irn_ingot", "min_count": 1}
    path.write_text(json.dumps(document), "utf-8")


def impossible_craft(loaded: Loaded, rng: random.Random) -> Loaded:
    """A hop asks for something that nothing here can be made into."""
    item = rng.choice(("beacon", "conduit", "hopper", "cake", "anvil", "golden_carrot", "lead", "end_crystal"))
    return _with_rule(loaded, _any_hop(loaded, rng), InventoryHas(item, rng.choice((1, 3))))


def hop_named_in_text(loaded: Loaded, rng: random.Random) -> Loaded:
    """The task's text gives a hop away."""
    hop = rng.choice(loaded.milestones[:-1])
    return replace(loaded, text=f"{loaded.text} First, {hop.description.rstrip('.').lower()}.")


def find_hop_not_last(loaded: Loaded, rng: random.Random) -> Loaded:
    """A hop before the goal asks to look at something."""
    spawn = loaded.scene.spawn.cell
    spot = cell_offset(rng.choice(visited(loaded)), spawn)
    return _with_hop(loaded, "look_around", NearWithFacing(spot, 3.0, 90.0), "Seeing this spot tells where to go on.")


def vacuous_count(loaded: Loaded, rng: random.Random) -> Loaded:
    """A count that is never crossed."""
    size = loaded.scene.size
    high = float(size[0]), float(size[1]), float(size[2])
    low = -high[0], -high[1], -high[2]
    kind, name = rng.choice((("mob", "spider"), ("block", "cobweb"), ("block", "diamond_ore")))
    rule = AtMost(kind, name, low, high, 10_000)  # type: ignore[arg-type]
    return _with_rule(loaded, _any_hop(loaded, rng), rule)


def outside_arena(loaded: Loaded, rng: random.Random) -> Loaded:
    """A box lies beyond the walls."""
    away = float(rng.choice((-1, 1)) * rng.randint(200, 900))
    box = InsideBox((away, 0.0, away), (away + 4.0, 3.0, away + 4.0))
    return _with_rule(loaded, _any_hop(loaded, rng), box)


def altered_witness(loaded: Loaded, rng: random.Random) -> Loaded:
    """The steps of the certificate are cut short, or some of them are others."""
    certificate = loaded.certificate
    assert certificate is not None
    codes = list(unpacked(certificate.witness.codes))
    if rng.random() < 0.5:
        codes = codes[: rng.randrange(len(codes) // 2, len(codes))]
    else:
        first = rng.randrange(len(codes) // 2)
        codes[first::3] = [Primitive.WAIT] * len(codes[first::3])
    return replace(loaded, certificate=_of(certificate, codes))


def _of(certificate: Certificate, codes: Sequence[int]) -> Certificate:
    return replace(certificate, witness=replace(certificate.witness, codes=packed(codes)))


MUTATIONS: Final[dict[FaultKind, Mutation]] = {
    FaultKind.TRUE_AT_START: true_at_start,
    FaultKind.NEAR_AT_SPAWN: near_at_spawn,
    FaultKind.UNNECESSARY: unnecessary,
    FaultKind.UNORDERED: unordered,
    FaultKind.UNREACHABLE: unreachable,
    FaultKind.IMPOSSIBLE_CRAFT: impossible_craft,
    FaultKind.HOP_NAMED_IN_TEXT: hop_named_in_text,
    FaultKind.FIND_HOP_NOT_LAST: find_hop_not_last,
    FaultKind.VACUOUS_COUNT: vacuous_count,
    FaultKind.OUTSIDE_ARENA: outside_arena,
    FaultKind.ALTERED_WITNESS: altered_witness,
}
