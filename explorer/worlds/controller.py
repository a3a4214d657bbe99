"""Carry out a step with a body that has physics: in each tick, hold the keys whose predicted effect is best.

A step ends with the body at rest in the middle of a cell: the planned cell, or the cell where the step began.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from explorer.rules.actions import Primitive
from explorer.rules.moves import Way, find_heading
from explorer.scene import Cell, Pose
from explorer.worlds.body import (
    AIR_PUSH,
    AIR_SLIP,
    BACK,
    FALL_DRAG,
    FORWARD,
    GRAVITY,
    GROUND_PUSH,
    GROUND_SLIP,
    INPUT,
    JUMPING,
    LEFT,
    RIGHT,
    SPRINTING,
    Body,
)

MAX_TICKS: Final = 60
"""Number of ticks after which a move or jump counts as failed; a fall may take any number of ticks."""
NEAR: Final = 0.18
"""Greatest distance in metres, along x and z, between a resting body and the middle of its cell.

Within this distance, no other cell supports the body.
"""
CREEP: Final = 0.16
"""Greatest speed in metres per tick on the ground before a drop; it is low because a body cannot brake in the air."""
SLOW: Final = 0.03
"""Speed in metres per tick, along x and along z, up to which a body counts as resting."""
_KEYS: Final = {
    Primitive.FORWARD: (FORWARD, BACK),
    Primitive.BACK: (BACK, FORWARD),
    Primitive.LEFT: (LEFT, RIGHT),
    Primitive.RIGHT: (RIGHT, LEFT),
    Primitive.JUMP: (FORWARD, BACK),
}
"""Move -> two keys: the key that pushes towards the end of the move, and the key that pushes back."""


def carry_out(body: Body, pose: Pose, primitive: Primitive, way: Way) -> bool:
    """Move a body as planned; return whether it comes to rest at the planned end.

    If it has not done so after :data:`MAX_TICKS` ticks, put the body back where the move began.

    Args:
        pose: pose of the body before the move.
        way: the planned course and end of the move.
    """
    dx, _, dz = find_heading(pose, primitive)
    key_on, key_back = _KEYS[primitive]
    keys_by_push = {0: 0, 1: key_on, -1: key_back}
    yaw = 90.0 * pose.facing
    x, floor, z = way.cell
    # Positions and speeds are measured along the direction of the move.
    end = (x + 0.5) * dx + (z + 0.5) * dz
    drop = way.kind == "walk" and floor < pose.cell[1]

    rest_ticks = 0
    for tick in range(MAX_TICKS):
        here = body.x * dx + body.z * dz
        speed = body.vx * dx + body.vz * dz
        push = _choose_push(body, end - here, speed, floor, drop)
        keys = keys_by_push[push]
        if tick == 0 and primitive is Primitive.JUMP:
            keys = key_on | JUMPING | (SPRINTING if way.kind == "over" else 0)
        body.tick(keys, yaw)
        rest_ticks = rest_ticks + 1 if _rests(body, way.cell) else 0
        # A body that rests in two ticks in a row stays at rest.
        if rest_ticks == 2:
            body.place(way.cell)
            return True
    body.place(pose.cell)
    return False


def drop_down(body: Body) -> Cell:
    """Let a body fall until it lands, and put it at rest; return the cell in which it has landed."""
    while True:
        body.tick(0, 0.0)
        if body.on_ground:
            body.place(body.cell)
            return body.cell


def rise(body: Body, put: Callable[[], None]) -> bool:
    """Jump on the spot and put a block below the body; return whether this succeeds.

    Args:
        put: function that puts the block into the cell of the feet; called once the body has risen by one cell.
    """
    start = body.cell
    body.tick(JUMPING, 0.0)
    for _ in range(MAX_TICKS):
        if body.y >= start[1] + 1:
            put()
            drop_down(body)
            return True
        if body.on_ground:
            break
        body.tick(0, 0.0)
    body.place(start)
    return False


def _choose_push(body: Body, left: float, speed: float, floor: int, drop: bool) -> int:
    """Return the push for the next tick: 1 forwards, -1 backwards, 0 none.

    After this push, the body would coast to rest as near as possible to the end of the move.

    Args:
        left: distance in metres to the end of the move.
        speed: speed in metres per tick towards the end.
        floor: level of the feet at the end.
        drop: whether the move ends lower than it begins.
    """
    grounded = body.on_ground
    push = INPUT * (GROUND_PUSH if grounded else AIR_PUSH)
    is_before_drop = drop and body.y > floor
    if grounded and is_before_drop:
        # Creep to the edge with the strongest push that keeps the speed within the limit.
        return max((-1, 0, 1), key=lambda direction: (speed + direction * push <= CREEP, direction))
    # Metres that the body coasts for each metre per tick of its speed; on the ground, a geometric series.
    coast = 1 / (1 - GROUND_SLIP) if grounded else _measure_glide(body.y - floor, body.vy)
    return min((0, 1, -1), key=lambda direction: abs(left - (speed + direction * push) * coast))


def _measure_glide(height: float, vy: float) -> float:
    """Return how far a body in the air coasts until it rests, in metres for each metre per tick of sideways speed.

    Args:
        height: height in metres above the ground.
        vy: upward velocity in metres per tick.
    """
    distance = 0.0
    speed = 1.0
    while height > 0 or vy > 0:
        distance += speed
        speed *= AIR_SLIP
        height += vy
        vy = (vy - GRAVITY) * FALL_DRAG
    return distance + speed / (1 - GROUND_SLIP)


def _rests(body: Body, cell: Cell) -> bool:
    """Return whether a body stands still near the middle of a cell."""
    x, y, z = cell
    if not body.on_ground or body.y != y:
        return False
    off_x = body.x - x - 0.5
    off_z = body.z - z - 0.5
    if max(abs(off_x), abs(off_z)) > NEAR:
        return False
    return abs(body.vx) <= SLOW and abs(body.vz) <= SLOW
