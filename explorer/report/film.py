"""Play an episode again, and collect the changes that a page needs to draw every step."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.errors import EpisodeError, ExplorerError
from explorer.evaluation.results import Episode
from explorer.files import Loaded
from explorer.report.looks import Looks
from explorer.report.loose import is_loose, is_tall
from explorer.rules.actions import decode
from explorer.rules.items import ITEMS
from explorer.rules.recipes import RECIPES
from explorer.scene import Pose, WorldState
from explorer.view import View
from explorer.worlds.voxel import VoxelWorld


def film(loaded: Loaded, episode: Episode, looks: Looks) -> dict[str, Any]:
    """Return the changes of an episode as JSON-compatible data. Cells are numbered in the order y, z, x.

    ``seen`` holds, as runs, 1 plus the step after which each cell was first seen, or 0 for never. ``truth`` and
    ``known`` list [step, cell, look] of changed blocks: the true ones, and the agent's knowledge after first sight.

    Raises:
        EpisodeError: its codes cannot be played in this scene.
    """
    world = VoxelWorld()
    view = world.reset(loaded.scene)
    reel = Reel(looks, world.state(), view)
    for number, code in enumerate(episode.codes, start=1):
        try:
            happened = world.step(code)
        except ExplorerError as error:
            raise EpisodeError(f"step {number} of {len(episode.codes)} cannot be played: {error}") from error
        reel.add(world.state(), world.view(), in_words(code), "" if happened.done else happened.reason)
    return {**reel.told(), "latched": dict(episode.latched)}


def scene_told(loaded: Loaded, looks: Looks) -> dict[str, Any]:
    """Return what a page needs of a scene, as JSON-compatible data."""
    scene = loaded.scene
    return {
        "name": scene.name,
        "text": loaded.text,
        "size": scene.size,
        "spawn": scene.spawn.cell,
        "dark": scene.dark,
        "start": runs(looks.numbers(scene.blocks)),
        "milestones": [{"id": each.milestone_id, "description": each.description} for each in loaded.milestones],
        "edges": [[edge.before, edge.after, edge.reason] for edge in loaded.graph.edges],
    }


def in_words(code: int) -> str:
    """Return a code in words: ``forward``, ``hold stick``, ``aim 1 0 -2``."""
    decoded = decode(code)
    match decoded.kind:
        case "primitive":
            return decoded.primitive.name.lower().replace("_", " ")
        case "hold":
            return f"hold {ITEMS[decoded.operand]}".replace("_", " ") if decoded.operand < len(ITEMS) else "hold"
        case "craft":
            known = decoded.operand < len(RECIPES)
            return f"craft {RECIPES[decoded.operand].name}".replace("_", " ") if known else "craft"
        case "aim":
            return "aim {} {} {}".format(*decoded.offset)


def runs(values: NDArray[Any]) -> list[int]:
    """Return values run-length encoded: [value, times, value, times ...]."""
    flat = values.ravel()
    starts = np.flatnonzero(np.diff(flat, prepend=flat[0] + 1))
    lengths = np.diff(np.append(starts, flat.size))
    return [int(part) for pair in zip(flat[starts], lengths, strict=True) for part in pair]


@dataclass(slots=True)
class _Span:
    """An item or mob in a cell: the steps from which and to which it is there, and from which it is known."""

    kind: str
    mob: bool
    cell: int
    start: int
    end: int | None = None
    seen: int | None = None

    def told(self, never: int) -> dict[str, Any]:
        """Return the span as JSON-compatible data."""
        end, seen = (never if each is None else each for each in (self.end, self.seen))
        tall = is_tall(self.kind)
        return {"kind": self.kind, "mob": self.mob, "tall": tall, "cell": self.cell, "from": self.start, "to": end,
                "seen": seen}  # fmt: skip


@dataclass(slots=True)
class Reel:
    """Collects the changes of an episode, step by step.

    Args:
        looks: collects every block that occurs.
        state, view: state and view before the first step.
    """

    looks: Looks
    state: WorldState
    view: View
    steps: int = 0
    poses: list[list[int]] = field(default_factory=list)
    deeds: list[tuple[int, int]] = field(default_factory=list)
    truth: list[tuple[int, int, int]] = field(default_factory=list)
    known: list[tuple[int, int, int]] = field(default_factory=list)
    inventory: list[tuple[int, str, int]] = field(default_factory=list)
    held: list[tuple[int, str]] = field(default_factory=list)
    _words: dict[str, int] = field(default_factory=dict)
    _spans: dict[tuple[str, int], _Span] = field(default_factory=dict)
    _gone: list[_Span] = field(default_factory=list)
    _seen: NDArray[np.uint16] = field(init=False)
    _told: NDArray[np.uint16] = field(init=False)
    _before: WorldState = field(init=False)

    def __post_init__(self) -> None:
        self._seen = np.zeros(self.state.blocks.shape, np.uint16)
        self._told = np.zeros_like(self.state.blocks)
        self._before = replace(self.state, inventory={}, held=None)
        self._take(self.state, self.view)

    def add(self, state: WorldState, view: View, deed: str, reason: str) -> None:
        """Add a step.

        Args:
            deed: the primitive in words.
            reason: why it was refused, or "".
        """
        self.steps += 1
        self.deeds.append((self._word(deed), self._word(reason)))
        self._take(state, view)

    def told(self) -> dict[str, Any]:
        """Return all changes as JSON-compatible data."""
        spans = [*self._gone, *self._spans.values()]
        never = self.steps + 1
        return {
            "poses": self.poses,
            "deeds": self.deeds,
            "words": list(self._words),
            "truth": self.truth,
            "known": self.known,
            "seen": runs(self._seen),
            "inventory": self.inventory,
            "held": self.held,
            "things": [each.told(never) for each in spans],
        }

    def _take(self, state: WorldState, view: View) -> None:
        before, step = self._before, self.steps
        self.poses.append(_pose(state.pose))
        self.truth += self._changed(before.blocks != state.blocks, state.blocks)
        known = view.known != 0
        self._seen[known & (self._seen == 0)] = min(step + 1, 0xFFFF)
        # A page shows the true block of a cell that was seen, until it is told another: what changes out of sight too.
        shown = np.where(self._told, self._told, state.blocks)
        wrong = known & (shown != view.known)
        self.known += self._changed(wrong, view.known)
        self._told[wrong] = view.known[wrong]
        for name in {**before.inventory, **state.inventory}:
            if before.inventory.get(name, 0) != (count := state.inventory.get(name, 0)):
                self.inventory.append((step, name, count))
        if before.held != state.held:
            self.held.append((step, state.held or ""))
        self._stand(state, view)
        self._before = state

    def _changed(self, where: NDArray[np.bool_], blocks: NDArray[np.uint16]) -> Iterator[tuple[int, int, int]]:
        places = np.flatnonzero(where)
        for place, look in zip(places.tolist(), self.looks.numbers(blocks.ravel()[places]).tolist(), strict=True):
            yield self.steps, place, look

    def _stand(self, state: WorldState, view: View) -> None:
        """Follow mobs and items: those that exist, and those that the agent knows."""
        _, z, x = state.blocks.shape
        present = {(mob.kind, (mob.cell[1] * z + mob.cell[2]) * x + mob.cell[0]): True for mob in state.mobs}
        for cell, stacks in state.items.items():
            present |= {(stack.item, (cell[1] * z + cell[2]) * x + cell[0]): False for stack in stacks}
        for key in self._spans.keys() - present.keys():
            span = self._spans.pop(key)
            span.end = self.steps
            self._gone.append(span)
        for (kind, cell), mob in present.items():
            self._spans.setdefault((kind, cell), _Span(kind, mob, cell, self.steps))
        for thing in view.things:
            if is_loose(thing, view):
                place = (thing.kind, (thing.cell[1] * z + thing.cell[2]) * x + thing.cell[0])
                if place in self._spans and self._spans[place].seen is None:
                    self._spans[place].seen = self.steps

    def _word(self, text: str) -> int:
        return self._words.setdefault(text, len(self._words))


def _pose(pose: Pose) -> list[int]:
    return [*pose.cell, pose.facing, pose.pitch, *(pose.aim or ())]
