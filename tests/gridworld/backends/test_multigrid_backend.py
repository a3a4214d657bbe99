"""What MultiGridBackend adds to the contract of backends, and backends by name."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import gridworld.backends
from gridworld.backends import BACKENDS, get_backend
from gridworld.backends.multigrid_backend import ACTION_TRANSLATION, MultiGridBackend
from gridworld.drawing import picture
from gridworld.errors import BackendError
from gridworld.multigrid import MultiGridWorld
from gridworld.rules.observation import Observation
from tests.support.gridworld.drawn import drawn

KEY_AND_DOOR = "########\n#A.k.dG#\n########"


def test_the_translation_is_that_of_the_contract() -> None:
    assert ACTION_TRANSLATION == {0: 2, 1: 3, 2: 0, 3: 4, 4: 5, 5: 6, 6: 8}


@pytest.mark.parametrize("tiling", ["square", "hex"])
def test_external_actions_do_what_their_native_ones_do(tiling: str) -> None:
    spec = drawn(KEY_AND_DOOR)
    backend, world = MultiGridBackend(tiling=tiling, render_mode=None), MultiGridWorld(spec, tiling)
    backend.configure(spec)
    _, state, info = backend.reset()
    assert (state, info) == (world.state, {"seed": spec.seed})
    for action in (2, 3, 0, 1, 4, 3, 2, 2, 6, 5, 2, 2):
        observation, reward, terminated, truncated, state, _ = backend.step(action)
        assert state == world.step(ACTION_TRANSLATION[action]) == backend.get_state()
        assert (reward, terminated, truncated) == (state.reward, state.terminated, state.truncated)
        assert observation.text() == world.observe().text()
    assert state.goal_reached


@pytest.mark.parametrize("tiling", ["square", "hex"])
def test_an_observation_is_the_picture_or_what_it_shows(tiling: str) -> None:
    spec = drawn(KEY_AND_DOOR)
    screen = MultiGridBackend(tiling, tile_size=20)
    quiet = MultiGridBackend(tiling, render_mode=None, tile_size=20)
    for backend in (screen, quiet):
        backend.configure(spec)
        backend.reset()
    image, seen = screen.step(2)[0], quiet.step(2)[0]
    assert isinstance(seen, Observation)
    assert np.array_equal(image, picture(seen, 20))
    assert np.array_equal(image, screen.render())
    assert np.array_equal(image, quiet.render())


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"tiling": "penrose"}, "unknown tiling 'penrose'; there are square, hex"),
        ({"tiling": None}, "unknown tiling None"),
        ({"render_mode": "human"}, "unknown render_mode 'human'; there are 'rgb_array' and None"),
        ({"tile_size": 7}, "tile_size 7: must be a whole number of pixels from 8 to 256"),
        ({"tile_size": 257}, "tile_size 257"),
        ({"tile_size": 32.0}, "tile_size 32.0"),
        ({"tile_size": True}, "tile_size True"),
        ({"colour": "red"}, "backend multigrid: got an unexpected keyword argument 'colour'"),
    ],
)
def test_an_option_that_does_not_exist_is_named(options: dict[str, Any], words: str) -> None:
    with pytest.raises(BackendError, match=words):
        get_backend("multigrid", **options)


def test_backends_are_made_by_name() -> None:
    assert list(BACKENDS) == ["minigrid", "multigrid"]
    made = get_backend("multigrid", tiling="hex", render_mode=None)
    assert isinstance(made, MultiGridBackend)
    assert (made.tiling, made.render_mode) == ("hex", None)
    with pytest.raises(BackendError, match="unknown backend 'unity'; there are minigrid, multigrid"):
        get_backend("unity")


def test_the_package_offers_its_names_and_no_others() -> None:
    for name in gridworld.backends.__all__:
        assert getattr(gridworld.backends, name) is not None
        assert name in dir(gridworld.backends)
    with pytest.raises(AttributeError, match="Unity"):
        _ = gridworld.backends.UnityBackend


@pytest.mark.long
def test_minigrid_is_loaded_only_by_who_asks_for_it() -> None:
    program = (
        "import sys; from gridworld.backends import get_backend, GridState;"
        "get_backend('multigrid', tiling='hex');"
        "sys.exit(', '.join({'minigrid', 'gymnasium', 'PIL', 'pygame'} & sys.modules.keys()))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr.strip()) == ("", "")
