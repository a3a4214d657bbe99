"""Signs are drawn by a pinhole of the tests' own, seen with a camera's noise, and must be read and placed."""

from __future__ import annotations

from contextlib import closing
from math import cos, hypot, pi, radians, sin

import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from robot_bridge.config import Camera
from robot_bridge.contracts import Frame, Pose, Sighting
from robot_bridge.tags import FACES, LABELS, Label, detect, texture
from robot_bridge.twin.robot import MujocoRobot
from robot_bridge.twin.worlds.world import Thing, TwinWorld

CAMERA = Camera()
CENTRE = np.array([(CAMERA.width - 1) / 2, (CAMERA.height - 1) / 2])
FARTHEST = 30.0
RANDOM = np.random.default_rng(0)
NOISE = RANDOM.normal(0, 1, (CAMERA.height, CAMERA.width, 3)).astype(np.float32)
LOST = RANDOM.random((CAMERA.height, CAMERA.width)) < 0.02


class Scene:
    """Faces before a grey background; ``place`` puts a sign's face, ``frame`` is what a camera makes of it."""

    def __init__(self) -> None:
        self.rgb = np.full((CAMERA.height, CAMERA.width, 3), 150.0, np.float32)
        self.depth = np.full((CAMERA.height, CAMERA.width), FARTHEST)

    def place(self, label: Label, ahead: float, right: float, turned: float, *, up: float = 0.0) -> None:
        """The middle of a face, metres from the camera, and how far it is turned away from the optical axis."""
        side = FACES[label[0]].side
        along = np.array([cos(turned), 0.0, sin(turned)]) * side / 2
        down = np.array([0.0, side / 2, 0.0])
        middle = np.array([right, -up, ahead])
        corners = np.array([middle - along - down, middle + along - down, middle + along + down, middle - along + down])
        seen = corners[:, :2] / corners[:, 2:] * CAMERA.focal + CENTRE
        picture = cv2.imdecode(np.frombuffer(texture(*label), np.uint8), cv2.IMREAD_COLOR)
        assert picture is not None
        size = picture.shape[0] - 0.5
        own = np.array([[-0.5, -0.5], [size, -0.5], [size, size], [-0.5, size]])
        warp = cv2.getPerspectiveTransform(own.astype(np.float32), seen.astype(np.float32))
        shape = (CAMERA.width, CAMERA.height)
        drawn = cv2.warpPerspective(picture, warp, shape, flags=cv2.INTER_AREA)
        covers = cv2.warpPerspective(np.ones(picture.shape[:2], np.uint8), warp, shape) > 0
        across = (np.arange(CAMERA.width) - CENTRE[0]) / CAMERA.focal
        normal = np.array([-sin(turned), cos(turned)])
        plane = (normal @ [right, ahead]) / (normal[0] * across + normal[1])
        nearer = covers & (plane < self.depth)
        self.rgb[nearer] = drawn[nearer]
        self.depth = np.where(nearer, plane, self.depth)

    def frame(self, seed: int = 0, *, has_depth: bool = True) -> Frame:
        noise = np.roll(NOISE, seed, axis=(0, 1))
        rgb = np.clip(self.rgb + 4 * noise, 0, 255).astype(np.uint8)
        depth = self.depth * (1 + 0.01 * noise[:, :, 0])
        depth[LOST | (depth > CAMERA.depth_max) | (not has_depth)] = 0
        return Frame(0.0, rgb, depth.astype(np.float32), CAMERA.focal)


def middle_of(label: Label, ahead: float, right: float, turned: float) -> tuple[float, float]:
    """Of the thing behind such a face, in the base frame."""
    behind = FACES[label[0]].middle
    return CAMERA.x + ahead + behind * cos(turned), -(right - behind * sin(turned))


def error(seen: Sighting, at: tuple[float, float]) -> float:
    return hypot(seen.forward - at[0], seen.left - at[1])


@pytest.mark.parametrize("label", LABELS, ids=" ".join)
def test_every_sign_is_read_as_itself(label: Label) -> None:
    scene = Scene()
    scene.place(label, 2.5, 0.4, 0.3)
    (seen,) = detect(scene.frame(), CAMERA)
    assert (seen.kind, seen.color, seen.state) == label


