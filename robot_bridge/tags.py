"""Signs by which a camera tells things apart: an ArUco marker (DICT_4X4_50) for every kind, colour and state.

A sign is a square picture: a marker with a white border half a module wide. A sign hangs on a vertical face of a thing.
:data:`FACES` holds the size of the sign and how far the thing's middle lies behind the sign. The twin draws signs of
this size, and printed signs must have this size. The marker's corners in the picture say which direction a sign is in.
Depth, measured all over the marker, says how far away the face is and how it is turned. A marker is ignored if its
measured size is not the size of the sign.
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
"""Kind, colour and state; the state is "" unless the thing is a door."""

Plane = tuple[float, float]
"""Vertical plane ``(a, b)``. A point of the plane that appears ``u`` focal lengths right of the optical axis has the
depth ``1 / (a + b * u)``. ``(a, b)`` is also the plane's normal, ahead and right, pointing away from the camera."""

LABELS: Final[tuple[Label, ...]] = (
    *((kind, color, "") for kind in ("key", "ball", "box") for color in COLORS),
    *(("door", color, state) for color in COLORS for state in DOOR_STATES),
    ("goal", "green", ""),
    ("lava", "red", ""),
)
"""Labels by the marker's id."""


@dataclass(frozen=True, slots=True)
class Face:
    """Size of a sign, and its distance from the middle of the thing.

    ``side`` is the side of the square picture. ``middle`` is the distance from the sign to the thing's middle. Both are
    in metres.
    """

    side: float
    middle: float

    @property
    def marker(self) -> float:
        """Side of the black square in the picture, in metres."""
        return self.side * _MODULES / (_MODULES + 2 * _BORDER)


FACES: Final = {
    "key": Face(0.3, 0.15),
    "ball": Face(0.3, 0.15),
    "box": Face(0.3, 0.15),
    "door": Face(0.42, 0.03),
    "goal": Face(0.42, 0.21),
    "lava": Face(0.42, 0.21),
}
"""Size of signs by kind. The entry for doors holds for the sign on the panel and for the sign above the door."""

_MODULES: Final = 6
"""Modules along a side of a marker."""
_BORDER: Final = 0.5
"""Width of the white border, in modules."""
_MODULE_PIXELS: Final = 24
"""Pixels along a side of a module in the drawn picture."""
_INNER_SHARE: Final = 0.8
"""Depth is read only in the inner part of a marker, of this fraction of its width. At the edges, depth mixes with the
background.
"""
_MAX_SIZE_ERROR: Final = 0.25
"""Greatest error of a marker's measured height, as a fraction of its real height."""
_MAX_SLANT: Final = 0.25
"""Greatest sideways lean of a marker's upright edges in the picture, as a fraction of their height. The camera is
level, so upright edges appear nearly upright.
"""
_MAX_DEPTH_SPREAD: Final = 0.3
"""Greatest difference between the depth of a point of a marker and the marker's median depth, in metres."""
_MIN_DEPTHS: Final = 12
"""Fewest measured depths from which a plane is fitted."""
_MERGE_DISTANCE: Final = 0.35
"""Sightings with equal labels nearer to each other than this, in metres, are faces of the same thing."""


def texture(kind: str, color: str, state: str = "") -> bytes:
    """Return the picture of a sign as a square grey PNG.

    Raises:
        ValueError: no sign has this kind, colour and state.
    """
    size = _MODULES * _MODULE_PIXELS
    marker = cv2.aruco.generateImageMarker(_dictionary(), _marker_id(kind, color, state), size)
    edge = round(_BORDER * _MODULE_PIXELS)
    picture = cv2.copyMakeBorder(marker, edge, edge, edge, edge, cv2.BORDER_CONSTANT, value=(255,))
    return bytes(cv2.imencode(".png", picture)[1])


