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
from explorer.report.loose import list_loose
from explorer.rules.actions import decode
from explorer.rules.items import ITEMS
from explorer.rules.recipes import RECIPES
from explorer.scene import Cell, Pose, WorldState
from explorer.view import View
from explorer.worlds.voxel import VoxelWorld


def film(loaded: Loaded, episode: Episode, looks: Looks) -> dict[str, Any]:
    """Return an episode and its scene as JSON-compatible data; frame 0 is the state in which it began.

    A frame holds what changed. Of the blocks that there were (``truth``) and that the agent knew (``known``) it holds
    the changes themselves (:func:`list_changes`), of all else the new value.

    Raises:
        EpisodeError: its codes cannot be played in this scene.
    """
    scene = loaded.scene
    grids = {"truth": np.zeros(1, np.int32), "known": np.zeros(1, np.int32)}
    before: dict[str, Any] = {}
    frames: list[dict[str, Any]] = []
    for deed, reason, state, view in _play(loaded, episode):
        now: dict[str, Any] = {
            "pose": list_pose(state.pose),
            "deed": deed,
            "reason": reason,
            "held": state.held,
            "items": list(state.inventory.items()),
            "truth_things": _list_things(state),
            "truth_extent": find_extent(state.blocks),
            "known_things": list_loose(view),
            "known_extent": find_extent(view.known),
        }
        looks.kinds |= {kind for kind, _ in now["truth_things"] + now["known_things"]}

        frame = {name: value for name, value in now.items() if before.get(name) != value}
        for name, blocks in (("truth", state.blocks), ("known", view.known)):
            numbers = looks.numbers(blocks)
            frame[name] = list_changes(grids[name], numbers)
            grids[name] = numbers
        frames.append(frame)
        before = now
    return {
        "size": scene.size,
        "spawn": scene.spawn.cell,
        "dark": scene.dark,
        "milestones": _describe_milestones(loaded),
        "frames": frames,
    }


def describe_code(code: int) -> str:
    """Return a code in words: ``forward``, ``hold stick``, ``aim 1 0 -2``."""
    decoded = decode(code)
    number = decoded.operand
    match decoded.kind:
        case "primitive":
            words = decoded.primitive.name.lower()
        case "hold":
            words = f"hold {ITEMS[number]}" if number < len(ITEMS) else "hold"
        case "craft":
            words = f"craft {RECIPES[number].name}" if number < len(RECIPES) else "craft"
        case "aim":
            words = "aim {} {} {}".format(*decoded.offset)
    return words.replace("_", " ")


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


def find_extent(blocks: NDArray[np.integer[Any]]) -> list[int]:
    """Return the first and last x, and the first and last z, of the columns in which a cell is known."""
    _, z, x = np.nonzero(blocks)  # unseen cells are 0
    edges = (x.min(), x.max(), z.min(), z.max())
    return [int(edge) for edge in edges]


def _play(loaded: Loaded, episode: Episode) -> Iterator[tuple[str, str, WorldState, View]]:
    """Yield each step: the primitive in words, why it was refused or "", and what there is after it."""
    world = VoxelWorld()
    view = world.reset(loaded.scene)
    yield "", "", world.state(), view
    for number, code in enumerate(episode.codes, start=1):
        try:
            happened = world.step(code)
        except ExplorerError as error:
            step = f"step {number} of {len(episode.codes)}"
            raise EpisodeError(f"{step} cannot be played: {error}") from error
        refusal = "" if happened.done else happened.reason
        yield describe_code(code), refusal, world.state(), world.view()


def _list_things(state: WorldState) -> list[tuple[str, Cell]]:
    mobs = [(mob.kind, mob.cell) for mob in state.mobs]
    items = [(stack.item, cell) for cell, stacks in state.items.items() for stack in stacks]
    return mobs + items


def _describe_milestones(loaded: Loaded) -> list[dict[str, Any]]:
    """Return each milestone with its needs: numbers of those that come first, and why."""
    numbers = {milestone.milestone_id: number for number, milestone in enumerate(loaded.milestones)}
    needs: list[list[tuple[int, str]]] = [[] for _ in loaded.milestones]
    for edge in loaded.graph.edges:
        need = numbers[edge.before], edge.reason
        needs[numbers[edge.after]].append(need)

    described = []
    for milestone, first in zip(loaded.milestones, needs, strict=True):
        described.append({"text": milestone.description, "needs": first})
    return described
