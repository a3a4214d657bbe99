"""Trajectories seen again: what is shown is what happened, what differs is said, and a file may hold anything."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Sequence
from contextlib import closing
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from minigridenv import MiniGridEnv
from spca.act.frame import Frame, ReplayedWorld
from spca.common.web.films import Changes, GridFilm
from spca.contracts import LevelSpec
from spca.report.read.model import Check
from spca.report.replay.resimulation import is_judged_as_upstream, resimulate
from spca.runs import curriculum
from spca.sense import perception
from tests.support.contracts.truth import simulator
from tests.support.tiers import few
from tests.test_architecture import ROOT

EMPTY = "MiniGrid-Empty-5x5-v0"
WON = (2, 2, 1, 2, 2)
MIX = (0, 1, 2, 2, 2, 2, 3, 4, 5, 6)
TASKS = curriculum.load(ROOT / "merged_curriculum2.json").tasks()


def attempt(
    world: MiniGridEnv, codes: Sequence[int], start: Sequence[int] = (), number: int = 1
) -> tuple[dict[str, Any], list[Frame]]:
    """Execute primitives from the world's present state to the end: what a run records, and what there was to see."""
    before = world.checkpoint().state_hash
    frames = [world.frame()]
    for code in codes:
        if not world.over:
            world.step(code)
            frames.append(world.frame())
    return {
        "round": 1,
        "attempt": number,
        "start": list(start),
        "start_hash": before,
        "end_hash": world.checkpoint().state_hash,
        "reward": world.reward,
        "steps": [[code, 0, 70] for code in codes[: len(frames) - 1]],
    }, frames


def recorded(codes: Sequence[int] = WON, env_id: str = EMPTY) -> dict[str, Any]:
    """A trajectory of one attempt."""
    with closing(MiniGridEnv(env_id, 1)) as world:
        return {"env_id": env_id, "seed": 1, "attempts": [attempt(world, codes)[0]]}


def edited(changes: dict[str, object]) -> dict[str, Any]:
    """A trajectory whose attempt says something else than happened."""
    trajectory = recorded()
    trajectory["attempts"][0] |= changes
    return trajectory


def check_of(trajectory: dict[str, Any], index: int = -1) -> tuple[GridFilm | None, Check]:
    film, check = resimulate(MiniGridEnv, trajectory).attempts[index]
    assert film is None or isinstance(film, GridFilm)
    return film, check


def grids(changes: Changes, episode: GridFilm) -> list[NDArray[np.uint8]]:
    """A grid at every frame, as the player builds it."""
    grid = np.array(changes.first, dtype=np.uint8)
    found = [grid.copy()]
    for step in changes.steps:
        grid[list(step[::2])] = step[1::2]
        found.append(grid.copy())
    return [each.reshape(episode.rows, episode.columns) for each in found]


# What is shown -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("category", few(1, dict.fromkeys(task.category for task in TASKS)))
def test_every_level_of_the_curriculum_is_seen_again_as_it_was(category: str) -> None:
    """A random walk that is played, recorded and re-simulated."""
    choose = random.Random(category)
    for env_id in dict.fromkeys(task.env_id for task in TASKS if task.category == category):
        with closing(MiniGridEnv(env_id, 3)) as world:
            record, frames = attempt(world, choose.choices(MIX, k=12))
            assert np.array_equal(frames[-1].truth, perception.encode_view(simulator(world).grid.encode()))
        trajectory = json.loads(json.dumps({"env_id": env_id, "seed": 3, "attempts": [record]}))
        result = resimulate(MiniGridEnv, trajectory)
        ((episode, check),) = result.attempts
        assert (check.result, result.mission) == ("equal", world.mission), env_id
        assert isinstance(episode, GridFilm)
        shows(episode, frames)


def shows(episode: GridFilm, frames: Sequence[Frame]) -> None:
    """Assert that an episode holds these frames, each cell at its place."""
    truths, maps = grids(episode.truth, episode), grids(episode.known, episode)
    assert len(truths) == len(maps) == len(episode.agent) == len(episode.view) == len(frames)
    for i, frame in enumerate(frames):
        at = {"truth": (-episode.top, -episode.left), "known": _less(frame.known_at, episode)}
        for grid, part, name in ((truths[i], frame.truth, "truth"), (maps[i], frame.known, "known")):
            assert np.array_equal(grid, placed(part, at[name], grid.shape))
        assert episode.agent[i] == (*_less(frame.position, episode), frame.direction)
        assert (episode.inventory[i], episode.reward[i]) == (frame.inventory, frame.reward)
        seen = placed(frame.view, _less(frame.view_at, episode), truths[i].shape)
        assert set(episode.view[i]) == set(np.flatnonzero(seen))


