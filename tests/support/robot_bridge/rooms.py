"""Rooms drawn in letters, as an occupancy map has them after a few scans."""

from __future__ import annotations

from collections.abc import Iterable
from math import pi

import numpy as np

from robot_bridge.agent.cells import Cell, Ground, Lattice, terrain
from robot_bridge.config import Lidar
from robot_bridge.contracts import Pose, Scan
from robot_bridge.navigation.mapping import OccupancyMap

LIDAR = Lidar()
LATTICE = Lattice(0.1, 0.0)
Box = tuple[float, float, float, float]


def boxes(picture: str) -> list[Box]:
    """x0, y0, x1, y1 of what a picture shows: # walls, o things, | and - shut doors; its S is cell (0, 0)."""
    rows = picture.split()
    start = next((r, line.index("S")) for r, line in enumerate(rows) if "S" in line)
    half = {"#": (0.5, 0.5), "o": (0.15, 0.15), "|": (0.03, 0.5), "-": (0.5, 0.03)}
    found = []
    for r, line in enumerate(rows):
        for c, sign in enumerate(line):
            if sign in half:
                x, y = LATTICE.middle((r - start[0], c - start[1]))
                dx, dy = half[sign]
                found.append((x - dx, y - dy, x + dx, y + dy))
    return found


def scan(world: Iterable[Box], pose: Pose, rng: np.random.Generator) -> Scan:
    """What a lidar with 1 cm noise would measure."""
    angles = pose.heading + LIDAR.angle_min + LIDAR.angle_increment * np.arange(LIDAR.beams)
    x, y = pose.ahead(LIDAR.x)
    dx, dy = np.cos(angles), np.sin(angles)
    nearest = np.full(LIDAR.beams, np.inf)
    with np.errstate(divide="ignore", invalid="ignore"):
        for x0, y0, x1, y1 in world:
            left, right, low, high = (x0 - x) / dx, (x1 - x) / dx, (y0 - y) / dy, (y1 - y) / dy
            near = np.maximum(np.minimum(left, right), np.minimum(low, high))
            far = np.minimum(np.maximum(left, right), np.maximum(low, high))
            hit = (near <= far) & (near > 0)
            nearest[hit] = np.minimum(nearest[hit], near[hit])
    ranges = (nearest + rng.normal(0, 0.01, LIDAR.beams)).astype(np.float32)
    return Scan(0.0, ranges, LIDAR.angle_min, LIDAR.angle_increment, LIDAR.range_min, LIDAR.range_max)


def seen(picture: str, cells: Iterable[Cell]) -> OccupancyMap:
    """The map after five scans from the middle of each cell, looking north."""
    rng, world, chart = np.random.default_rng(1), boxes(picture), OccupancyMap()
    for cell in cells:
        x, y = LATTICE.middle(cell)
        pose = Pose(x, y - 0.1, pi / 2)
        for _ in range(5):
            chart.integrate(scan(world, pose, rng), LIDAR, pose)
    return chart


def drawn(picture: str, cells: Iterable[Cell] = ((0, 0),)) -> str:
    """The terrain in the picture's own frame."""
    rows = picture.split()
    start = next((r, line.index("S")) for r, line in enumerate(rows) if "S" in line)
    ground = terrain(seen(picture, cells), LATTICE)
    signs = {Ground.UNKNOWN: "?", Ground.FREE: ".", Ground.WALL: "#", Ground.THING: "o"}
    lines = [
        "".join(signs[ground.ground_at((r - start[0], c - start[1]))] for c in range(len(rows[0])))
        for r in range(len(rows))
    ]
    return "\n".join(lines)
