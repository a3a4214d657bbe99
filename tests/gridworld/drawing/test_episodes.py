"""Tasks and episodes as pictures, as the model sees them and revealed."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from gridworld.backends.multigrid_backend import MultiGridBackend
from gridworld.drawing import TILE_SIZE, episode_frames, task_picture
from gridworld.errors import ActionError, BackendError, TaskError
from gridworld.rules.tilings import HEX, SQUARE, Tiling
from tests.support.gridworld.drawn import drawn

ROOM = "#######\n#A..sG#\n#..g..#\n#######"
HIDDEN = {"hidden_mechanisms": ["s0"]}


def changed(one: NDArray[np.uint8], other: NDArray[np.uint8]) -> set[tuple[int, int]]:
    """Cells (column, row) of the square tiling in which two pictures differ."""
    rows, columns = np.nonzero((one != other).any(axis=2))
    return {(int(column) // TILE_SIZE, int(row) // TILE_SIZE) for row, column in zip(rows, columns, strict=True)}


def test_a_hidden_mechanism_is_shown_only_to_the_author() -> None:
    open_task, hidden = drawn(ROOM), drawn(ROOM, rules=HIDDEN)
    everything = task_picture(open_task, reveal=False)
    assert np.array_equal(everything, task_picture(open_task, reveal=True))
    assert changed(everything, task_picture(hidden, reveal=False)) == {(4, 1)}
    assert changed(everything, task_picture(hidden)) == {(4, 1)}
    assert changed(task_picture(hidden), task_picture(hidden, reveal=False)) == {(4, 1)}


def test_a_mechanism_that_was_touched_is_hidden_no_more() -> None:
    *_, revealed = episode_frames(drawn(ROOM, rules=HIDDEN), SQUARE, [2, 2, 2], reveal=True)
    *_, seen = episode_frames(drawn(ROOM, rules=HIDDEN), SQUARE, [2, 2, 2])
    assert np.array_equal(revealed, seen)


@pytest.mark.parametrize("mode", ["view_cone", "fog_of_war"])
def test_revealing_lifts_the_fog(mode: str) -> None:
    spec = drawn(ROOM, rules={"observability": mode, "view_size": 3})
    assert np.array_equal(task_picture(spec, reveal=True), task_picture(drawn(ROOM)))
    assert (4, 1) in changed(task_picture(spec, reveal=False), task_picture(drawn(ROOM)))


@pytest.mark.parametrize("tiling", [SQUARE, HEX])
def test_frames_are_what_a_backend_shows(tiling: Tiling) -> None:
    spec, actions = drawn(ROOM, rules={"observability": "fog_of_war", "view_size": 3}), [2, 1, 2, 0, 2]
    backend = MultiGridBackend(tiling.name, tile_size=16)
    backend.configure(spec)
    expected = [backend.reset()[0], *(backend.step(action)[0] for action in actions)]
    frames = list(episode_frames(spec, tiling.name, actions, tile_size=16))
    assert len(frames) == 6
    assert all(map(np.array_equal, frames, expected))
    assert np.array_equal(frames[0], task_picture(spec, tiling, reveal=False, tile_size=16))


def test_mistakes_are_named() -> None:
    with pytest.raises(BackendError, match="unknown tiling 'kagome'; there are square, hex"):
        task_picture(drawn(ROOM), "kagome")
    wrong = drawn(ROOM)
    wrong.max_steps = 0
    with pytest.raises(TaskError, match="max_steps"):
        task_picture(wrong)
    with pytest.raises(ActionError, match="unknown action 9"):
        list(episode_frames(drawn(ROOM), "square", [9]))
    with pytest.raises(BackendError, match="over"):
        list(episode_frames(drawn(ROOM, max_steps=1), "square", [6, 6]))
