"""Find maneuvers that an Ackermann robot can really drive, by a search over arcs (hybrid A*).

Every step is a short arc, forward or in reverse. It is allowed if the footprint stays clear along it *and* along its
continuation by the length of the emergency zone, because the safety chain stops motion that would bring an obstacle
into that zone. Turns in narrow places therefore become multi-point turns that the chain lets through.

The search is deterministic; its budget is in expanded nodes, never in seconds.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass
from math import hypot, pi
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from robot_bridge.config import Body, RobotConfig
from robot_bridge.contracts import Pose, wrap_angle
from robot_bridge.navigation.clearance import Circles, Clearance, circles_of
from robot_bridge.safety.geometry import along

Array = NDArray[np.float64]

STEP_M = 0.08
_CURVATURES = (-1.0, -0.5, 0.0, 0.5, 1.0)
_CURVATURE_SHARE = 0.92  # the rest of the steering is left for the follower's corrections
_SAMPLE_M = 0.04
_ZONE_MARGIN_M = 0.03


@dataclass(frozen=True, slots=True)
class Step:
    """An arc from ``start``: ``distance`` metres of the rear axle's middle, negative in reverse; ``curvature`` 1/m."""

    start: Pose
    curvature: float
    distance: float

    def pose_at(self, travelled: float) -> Pose:
        """Return the pose after ``travelled`` metres, unsigned."""
        signed = travelled if self.distance >= 0 else -travelled
        return self.start.compose(along(self.curvature, signed))

    @property
    def length(self) -> float:
        """Return the length in metres, unsigned."""
        return abs(self.distance)

    @property
    def end(self) -> Pose:
        """Return the pose at its end."""
        return self.pose_at(self.length)


@dataclass(frozen=True, slots=True)
class Aim:
    """The target of a maneuver: a place for the footprint's middle, and a heading if given."""

    x: float
    y: float
    tolerance: float
    heading: float | None = None
    heading_tolerance: float = 0.1

    def misses(self, pose: Pose, body: Body) -> tuple[float, float]:
        """Return by how many metres and radians a pose of the rear axle is outside the tolerances."""
        x, y = pose.ahead(body.centre)
        distance = hypot(x - self.x, y - self.y)
        metres = max(0.0, distance - self.tolerance)
        turn = 0.0 if self.heading is None else abs(wrap_angle(pose.heading - self.heading))
        return metres, max(0.0, turn - self.heading_tolerance)

    def is_met(self, pose: Pose, body: Body) -> bool:
        """Return whether the pose lies within the tolerances."""
        return self.misses(pose, body) == (0.0, 0.0)


@dataclass(frozen=True, slots=True, eq=False)
class Moves:
    """All steps that a search can take, relative to the origin.

    ``ends`` (m, 3): poses; ``swept`` (m, samples, circles, 2): middles of the circles during the step, the first
    ``own_samples``, and its continuation; ``distances`` (m,), signed, and ``curvatures`` (m,).
    """

    ends: Array
    swept: Array
    own_samples: int
    distances: Array
    curvatures: Array


def moves_of(config: RobotConfig, circles: Circles) -> Moves:
    """Return all steps that a robot can take."""
    body = config.body
    shares = [(sign, share) for sign in (1.0, -1.0) for share in _CURVATURES]
    step_samples = round(STEP_M / _SAMPLE_M)
    ends = []
    swept = []
    for sign, share in shares:
        curvature = share * body.curvature_limit * _CURVATURE_SHARE
        continuation_m = stop_gap(config, forward=sign > 0) + _ZONE_MARGIN_M
        samples = step_samples + round(continuation_m / _SAMPLE_M)
        samples = max(samples, step_samples + 1)
        poses = [along(curvature, sign * _SAMPLE_M * (i + 1)) for i in range(samples)]
        end = poses[step_samples - 1]
        ends.append((end.x, end.y, end.heading))
        swept.append([_circle_middles(pose, circles) for pose in poses])

    longest = max(len(path) for path in swept)
    padded = [path + [path[-1]] * (longest - len(path)) for path in swept]
    signs, turns = np.array(shares).T
    distances = signs * STEP_M
    curvatures = turns * body.curvature_limit * _CURVATURE_SHARE
    return Moves(np.array(ends), np.array(padded), step_samples, distances, curvatures)


def _circle_middles(pose: Pose, circles: Circles) -> list[tuple[float, float]]:
    return [pose.ahead(distance) for distance in circles.ahead]


def stop_gap(config: RobotConfig, *, forward: bool) -> float:
    """Return how far beyond the bumper the emergency zone reaches, metres."""
    return config.zones.emergency_stop - config.overhang(forward=forward)


_BINS_PER_TURN = 36
_BATCH = 24
_REVERSE = 1.8
_SWITCH_M = 0.3
_STEER_M = 0.02
_NEAR_M = 0.25
_NEAR_COST = 1.5
_GREED = 2.5