def placed(part: NDArray[np.uint8], at: tuple[int, int], shape: tuple[int, ...]) -> NDArray[np.uint8]:
    """Return a grid with the cells of a part; whatever is in them lies within the grid."""
    grid = np.zeros(shape, dtype=np.uint8)
    for row, column in np.argwhere(part):
        assert min(row + at[0], column + at[1]) >= 0
        grid[row + at[0], column + at[1]] = part[row, column]
    return grid


def _less(place: tuple[int, int], episode: GridFilm) -> tuple[int, int]:
    return place[0] - episode.top, place[1] - episode.left


def test_a_later_attempt_begins_where_it_began() -> None:
    with closing(MiniGridEnv("MiniGrid-DoorKey-5x5-v0", 1)) as world:
        first, _ = attempt(world, [2, 1, 0])
        second, frames = attempt(world, [0, 2], start=[2, 1, 0], number=2)
    result = resimulate(
        MiniGridEnv, {"env_id": "MiniGrid-DoorKey-5x5-v0", "seed": 1, "attempts": [first, second, first]}
    )
    assert [check.result for _, check in result.attempts] == ["equal"] * 3
    episode = result.attempts[1][0]
    assert isinstance(episode, GridFilm)
    shows(episode, frames)


def test_attempts_that_did_the_same_share_their_episode() -> None:
    trajectory = recorded()
    trajectory["attempts"] *= 2
    (first, _), (second, _) = resimulate(MiniGridEnv, trajectory).attempts
    assert first is second is not None


def test_an_attempt_without_steps_is_its_beginning() -> None:
    episode, check = check_of(recorded(()))
    assert check.result == "equal"
    assert episode is not None
    assert (len(episode.agent), episode.truth.steps) == (1, ())


# What is held against the recording ----------------------------------------------------------------------------------


def test_an_equal_state_is_told_with_its_hash() -> None:
    trajectory = recorded()
    _, check = check_of(trajectory)
    assert (
        check.message == f"re-simulation equals the recording (state hash {trajectory['attempts'][0]['end_hash'][:12]})"
    )


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"start_hash": "0" * 64}, "the state before its first step differs"),
        ({"end_hash": "0" * 64}, "the state after its last step differs"),
        ({"end_hash": 7}, "the state after its last step differs"),
        ({"reward": 0.5}, "its reward differs"),
        ({"start_hash": "x", "end_hash": "y", "reward": 1}, "the state after its last step and its reward differ"),
    ],
)
def test_what_differs_is_named_and_the_episode_is_shown(changes: dict[str, object], words: str) -> None:
    episode, check = check_of(edited(changes))
    assert check.result == "different"
    assert words in check.message
    assert episode is not None
    assert len(episode.agent) == 6


def test_another_step_makes_another_state() -> None:
    trajectory = recorded()
    trajectory["attempts"][0]["steps"][2][0] = 0
    assert check_of(trajectory)[1].result == "different"


def test_runs_of_older_versions_have_nothing_to_compare_with() -> None:
    trajectory = edited({"start_hash": None, "end_hash": None})
    episode, check = check_of(trajectory)
    assert (check.result, episode is not None) == ("unrecorded", True)
    before, after = "before its first step", "after its last step"
    assert before in check.message
    assert after in check.message
    trajectory["checkpoint"] = {"length": 0, "state_hash": recorded()["attempts"][0]["start_hash"]}
    check = check_of(trajectory)[1]
    assert (check.result, before in check.message, after in check.message) == ("unrecorded", False, True)
    trajectory["checkpoint"]["state_hash"] = "0" * 64
    assert check_of(trajectory)[1].result == "different"
    trajectory["attempts"].append(recorded()["attempts"][0])
    assert check_of(trajectory, 0)[1].result == "unrecorded", "that hash is of the last attempt alone"


def test_steps_after_the_end_cannot_be_replayed() -> None:
    trajectory = recorded()
    trajectory["attempts"][0]["steps"] += [[2, 0, 70], [2, 0, 70]]
    episode, check = check_of(trajectory)
    assert (check.result, check.message.split(":")[0]) == ("different", "step 6 of 7 cannot be replayed")
    assert "over" in check.message
    assert episode is not None
    assert len(episode.agent) == 6


@pytest.mark.parametrize("wrong", [7, -1, "2", True, None, 2.0, [], {}, [[2]], 10**30])
def test_what_is_no_primitive_is_named(wrong: object) -> None:
    trajectory = recorded()
    trajectory["attempts"][0]["steps"][1] = [wrong, 0, 70]
    episode, check = check_of(trajectory)
    assert check.message.startswith("step 2 of 5 cannot be replayed: ")
    assert check.message.endswith(" is not a primitive")
    assert episode is not None
    assert len(episode.agent) == 2
    trajectory["attempts"][0]["start"] = [2, wrong]
    episode, check = check_of(trajectory)
    assert check.message.startswith("step 2 of the 2 before the attempt cannot be replayed: ")
    assert episode is None


