"""Signs by which a camera tells things apart: ArUco markers (DICT_4X4_50), one for every kind, colour and state.

A sign is a square picture: the marker on white, its border half a module wide. It hangs on a vertical face;
:data:`FACES` says how large it is and how far the thing's middle lies behind it, for the twin, which draws them, and
for whoever prints them. In view, a sign's corners say which it is and where; depth, measured all over it, says how far
and how the face is turned, and refuses what has not the size of a sign.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cache
from math import hypot
from typing import Any, Final

import cv2
import numpy as np
from numpy.typing import NDArray

from robot_bridge.config import Camera
from robot_bridge.contracts import Frame, Sighting

COLORS: Final = ("red", "green", "blue", "purple", "yellow", "grey")
DOOR_STATES: Final = ("closed", "locked", "open")

Label = tuple[str, str, str]
"""Kind, colour and state; the state is "" for all but doors."""

Plane = tuple[float, float]
"""``(a, b)``: of a vertical plane, depth is ``1 / (a + b * u)`` where ``u`` is how far right of the optical axis it is
seen, in focal lengths; ``(a, b)`` is its normal too, ahead and right, and points away from the camera."""

LABELS: Final[tuple[Label, ...]] = (
    *((kind, color, "") for kind in ("key", "ball", "box") for color in COLORS),
    *(("door", color, state) for color in COLORS for state in DOOR_STATES),
    ("goal", "green", ""),
    ("lava", "red", ""),
)
"""Indexed by the marker's id."""


@dataclass(frozen=True, slots=True)
class Face:
    """``side`` of the square picture, and how far behind it the ``middle`` of the thing lies; metres."""

    side: float
    middle: float

    @property
    def marker(self) -> float:
        """Side of the black square in the picture."""
        return self.side * _MODULES / (_MODULES + 2 * _BORDER)


FACES: Final = {
    "key": Face(0.3, 0.15),
    "ball": Face(0.3, 0.15),
    "box": Face(0.3, 0.15),
    "door": Face(0.42, 0.03),
    "goal": Face(0.42, 0.21),
    "lava": Face(0.42, 0.21),
}
"""By kind. A door's holds for its panel and for the sign above it."""

_MODULES: Final = 6
_BORDER: Final = 0.5
_PIXELS: Final = 24
"""Of a module, in the picture."""
_INNER: Final = 0.8
"""Depth is read off this part of a marker's width: at its edges it mixes with what lies behind."""
_SIZE_ERROR: Final = 0.25
"""A marker may look so much larger or smaller than it is."""
_SLANT: Final = 0.25
"""A level camera sees upright edges upright, up to this share of their height."""
_DEEPEST: Final = 0.3
"""Metres between the middle of a marker and any point of it, along the optical axis."""
_MIN_DEPTHS: Final = 12
"""Depths that a plane is read from."""
_SAME_PLACE: Final = 0.35
"""Metres; sightings of equal signs so near each other are faces of one thing."""


def texture(kind: str, color: str, state: str = "") -> bytes:
    """Return a sign as a square grey PNG.

    Raises:
        ValueError: there is no such sign.
    """
    size = _MODULES * _PIXELS
    marker = cv2.aruco.generateImageMarker(_dictionary(), _marker_id(kind, color, state), size)
    edge = round(_BORDER * _PIXELS)
    picture = cv2.copyMakeBorder(marker, edge, edge, edge, edge, cv2.BORDER_CONSTANT, value=(255,))
    return bytes(cv2.imencode(".png", picture)[1])


def detect(frame: Frame, camera: Camera) -> tuple[Sighting, ...]:
    """Return the things whose signs are in view, the nearest first; one whose several signs are seen comes once.

    Args:
        frame: colour and depth; where depth is missing a sign's place comes from its corners alone.
        camera: where the camera stands in the base frame.
    """
    grey = cv2.cvtColor(frame.rgb, cv2.COLOR_RGB2GRAY)
    found, numbers, _ = _detector().detectMarkers(grey)
    if numbers is None:
        return ()

    sightings = []
    for quad, number in zip(found, numbers.ravel().tolist(), strict=True):
        if number >= len(LABELS):
            continue
        corners = quad.reshape(4, 2).astype(np.float64)
        sighting = _locate_thing(LABELS[number], corners, frame, camera)
        if sighting is not None:
            sightings.append(sighting)
    merged = _merge_faces(sightings)
    return tuple(sorted(merged, key=lambda sighting: hypot(sighting.forward, sighting.left)))


def _marker_id(kind: str, color: str, state: str) -> int:
    try:
        return LABELS.index((kind, color, state))
    except ValueError as error:
        words = " ".join(filter(None, (color, state, kind)))
        raise ValueError(f"no sign says {words!r}") from error


@cache
def _dictionary() -> Any:
    return cv2.aruco.getPredefinedDictionary(cv2.aruco.DICT_4X4_50)


@cache
def _detector() -> Any:
    parameters = cv2.aruco.DetectorParameters()
    parameters.cornerRefinementMethod = cv2.aruco.CORNER_REFINE_SUBPIX
    parameters.minMarkerPerimeterRate = 0.08
    return cv2.aruco.ArucoDetector(_dictionary(), parameters)


