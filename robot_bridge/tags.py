"""Signs by which a camera tells things apart: ArUco markers (DICT_4X4_50), one for every kind, colour and state.

A sign is a square picture: the marker on white, its border half a module wide. It hangs on a vertical face;
:data:`FACES` says how large it is and how far the thing's middle lies behind it, for the twin, which draws them, and
for whoever prints them. In view, a sign's corners say which it is and where; depth, measured all over it, says how far
and how the face is turned, and refuses what has not the size of a sign.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
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
_FEWEST: Final = 12
"""Depths that a plane is read from."""
_SAME_PLACE: Final = 0.35
"""Metres; sightings of equal signs so near each other are faces of one thing."""


def texture(kind: str, color: str, state: str = "") -> bytes:
    """A sign as a square grey PNG.

    Raises:
        ValueError: there is no such sign.
    """
    size = _MODULES * _PIXELS
    marker = cv2.aruco.generateImageMarker(_dictionary(), _number(kind, color, state), size)
    edge = round(_BORDER * _PIXELS)
    picture = cv2.copyMakeBorder(marker, edge, edge, edge, edge, cv2.BORDER_CONSTANT, value=(255,))
    return bytes(cv2.imencode(".png", picture)[1])


def detect(frame: Frame, camera: Camera) -> tuple[Sighting, ...]:
    """The things whose signs are in view, the nearest first; one whose several signs are seen comes once.

    Args:
        frame: colour and depth; where depth is missing a sign's place comes from its corners alone.
        camera: where the camera stands in the base frame.
    """
    grey = cv2.cvtColor(frame.rgb, cv2.COLOR_RGB2GRAY)
    found, numbers, _ = _detector().detectMarkers(grey)
    if numbers is None:
        return ()
    sightings = (
        _sighting(LABELS[number], quad.reshape(4, 2).astype(np.float64), frame, camera)
        for quad, number in zip(found, numbers.ravel().tolist(), strict=True)
        if number < len(LABELS)
    )
    return tuple(sorted(_merged(s for s in sightings if s is not None), key=lambda s: hypot(s.forward, s.left)))


def _number(kind: str, color: str, state: str) -> int:
    try:
        return LABELS.index((kind, color, state))
    except ValueError as error:
        raise ValueError(f"no sign says {' '.join(filter(None, (color, state, kind)))!r}") from error


@cache
def _dictionary() -> Any:
    return cv2.aruco.getPredefinedDictionary(cv2.aruco.DICT_4X4_50)


@cache
def _detector() -> Any:
    parameters = cv2.aruco.DetectorParameters()
    parameters.cornerRefinementMethod = cv2.aruco.CORNER_REFINE_SUBPIX
    parameters.minMarkerPerimeterRate = 0.08
    return cv2.aruco.ArucoDetector(_dictionary(), parameters)


def _sighting(label: Label, quad: NDArray[np.float64], frame: Frame, camera: Camera) -> Sighting | None:
    """Where the thing is; None where the marker has not the size of its sign or does not hang on a vertical face.

    ``quad`` float64 (4, 2): the corners' columns and rows, clockwise.
    """
    kind, color, state = label
    face = FACES[kind]
    quad = (_ordered(quad) - _optical_centre(frame)) / frame.focal
    sides = quad[[3, 2]] - quad[[0, 1]]
    width = quad[[1, 2], 0] - quad[[0, 3], 0]
    if width.min() <= 0 or (np.abs(sides[:, 0]) > _SLANT * sides[:, 1]).any():
        return None
    plane = _measured_plane(quad, frame)
    if plane is None:
        plane = _drawn_plane(quad, face.marker)
    ray = float(_crossing(quad)[0])
    nearness = plane[0] + plane[1] * ray
    if nearness <= 0 or abs(float(sides[:, 1].mean()) / nearness / face.marker - 1) > _SIZE_ERROR:
        return None
    behind = face.middle / hypot(*plane)
    ahead = 1 / nearness + behind * plane[0]
    right = ray / nearness + behind * plane[1]
    return Sighting(kind, color, state, camera.x + ahead, -right)


def _optical_centre(frame: Frame) -> NDArray[np.float64]:
    height, width = frame.depth.shape
    return np.array([(width - 1) / 2, (height - 1) / 2])


def _ordered(quad: NDArray[np.float64]) -> NDArray[np.float64]:
    """The corners from the upper left of the picture: a sign may hang turned by quarters."""
    return np.roll(quad, -int(quad.sum(axis=1).argmin()), axis=0)


def _crossing(quad: NDArray[np.float64]) -> NDArray[np.float64]:
    """Where the diagonals meet: the picture of the marker's middle, whatever the perspective."""
    first = quad[2] - quad[0]
    second = quad[3] - quad[1]
    along = np.linalg.solve(np.stack((first, -second), axis=1), quad[1] - quad[0])
    middle: NDArray[np.float64] = quad[0] + along[0] * first
    return middle


def _measured_plane(quad: NDArray[np.float64], frame: Frame) -> Plane | None:
    """Return the plane of the depth within a marker, or None if too little is measured; ``quad`` in focal lengths."""
    centre = _optical_centre(frame)
    inner = _crossing(quad) + _INNER * (quad - _crossing(quad))
    mask = np.zeros(frame.depth.shape, dtype=np.uint8)
    cv2.fillConvexPoly(mask, np.rint(inner * frame.focal + centre).astype(np.int32), (1,))
    rows, columns = np.nonzero(mask)
    depth = frame.depth[rows, columns].astype(np.float64)
    valid = np.isfinite(depth) & (depth > 0)
    if valid.sum() < max(_FEWEST, valid.size / 2):
        return None
    depth = depth[valid]
    right = (columns[valid] - centre[0]) / frame.focal
    near = np.abs(depth - np.median(depth)) < _DEEPEST
    if near.sum() < _FEWEST or np.ptp(right[near]) == 0:
        return None
    slope, offset = np.polyfit(right[near], 1 / depth[near], 1)
    return float(offset), float(slope)


def _drawn_plane(quad: NDArray[np.float64], side: float) -> Plane:
    """Return the plane of a marker's upright edges, which look smaller the farther away they are."""
    nearness = (quad[[3, 2], 1] - quad[[0, 1], 1]) / side
    across = (quad[[0, 1], 0] + quad[[3, 2], 0]) / 2
    slope = (nearness[1] - nearness[0]) / (across[1] - across[0])
    return float(nearness[0] - slope * across[0]), float(slope)


def _merged(sightings: Iterable[Sighting]) -> list[Sighting]:
    groups: list[list[Sighting]] = []
    for sighting in sightings:
        for group in groups:
            if _is_same(group[0], sighting):
                group.append(sighting)
                break
        else:
            groups.append([sighting])
    return [_mean(group) for group in groups]


def _is_same(one: Sighting, other: Sighting) -> bool:
    near = hypot(one.forward - other.forward, one.left - other.left) < _SAME_PLACE
    return near and (one.kind, one.color, one.state) == (other.kind, other.color, other.state)


def _mean(group: list[Sighting]) -> Sighting:
    forward = sum(s.forward for s in group) / len(group)
    left = sum(s.left for s in group) / len(group)
    return Sighting(group[0].kind, group[0].color, group[0].state, forward, left)