@dataclass(frozen=True, slots=True)
class Effort:
    """How hard to search: poses in one square of ``bin_m`` with similar heading count as one; ``budget`` in nodes."""

    bin_m: float
    budget: int


COARSE = Effort(0.08, 2500)
FINE = Effort(0.05, 8000)
"""The first finds most ways quickly; the second finds those that need precision."""


@dataclass(frozen=True, slots=True)
class _First:
    """Constraints on the first step: current steering and direction, the forbidden direction, the margin."""

    curvature: float
    direction: int
    banned: int
    margin: float


class _Node(NamedTuple):
    """A node of the search tree; ``move`` and ``parent`` are -1 at its root."""

    pose: tuple[float, float, float]
    cost: float
    move: int
    parent: int
    margin: float


class ManeuverPlanner:
    """Finds sequences of steps; holds the data that depends only on the robot."""

    def __init__(self, config: RobotConfig) -> None:
        self.config = config
        self.circles = circles_of(config.body)
        self.moves = moves_of(config, self.circles)

    def search(
        self,
        start: Pose,
        aim: Aim,
        clearance: Clearance,
        *,
        margin: float = 0.05,
        curvature: float = 0.0,
        direction: int = 0,
        banned: int = 0,
        effort: Effort = FINE,
    ) -> Search:
        """Return a search, not yet begun, for the cheapest way from ``start`` to the aim.

        Args:
            start: pose of the rear axle.
            aim: the target.
            clearance: clearance around the start; everything outside it counts as blocked.
            margin: room to keep on every side of the footprint, metres.
            curvature: curvature of the current steering.
            direction: current direction of motion, +1, -1, or 0 at rest.
            banned: direction forbidden for the first step, +1 or -1, or 0 to allow both.
            effort: how hard to search.
        """
        # From a start within the margin, only steps that lead no farther into it are allowed.
        least = min(margin, clearance.pose_clearance(start, self.circles) - 0.005)
        first = _First(curvature, direction, banned, least)
        return Search(self, start, aim, clearance, margin, first, effort)


