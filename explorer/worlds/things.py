"""The things of a view: named objects that the agent has seen.

Things are named in the order in which they are first seen. The agent remembers things that are out of view, and forgets
a thing once it sees that the thing is gone. Items on the ground and mobs are things, and so are these blocks:

* Each chest, crafting table, lever, button and plate is a thing.
* Door blocks on top of each other are one thing.
* Breakable blocks, thin blocks (torches, banners, carpets) and landmarks are things by cluster. A landmark is a built
  block that is not :data:`MASONRY`, for example a bookshelf. A cluster is a group of blocks with the same name that
  touch by faces. If two clusters turn out to touch, they merge, and the older name stays. Natural blocks that the agent
  placed are not things, because they can no longer be dug.

Masonry is not a thing; the agent sees it only as known blocks.
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
"""Name patterns of the built blocks that are used for walls and ceilings."""
_ALONE: Final = 1
_COLUMN: Final = 2
_CLUSTER: Final = 3


def _classify_joining(block: Block) -> int:
    """Return how blocks like this one join into things: alone, in columns or in clusters; 0 if they are not things."""
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
"""How the block with each code joins into things: alone, in columns or in clusters; 0 for blocks that are not things.
"""


@dataclass(frozen=True, slots=True)
class _Loose:
    """An item on the ground, or a mob, as the agent knows it.

    Attributes:
        label: label of the thing.
        place: place where the agent last saw the thing.
        state: count of the item as text, or "" for a mob.
    """

    label: int
    place: int
    state: str


@dataclass(frozen=True, slots=True, eq=False)
class _Sorted:
    """The places of all blocks that are things, sorted by label.

    Attributes:
        labels: all labels, ascending, without repetitions.
        places: the places, sorted by label.
        starts: for each entry of ``labels``, the index in ``places`` where its places begin.
        columns: for each entry of ``places``, 1 if the block is a door, otherwise 0.
    """

    labels: NDArray[np.int64]
    places: NDArray[np.int64]
    starts: NDArray[np.int64]
    columns: NDArray[np.int64]


class Things:
    """The things that an agent has seen.

    A place is the index of a cell in a :class:`~explorer.worlds.sight.Layout`. A label is the number of a thing; things
    are numbered in the order in which they are first seen.
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
        """Items that the agent has seen on the ground, and items that the blocks and mobs it has seen would drop."""
        return frozenset(self._materials)

    def name_of(self, mob: str) -> str:
        """Return the name that the agent gave to a mob, or "" if the agent does not know the mob.

        Args:
            mob: name of the mob in the scene.
        """
        loose = self._loose.get(mob)
        return self._names[loose.label][0] if loose else ""

    def place(self, place: int) -> None:
        """Record that the agent placed the block at a place."""
        self._placed.add(place)

    def empty(self, place: int) -> None:
        """Record that the chest at a place is empty, as the agent now knows."""
        self._emptied.add(place)

    def notice(self, place: int, before: int, code: int) -> None:
        """Record that the agent now sees the code ``code`` at a place.

        Args:
            before: the code that the agent knew at this place; 0 if it had not seen the place.
        """
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
        """Record the items and mobs in view, and forget those that are no longer at a place in view.

        Args:
            items, mobs: all items and mobs of the world; the keys of ``items`` are cells.
            in_view: function that returns whether a place is in view.
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
        """Return the things in the order in which they were first seen.

        The cell of a thing with several blocks is that of its block nearest to the feet; for a door, that of the block
        seen last.

        Args:
            known: flat array: code of the block in each cell as last seen.
            seen_at: flat array: number of the step in which each cell was last in view.
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
        """Add the things that consist of blocks to ``things``, a dictionary label -> thing.

        Args:
            known, seen_at, step: as in :meth:`list_things`.
            feet: place of the cell of the feet.
        """
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
        """Return the places of all blocks that are things, sorted by label; merged clusters have the label of the
        oldest.
        """
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
        """Give a new thing of a kind a name; return the label of the thing."""
        self._numbers[kind] += 1
        self._names.append((f"{kind}_{self._numbers[kind]}", kind))
        return len(self._names) - 1

    def _find_oldest(self, label: int) -> int:
        """Return the label of the cluster to which a label belongs after all merges."""
        while label in self._merged:
            label = self._merged[label]
        return label
