"""The things of a view.

Things are named in order of first sight, remembered while out of view, and forgotten once the agent sees that they are
gone. These blocks are things:

* each chest, crafting table, lever, button and plate is a thing;
* door blocks on top of each other form one thing;
* breakable blocks, thin blocks (torches, banners, carpets) and landmarks form one thing per cluster. A landmark is a
  built block that is not :data:`MASONRY`, for example a bookshelf. A cluster is a group of blocks of the same name
  that touch by faces. If two clusters turn out to touch, the older name stays. Natural blocks that the agent placed are
  no things, because placed blocks are final.

Masonry is no thing: the agent learns of masonry only from the known blocks.
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
    """Return how blocks of this kind join into things: alone, in columns or in clusters; 0 if they are not things."""
    if block.kind in ("device", "plate", "chest", "table"):
        return _ALONE
    if block.kind == "door":
        return _COLUMN
    if block.kind == "built":
        is_masonry = any(fnmatchcase(block.name, pattern) for pattern in MASONRY.split())
        return 0 if is_masonry else _CLUSTER
    is_thin = block.kind == "decor" and block.usable
    return _CLUSTER if block.kind == "natural" or is_thin else 0


JOINING: Final[NDArray[np.uint8]] = np.array([_classify_joining(block) for block in BLOCKS], dtype=np.uint8)
"""How blocks join into things, by code; 0 for blocks that are not things."""


@dataclass(frozen=True, slots=True)
class _Loose:
    """An item on the ground or a mob.

    Attributes:
        label: label of the thing.
        place: place where the agent last saw the thing.
        state: count of an item, or "" for a mob.
    """

    label: int
    place: int
    state: str


@dataclass(frozen=True, slots=True, eq=False)
class _Sorted:
    """The places of all blocks that are things, sorted by label.

    Attributes:
        labels: the distinct labels, ascending.
        places: the places, grouped by label.
        starts: for each of ``labels``, the index of its first place in ``places``.
        columns: for each of ``places``, 1 if the place belongs to a door, otherwise 0.
    """

    labels: NDArray[np.int64]
    places: NDArray[np.int64]
    starts: NDArray[np.int64]
    columns: NDArray[np.int64]


class Things:
    """The things that an agent has seen.

    A place is the index of a cell in a :class:`~explorer.worlds.sight.Layout`. A label is the number of a thing, in the
    order of first sight.
    """

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        _, up, along = layout.strides
        column = (up, -up)
        cluster = (1, -1, up, -up, along, -along)
        self._neighbours: dict[int, tuple[int, ...]] = {_ALONE: (), _COLUMN: column, _CLUSTER: cluster}

        # By label: name and kind.
        self._names: list[tuple[str, str]] = []
        # Kind -> number of names given.
        self._numbers: Counter[str] = Counter()
        # Label of a cluster -> older label of the cluster with which the cluster has merged.
        self._merged: dict[int, int] = {}
        # Place of a block that is a thing -> label.
        self._at: dict[int, int] = {}
        # Items and mobs that the agent knows, by (place, item) or by the name of the mob in the scene.
        self._loose: dict[Hashable, _Loose] = {}
        self._placed: set[int] = set()
        self._emptied: set[int] = set()
        self._materials: set[str] = set()
        # Cache, or None if the blocks have changed since.
        self._sorted: _Sorted | None = None

    @property
    def materials(self) -> frozenset[str]:
        """Items that the agent has seen on the ground, and drops of the blocks and mobs that the agent has seen."""
        return frozenset(self._materials)

    def name_of(self, mob: str) -> str:
        """Return the name that the agent gave to a mob of the scene, or "" if the agent does not know the mob."""
        loose = self._loose.get(mob)
        return self._names[loose.label][0] if loose else ""

    def place(self, place: int) -> None:
        """Note that the agent placed the block at a place."""
        self._placed.add(place)

    def empty(self, place: int) -> None:
        """Note that the agent knows that the chest at a place is empty."""
        self._emptied.add(place)

    def notice(self, place: int, before: int, code: int) -> None:
        """Note that the agent sees the code ``code`` at a place where it knew the code ``before`` (0: unseen)."""
        # Only the state of the block has changed.
        if place in self._at and BLOCKS[before].name == BLOCKS[code].name:
            return
        self._sorted = None
        self._at.pop(place, None)
        joining = int(JOINING[code])
        block = BLOCKS[code]
        is_final = place in self._placed and block.breakable
        if not joining or is_final:
            return
        if block.drop:
            self._materials.add(block.drop)

        # Merge the clusters of the same name that the cell touches; the oldest label stays.
        touching: set[int] = set()
        for step in self._neighbours[joining]:
            label = self._at.get(place + step)
            if label is not None:
                touching.add(self._find_oldest(label))
        labels = sorted(label for label in touching if self._names[label][1] == block.name)
        if not labels:
            labels = [self._add_name(block.name)]
        oldest, *younger = labels
        self._at[place] = oldest
        self._merged.update(dict.fromkeys(younger, oldest))

    def meet(
        self, items: Mapping[Cell, tuple[Stack, ...]], mobs: Iterable[Mob], in_view: Callable[[int], bool]
    ) -> None:
        """Note the items and mobs in view; forget items and mobs that are gone from a place in view.

        Args:
            items, mobs: all items and mobs of the world.
            in_view: whether a place is in view.
        """
        # Key as in ``_loose`` -> kind, place, state, and the item that the thing gives.
        present: dict[Hashable, tuple[str, int, str, str]] = {}
        for cell, stacks in items.items():
            place = self._layout.index(cell)
            for stack in stacks:
                present[place, stack.item] = stack.item, place, str(stack.count), stack.item
        for mob in mobs:
            place = self._layout.index(mob.cell)
            present[mob.name] = mob.kind, place, "", mob_kind(mob.kind).drop.item

        # Items and mobs do not move.
        gone = [key for key in self._loose if key not in present]
        for key in gone:
            if in_view(self._loose[key].place):
                del self._loose[key]

        for key, (kind, place, state, gives) in present.items():
            if in_view(place):
                self._materials.add(gives)
                known = self._loose.get(key)
                label = known.label if known else self._add_name(kind)
                self._loose[key] = _Loose(label, place, state)

    def list_things(
        self, known: NDArray[np.uint16], seen_at: NDArray[np.int32], step: int, feet: Cell
    ) -> tuple[Thing, ...]:
        """Return the things in order of first sight.

        The cell of a thing is its block nearest to the feet; for a door, its block seen last.

        Args:
            known: flat: codes as last seen.
            seen_at: flat: step in which each cell was last in view.
            step: number of the present step.
            feet: cell of the feet.
        """
        things: dict[int, Thing] = {}
        for loose in self._loose.values():
            name, kind = self._names[loose.label]
            cell = self._layout.cell(loose.place)
            last_seen = int(seen_at[loose.place])
            things[loose.label] = Thing(name, kind, loose.state, cell, last_seen, last_seen == step)
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
        """Add the things that are blocks to ``things``, under their labels; ``feet`` is a place."""
        if self._sorted is None:
            self._sorted = self._sort_places(known)
        order = self._sorted
        seen = seen_at[order.places].astype(np.int64)
        near = self._layout.square_distances(order.places, feet)

        # Rank by one number: steps since a door's block was seen, then squared distance, then index in the low 24 bits.
        unseen_for = order.columns * (step - seen)
        ranks = (unseen_for << 44) | (near << 24) | np.arange(len(near))
        best = np.minimum.reduceat(ranks, order.starts) & 0xFFFFFF

        labels = order.labels.tolist()
        places = order.places[best].tolist()
        latest = np.maximum.reduceat(seen, order.starts).tolist()
        counts = np.diff(np.append(order.starts, len(near))).tolist()
        for label, place, last_seen, count in zip(labels, places, latest, counts, strict=True):
            name, kind = self._names[label]
            block = BLOCKS[known[place]]
            state: str = block.state
            if block.breakable:
                state = str(count)
            elif place in self._emptied:
                state = "empty"
            cell = self._layout.cell(place)
            things[label] = Thing(name, kind, state, cell, last_seen, last_seen == step)

    def _sort_places(self, known: NDArray[np.uint16]) -> _Sorted:
        """Return the places of all blocks that are things, sorted by the present label of their cluster."""
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
        """Give a name to a new thing; return the label of the thing."""
        self._numbers[kind] += 1
        self._names.append((f"{kind}_{self._numbers[kind]}", kind))
        return len(self._names) - 1

    def _find_oldest(self, label: int) -> int:
        """Return the label of the cluster that a label now belongs to, after all merges."""
        while label in self._merged:
            label = self._merged[label]
        return label
