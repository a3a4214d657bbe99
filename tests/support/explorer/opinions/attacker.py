"""A second opinion on closures: a body driven tick by tick, at any yaw, with hands at any angle.

It keeps outposts and goes on from those least visited, towards cells that the closure holds and it has not been in. All
that it gets to has to be in the closure. With a milestone that stays open, what would achieve it is undone.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from math import atan2, cos, degrees, radians, sin
from typing import Final

from explorer.milestones import AtLeast, AtMost, InsideBox, InventoryHas, Milestone, NearWithFacing, Rule, bare, counted
from explorer.rules.apply import apply
from explorer.rules.blocks import BLOCKS, REPLACEABLE, SOLID, USABLE
from explorer.rules.items import block_of, digs
from explorer.rules.moves import OUTSIDE
from explorer.rules.raycast import REACH, Crossing, walk
from explorer.rules.reach import mob_cells
from explorer.scene import EYE_HEIGHT, Cell, Event, Pose, WorldState
from explorer.solver.closure import Arena, Closure
from explorer.worlds.body import BACK, FORWARD, HALF_WIDTH, HEIGHT, JUMPING, LEFT, RIGHT, SPRINTING, Body
from explorer.worlds.storage import Storage
from tests.support.explorer.naive.stock import craftable
from tests.support.explorer.scenes import stored

_OUTPOSTS: Final = 300
_RUN: Final = 60
"""Ticks at most from an outpost."""
_KEYS: Final = (
    *(FORWARD | SPRINTING | JUMPING,) * 4,
    *(FORWARD | SPRINTING, FORWARD | JUMPING, FORWARD, BACK, BACK | JUMPING, 0, JUMPING),
    *(FORWARD | LEFT | SPRINTING | JUMPING, FORWARD | RIGHT | SPRINTING | JUMPING, LEFT, RIGHT),
)


@dataclass(frozen=True, slots=True)
class Outpost:
    """A state to go on from."""

    state: WorldState
    motion: tuple[float, float, float, float, float, float, bool]


class Attacker:
    """Looks for a way out of a closure.

    Attributes:
        visited: cell -> how many ticks the feet were in it.
        escapes: what it got to that is not in the closure, in words.
    """

    def __init__(self, arena: Arena, closure: Closure, seed: int, open_: Milestone | None = None) -> None:
        self._scene, self._closure, self._open = arena.scene, closure, open_
        self._rng = random.Random(seed)
        self._now = Storage(arena.scene)
        self._body = Body(self._now.solids, arena.scene.spawn.cell)
        self._targets = self._interesting(arena)
        self._counts = {
            rule: counted(rule, self._now.freeze(0), arena.scene.spawn)
            for rule in (open_.rules if open_ else ())
            if isinstance(rule, AtLeast | AtMost)
        }
        self._begin = dict(self._counts)
        self.visited: dict[Cell, int] = {}
        self.escapes: set[str] = set()
        self._outposts = [self._outpost()]

    def run(self, ticks: int) -> None:
        """Attack for some ticks."""
        while ticks > 0:
            self._return(self._chosen())
            ticks -= self._go()

    def _go(self) -> int:
        """Play on from an outpost; for how many ticks."""
        rng, body = self._rng, self._body
        aim = self._frontier() if rng.random() < 0.5 else None
        yaw, keys = rng.uniform(-180, 180), rng.choice(_KEYS)
        for tick in range(rng.randint(5, _RUN)):
            if rng.random() < 0.15:
                yaw, keys = rng.uniform(-180, 180), rng.choice(_KEYS)
            if aim and rng.random() < 0.3:
                yaw = degrees(atan2(body.x - aim[0] - 0.5, aim[2] + 0.5 - body.z)) + rng.gauss(0, 8)
            if rng.random() < 0.12:
                self._handle()
            body.tick(keys, yaw)
            if not self._lives() or self.achieved():
                return tick + 1
            self._note()
        return _RUN

    def _lives(self) -> bool:
        """Arrive, and let devices answer; whether the body lives and is still in the arena."""
        now, body = self._now, self._body
        if body.burnt:
            return False
        now.pose = Pose(body.cell)
        if body.cell in now.items:
            now.do(apply(now, Event("arrive")).changes)
        if now.doors:
            now.do(apply(now, Event("tick")).changes)
        return True

    def _note(self) -> None:
        cell = self._body.cell
        x, y, z = cell
        new = cell not in self.visited
        self.visited[cell] = self.visited.get(cell, 0) + 1
        if new:
            if not self._closure.cells[y, z, x]:
                self.escapes.add(f"at {cell}")
            self._keep()

    def _keep(self) -> None:
        if len(self._outposts) >= _OUTPOSTS:
            self._outposts[self._rng.randrange(1, _OUTPOSTS)] = self._outpost()
        else:
            self._outposts.append(self._outpost())

    def _outpost(self) -> Outpost:
        body = self._body
        return Outpost(self._now.freeze(0), (body.x, body.y, body.z, body.vx, body.vy, body.vz, body.on_ground))

    def _chosen(self) -> Outpost:
        some = self._rng.sample(self._outposts, min(3, len(self._outposts)))
        return min(some, key=lambda each: self.visited.get(each.state.pose.cell, 0))

    def _return(self, outpost: Outpost) -> None:
        body = self._body
        now = self._now = stored(self._scene, outpost.state)
        body.solids, body.burnt = now.solids, False
        body.x, body.y, body.z, body.vx, body.vy, body.vz, body.on_ground = outpost.motion
        self._counted()

    def _frontier(self) -> Cell | None:
        """Return a cell near by that the closure holds and the body was never in."""
        x, y, z = self._body.cell
        for _ in range(8):
            a, b, c = (at + self._rng.randint(-6, 6) for at in (x, y, z))
            height, depth, width = self._closure.cells.shape
            inside = 0 <= a < width and 0 <= b < height and 0 <= c < depth
            if inside and self._closure.cells[b, c, a] and (a, b, c) not in self.visited:
                return a, b, c
        return None

    # hands

    def _interesting(self, arena: Arena) -> list[Cell]:
        places = [
            *arena.devices,
            *arena.chests,
            *arena.handled,
            *(at for some in arena.natural.values() for at in some),
        ]
        mobs = [cell for mob in arena.scene.mobs for cell in mob_cells(mob)]
        doors = [cell for door in arena.doors for cell in door.beside]
        return [*(arena.space.cell(int(at)) for at in places), *mobs, *doors]

    def _handle(self) -> None:
        """Do something with the hands, and keep the place if it had an effect."""
        now = self._now
        if self._rng.random() < 0.1 and (recipes := craftable(now.inventory, table=True)):
            event: Event | None = Event("craft", name=self._rng.choice(recipes).name)
        else:
            event = self._meant(self._looking())
        if event is None:
            return
        before = now.freeze(0)
        applied = apply(now, event)
        now.do(applied.changes)
        if applied.changes:
            self._counted()
            if self.achieved():
                self._now = stored(self._scene, before)
                self._body.solids = self._now.solids
                self._counted()
            else:
                self._check_items()
                self._keep()

    def _looking(self) -> tuple[Crossing, ...]:
        """Return what a ray from the eye crosses: towards something, or anywhere."""
        body, rng = self._body, self._rng
        eye = body.x, body.y + EYE_HEIGHT, body.z
        near = [cell for cell in self._targets if sum(abs(a - b) for a, b in zip(cell, body.cell, strict=True)) < 9]
        if near and rng.random() < 0.7:
            x, y, z = (at + rng.random() for at in rng.choice(near))
            dx, dy, dz = x - eye[0], y - eye[1], z - eye[2]
            norm = (dx * dx + dy * dy + dz * dz) ** 0.5 or 1.0
            return walk(eye, (dx / norm, dy / norm, dz / norm), REACH)
        pitch = rng.choice((90.0, rng.uniform(-90, 90), rng.uniform(20, 80)))
        yaw = radians(rng.uniform(-180, 180))
        flat = cos(radians(pitch))
        return walk(eye, (-sin(yaw) * flat, -sin(radians(pitch)), cos(yaw) * flat), REACH)

    def _meant(self, crossings: tuple[Crossing, ...]) -> Event | None:
        now, rng = self._now, self._rng
        mobs = {cell: mob for mob in now.mobs for cell in mob_cells(mob)}
        for crossing in crossings:
            cell, code = crossing.offset, now.block(crossing.offset)
            if cell in mobs and not SOLID[code]:
                return Event("attack", cell, mobs[cell].name)
            if crossing is crossings[0] or not (SOLID[code] or USABLE[code]):
                continue
            blocks = [name for name in now.inventory if block_of(name) is not None]
            if blocks and rng.random() < 0.5:
                now.held = rng.choice(blocks)
                return self._placing(crossing)
            block = BLOCKS[code]
            if block.kind in ("device", "chest", "door"):
                return Event("use", cell)
            tools = [name for name in (None, *now.inventory) if digs(name, block)]
            if tools and cell not in now.placed and code != OUTSIDE:
                now.held = rng.choice(tools)
                return Event("dig", cell)
            return None
        return None

    def _placing(self, crossing: Crossing) -> Event | None:
        """Return the placement before a face, unless the body is in the way or it is outside."""
        cell = crossing.before
        if not all(0 <= at < size for at, size in zip(cell, self._scene.size, strict=True)):
            return None
        placed = block_of(self._now.held or "")
        if not REPLACEABLE[self._now.block(cell)] or placed is None:
            return None
        body, (x, y, z) = self._body, cell
        apart = (
            abs(body.x - x - 0.5) >= HALF_WIDTH + 0.5
            or abs(body.z - z - 0.5) >= HALF_WIDTH + 0.5
            or not y - HEIGHT < body.y < y + 1
        )
        return Event("place", cell) if apart or not SOLID[placed] else None

    def _check_items(self) -> None:
        for name, count in self._now.inventory.items():
            if count > self._closure.most.get(name, 0):
                self.escapes.add(f"{count} of {name}")

    # the milestone that stays open

    def _counted(self) -> None:
        for rule in self._counts:
            self._counts[rule] = counted(rule, self._now.freeze(0), self._scene.spawn)

    def achieved(self) -> bool:
        """Return whether the milestone that has to stay open is achieved."""
        return self._open is not None and all(map(self._holds, self._open.rules))

    def _holds(self, rule: Rule) -> bool:
        match rule:
            case InventoryHas():
                return self._now.inventory.get(bare(rule.item), 0) >= rule.min_count
            case InsideBox():
                return all(low <= at <= high for low, at, high in zip(rule.min, self._offset(), rule.max, strict=True))
            case NearWithFacing():
                return (
                    sum((a - b) ** 2 for a, b in zip(self._offset(), rule.target, strict=True)) <= rule.max_distance**2
                )
            case AtLeast():
                return self._counts[rule] >= rule.min_count
            case AtMost():
                return self._counts[rule] <= rule.max_count < self._begin[rule]

    def _offset(self) -> Iterator[float]:
        here = self._body.x, self._body.y, self._body.z
        return (a - b for a, b in zip(here, self._scene.spawn.position, strict=True))