def _locate_thing(label: Label, quad: NDArray[np.float64], frame: Frame, camera: Camera) -> Sighting | None:
    """Return where the thing is, or None if its marker has another size than its sign or is on no vertical face.

    ``quad`` float64 (4, 2): the corners' columns and rows, clockwise.
    """
    kind, color, state = label
    face = FACES[kind]
    quad = (_sort_corners(quad) - _optical_centre(frame)) / frame.focal
    upper_left, upper_right, lower_right, lower_left = quad
    sides = np.stack((lower_left - upper_left, lower_right - upper_right))
    is_slanted = (np.abs(sides[:, 0]) > _SLANT * sides[:, 1]).any()
    is_mirrored = upper_right[0] <= upper_left[0] or lower_right[0] <= lower_left[0]
    if is_mirrored or is_slanted:
        return None

    plane = _fit_depth_plane(quad, frame)
    if plane is None:
        plane = _fit_edge_plane(quad, face.marker)
    ray = float(_crossing(quad)[0])
    nearness = plane[0] + plane[1] * ray
    if nearness <= 0:
        return None
    height = float(sides[:, 1].mean()) / nearness
    if abs(height / face.marker - 1) > _SIZE_ERROR:
        return None

    behind = face.middle / hypot(*plane)
    ahead = 1 / nearness + behind * plane[0]
    right = ray / nearness + behind * plane[1]
    return Sighting(kind, color, state, camera.x + ahead, -right)


def _optical_centre(frame: Frame) -> NDArray[np.float64]:
    height, width = frame.depth.shape
    return np.array([(width - 1) / 2, (height - 1) / 2])


def _sort_corners(quad: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the corners from the upper left of the picture: a sign may hang turned by quarters."""
    upper_left = int(quad.sum(axis=1).argmin())
    return np.roll(quad, -upper_left, axis=0)


def _crossing(quad: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return where the diagonals meet: the picture of the marker's middle, whatever the perspective."""
    first = quad[2] - quad[0]
    second = quad[3] - quad[1]
    # quad[0] + a * first and quad[1] + b * second are the same point: two equations for a and b.
    diagonals = np.stack((first, -second), axis=1)
    along = np.linalg.solve(diagonals, quad[1] - quad[0])
    middle: NDArray[np.float64] = quad[0] + along[0] * first
    return middle


def _fit_depth_plane(quad: NDArray[np.float64], frame: Frame) -> Plane | None:
    """Return the plane of the depth within a marker, or None if too little is measured; ``quad`` in focal lengths."""
    centre = _optical_centre(frame)
    middle = _crossing(quad)
    inner = middle + _INNER * (quad - middle)
    corners = np.rint(inner * frame.focal + centre).astype(np.int32)
    mask = np.zeros(frame.depth.shape, dtype=np.uint8)
    cv2.fillConvexPoly(mask, corners, (1,))
    rows, columns = np.nonzero(mask)
    depth = frame.depth[rows, columns].astype(np.float64)
    valid = np.isfinite(depth) & (depth > 0)
    if valid.sum() < max(_MIN_DEPTHS, valid.size / 2):
        return None

    depth = depth[valid]
    right = (columns[valid] - centre[0]) / frame.focal
    near = np.abs(depth - np.median(depth)) < _DEEPEST
    if near.sum() < _MIN_DEPTHS or np.ptp(right[near]) == 0:
        return None
    # On a plane the inverse of depth is linear in the picture.
    slope, offset = np.polyfit(right[near], 1 / depth[near], 1)
    return float(offset), float(slope)


def _fit_edge_plane(quad: NDArray[np.float64], side: float) -> Plane:
    """Return the plane of a marker's upright edges, which look smaller the farther away they are."""
    upper_left, upper_right, lower_right, lower_left = quad
    left_nearness = (lower_left[1] - upper_left[1]) / side
    right_nearness = (lower_right[1] - upper_right[1]) / side
    left = (upper_left[0] + lower_left[0]) / 2
    right = (upper_right[0] + lower_right[0]) / 2
    slope = (right_nearness - left_nearness) / (right - left)
    return float(left_nearness - slope * left), float(slope)


def _merge_faces(sightings: Iterable[Sighting]) -> list[Sighting]:
    """Return one sighting a thing: the mean of those of equal signs near each other."""
    groups: list[list[Sighting]] = []
    for sighting in sightings:
        for group in groups:
            if _is_same(group[0], sighting):
                group.append(sighting)
                break
        else:
            groups.append([sighting])
    return [_mean(group) for group in groups]


def _is_same(first: Sighting, second: Sighting) -> bool:
    if (first.kind, first.color, first.state) != (second.kind, second.color, second.state):
        return False
    return hypot(first.forward - second.forward, first.left - second.left) < _SAME_PLACE


def _mean(group: list[Sighting]) -> Sighting:
    forward = sum(sighting.forward for sighting in group) / len(group)
    left = sum(sighting.left for sighting in group) / len(group)
    return replace(group[0], forward=forward, left=left)