class Search:
    """One search, which can be done in portions. ``steps`` is the way found, () if the aim is already met."""

    def __init__(
        self,
        planner: ManeuverPlanner,
        start: Pose,
        aim: Aim,
        clearance: Clearance,
        margin: float,
        first: _First,
        effort: Effort,
    ) -> None:
        self.steps: tuple[Step, ...] | None = None
        self.aim = aim
        self._config = planner.config
        self._circles = planner.circles
        self._moves = planner.moves
        self._start = start
        self._clearance = clearance
        self._margin = margin
        self._first = first
        self._nodes = [_Node((start.x, start.y, start.heading), 0.0, -1, -1, first.margin)]
        self._heap = [(0.0, 0)]
        self._closed: dict[int, float] = {}
        self._bin_m = effort.bin_m
        self._left = effort.budget

    @property
    def is_over(self) -> bool:
        """Return whether a way was found or the search has failed."""
        return self.steps is not None or not self._heap or self._left <= 0

    def can_begin(self) -> bool:
        """Return whether any step can be taken from the start; only for a search that has not begun."""
        self._expand([0])
        return len(self._heap) > 1

    def run(self, nodes: int) -> bool:
        """Expand about ``nodes`` more nodes; return whether the search is over."""
        until = self._left - nodes
        while not self.is_over and self._left > until:
            size = min(_BATCH, len(self._heap))
            batch = [heapq.heappop(self._heap)[1] for _ in range(size)]
            self._left -= len(batch)

            goal = self._find_goal(batch)
            if goal is not None:
                self.steps = self._trace_steps(goal)
            else:
                self._expand(batch)
        return self.is_over

    def _find_goal(self, batch: Sequence[int]) -> int | None:
        for number in batch:
            pose = Pose(*self._nodes[number].pose)
            if self.aim.is_met(pose, self._config.body):
                return number
        return None

    def _expand(self, batch: Sequence[int]) -> None:
        nodes = [self._nodes[n] for n in batch]
        moves = self._moves
        poses = np.array([node.pose for node in nodes])
        room, ahead_room = self._room(poses)
        ends = _transform_ends(poses, moves.ends)
        before = np.array([node.move for node in nodes])
        signs = np.sign(moves.distances)

        node_costs = np.array([node.cost for node in nodes])[:, None]
        costs = self._costs(node_costs, before, signs, room)

        margin = np.array([node.margin for node in nodes])[:, None]
        ahead_margin = np.minimum(margin, self._config.zones.padding + 0.015)
        allowed = (room >= margin) & (ahead_room >= ahead_margin)
        banned = self._first.banned
        is_root = (before < 0)[:, None]
        allowed &= ~(is_root & (signs[None] == banned) & (banned != 0))
        margins = np.minimum(self._margin, np.maximum(margin, room))

        guesses = self._guess(ends)
        forward = np.broadcast_to(signs > 0, allowed.shape)
        keys = _keys(ends, self._bin_m, forward)

        rows, columns = np.nonzero(allowed)
        for i, j in zip(rows.tolist(), columns.tolist(), strict=True):
            key = int(keys[i, j])
            total = float(costs[i, j])
            if total < self._closed.get(key, np.inf):
                self._closed[key] = total
                x, y, heading = ends[i, j].tolist()
                priority = total + _GREED * float(guesses[i, j])
                heapq.heappush(self._heap, (priority, len(self._nodes)))
                node = _Node((x, y, heading), total, j, batch[i], float(margins[i, j]))
                self._nodes.append(node)

    def _costs(self, node_costs: Array, before: NDArray[np.int64], signs: Array, room: Array) -> Array:
        """Return the cost to reach each end, (nodes, moves).

        ``node_costs`` (nodes, 1); ``before`` (nodes,): the move that led to each node, -1 at the root.
        """
        first = self._first
        moves = self._moves
        curvature = np.where(before < 0, first.curvature, moves.curvatures[before])
        direction = np.where(before < 0, first.direction, np.sign(moves.distances[before]))

        length_cost = np.abs(moves.distances) * np.where(signs > 0, 1.0, _REVERSE)
        near = np.clip((_NEAR_M - room) / _NEAR_M, 0.0, 1.0)
        costs: Array = node_costs + length_cost * (1.0 + _NEAR_COST * near)

        costs += _SWITCH_M * (signs[None] * direction[:, None] < 0)
        turned = np.abs(moves.curvatures - curvature[:, None])
        costs += _STEER_M * turned / self._config.body.curvature_limit
        return costs

    def _room(self, poses: Array) -> tuple[Array, Array]:
        """Return the room during each step and during its continuation, both (nodes, moves)."""
        swept = self._moves.swept
        swept_x = swept[..., 0]
        swept_y = swept[..., 1]
        pose_x, pose_y, heading = poses.T[..., None, None, None]
        c = np.cos(heading)
        s = np.sin(heading)
        x = pose_x + c * swept_x - s * swept_y
        y = pose_y + s * swept_x + c * swept_y

        nearest = self._clearance.clearance_at(x, y).min(axis=3)
        room = nearest.astype(np.float64) - self._circles.radius
        step_samples = self._moves.own_samples
        during = room[:, :, :step_samples].min(axis=2)
        afterwards = room[:, :, step_samples:].min(axis=2)
        return during, afterwards

    def _guess(self, ends: Array) -> Array:
        """Return a lower bound on the metres left to drive."""
        body = self._config.body
        aim = self.aim
        cos = np.cos(ends[..., 2])
        sin = np.sin(ends[..., 2])
        x = ends[..., 0] + body.centre * cos - aim.x
        y = ends[..., 1] + body.centre * sin - aim.y
        left = np.maximum(0.0, np.hypot(x, y) - aim.tolerance)
        if aim.heading is None:
            return left
        turn = (ends[..., 2] - aim.heading + pi) % (2 * pi) - pi
        excess = np.maximum(0.0, np.abs(turn) - aim.heading_tolerance)
        return np.maximum(left, excess * body.turning_radius)

    def _trace_steps(self, number: int) -> tuple[Step, ...]:
        pose = self._start
        chain = []
        node = self._nodes[number]
        while node.parent >= 0:
            chain.append(node.move)
            node = self._nodes[node.parent]
        steps: list[Step] = []
        for move in reversed(chain):
            curvature = float(self._moves.curvatures[move])
            distance = float(self._moves.distances[move])
            step = Step(pose, curvature, distance)
            steps.append(step)
            pose = step.end
        return tuple(steps)


def _transform_ends(poses: Array, ends: Array) -> Array:
    """Return every end (m, 3), relative to every pose (n, 3), in the frame of the poses, (n, m, 3)."""
    end_x, end_y, end_heading = ends.T
    pose_x, pose_y, pose_heading = poses.T[..., None]
    c = np.cos(pose_heading)
    s = np.sin(pose_heading)
    x = pose_x + c * end_x - s * end_y
    y = pose_y + s * end_x + c * end_y
    return np.stack((x, y, pose_heading + end_heading), axis=-1)


def _keys(ends: Array, bin_m: float, forward: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return the number of the (x, y, heading, direction) cell in which each end lies."""
    x = np.floor(ends[..., 0] / bin_m).astype(np.int64) + 100_000
    y = np.floor(ends[..., 1] / bin_m).astype(np.int64) + 100_000
    heading = ends[..., 2] % (2 * pi)
    bins = np.floor(heading / (2 * pi) * _BINS_PER_TURN)
    turn = bins.astype(np.int64) % _BINS_PER_TURN
    cell = x * 200_000 + y
    keys: NDArray[np.int64] = (cell * _BINS_PER_TURN + turn) * 2 + forward
    return keys
