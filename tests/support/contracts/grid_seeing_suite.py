"""What every grid backend shows: images and observations that tell what the observability allows and no more."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from typing import Any

import numpy as np
import pytest

from gridworld.backends.base import AbstractGridBackend
from gridworld.errors import BackendError
from gridworld.rules.observation import Look, Observation
from gridworld.rules.tilings import TILINGS
from gridworld.task_spec import TaskSpecification
from tests.support.contracts.grid_corridor import (
    EVERYTHING,
    FORWARD,
    KEY,
    LEFT,
    PICKUP,
    TOGGLE,
    Make,
    played,
    started,
    task,
)


class GridSeeingSuite:
    """What :class:`tests.support.contracts.grid_backend_suite.GridBackendSuite` holds of views, with its fixtures."""

    tiling = "square"

    @pytest.fixture
    def make(self) -> Make:
        raise NotImplementedError

    @pytest.fixture
    def backend(self, make: Make) -> Iterator[AbstractGridBackend]:
        with closing(make(render_mode=None)) as backend:
            yield backend

    @pytest.fixture
    def screen(self, make: Make) -> Iterator[AbstractGridBackend]:
        with closing(make(render_mode="rgb_array")) as backend:
            yield backend

    @pytest.fixture
    def around(self) -> tuple[int, ...]:
        """Half a turn."""
        return (LEFT,) * (TILINGS[self.tiling].headings // 2)

    def test_an_image_is_rgb(self, screen: AbstractGridBackend) -> None:
        screen.configure(task(EVERYTHING))
        seen = screen.reset()[0]
        for _ in range(2):
            image = screen.render()
            assert image.dtype == np.uint8
            assert (image.ndim, image.shape[2]) == (3, 3)
            assert np.array_equal(seen, image)
            seen = screen.step(FORWARD)[0]

    def test_an_image_grows_with_its_tiles(self, make: Make) -> None:
        sizes = []
        for tile_size in (16, 32):
            with closing(make(render_mode="rgb_array", tile_size=tile_size)) as backend:
                started(backend, task())
                sizes.append(backend.render().shape[:2])
        assert all(1.9 < large / small < 2.1 for small, large in zip(*sizes, strict=True))

    def test_an_unknown_way_of_rendering_is_refused(self, make: Make) -> None:
        with pytest.raises(BackendError, match="'ansi'"):
            make(render_mode="ansi")

    def test_an_image_is_the_callers(self, screen: AbstractGridBackend) -> None:
        screen.configure(task(EVERYTHING))
        seen = screen.reset()[0]
        kept = seen.copy()
        screen.render()[:] = 0
        seen[:] = 0
        assert np.array_equal(screen.render(), kept)
        screen.step(LEFT)
        screen.reset()
        assert np.array_equal(screen.render(), kept)

    def test_every_heading_looks_different(self, screen: AbstractGridBackend) -> None:
        started(screen, task())
        headings = TILINGS[self.tiling].headings
        assert len({screen.step(LEFT)[0].tobytes() for _ in range(headings)}) == headings

    def test_without_images_the_observation_is_codes(self, backend: AbstractGridBackend) -> None:
        backend.configure(task(EVERYTHING))
        seen = backend.reset()[0]
        assert isinstance(seen, Observation)
        assert seen.codes.shape == seen.visible.shape == (3, 11)
        assert isinstance(backend.step(FORWARD)[0], Observation)
        assert backend.observe().position == (2, 1)
        assert backend.render().dtype == np.uint8

    def test_the_observation_in_words(self, backend: AbstractGridBackend) -> None:
        played(backend, task(KEY | {"blocks": [{"id": "b", "position": [6, 1]}]}), FORWARD)
        assert backend.get_mission_text() == backend.observe().mission == "Walk to the end of the corridor."
        before = backend.observe().text()
        assert "column 2, row 1" in before
        assert "blue key at column 3, row 1" in before
        backend.step(PICKUP)
        after = backend.observe().text()
        assert "In hand: blue key" in after
        assert "key at column 3" not in after

    def test_full_observability_shows_every_cell(self, backend: AbstractGridBackend) -> None:
        state = started(backend, task())
        everything = {(column, row) for column in range(11) for row in range(3)}
        assert state.visible_cells == state.explored_cells == everything
        assert backend.observe().visible.all()

    @pytest.mark.parametrize("mode", ["view_cone", "fog_of_war"])
    def test_what_is_out_of_view_shows_nowhere(
        self, screen: AbstractGridBackend, mode: str, around: tuple[int, ...]
    ) -> None:
        """Tasks that differ in cells that were never seen look the same; under full observability they do not."""
        beyond = {"hazards": [{"id": "h", "position": [6, 1]}], "blocks": [{"id": "b", "position": [5, 1]}]}
        for observability, same in ((mode, True), ("full", False)):
            shown = []
            for mechanisms in (None, beyond):
                started(screen, task(mechanisms, observability=observability, view_size=3))
                views = [(screen.step(action)[0].tobytes(), screen.observe().text()) for action in (FORWARD, *around)]
                shown.append((screen.render().tobytes(), views))
            assert (shown[0] == shown[1]) is same

    def test_a_wall_hides_what_is_behind(self, screen: AbstractGridBackend) -> None:
        door = {"doors": [{"id": "d", "position": [3, 1], "requires_key": "red"}]}
        key = {"keys": [{"id": "k", "position": [2, 1], "color": "red"}]}
        images = []
        for more in ({}, {"blocks": [{"id": "b", "position": [4, 1]}]}):
            state = started(screen, task(door | key | more, observability="view_cone"))
            assert (3, 1) in state.visible_cells
            assert (4, 1) not in state.visible_cells
            images.append(screen.render())
        assert np.array_equal(images[0], images[1])

    @pytest.mark.parametrize("mode", ["full", "view_cone", "fog_of_war"])
    @pytest.mark.parametrize("kind", ["keys", "switches", "blocks", "hazards", "teleporters", "gates", "doors"])
    def test_a_hidden_mechanism_is_not_shown_until_touched(
        self, screen: AbstractGridBackend, kind: str, mode: str
    ) -> None:
        """The open door and gate let the light through, as the floor does."""
        things: dict[str, dict[str, Any]] = {
            "keys": {"position": [3, 1], "color": "red"},
            "switches": {"position": [3, 1], "controls": []},
            "teleporters": {"position_a": [3, 1], "position_b": [8, 1]},
            "gates": {"position": [3, 1], "initial_state": "open"},
            "doors": {"position": [3, 1], "requires_key": "red", "initial_state": "open"},
        }
        hidden = {kind: [{"id": "x"} | things.get(kind, {"position": [3, 1]})]}
        # Toggling touches without changing anything but what is known.
        actions = (FORWARD, TOGGLE)
        empty, unknown, known = [
            self.shown(screen, task(mechanisms, observability=mode, hidden_mechanisms=names), *actions)
            for mechanisms, names in ((None, []), (hidden, ["x"]), (hidden, []))
        ]
        assert empty[:2] == unknown[:2] != known[:2]
        assert unknown[2] == known[2] != empty[2]

    @staticmethod
    def shown(backend: AbstractGridBackend, spec: TaskSpecification, *actions: int) -> list[tuple[bytes, str]]:
        started(backend, spec)
        views = [(backend.render().tobytes(), backend.observe().text())]
        for action in actions:
            backend.step(action)
            views.append((backend.render().tobytes(), backend.observe().text()))
        return views

    def test_a_view_cone_forgets(self, backend: AbstractGridBackend, around: tuple[int, ...]) -> None:
        state = played(backend, task(KEY, observability="view_cone"), *around)
        assert (3, 1) not in state.visible_cells
        assert (3, 1) in state.explored_cells
        assert backend.observe().look((3, 1)) == Look("unseen")

    def test_fog_of_war_remembers_dimmed(self, screen: AbstractGridBackend, around: tuple[int, ...]) -> None:
        images = {}
        for mode in ("full", "view_cone", "fog_of_war"):
            state = played(screen, task(KEY, observability=mode), *around)
            images[mode] = screen.render()
        assert (3, 1) not in state.visible_cells
        assert (3, 1) in state.explored_cells
        assert screen.observe().look((3, 1)) == Look("key", "blue")
        assert "blue key at column 3, row 1 (seen before)" in screen.observe().text()
        brightness = {mode: int(image.astype(np.int64).sum()) for mode, image in images.items()}
        assert brightness["view_cone"] < brightness["fog_of_war"] < brightness["full"]

    def test_fog_of_war_shows_what_was_and_not_what_is(
        self, screen: AbstractGridBackend, around: tuple[int, ...]
    ) -> None:
        """A gate that opens behind the agent's back looks as before until it is seen again."""
        views = []
        for controls in ([], ["g"]):
            things = {
                "switches": [{"id": "s", "position": [2, 1], "controls": controls}],
                "gates": [{"id": "g", "position": [4, 1]}],
            }
            state = played(screen, task(things, observability="fog_of_war"), FORWARD, *around, TOGGLE)
            assert state.open_gates == set(controls)
            assert screen.observe().look((4, 1)).state == "closed"
            views.append([screen.render()])
            for action in around:
                screen.step(action)
            views[-1].append(screen.render())
        (closed_remembered, closed_seen), (open_remembered, open_seen) = views
        assert np.array_equal(closed_remembered, open_remembered)
        assert not np.array_equal(closed_seen, open_seen)
