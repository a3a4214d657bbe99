"""What an agent has seen of a scene: the blocks as last seen, and the things (named objects).

A world reports changes to an :class:`Observer` (:meth:`~Observer.follow`), and after each step the pose of the body
(:meth:`~Observer.look`). The agent learns of a change when it sees the changed cell; it always knows the blocks that it
has placed. After :meth:`~Observer.look`, :meth:`~Observer.limit_to_sight` returns the changes of the step that the
agent has seen.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from explorer.rules.blocks import BLOCKS, OPAQUE, has_kind, mask
from explorer.rules.reach import can_touch
from explorer.rules.state import KnownState
from explorer.scene import Cell, Change, Mob, Pose, Scene, Stack, StepResult, offset_to
from explorer.view import Offer, Thing
from explorer.worlds.offers import offers
from explorer.worlds.sight import Layout, light, see
from explorer.worlds.things import JOINING, Things

LIGHTS: Final = (
    "torch wall_torch soul_torch soul_wall_torch lantern soul_lantern glowstone sea_lantern shroomlight jack_o_lantern"
    " end_rod campfire soul_campfire beacon fire soul_fire lava"
)
"""Names of blocks that light the cells around them in a dark scene."""
_LIGHTS: Final = np.array([block.name in LIGHTS.split() for block in BLOCKS])
_OPAQUE: Final = mask(OPAQUE)


class Observer:
    """What an agent sees and remembers; before the first call of :meth:`look`, it has seen nothing."""

    def __init__(self, scene: Scene) -> None:
        self._layout = Layout(scene.blocks.shape)
        self._blocks = np.zeros(self._layout.size, dtype=np.uint16)
        self._layout.inner(self._blocks)[:] = scene.blocks
        self._opaque = np.ones(self._layout.size, dtype=np.bool_)
        self._layout.inner(self._opaque)[:] = _OPAQUE[scene.blocks]

        self._known = np.zeros_like(self._blocks)
        self._seen_at = np.full(self._layout.size, -1, dtype=np.int32)
        self._lit = np.zeros_like(self._opaque) if scene.dark else None

        self._things = Things(self._layout)
        # Indices of cells where the agent placed blocks since the last look.
        self._placed_cells: list[int] = []
        # For mobs hit in this step: name in the scene -> name that the agent gave.
        self._hit_mobs: dict[str, str] = {}
        self._pose = scene.spawn
        self._step = 0
        self._spread_light()

    @property
    def known(self) -> NDArray[np.uint16]:
        """Code of the block in each cell as last seen, ``[y, z, x]``; 0 for cells never seen.

        The array is read-only, and its content changes with each :meth:`look`.
        """
        return self._layout.view_read_only(self._known)

    @property
    def seen_at(self) -> NDArray[np.int32]:
        """Number of the step in which each cell was last in view, ``[y, z, x]``; -1 for cells never seen.

        The array is read-only, and its content changes with each :meth:`look`.
        """
        return self._layout.view_read_only(self._seen_at)

    def follow(self, changes: Iterable[Change]) -> None:
        """Record changes of the world; the next :meth:`look` decides which of them the agent sees."""
        light_changed = False
        self._hit_mobs = {}
        for change in changes:
            if change.cell is None:
                continue
            place = self._layout.index(change.cell)
            if change.kind == "block":
                light_changed |= bool(_LIGHTS[self._blocks[place]] | _LIGHTS[change.code])
                self._blocks[place] = change.code
                self._opaque[place] = _OPAQUE[change.code]
            elif change.kind == "placed":
                self._things.place(place)
                self._placed_cells.append(place)
            elif change.kind == "chest":
                self.empty(change.cell)
            elif change.kind == "mob":
                self._hit_mobs[change.name] = self._things.name_of(change.name)

        if light_changed:
            self._spread_light()

    def empty(self, cell: Cell) -> None:
        """Record that the agent has emptied the chest in a cell, or has found it empty."""
        self._things.empty(self._layout.index(cell))

    def look(self, pose: Pose, step: int, items: Mapping[Cell, tuple[Stack, ...]], mobs: Iterable[Mob]) -> None:
        """Update what the agent knows with what it sees after a step.

        Args:
            pose: pose of the body after the step.
            step: number of the step.
            items: cell -> stacks that lie in the cell, for the whole world.
            mobs: all mobs of the world.
        """
        self._pose = pose
        self._step = step
        in_view = see(self._opaque, self._layout, pose, self._lit)
        places = np.append(in_view, np.array(self._placed_cells, np.intp))
        self._placed_cells.clear()
        seen_at = self._seen_at
        seen_at[places] = step

        changed = np.unique(places[self._blocks[places] != self._known[places]])
        if len(changed):
            before = self._known[changed]
            now = self._blocks[changed]
            self._known[changed] = now
            self._notice(changed, before, now)
        self._things.meet(items, mobs, lambda place: bool(seen_at[place] == step))

    def limit_to_sight(self, result: StepResult) -> StepResult:
        """Return the result of a step with only those changes that the agent notices; call :meth:`look` first.

        The agent notices changes of what it carries. It also notices changes of cells in view, unless a later change of
        the same step undoes them. It never notices the timer of a door. Mobs get the names that the agent gave them,
        because their names in the scene would reveal how many mobs there are.
        """
        return replace(result, changes=tuple(self._filter_noticed(result.changes)))

    def _filter_noticed(self, changes: Iterable[Change]) -> Iterator[Change]:
        """Yield the changes that the agent notices."""
        for change in changes:
            if change.kind == "timer":
                continue
            if change.cell is not None:
                place = self._layout.index(change.cell)
                is_undone = change.kind == "block" and change.code != self._known[place]
                if is_undone or self._seen_at[place] != self._step:
                    continue
            if change.kind == "mob":
                yield replace(change, name=self._hit_mobs[change.name])
            else:
                yield change

    def things(self) -> tuple[Thing, ...]:
        """Return the things that the agent has seen, in order of first sight."""
        return self._things.list_things(self._known, self._seen_at, self._step, self._pose.cell)

    def offers(self, inventory: Mapping[str, int]) -> tuple[Offer, ...]:
        """Return the recipes that use items which the agent has seen or carries
        (:func:`explorer.worlds.offers.offers`).

        A crafting table counts as in reach if the agent knows it, and knows no block that is in the way.

        Args:
            inventory: item -> count that the agent carries.
        """
        return offers(inventory, self._things.materials, self._has_table)

    def _has_table(self) -> bool:
        """Return whether a crafting table that the agent knows is in reach."""
        known = KnownState(self.known, self._pose)
        here = self._pose.cell
        places = np.flatnonzero(has_kind("table")[self._known]).tolist()
        tables = map(self._layout.cell, places)
        return any(can_touch(known, offset_to(here, table)) for table in tables)

    def _notice(self, places: NDArray[np.intp], before: NDArray[np.uint16], now: NDArray[np.uint16]) -> None:
        """Report changed cells to :class:`Things`, from the nearest to the body to the farthest.

        Args:
            places: indices of the cells in the flat array of the layout.
            before, now: code of each cell as the agent knew it, and as the agent sees it now.
        """
        relevant = np.flatnonzero(JOINING[before] | JOINING[now])
        distances = self._layout.square_distances(places[relevant], self._layout.index(self._pose.cell))
        for i in relevant[np.argsort(distances, kind="stable")].tolist():
            self._things.notice(int(places[i]), int(before[i]), int(now[i]))

    def _spread_light(self) -> None:
        """If the scene is dark, compute again which cells are lit."""
        if self._lit is not None:
            blocks = self._layout.inner(self._blocks)
            self._layout.inner(self._lit)[:] = light(_LIGHTS[blocks])
