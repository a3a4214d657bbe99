"""Scenes of every kind that files can say, for hypothesis."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st

from explorer.certificate import Certificate, Proof, ProvenEdge, Witness
from explorer.codes import packed
from explorer.files import Loaded
from explorer.graph import Edge, Graph, Node
from explorer.milestones import AtLeast, AtMost, InsideBox, InventoryHas, Milestone, NearWithFacing, Rule
from explorer.rules.blocks import BLOCKS, code, variant
from explorer.rules.items import ITEMS
from explorer.rules.mobs import MOBS
from explorer.scene import Cell, Mob, Pose, Scene, Stack, Wire

CODES = st.sampled_from(
    [code("air"), code("stone"), code("oak_planks"), code("lever", "on"), code("iron_door", "open")]
)
TEXTS = st.text(max_size=20)
IDS = st.text("abcdefghij_", min_size=1, max_size=8)
STACKS = st.builds(Stack, st.sampled_from(ITEMS), st.integers(1, 99))


@st.composite
def scenes(draw: st.DrawFn) -> Scene:
    """Up to 6 cells a side, with devices, chests, mobs and whatever lies about."""
    size: Cell = (draw(st.integers(1, 6)), draw(st.integers(3, 6)), draw(st.integers(1, 6)))
    x, y, z = size
    cells = st.tuples(*(st.integers(0, cells - 1) for cells in size))
    spawn: Cell = (draw(st.integers(0, x - 1)), draw(st.integers(0, y - 2)), draw(st.integers(0, z - 1)))
    blocks = np.full((y, z, x), draw(CODES), np.uint16)
    for low in draw(st.lists(cells, max_size=4)):
        blocks[low[1] :, low[2] : low[2] + 3, low[0] : low[0] + 4] = draw(CODES)
    for at in draw(st.lists(cells, max_size=8)):
        blocks[at[1], at[2], at[0]] = draw(st.integers(1, len(BLOCKS) - 1))
    taken = {spawn, (spawn[0], spawn[1] + 1, spawn[2])}
    free = st.lists(cells.filter(lambda cell: cell not in taken), unique=True, max_size=3)
    chests, doors, devices = draw(free), draw(free), draw(free)
    for name, places in (("chest", chests), ("iron_door", doors), ("lever", devices)):
        for at in places:
            blocks[at[1], at[2], at[0]] = code(name)
    blocks[max(spawn[1] - 1, 0), spawn[2], spawn[0]] = code("stone")
    for at in taken:
        blocks[at[1], at[2], at[0]] = code("air")
    doors = [at for at in doors if BLOCKS[blocks[at[1], at[2], at[0]]].kind == "door"]
    devices = [at for at in devices if BLOCKS[blocks[at[1], at[2], at[0]]].kind == "device"]
    for at in devices:
        blocks[at[1], at[2], at[0]] = variant(code("lever"), draw(st.sampled_from(["", "on"])))
    mobs = [Mob(name, draw(st.sampled_from(sorted(MOBS))), draw(cells)) for name in draw(st.sets(IDS, max_size=3))]
    return Scene(
        name=draw(TEXTS.filter(bool)),
        spawn=Pose(spawn, draw(st.integers(0, 3)), draw(st.integers(-3, 3))),
        blocks=blocks,
        items=draw(st.dictionaries(cells, st.lists(STACKS, min_size=1, max_size=2).map(tuple), max_size=2)),
        chests={
            at: tuple(draw(st.lists(STACKS, max_size=3)))
            for at in chests
            if BLOCKS[blocks[at[1], at[2], at[0]]].kind == "chest"
        },
        mobs=tuple(mobs),
        wires=tuple(_wire(draw, f"door_{at}", (door,), devices) for at, door in enumerate(doors)),
        inventory=draw(st.dictionaries(st.sampled_from(ITEMS), st.integers(1, 99), max_size=3)),
        dark=draw(st.booleans()),
    )


def _wire(draw: st.DrawFn, name: str, cells: tuple[Cell, ...], devices: list[Cell]) -> Wire:
    needs = tuple(draw(st.permutations(devices)))
    holds = draw(st.none() | st.integers(0, 99))
    return Wire(name, cells, needs, draw(st.sampled_from(["all", "any"])), holds)


@st.composite
def loaded_scenes(draw: st.DrawFn) -> Loaded:
    """A scene with milestones, graph and certificate, which need not be true."""
    scene = draw(scenes())
    names = draw(st.lists(IDS, min_size=1, max_size=4, unique=True))
    milestones = tuple(
        Milestone(draw(IDS), name, draw(TEXTS), tuple(draw(st.lists(_rules(scene), min_size=1, max_size=2))))
        for name in names
    )
    nodes = tuple(Node(name, draw(IDS), draw(st.none() | IDS), draw(st.none() | IDS)) for name in names)
    pairs = [(a, b) for at, a in enumerate(names) for b in names[at + 1 :]]
    chosen = draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else []
    edges = tuple(Edge(before, after, draw(TEXTS)) for before, after in chosen)
    about: dict[str, Any] = {"scene_description": draw(TEXTS), "design_notes": draw(TEXTS)}
    about |= draw(st.fixed_dictionaries({}, optional={"seed": st.integers(0, 9), "knobs": st.just({"hops": 2})}))
    certificate = draw(st.none() | _certificates(names))
    return Loaded(scene, milestones, Graph(nodes, edges), draw(TEXTS.filter(bool)), certificate, about)


@st.composite
def _rules(draw: st.DrawFn, scene: Scene) -> Rule:
    """Draw a rule that looks at the world."""
    ends = [
        sorted((draw(st.integers(0, cells - 1)) - at, draw(st.integers(0, cells - 1)) - at))
        for cells, at in zip(scene.size, scene.spawn.cell, strict=True)
    ]
    low, high = ((float(a[at]), float(b[at]), float(c[at])) for a, b, c in [ends] for at in (0, 1))
    count = draw(st.integers(0, 9))
    every: tuple[Rule, ...] = (
        InventoryHas(draw(st.sampled_from(ITEMS)), count),
        InsideBox(low, high),
        NearWithFacing(high, draw(st.floats(0, 9)), draw(st.floats(0, 360))),
        AtLeast("block", draw(st.sampled_from(BLOCKS[1:])).name, low, high, count),
        AtMost("mob", draw(st.sampled_from(sorted(MOBS))), low, high, count),
    )
    return draw(st.sampled_from(every))


@st.composite
def _certificates(draw: st.DrawFn, names: list[str]) -> Certificate:
    number = st.integers(0, 99)
    return Certificate(
        rules="1",
        fingerprint=draw(IDS),
        milestones=tuple(
            Proof(name, draw(st.booleans()), tuple(names[:at]), draw(number)) for at, name in enumerate(names)
        ),
        edges=tuple(ProvenEdge(names[0], name, draw(st.booleans())) for name in names[1:]),
        true_at_start=tuple(names[:1]),
        witness=Witness(packed(draw(st.lists(number))), draw(number), draw(number), draw(IDS)),
        lower_bound=draw(number),
        max_steps=draw(number),
        seen_at_start=(),
        states=draw(number),
    )