def detect(frame: Frame, camera: Camera) -> tuple[Sighting, ...]:
    """Return the things whose signs are in view, the nearest first, each thing once even if several signs are seen.

    Args:
        frame: colour and depth; if depth is missing, a sign is located by its corners alone.
        camera: gives the camera's position in the base frame.
    """
    grey = cv2.cvtColor(frame.rgb, cv2.COLOR_RGB2GRAY)
    quads, marker_ids, _ = _detector().detectMarkers(grey)
    if marker_ids is None:
        return ()

    sightings = []
    for quad, marker_id in zip(quads, marker_ids.ravel().tolist(), strict=True):
        if marker_id >= len(LABELS):
            continue
        corners = quad.reshape(4, 2).astype(np.float64)
        sighting = _locate_thing(LABELS[marker_id], corners, frame, camera)
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
    """Return where a marked thing is, or None if the marker has the wrong size or is not on a vertical face.

    ``quad`` is float64 (4, 2): column and row of the marker's corners, clockwise.
    """
    kind, color, state = label
    face = FACES[kind]
    quad = (_sort_corners(quad) - _optical_centre(frame)) / frame.focal
    upper_left, upper_right, lower_right, lower_left = quad
    sides = np.stack((lower_left - upper_left, lower_right - upper_right))
    side_width = np.abs(sides[:, 0])
    side_height = sides[:, 1]
    is_slanted = (side_width > _MAX_SLANT * side_height).any()
    is_mirrored = upper_right[0] <= upper_left[0] or lower_right[0] <= lower_left[0]
    if is_mirrored or is_slanted:
        return None

    plane = _fit_depth_plane(quad, frame)
    if plane is None:
        plane = _fit_edge_plane(quad, face.marker)
    normal_ahead, normal_right = plane
    column = float(_intersect_diagonals(quad)[0])
    inverse_depth = normal_ahead + normal_right * column
    if inverse_depth <= 0:
        return None
    height = float(side_height.mean()) / inverse_depth
    if abs(height / face.marker - 1) > _MAX_SIZE_ERROR:
        return None

    # The thing's middle lies behind the sign, along the normal of the face.
    behind = face.middle / hypot(*plane)
    ahead = 1 / inverse_depth + behind * normal_ahead
    right = column / inverse_depth + behind * normal_right
    return Sighting(kind, color, state, camera.x + ahead, -right)


def _optical_centre(frame: Frame) -> NDArray[np.float64]:
    height, width = frame.depth.shape
    return np.array([(width - 1) / 2, (height - 1) / 2])


def _sort_corners(quad: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the corners in clockwise order, beginning with the upper left corner in the picture.

    The given corners may begin elsewhere, because a sign may hang turned by quarter turns.
    """
    upper_left = int(quad.sum(axis=1).argmin())
    return np.roll(quad, -upper_left, axis=0)


def _intersect_diagonals(quad: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return where the diagonals meet, which is the image of the marker's middle in any perspective."""
    diagonal_02 = quad[2] - quad[0]
    diagonal_13 = quad[3] - quad[1]
    # Solve quad[0] + a * diagonal_02 = quad[1] + b * diagonal_13 for a and b.
    diagonals = np.stack((diagonal_02, -diagonal_13), axis=1)
    solution = np.linalg.solve(diagonals, quad[1] - quad[0])
    middle: NDArray[np.float64] = quad[0] + solution[0] * diagonal_02
    return middle


def _fit_depth_plane(quad: NDArray[np.float64], frame: Frame) -> Plane | None:
    """Fit a plane to the depth within a marker; return None if too little depth is measured.

    ``quad`` holds the marker's corners in focal lengths from the optical axis.
    """
    centre = _optical_centre(frame)
    middle = _intersect_diagonals(quad)
    inner = middle + _INNER_SHARE * (quad - middle)
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
    is_inlier = np.abs(depth - np.median(depth)) < _MAX_DEPTH_SPREAD
    if is_inlier.sum() < _MIN_DEPTHS or np.ptp(right[is_inlier]) == 0:
        return None
    # On a plane the inverse of depth is linear in the picture.
    slope, offset = np.polyfit(right[is_inlier], 1 / depth[is_inlier], 1)
    return float(offset), float(slope)


def _fit_edge_plane(quad: NDArray[np.float64], side: float) -> Plane:
    """Return the plane through a marker's upright edges, whose apparent lengths give their inverse depths."""
    upper_left, upper_right, lower_right, lower_left = quad
    left_inverse_depth = (lower_left[1] - upper_left[1]) / side
    right_inverse_depth = (lower_right[1] - upper_right[1]) / side
    left = (upper_left[0] + lower_left[0]) / 2
    right = (upper_right[0] + lower_right[0]) / 2
    slope = (right_inverse_depth - left_inverse_depth) / (right - left)
    return float(left_inverse_depth - slope * left), float(slope)


def _merge_faces(sightings: Iterable[Sighting]) -> list[Sighting]:
    """Return one sighting per thing: the mean of all sightings that have the same label and are near each other."""
    groups: list[list[Sighting]] = []
    for sighting in sightings:
        for group in groups:
            if _is_same_thing(group[0], sighting):
                group.append(sighting)
                break
        else:
            groups.append([sighting])
    return [_average_places(group) for group in groups]


def _is_same_thing(first: Sighting, second: Sighting) -> bool:
    if (first.kind, first.color, first.state) != (second.kind, second.color, second.state):
        return False
    return hypot(first.forward - second.forward, first.left - second.left) < _MERGE_DISTANCE


def _average_places(group: list[Sighting]) -> Sighting:
    forward = sum(sighting.forward for sighting in group) / len(group)
    left = sum(sighting.left for sighting in group) / len(group)
    return replace(group[0], forward=forward, left=left)
