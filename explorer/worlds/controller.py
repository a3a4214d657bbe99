"""Carry out a step of the lattice with a body: a closed loop over ticks that predicts where each key would lead.

A step ends with the body at rest in the middle of a cell, or back where it started.
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

LONGEST: Final = 60
"""Ticks after which a move is given up; a fall has no limit."""
NEAR: Final = 0.18
"""Metres from the middle of the cell within which a body may rest: only its own cell supports it there."""
CREEP: Final = 0.16
"""Metres per tick towards a drop: a body cannot brake in the air."""
SLOW: Final = 0.03
_KEYS: Final = {
    Primitive.FORWARD: (FORWARD, BACK),
    Primitive.BACK: (BACK, FORWARD),
    Primitive.LEFT: (LEFT, RIGHT),
    Primitive.RIGHT: (RIGHT, LEFT),
    Primitive.JUMP: (FORWARD, BACK),
}


def carry_out(body: Body, pose: Pose, primitive: Primitive, way: Way) -> bool:
    """Move a body as the lattice says. Return whether it got there; if not, it is back where it started."""
    dx, _, dz = find_heading(pose, primitive)
    on, off = _KEYS[primitive]
    yaw = 90.0 * pose.facing
    x, floor, z = way.cell
    end = (x + 0.5) * dx + (z + 0.5) * dz
    drop = way.kind == "walk" and floor < pose.cell[1]

    rested = 0
    for tick in range(LONGEST):
        here = body.x * dx + body.z * dz
        speed = body.vx * dx + body.vz * dz
        push = _choose_push(body, end - here, speed, floor, drop)
        keys = (0, on, off)[push]
        if tick == 0 and primitive is Primitive.JUMP:
            keys = on | JUMPING | (SPRINTING if way.kind == "over" else 0)
        body.tick(keys, yaw)
        rested = rested + 1 if _rests(body, way.cell) else 0
        if rested == 2:
            body.place(way.cell)
            return True
    body.place(pose.cell)
    return False


def drop_down(body: Body) -> Cell:
    """Let a body fall until it rests; return the cell where it lands."""
    while True:
        body.tick(0, 0.0)
        if body.on_ground:
            body.place(body.cell)
            return body.cell


def rise(body: Body, put: Callable[[], None]) -> bool:
    """Jump on the spot and put a block below at the top of the jump; return whether the body stands on it."""
    start = body.cell
    body.tick(JUMPING, 0.0)
    for _ in range(LONGEST):
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
    """Return the key after which the body would coast to rest nearest to the end: 0 none, 1 forward, -1 back."""
    grounded = body.on_ground
    push = INPUT * (GROUND_PUSH if grounded else AIR_PUSH)
    if grounded and drop and body.y > floor:
        # Creep to the edge, as fast as allowed.
        return max((-1, 0, 1), key=lambda key: (speed + key * push <= CREEP, key))
    reach = 1 / (1 - GROUND_SLIP) if grounded else _measure_glide(body.y - floor, body.vy)
    return min((0, 1, -1), key=lambda key: abs(left - (speed + key * push) * reach))


def _measure_glide(height: float, vy: float) -> float:
    """Return how far a body in the air travels per unit of speed until it has landed and slid to rest."""
    far = 0.0
    share = 1.0
    while height > 0 or vy > 0:
        far += share
        share *= AIR_SLIP
        height += vy
        vy = (vy - GRAVITY) * FALL_DRAG
    return far + share / (1 - GROUND_SLIP)


def _rests(body: Body, cell: Cell) -> bool:
    x, y, z = cell
    if not body.on_ground or body.y != y:
        return False
    if abs(body.x - x - 0.5) > NEAR or abs(body.z - z - 0.5) > NEAR:
        return False
    return abs(body.vx) <= SLOW and abs(body.vz) <= SLOW
