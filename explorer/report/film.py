"""Play an episode again, and collect the changes that a page needs to draw every step."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.errors import EpisodeError, ExplorerError
from explorer.evaluation.results import Episode
from explorer.files import Loaded
from explorer.report.looks import Looks
from explorer.report.loose import describe_sprite, is_loose
from explorer.rules.actions import decode
from explorer.rules.items import ITEMS
from explorer.rules.recipes import RECIPES
from explorer.scene import Pose, WorldState
from explorer.view import View
from explorer.worlds.voxel import VoxelWorld


def film(loaded: Loaded, episode: Episode, looks: Looks) -> dict[str, Any]:
    """Return an episode and its scene as JSON-compatible data; step 0 is the state in which it began.

    ``truth`` is what there was, ``known`` what the agent knew of it: for each step the blocks that it changed
    (:func:`list_changes`), and [step, things] whenever the items and mobs changed. ``carried`` is told likewise.

    Raises:
        EpisodeError: its codes cannot be played in this scene.
    """
    scene = loaded.scene
    truth = _Track(looks)
    known = _Track(looks)
    poses: list[list[int]] = []
    deeds: list[tuple[str, str]] = []
    carried: list[tuple[int, dict[str, Any]]] = []
    for step, (deed, reason, state, view) in enumerate(_play(loaded, episode)):
        poses.append(list_pose(state.pose))
        deeds.append((deed, reason))
        _note_change(carried, step, {"held": state.held, "items": list(state.inventory.items())})
        truth.add(state.blocks, _list_sprites(state))
        known.add(view.known, [describe_sprite(each.kind, each.cell) for each in view.things if is_loose(each, view)])
    return {
        "size": scene.size,
        "spawn": scene.spawn.cell,
        "dark": scene.dark,
        "milestones": _describe_milestones(loaded),
        "poses": poses,
        "deeds": deeds,
        "carried": carried,
        "truth": truth.to_dict(),
        "known": known.to_dict(),
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


def list_pose(pose: Pose) -> list[int]:
    """Return a pose as its cell, facing and pitch, and the offset that it aims at if it does."""
    return [*pose.cell, pose.facing, pose.pitch, *(pose.aim or ())]


def list_changes(before: NDArray[np.int32], after: NDArray[np.int32]) -> list[int]:
    """Return what changed, run-length encoded: [value, times, value, times ...], -1 for cells that did not change."""
    changed = before != after
    if not changed.any():
        return []
    values = np.where(changed, after, -1).ravel()
    starts = np.flatnonzero(np.diff(values, prepend=values[0] + 1))
    lengths = np.diff(np.append(starts, values.size))
    return np.column_stack((values[starts], lengths)).ravel().tolist()


class _Track:
    """Blocks and things over time."""

    def __init__(self, looks: Looks) -> None:
        self._looks = looks
        self._before = np.zeros(1, np.int32)
        self._blocks: list[list[int]] = []
        self._things: list[tuple[int, list[dict[str, Any]]]] = []

    def add(self, blocks: NDArray[np.uint16], things: list[dict[str, Any]]) -> None:
        """Add a step."""
        self._looks.kinds |= {thing["kind"] for thing in things}
        _note_change(self._things, len(self._blocks), things)
        numbers = self._looks.numbers(blocks)
        self._blocks.append(list_changes(self._before, numbers))
        self._before = numbers

    def to_dict(self) -> dict[str, Any]:
        """Return everything as JSON-compatible data."""
        return {"blocks": self._blocks, "things": self._things}


def _play(loaded: Loaded, episode: Episode) -> Iterator[tuple[str, str, WorldState, View]]:
    """Yield each step: the primitive in words, why it was refused or "", and what there is after it."""
    world = VoxelWorld()
    view = world.reset(loaded.scene)
    yield "", "", world.state(), view
    for number, code in enumerate(episode.codes, start=1):
        try:
            happened = world.step(code)
        except ExplorerError as error:
            raise EpisodeError(f"step {number} of {len(episode.codes)} cannot be played: {error}") from error
        yield in_words(code), "" if happened.done else happened.reason, world.state(), world.view()


def _list_sprites(state: WorldState) -> list[dict[str, Any]]:
    mobs = [describe_sprite(mob.kind, mob.cell) for mob in state.mobs]
    items = [describe_sprite(stack.item, cell) for cell, stacks in state.items.items() for stack in stacks]
    return mobs + items


def _describe_milestones(loaded: Loaded) -> list[dict[str, Any]]:
    """Return each milestone with its needs: numbers of those that come first, and why."""
    numbers = {milestone.milestone_id: number for number, milestone in enumerate(loaded.milestones)}
    told: list[dict[str, Any]] = [{"text": milestone.description, "needs": []} for milestone in loaded.milestones]
    for edge in loaded.graph.edges:
        told[numbers[edge.after]]["needs"].append((numbers[edge.before], edge.reason))
    return told


def _note_change(changes: list[tuple[int, Any]], step: int, value: Any) -> None:
    if not changes or changes[-1][1] != value:
        changes.append((step, value))
