"""Play an episode again, and record all changes that a page needs to draw each step."""

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
    """Return an episode and its scene as JSON-compatible data.

    Frame 0 is the state before the first step. Each frame contains the new value of each property that differs from the
    previous frame. Two properties are stored as changes instead (:func:`list_changes`): the blocks in the world
    (``truth``) and the blocks known to the agent (``known``).

    Args:
        looks: numbers of the blocks and kinds of the things; blocks and kinds of this episode are added.

    Raises:
        EpisodeError: the codes of the episode cannot be played in this scene.
    """
    scene = loaded.scene
    grids = {"truth": np.zeros(1, np.int32), "known": np.zeros(1, np.int32)}
    previous: dict[str, Any] = {}
    frames: list[dict[str, Any]] = []
    for deed, reason, state, view in _play(loaded, episode):
        current: dict[str, Any] = {
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
        looks.kinds |= {kind for kind, _ in current["truth_things"] + current["known_things"]}

        frame = {name: value for name, value in current.items() if previous.get(name) != value}
        for name, blocks in (("truth", state.blocks), ("known", view.known)):
            numbers = looks.numbers(blocks)
            frame[name] = list_changes(grids[name], numbers)
            grids[name] = numbers
        frames.append(frame)
        previous = current
    return {
        "size": scene.size,
        "spawn": scene.spawn.cell,
        "dark": scene.dark,
        "milestones": _describe_milestones(loaded),
        "frames": frames,
    }


def describe_code(code: int) -> str:
    """Return a code in words, such as ``forward``, ``hold stick`` or ``aim 1 0 -2``."""
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
    """Return x, y, z, facing and pitch of a pose, followed by the three numbers of the aim if the pose has an aim."""
    return [*pose.cell, pose.facing, pose.pitch, *(pose.aim or ())]


def list_changes(before: NDArray[np.int32], after: NDArray[np.int32]) -> list[int]:
    """Return the changes of an array in run-length encoding, as [value, length, value, length ...].

    The runs follow the flattened array. The value of unchanged cells is -1. The result is empty if nothing changed.
    """
    changed = before != after
    if not changed.any():
        return []
    values = np.where(changed, after, -1).ravel()
    starts = np.flatnonzero(np.diff(values, prepend=values[0] + 1))
    lengths = np.diff(np.append(starts, values.size))
    return np.column_stack((values[starts], lengths)).ravel().tolist()


def find_extent(blocks: NDArray[np.integer[Any]]) -> list[int]:
    """Return [first x, last x, first z, last z] of the columns that contain a known cell.

    Args:
        blocks: codes or numbers of blocks, ``[y, z, x]``; 0 for unknown cells.
    """
    _, z, x = np.nonzero(blocks)
    edges = (x.min(), x.max(), z.min(), z.max())
    return [int(edge) for edge in edges]


def _play(loaded: Loaded, episode: Episode) -> Iterator[tuple[str, str, WorldState, View]]:
    """Yield, for each step, (primitive in words, refusal, state after the step, view after the step).

    The refusal is the reason why the primitive was refused, or "". Before all steps, yield the initial state and view
    with two empty texts.
    """
    world = VoxelWorld()
    view = world.reset(loaded.scene)
    yield "", "", world.state(), view
    for number, code in enumerate(episode.codes, start=1):
        try:
            result = world.step(code)
        except ExplorerError as error:
            step = f"step {number} of {len(episode.codes)}"
            raise EpisodeError(f"{step} cannot be played: {error}") from error
        refusal = "" if result.done else result.reason
        yield describe_code(code), refusal, world.state(), world.view()


def _list_things(state: WorldState) -> list[tuple[str, Cell]]:
    """Return (kind, cell) of each mob and each item on the ground in the world."""
    mobs = [(mob.kind, mob.cell) for mob in state.mobs]
    items = [(stack.item, cell) for cell, stacks in state.items.items() for stack in stacks]
    return mobs + items


def _describe_milestones(loaded: Loaded) -> list[dict[str, Any]]:
    """Return ``text`` and ``needs`` of each milestone.

    The needs are pairs (number of a milestone that must come first, reason); numbers count from 0.
    """
    numbers = {milestone.milestone_id: number for number, milestone in enumerate(loaded.milestones)}
    needs: list[list[tuple[int, str]]] = [[] for _ in loaded.milestones]
    for edge in loaded.graph.edges:
        need = numbers[edge.before], edge.reason
        needs[numbers[edge.after]].append(need)

    described = []
    for milestone, milestone_needs in zip(loaded.milestones, needs, strict=True):
        described.append({"text": milestone.description, "needs": milestone_needs})
    return described
