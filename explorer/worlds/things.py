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


def _joining(block: Block) -> int:
    """Return how blocks of a name join into things; 0 if they are not things."""
    if block.kind in ("device", "plate", "chest", "table"):
        return _ALONE
    if block.kind == "door":
        return _COLUMN
    if block.kind == "built":
        return 0 if any(fnmatchcase(block.name, pattern) for pattern in MASONRY.split()) else _CLUSTER
    return _CLUSTER if block.kind == "natural" or (block.kind == "decor" and block.usable) else 0


JOINING: Final[NDArray[np.uint8]] = np.array([_joining(block) for block in BLOCKS], dtype=np.uint8)
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
        self._neighbours = {_ALONE: (), _COLUMN: (up, -up), _CLUSTER: (1, -1, up, -up, along, -along)}
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
        if not joining or (place in self._placed and BLOCKS[code].breakable):
            return
        name = BLOCKS[code].name
        drop = BLOCKS[code].drop
        if drop:
            self._materials.add(drop)
        beside = {
            self._oldest(self._at[place + step]) for step in self._neighbours[joining] if place + step in self._at
        }
        same = sorted(label for label in beside if self._names[label][1] == name) or [self._named(name)]
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
            present[mob.name] = mob.kind, self._layout.index(mob.cell), "", mob_kind(mob.kind).drop.item
        for key in [key for key, thing in self._loose.items() if key not in present and in_view(thing.place)]:
            del self._loose[key]
        for key, (kind, place, state, gives) in present.items():
            if in_view(place):
                self._materials.add(gives)
                before = self._loose.get(key)
                self._loose[key] = _Loose(before.label if before else self._named(kind), place, state)

    def listed(self, known: NDArray[np.uint16], seen_at: NDArray[np.int32], step: int, feet: Cell) -> tuple[Thing, ...]:
        """Return the things in order of first sight.

        The cell of a thing is its block nearest to the feet; for a door, its block seen last.

        Args:
            known, seen_at: flat.
        """
        things: dict[int, Thing] = {}
        for each in self._loose.values():
            name, kind = self._names[each.label]
            at = int(seen_at[each.place])
            things[each.label] = Thing(name, kind, each.state, self._layout.cell(each.place), at, at == step)
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
        order = self._sorted = self._sorted or self._sort(known)
        seen = seen_at[order.places].astype(np.int64)
        near = self._layout.square_distances(order.places, feet)
        # One number to sort by: steps since a door's block was seen, then distance, then index.
        ranks = (order.columns * (step - seen) << 44) | (near << 24) | np.arange(len(near))
        first = np.minimum.reduceat(ranks, order.starts) & 0xFFFFFF
        latest = np.maximum.reduceat(seen, order.starts).tolist()
        counts = np.diff(np.append(order.starts, len(near))).tolist()
        for label, place, at, count in zip(
            order.labels.tolist(), order.places[first].tolist(), latest, counts, strict=True
        ):
            name, kind = self._names[label]
            block = BLOCKS[known[place]]
            state = str(count) if block.breakable else "empty" if place in self._emptied else block.state
            things[label] = Thing(name, kind, state, self._layout.cell(place), at, at == step)

    def _sort(self, known: NDArray[np.uint16]) -> _Sorted:
        places = np.fromiter(self._at, np.int64, len(self._at))
        labels = np.fromiter(map(self._oldest, self._at.values()), np.int64, len(self._at))
        order = np.argsort(labels, kind="stable")
        places = places[order]
        labels = labels[order]
        distinct, starts = np.unique(labels, return_index=True)
        return _Sorted(distinct, places, starts, (JOINING[known[places]] == _COLUMN).astype(np.int64))

    def _named(self, kind: str) -> int:
        """Name a new thing; return its label."""
        self._numbers[kind] += 1
        self._names.append((f"{kind}_{self._numbers[kind]}", kind))
        return len(self._names) - 1

    def _oldest(self, label: int) -> int:
        """Return the present label of a label's cluster."""
        while label in self._merged:
            label = self._merged[label]
        return label
