"""The things of a view: named in order of first sight, remembered while out of view, forgotten once seen to be gone.

Which blocks are things, and which of them form one thing:

* each chest, crafting table, lever, button and plate is a thing;
* door blocks on top of each other are one thing;
* breakable blocks, thin blocks (torches, banners, carpets) and landmarks (built blocks that are not :data:`MASONRY`,
  such as a bookshelf) form one thing per cluster of the same name that touches by faces. Clusters that turn out to
  touch keep the older name. Natural blocks that the agent placed are final, so they are not things.

The agent sees masonry only among the known blocks.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Final

import numpy as np
from numpy.typing import NDArray

from explorer.rules.blocks import BLOCKS, Block
from explorer.rules.mobs import mob_kind
from explorer.scene import Cell, Mob, Stack
from explorer.view import Thing
from explorer.worlds.sight import Layout

MASONRY: Final = (
    "bedrock barrier iron_bars glowstone sea_lantern redstone_lamp infested_* polished_* smooth_* cut_* chiseled_*"
    " quartz_* purpur_* *_planks *bricks *sandstone *prismarine *glass *glass_pane *terracotta *_concrete"
    " *_concrete_powder *_coral_block *_stairs *_slab *_wall *_fence *_fence_gate *_trapdoor"
)
"""Name patterns of built blocks that walls and ceilings are made of."""
_ALONE: Final = 1
_COLUMN: Final = 2
_CLUSTER: Final = 3


def _classify_joining(block: Block) -> int:
    """Return how blocks of a name join into things; 0 if they are not things."""
    if block.kind in ("device", "plate", "chest", "table"):
        return _ALONE
    if block.kind == "door":
        return _COLUMN
    if block.kind == "built":
        return 0 if any(fnmatchcase(block.name, pattern) for pattern in MASONRY.split()) else _CLUSTER
    return _CLUSTER if block.kind == "natural" or (block.kind == "decor" and block.usable) else 0


JOINING: Final[NDArray[np.uint8]] = np.array([_classify_joining(block) for block in BLOCKS], dtype=np.uint8)
"""How blocks join, by code; 0 for blocks that are not things."""


@dataclass(frozen=True, slots=True)
class _Loose:
    """An item on the ground or a mob."""

    label: int
    place: int
    state: str


@dataclass(frozen=True, slots=True, eq=False)
class _Sorted:
    """The places of blocks, sorted by label.

    Attributes:
        starts: index in ``places`` of each label's first place.
        columns: by place, 1 if it belongs to a door.
    """

    labels: NDArray[np.int64]
    places: NDArray[np.int64]
    starts: NDArray[np.int64]
    columns: NDArray[np.int64]


class Things:
    """The things that an agent has seen; places are indices of a :class:`~explorer.worlds.sight.Layout`."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        _, up, along = layout.strides
        column = (up, -up)
        cluster = (1, -1, up, -up, along, -along)
        self._neighbours: dict[int, tuple[int, ...]] = {_ALONE: (), _COLUMN: column, _CLUSTER: cluster}

        self._names: list[tuple[str, str]] = []
        self._numbers: Counter[str] = Counter()
        self._merged: dict[int, int] = {}
        self._at: dict[int, int] = {}
        self._loose: dict[Hashable, _Loose] = {}
        self._placed: set[int] = set()
        self._emptied: set[int] = set()
        self._materials: set[str] = set()
        self._sorted: _Sorted | None = None

    @property
    def materials(self) -> frozenset[str]:
        """Items seen on the ground so far, and drops of blocks and mobs seen."""
        return frozenset(self._materials)

    def name_of(self, mob: str) -> str:
        """Return the agent's name for a mob of the scene, or "" if it does not know it."""
        loose = self._loose.get(mob)
        return self._names[loose.label][0] if loose else ""

    def place(self, place: int) -> None:
        """Note that the agent placed the block."""
        self._placed.add(place)

    def empty(self, place: int) -> None:
        """Note that the agent knows the chest to be empty."""
        self._emptied.add(place)

    def notice(self, place: int, before: int, code: int) -> None:
        """Note that a cell is seen to hold ``code`` and was known to hold ``before`` (0: unseen)."""
        if place in self._at and BLOCKS[before].name == BLOCKS[code].name:
            return
        self._sorted = None
        self._at.pop(place, None)
        joining = int(JOINING[code])
        block = BLOCKS[code]
        if not joining or (place in self._placed and block.breakable):
            return
        if block.drop:
            self._materials.add(block.drop)

        # Join the clusters of the same name that the cell touches, under the oldest of their names.
        touching: set[int] = set()
        for step in self._neighbours[joining]:
            label = self._at.get(place + step)
            if label is not None:
                touching.add(self._find_oldest(label))
        same = sorted(label for label in touching if self._names[label][1] == block.name)
        if not same:
            same = [self._add_name(block.name)]
        self._at[place] = same[0]
        self._merged.update(dict.fromkeys(same[1:], same[0]))

    def meet(
        self, items: Mapping[Cell, tuple[Stack, ...]], mobs: Iterable[Mob], in_view: Callable[[int], bool]
    ) -> None:
        """Note the items and mobs in view, and forget those that should be in view but are gone."""
        present: dict[Hashable, tuple[str, int, str, str]] = {}
        for cell, stacks in items.items():
            place = self._layout.index(cell)
            for stack in stacks:
                present[place, stack.item] = stack.item, place, str(stack.count), stack.item
        for mob in mobs:
            place = self._layout.index(mob.cell)
            present[mob.name] = mob.kind, place, "", mob_kind(mob.kind).drop.item

        missing = [key for key in self._loose if key not in present]
        for key in missing:
            if in_view(self._loose[key].place):
                del self._loose[key]

        for key, (kind, place, state, gives) in present.items():
            if in_view(place):
                self._materials.add(gives)
                before = self._loose.get(key)
                label = before.label if before else self._add_name(kind)
                self._loose[key] = _Loose(label, place, state)

    def list_things(
        self, known: NDArray[np.uint16], seen_at: NDArray[np.int32], step: int, feet: Cell
    ) -> tuple[Thing, ...]:
        """Return the things in order of first sight.

        The cell of a thing is its block nearest to the feet; for a door, its block seen last.

        Args:
            known, seen_at: flat.
        """
        things: dict[int, Thing] = {}
        for each in self._loose.values():
            name, kind = self._names[each.label]
            cell = self._layout.cell(each.place)
            at = int(seen_at[each.place])
            things[each.label] = Thing(name, kind, each.state, cell, at, at == step)
        if self._at:
            self._list_blocks(things, known, seen_at, step, self._layout.index(feet))
        return tuple(things[label] for label in sorted(things))

    def _list_blocks(
        self,
        things: dict[int, Thing],
        known: NDArray[np.uint16],
        seen_at: NDArray[np.int32],
        step: int,
        feet: int,
    ) -> None:
        """Add the things that are blocks to ``things``, by label."""
        if self._sorted is None:
            self._sorted = self._sort_places(known)
        order = self._sorted
        seen = seen_at[order.places].astype(np.int64)
        near = self._layout.square_distances(order.places, feet)

        # One number to sort by: steps since a door's block was seen, then distance, then index.
        unseen_for = order.columns * (step - seen)
        ranks = (unseen_for << 44) | (near << 24) | np.arange(len(near))
        first = np.minimum.reduceat(ranks, order.starts) & 0xFFFFFF

        labels = order.labels.tolist()
        places = order.places[first].tolist()
        latest = np.maximum.reduceat(seen, order.starts).tolist()
        counts = np.diff(np.append(order.starts, len(near))).tolist()
        for label, place, at, count in zip(labels, places, latest, counts, strict=True):
            name, kind = self._names[label]
            block = BLOCKS[known[place]]
            state: str = block.state
            if block.breakable:
                state = str(count)
            elif place in self._emptied:
                state = "empty"
            cell = self._layout.cell(place)
            things[label] = Thing(name, kind, state, cell, at, at == step)

    def _sort_places(self, known: NDArray[np.uint16]) -> _Sorted:
        count = len(self._at)
        places = np.fromiter(self._at, np.int64, count)
        labels = np.fromiter(map(self._find_oldest, self._at.values()), np.int64, count)
        order = np.argsort(labels, kind="stable")
        places = places[order]
        labels = labels[order]
        distinct, starts = np.unique(labels, return_index=True)
        columns = JOINING[known[places]] == _COLUMN
        return _Sorted(distinct, places, starts, columns.astype(np.int64))

    def _add_name(self, kind: str) -> int:
        """Name a new thing; return its label."""
        self._numbers[kind] += 1
        self._names.append((f"{kind}_{self._numbers[kind]}", kind))
        return len(self._names) - 1

    def _find_oldest(self, label: int) -> int:
        """Return the present label of a label's cluster."""
        while label in self._merged:
            label = self._merged[label]
        return label