@pytest.mark.long
@settings(max_examples=25)
@given(
    label=st.sampled_from(LABELS),
    distance=st.floats(0.8, 5.0),
    bearing=st.floats(-1, 1),
    oblique=st.floats(-50, 50),
    seed=st.integers(0, 99),
)
def test_signs_are_placed_to_the_centimetre(
    label: Label, distance: float, bearing: float, oblique: float, seed: int
) -> None:
    bearing *= 26 - 12 / distance  # as far to the side as all of it is in view
    ahead, right = distance * cos(radians(bearing)), distance * sin(radians(bearing))
    turned = radians(oblique - bearing)
    scene = Scene()
    scene.place(label, ahead, right, turned)
    (seen,) = detect(scene.frame(seed), CAMERA)
    assert (seen.kind, seen.color, seen.state) == label
    assert error(seen, middle_of(label, ahead, right, turned)) < (0.04 if distance < 3 else 0.08)


@settings(max_examples=10)
@given(distance=st.floats(0.8, 3.0), oblique=st.floats(-45, 45))
def test_without_depth_the_corners_place_a_sign(distance: float, oblique: float) -> None:
    label = ("ball", "blue", "")
    scene = Scene()
    scene.place(label, distance, 0.1, radians(oblique))
    (seen,) = detect(scene.frame(has_depth=False), CAMERA)
    assert error(seen, middle_of(label, distance, 0.1, radians(oblique))) < 0.15


def test_faces_of_one_thing_are_one_sighting_and_the_nearest_comes_first() -> None:
    near, far = ("key", "red", ""), ("ball", "red", "")
    scene = Scene()
    half = FACES["key"].side / 2 * 2**0.5 / 2
    for side in (-1, 1):
        scene.place(near, 1.5, side * half, side * pi / 4)
    scene.place(far, 4.0, -1.2, 0.0)
    seen = detect(scene.frame(), CAMERA)
    assert [(s.kind, s.color) for s in seen] == [("key", "red"), ("ball", "red")]
    assert error(seen[0], (CAMERA.x + 1.5 + half, 0.0)) < 0.02


def test_equal_things_in_neighbouring_cells_stay_two() -> None:
    scene = Scene()
    for right in (-0.5, 0.5):
        scene.place(("box", "grey", ""), 2.0, right, 0.0)
    assert len(detect(scene.frame(), CAMERA)) == 2


def test_a_sign_of_another_size_is_none() -> None:
    scene = Scene()
    scene.place(("key", "green", ""), 2.0, 0.0, 0.0)
    frame = scene.frame()
    assert detect(frame, CAMERA)
    assert not detect(Frame(0.0, frame.rgb, 2 * frame.depth, frame.focal), CAMERA)


def test_a_sign_that_lies_on_its_back_is_none() -> None:
    scene = Scene()
    scene.place(("goal", "green", ""), 2.0, 0.0, 0.0)
    frame = scene.frame(has_depth=False)
    leaning = cv2.warpAffine(
        frame.rgb,
        np.array([[1.0, 0.5, -120.0], [0.0, 1.0, 0.0]]),
        (CAMERA.width, CAMERA.height),
        borderValue=(150,) * 3,
    ).astype(np.uint8)
    assert not detect(Frame(0.0, leaning, frame.depth, frame.focal), CAMERA)


def test_nothing_is_seen_in_noise() -> None:
    random = np.random.default_rng(1)
    shape = (CAMERA.height, CAMERA.width)
    rgb: NDArray[np.uint8] = random.integers(0, 256, (*shape, 3), dtype=np.uint8)
    depth = random.uniform(0.3, 6, shape).astype(np.float32)
    assert detect(Frame(0.0, rgb, depth, CAMERA.focal), CAMERA) == ()


@pytest.mark.parametrize("label", [("key", "pink", ""), ("door", "red", ""), ("wall", "grey", "")])
def test_there_are_no_other_signs(label: Label) -> None:
    with pytest.raises(ValueError, match="no sign says"):
        texture(*label)


@pytest.mark.long
@pytest.mark.usefixtures("drawing")
def test_signs_are_read_in_the_twin() -> None:
    things = (
        Thing("key", "red", "", 1.5, 0.5),
        Thing("door", "blue", "closed", 2.5, -0.6),
        Thing("door", "yellow", "open", 3.0, 0.4),
        Thing("goal", "green", "", 4.0, -2.05),
        Thing("lava", "red", "", 4.5, 2.6),
    )
    with closing(MujocoRobot(TwinWorld((), things, (), Pose(), "signs"))) as robot:
        frame = robot.observe().frame
        assert frame is not None
        seen = {(s.kind, s.color, s.state): s for s in detect(frame, CAMERA)}
    assert set(seen) == {(thing.kind, thing.color, thing.state) for thing in things}
    for thing in things:
        assert error(seen[thing.kind, thing.color, thing.state], (thing.x, thing.y)) < 0.05