# Worlds --------------------------------------------------------------------------------------------------------------


def refusing(env_id: LevelSpec, seed: int, /, *, upstream_rules: bool = False) -> ReplayedWorld:
    raise AssertionError(f"asked for {env_id}, {seed}, {upstream_rules}")


@pytest.mark.parametrize(
    "env_id",
    [
        f"{EMPTY}:x y",
        "-MiniGrid",
        "../MiniGrid-x",
        f"{EMPTY}\n",
        f"{EMPTY} x",
        f"os.path:os:{EMPTY}",
        "",
        None,
        3,
        [],
        "x" * 9999,
    ],
)
def test_only_ids_of_environments_are_built(env_id: object) -> None:
    result = resimulate(refusing, recorded() | {"env_id": env_id})
    assert result.mission == ""
    ((episode, check),) = result.attempts
    assert (episode, check.result) == (None, "different")
    assert check.message.endswith("is not the id of an environment")
    assert len(check.message) < 200


@pytest.mark.parametrize("module", ["os", "planted.deeper", EMPTY.replace("-", "_")])
def test_the_module_of_an_id_has_to_be_a_loaded_plugin(module: str) -> None:
    ((episode, check),) = resimulate(refusing, recorded() | {"env_id": f"{module}:{EMPTY}"}).attempts
    assert (episode, check.result) == (None, "different")
    assert check.message.endswith(f"the module {module} is not loaded: give --plugin {module}")


@pytest.mark.parametrize("env_id", ["CartPole-v1", "MiniGrid-", "x", "ns/MiniGrid-Empty-5x5-v0"])
def test_an_id_that_is_no_grid_world_is_told(env_id: str) -> None:
    ((episode, check),) = resimulate(MiniGridEnv, recorded() | {"env_id": env_id}).attempts
    assert (episode, check.result) == (None, "different")
    assert env_id in check.message


@pytest.mark.parametrize("seed", [-1, 1.0, "1", None, True, 2**64, pytest.param(10**5000, id="huge")])
def test_only_seeds_are_seeds(seed: object) -> None:
    ((episode, check),) = resimulate(refusing, recorded() | {"seed": seed}).attempts
    assert (episode, check.result) == (None, "different")
    assert check.message.endswith("is not a seed")


def test_an_environment_that_is_not_installed() -> None:
    ((episode, check),) = resimulate(MiniGridEnv, recorded() | {"env_id": "MiniGrid-Nowhere-v0"}).attempts
    assert (episode, check.result) == (None, "different")
    assert "MiniGrid-Nowhere-v0" in check.message


def test_the_rules_of_the_run_are_those_of_the_world() -> None:
    asked = []

    def make(level: LevelSpec, seed: int, /, *, upstream_rules: bool = False) -> MiniGridEnv:
        asked.append((level.id, seed, upstream_rules))
        return MiniGridEnv(level, seed, upstream_rules=upstream_rules)

    resimulate(make, recorded(), upstream_rules=is_judged_as_upstream({"settings": {"upstream_rules": True}}))
    resimulate(make, recorded(), upstream_rules=is_judged_as_upstream({"settings": []}))
    assert asked == [(EMPTY, 1, True), (EMPTY, 1, False)]


# Anything ------------------------------------------------------------------------------------------------------------

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)
GOOD = recorded()


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The paths of everything in a JSON value."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [*([path] if path else []), *(found for key, each in inner for found in places(each, (*path, key)))]


@given(st.lists(st.tuples(st.sampled_from(places(GOOD)), JSON), max_size=3))
def test_a_file_may_hold_anything(changes: list[tuple[tuple[Any, ...], Any]]) -> None:
    """Whatever is wrong: one answer for each attempt; and only what happened is called equal."""
    trajectory = copy.deepcopy(GOOD)
    for (*path, last), value in changes:
        place: Any = trajectory
        for key in path:
            place = place[key] if _has(place, key) else {}
        if _has(place, last):
            place[last] = value
    result = resimulate(MiniGridEnv, trajectory)
    attempts = trajectory["attempts"]
    assert len(result.attempts) == (len(attempts) if isinstance(attempts, list) else 0)
    for i, (episode, check) in enumerate(result.attempts):
        assert check.result in ("equal", "different", "unrecorded")
        if check.result == "equal":
            assert episode is not None
            assert [step[0] if isinstance(step, list) else step for step in attempts[i]["steps"]] == list(WON)
            assert attempts[i]["end_hash"] == GOOD["attempts"][0]["end_hash"]


def _has(place: Any, key: Any) -> bool:
    return (
        key in place
        if isinstance(place, dict)
        else (isinstance(place, list) and isinstance(key, int) and key < len(place))
    )
