"""Find maneuvers that an Ackermann robot can really drive, by a search over arcs (hybrid A*).

Every step is a short arc, forward or in reverse. The footprint must stay clear along the arc *and* along a continuation
of the arc, which is as long as the emergency zone. The continuation counts because the safety chain stops motion that
would bring an obstacle into this zone. In narrow places, the search therefore finds multi-point turns that the chain
allows.

The search is deterministic because its budget is a number of expanded nodes, never a time.
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
_CURVATURE_SHARE = 0.92  # share of the largest curvature; the follower's corrections need the remaining share
_SAMPLE_M = 0.04
_ZONE_MARGIN_M = 0.03


@dataclass(frozen=True, slots=True)
class Step:
    """An arc that the rear axle's middle drives from ``start``.

    ``distance`` is in metres, negative in reverse; ``curvature`` is in 1/m, positive to the left.
    """

    start: Pose
    curvature: float
    distance: float

    def pose_at(self, travelled: float) -> Pose:
        """Return the pose after ``travelled`` metres of the arc; ``travelled`` is not negative, even in reverse."""
        signed = travelled if self.distance >= 0 else -travelled
        return self.start.compose(along(self.curvature, signed))

    @property
    def length(self) -> float:
        """Return the unsigned length, metres."""
        return abs(self.distance)

    @property
    def end(self) -> Pose:
        """Return the pose at the end of the arc."""
        return self.pose_at(self.length)


@dataclass(frozen=True, slots=True)
class Aim:
    """The target of a maneuver: a place for the footprint's middle, and optionally a heading.

    Lengths are in metres, angles in radians.
    """

    x: float
    y: float
    tolerance: float
    heading: float | None = None
    heading_tolerance: float = 0.1

    def misses(self, pose: Pose, body: Body) -> tuple[float, float]:
        """Return (metres, radians) by which a pose of the rear axle lies outside the tolerances; 0 if inside."""
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
    """The m steps that a search can take from any pose, in the frame of this pose.

    ``ends`` (m, 3) are the end poses of the steps. ``swept`` (m, samples, circles, 2) are the (x, y) of the middles of
    the footprint's circles. The first ``own_samples`` samples lie on the step, the others on its continuation.
    ``distances`` (m,), in metres, are negative in reverse; ``curvatures`` (m,) are in 1/m.
    """

    ends: Array
    swept: Array
    own_samples: int
    distances: Array
    curvatures: Array


def moves_of(config: RobotConfig, circles: Circles) -> Moves:
    """Return all steps that a robot can take from a pose."""
    body = config.body
    directions_and_turns = [(sign, turn) for sign in (1.0, -1.0) for turn in _CURVATURES]
    step_samples = round(STEP_M / _SAMPLE_M)
    ends = []
    swept = []
    for sign, turn in directions_and_turns:
        curvature = turn * body.curvature_limit * _CURVATURE_SHARE
        continuation_m = stop_gap(config, forward=sign > 0) + _ZONE_MARGIN_M
        samples = step_samples + round(continuation_m / _SAMPLE_M)
        samples = max(samples, step_samples + 1)
        poses = [along(curvature, sign * _SAMPLE_M * (i + 1)) for i in range(samples)]
        end = poses[step_samples - 1]
        ends.append((end.x, end.y, end.heading))
        swept.append([_circle_middles(pose, circles) for pose in poses])

    # Repeat the last sample of shorter paths, so that all paths fit into one array.
    longest = max(len(path) for path in swept)
    padded = [path + [path[-1]] * (longest - len(path)) for path in swept]
    signs, turns = np.array(directions_and_turns).T
    distances = signs * STEP_M
    curvatures = turns * body.curvature_limit * _CURVATURE_SHARE
    return Moves(np.array(ends), np.array(padded), step_samples, distances, curvatures)


def _circle_middles(pose: Pose, circles: Circles) -> list[tuple[float, float]]:
    return [pose.ahead(distance) for distance in circles.ahead]


def stop_gap(config: RobotConfig, *, forward: bool) -> float:
    """Return the distance, metres, that the emergency zone reaches beyond the bumper."""
    return config.zones.emergency_stop - config.overhang(forward=forward)


_BINS_PER_TURN = 36
_BATCH_NODES = 24
_REVERSE_FACTOR = 1.8
_SWITCH_COST_M = 0.3
_STEERING_COST_M = 0.02
_NEAR_M = 0.25
_MAX_NEAR_COST = 1.5
_GUESS_WEIGHT = 2.5


@dataclass(frozen=True, slots=True)
class Effort:
    """The effort of a search: ``budget`` is the largest number of nodes to expand.

    Poses in the same square of ``bin_m`` metres with a similar heading count as equal.
    """

    bin_m: float
    budget: int


COARSE = Effort(0.08, 2500)
FINE = Effort(0.05, 8000)
"""COARSE finds most maneuvers quickly; FINE also finds maneuvers that need precision."""


@dataclass(frozen=True, slots=True)
class _FirstStep:
    """Constraints on the first step of a search.

    ``curvature`` is the curvature of the current steering, 1/m. ``direction`` is the current direction and ``banned``
    the forbidden direction: +1 forward, -1 reverse, 0 none. ``margin`` is the room to keep around the footprint at the
    start, metres.
    """

    curvature: float
    direction: int
    banned: int
    margin: float


class _Node(NamedTuple):
    """A node of the search tree: a pose (x, y, heading) and the move that led to the pose.

    ``move`` is an index into :class:`Moves`, ``parent`` an index into the nodes; both are -1 at the root. ``cost`` is
    the total cost of the moves from the root, metres. ``margin`` is the room that steps from this node must keep,
    metres.
    """

    pose: tuple[float, float, float]
    cost: float
    move: int
    parent: int
    margin: float


class ManeuverPlanner:
    """Creates searches for sequences of steps, and holds the data that depends only on the robot."""

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
        """Return a search, not yet begun, for the cheapest sequence of steps from ``start`` to the aim.

        Args:
            start: pose of the rear axle.
            aim: the target.
            clearance: clearance around the start; all places outside its square count as blocked.
            margin: room to keep on every side of the footprint, metres.
            curvature: curvature of the current steering, 1/m.
            direction: current direction of motion, +1 forward, -1 reverse, 0 at rest.
            banned: direction forbidden for the first step, +1 or -1, or 0 to allow both.
            effort: budget and resolution of the search.
        """
        # If the start is closer to an obstacle than the margin, only steps that lead no closer are allowed.
        start_margin = min(margin, clearance.pose_clearance(start, self.circles) - 0.005)
        first = _FirstStep(curvature, direction, banned, start_margin)
        return Search(self, start, aim, clearance, margin, first, effort)


class Search:
    """One search, which can run in portions.

    ``steps`` is None until the aim is reached. After that, ``steps`` is the sequence of steps, or () if the start
    already meets the aim.
    """

    def __init__(
        self,
        planner: ManeuverPlanner,
        start: Pose,
        aim: Aim,
        clearance: Clearance,
        margin: float,
        first: _FirstStep,
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
        self._first_step = first
        self._nodes = [_Node((start.x, start.y, start.heading), 0.0, -1, -1, first.margin)]
        self._heap = [(0.0, 0)]  # (priority, index of the node)
        self._cheapest: dict[int, float] = {}  # bin key: lowest cost of a node in the bin
        self._bin_m = effort.bin_m
        self._nodes_left = effort.budget

    @property
    def is_over(self) -> bool:
        """Return whether the search has found steps or has failed."""
        return self.steps is not None or not self._heap or self._nodes_left <= 0

    def can_begin(self) -> bool:
        """Return whether any step can be taken from the start; call only before :meth:`run`."""
        self._expand([0])
        return len(self._heap) > 1

    def run(self, nodes: int) -> bool:
        """Expand about ``nodes`` more nodes; return whether the search is over."""
        stop_at = self._nodes_left - nodes
        while not self.is_over and self._nodes_left > stop_at:
            size = min(_BATCH_NODES, len(self._heap))
            batch = [heapq.heappop(self._heap)[1] for _ in range(size)]  # indices of nodes
            self._nodes_left -= len(batch)

            goal = self._find_goal(batch)
            if goal is not None:
                self.steps = self._trace_steps(goal)
            else:
                self._expand(batch)
        return self.is_over

    def _find_goal(self, batch: Sequence[int]) -> int | None:
        """Return the index of the first node in the batch that meets the aim, or None."""
        for number in batch:
            pose = Pose(*self._nodes[number].pose)
            if self.aim.is_met(pose, self._config.body):
                return number
        return None

    def _expand(self, batch: Sequence[int]) -> None:
        """Add the allowed steps from all nodes of the batch to the tree and to the heap.

        ``batch`` holds indices of nodes. A step is dropped if an earlier node costs no more and lies in the bin of the
        step's end. Arrays are (nodes, moves).
        """
        nodes = [self._nodes[n] for n in batch]
        moves = self._moves
        poses = np.array([node.pose for node in nodes])
        room, ahead_room = self._swept_room(poses)
        ends = _transform_ends(poses, moves.ends)
        last_moves = np.array([node.move for node in nodes])
        signs = np.sign(moves.distances)

        node_costs = np.array([node.cost for node in nodes])[:, None]
        costs = self._costs(node_costs, last_moves, signs, room)

        margin = np.array([node.margin for node in nodes])[:, None]
        ahead_margin = np.minimum(margin, self._config.zones.padding + 0.015)
        allowed = (room >= margin) & (ahead_room >= ahead_margin)
        banned = self._first_step.banned
        is_root = (last_moves < 0)[:, None]
        is_banned = is_root & (signs[None] == banned) & (banned != 0)
        allowed &= ~is_banned
        # If the start is too close to an obstacle, later steps must not lose the room that earlier steps have gained.
        end_margins = np.minimum(self._margin, np.maximum(margin, room))

        guesses = self._guess_distance(ends)
        forward = np.broadcast_to(signs > 0, allowed.shape)
        keys = _bin_keys(ends, self._bin_m, forward)

        node_numbers, move_numbers = np.nonzero(allowed)
        for i, j in zip(node_numbers.tolist(), move_numbers.tolist(), strict=True):
            key = int(keys[i, j])
            cost = float(costs[i, j])
            if cost < self._cheapest.get(key, np.inf):
                self._cheapest[key] = cost
                x, y, heading = ends[i, j].tolist()
                priority = cost + _GUESS_WEIGHT * float(guesses[i, j])
                heapq.heappush(self._heap, (priority, len(self._nodes)))
                node = _Node((x, y, heading), cost, j, batch[i], float(end_margins[i, j]))
                self._nodes.append(node)

    def _costs(self, node_costs: Array, last_moves: NDArray[np.int64], signs: Array, room: Array) -> Array:
        """Return the cost to reach the end of each move from each node, (nodes, moves).

        ``node_costs`` (nodes, 1) is the cost to reach each node. ``last_moves`` (nodes,) is the move that led to each
        node, -1 at the root. ``signs`` (moves,) is +1 forward, -1 reverse. ``room`` (nodes, moves) is the free room
        during each move, metres.
        """
        first = self._first_step
        moves = self._moves
        is_root = last_moves < 0
        curvature = np.where(is_root, first.curvature, moves.curvatures[last_moves])
        direction = np.where(is_root, first.direction, np.sign(moves.distances[last_moves]))

        length_cost = np.abs(moves.distances) * np.where(signs > 0, 1.0, _REVERSE_FACTOR)
        nearness = np.clip((_NEAR_M - room) / _NEAR_M, 0.0, 1.0)
        costs: Array = node_costs + length_cost * (1.0 + _MAX_NEAR_COST * nearness)

        costs += _SWITCH_COST_M * (signs[None] * direction[:, None] < 0)
        turned = np.abs(moves.curvatures - curvature[:, None])
        costs += _STEERING_COST_M * turned / self._config.body.curvature_limit
        return costs

    def _swept_room(self, poses: Array) -> tuple[Array, Array]:
        """Return (room during each step, room during its continuation), metres, for poses (nodes, 3).

        Both arrays are (nodes, moves). Room is negative where an obstacle is inside the footprint.
        """
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

    def _guess_distance(self, ends: Array) -> Array:
        """Return a lower bound on the metres left to drive from each end pose (nodes, moves, 3) to the aim.

        The bound is the straight distance, or the arc at full lock that the missing turn needs, whichever is longer.
        """
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
        """Return the steps from the start to the node with this index."""
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
    """Return the end poses of all moves from all poses, (n, m, 3).

    ``poses`` are (n, 3). ``ends`` are (m, 3), relative to the pose at which a move starts.
    """
    end_x, end_y, end_heading = ends.T
    pose_x, pose_y, pose_heading = poses.T[..., None]
    c = np.cos(pose_heading)
    s = np.sin(pose_heading)
    x = pose_x + c * end_x - s * end_y
    y = pose_y + s * end_x + c * end_y
    return np.stack((x, y, pose_heading + end_heading), axis=-1)


def _bin_keys(ends: Array, bin_m: float, forward: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return, for each end, the number of its bin, (nodes, moves).

    A bin is a small range of (x, y, heading, direction). The offset 100 000 keeps bin numbers positive and unique
    within 100 000 bins of the origin.
    """
    x = np.floor(ends[..., 0] / bin_m).astype(np.int64) + 100_000
    y = np.floor(ends[..., 1] / bin_m).astype(np.int64) + 100_000
    heading = ends[..., 2] % (2 * pi)
    bins = np.floor(heading / (2 * pi) * _BINS_PER_TURN)
    turn = bins.astype(np.int64) % _BINS_PER_TURN
    cell = x * 200_000 + y
    keys: NDArray[np.int64] = (cell * _BINS_PER_TURN + turn) * 2 + forward
    return keys
