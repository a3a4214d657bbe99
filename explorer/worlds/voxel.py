"""The default world: blocks in memory, a body with vanilla's physics, and sight from precomputed tables.

A primitive is an elementary action of the agent, given as a code.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Final

import numpy as np

from explorer.errors import ActionError, SceneError
from explorer.rules.actions import Decoded, Primitive, decode
from explorer.rules.apply import apply
from explorer.rules.blocks import BLOCKS
from explorer.rules.items import dig_ticks
from explorer.rules.moves import Way, fall, move, stands
from explorer.rules.reach import resolve_event
from explorer.scene import STEEPEST, Cell, Change, Event, Pose, Reason, Scene, StepResult, WorldState
from explorer.view import View
from explorer.worlds.body import Body
from explorer.worlds.controller import carry_out, drop_down, rise
from explorer.worlds.observing import Observer
from explorer.worlds.storage import Storage

_MOVES: Final = (Primitive.FORWARD, Primitive.BACK, Primitive.LEFT, Primitive.RIGHT, Primitive.JUMP)
_QUARTERS: Final = {Primitive.TURN_LEFT: -1, Primitive.TURN_RIGHT: 1}
_LOOKS: Final = {Primitive.LOOK_UP: -1, Primitive.LOOK_DOWN: 1}
_ARRIVE: Final = Event("arrive")
_TICK: Final = Event("tick")


class VoxelWorld:
    """A scene that is played step by step; the same codes always lead to the same states.

    Args:
        observe: whether views show what the agent sees. If not, steps are five times as fast, which is enough for
            callers that only read :meth:`state`.
    """

    def __init__(self, *, observe: bool = True) -> None:
        self._observe = observe

    def reset(self, scene: Scene, max_steps: int | None = None) -> View:
        """Begin an episode; return the view from the spawn.

        Raises:
            SceneError: the body cannot stand at the spawn.
        """
        now = Storage(scene)
        if not stands(now, scene.spawn.cell):
            raise SceneError(
                f"the body cannot stand at the spawn {scene.spawn.cell}: leave 2 cells free on solid ground"
            )

        self._scene = scene
        self._max_steps = max_steps
        self._now = now
        self._observer = Observer(scene) if self._observe else None
        self._body = Body(self._now.solids, scene.spawn.cell)
        self._step = 0
        self._last = StepResult(done=True)
        self._look(())
        return self.view()

    def step(self, code: int) -> StepResult:
        """Carry out a primitive, given by its code (:mod:`explorer.rules.actions`), as the next step of the episode.

        Returns:
            Everything that the step changed, for evaluators and proofs. An agent gets ``view().last`` instead, which
            leaves out what it does not see.

        Raises:
            ActionError: the code does not stand for a primitive, or the episode is over.
        """
        if self._now.over:
            raise ActionError(f"the episode is over ({self._now.over}): reset the world")

        decoded = decode(code)
        ticks_before = self._body.ticks
        result = self._do(decoded)
        changes = list(result.changes)

        # Each part of a step may end the episode.
        if not self._now.over:
            self._settle(changes)
        if not self._now.over:
            changes += self._apply_event(_TICK)
            self._settle(changes)

        self._step += 1
        is_last_step = self._max_steps is not None and self._step >= self._max_steps
        if is_last_step and not self._now.over:
            changes.append(self._end("max_steps"))
        self._look(changes)

        ticks = result.ticks + self._body.ticks - ticks_before
        full_result = replace(result, ticks=ticks, changes=tuple(changes))
        if self._observer:
            self._last = self._observer.limit_to_sight(full_result)
        else:
            self._last = replace(full_result, changes=())
        return full_result

    def view(self) -> View:
        """Return the view: what the agent knows now."""
        now = self._now
        observer = self._observer
        return View(
            known=observer.known.copy() if observer else np.zeros_like(self._scene.blocks),
            origin=self._scene.spawn.cell,
            pose=now.pose,
            inventory=dict(now.inventory),
            held=now.held,
            things=observer.things() if observer else (),
            recipes=observer.offers(now.inventory) if observer else (),
            step=self._step,
            max_steps=self._max_steps,
            last=self._last,
        )

    def state(self) -> WorldState:
        """Return the complete present state; it is for evaluators and proofs, never for agents."""
        return self._now.freeze(self._step)

    def _do(self, decoded: Decoded) -> StepResult:
        """Carry out a primitive and return its result.

        Falling, picking up items, and devices are not included; they follow at the end of the step.
        """
        now = self._now
        primitive = decoded.primitive
        if decoded.kind == "aim":
            now.pose = now.pose.aim_at(decoded.offset)
        elif decoded.kind != "primitive":
            return self._act(decoded)
        elif primitive in _MOVES:
            return self._move(primitive)
        elif primitive in _QUARTERS:
            now.pose = now.pose.turn(_QUARTERS[primitive])
        elif primitive in _LOOKS:
            pitch = now.pose.pitch + _LOOKS[primitive]
            if abs(pitch) > STEEPEST:
                return StepResult(done=False, reason="no steeper")
            now.pose = replace(now.pose, pitch=pitch, aim=None)
        elif primitive is Primitive.DONE:
            return StepResult(done=True, changes=(self._end("done"),))
        elif primitive is not Primitive.WAIT:
            return self._act(decoded)
        return StepResult(done=True, ticks=1)

    def _move(self, primitive: Primitive) -> StepResult:
        """Move the body, if the rules of movement and the physics of the body allow it; return the result."""
        way = move(self._now, self._now.pose, primitive)
        if way.end == "refused":
            return StepResult(done=False, reason=way.reason)
        if way.end == "lava":
            return StepResult(done=True, changes=(self._burn(way),))
        if not carry_out(self._body, self._now.pose, primitive, way):
            return StepResult(done=False, reason="bumped")
        self._stand(way.cell)
        return StepResult(done=True)

    def _act(self, decoded: Decoded) -> StepResult:
        """Carry out a primitive of the hands, if the rules allow it; return the result."""
        now = self._now
        event = resolve_event(now, decoded)
        if isinstance(event, str):
            return StepResult(done=False, reason=event)
        applied = apply(now, event)
        if applied.refusal:
            if self._observer and event.cell and applied.refusal == "empty":
                self._observer.empty(event.cell)
            return StepResult(done=False, reason=applied.refusal)

        # The ticks of a dig depend on the block, so compute them before the dig removes the block.
        ticks = 1
        if event.kind == "dig" and event.cell is not None:
            ticks = dig_ticks(now.held, BLOCKS[now.block(event.cell)])

        if event.kind == "place" and event.cell == now.pose.cell:
            if not rise(self._body, lambda: now.do(applied.changes)):
                return StepResult(done=False, reason="no head-room")
            self._stand(self._body.cell)
        else:
            now.do(applied.changes)
        return StepResult(done=True, ticks=ticks, changes=applied.changes)

    def _settle(self, changes: list[Change]) -> None:
        """If the ground below the body is gone, let the body fall; then pick up the items in its cell.

        Append all resulting changes to ``changes``.
        """
        way = fall(self._now, self._now.pose.cell)
        if way.end == "lava":
            changes.append(self._burn(way))
            return
        if way.cell != self._now.pose.cell:
            self._stand(drop_down(self._body))
        changes += self._apply_event(_ARRIVE)

    def _apply_event(self, event: Event) -> Iterable[Change]:
        """Apply the effect of an event to the state, and return the changes."""
        changes = apply(self._now, event).changes
        self._now.do(changes)
        return changes

    def _burn(self, way: Way) -> Change:
        """Put the body into the lava in which its move ends; end the episode, and return the change that records the
        end.
        """
        self._stand(way.cell)
        return self._end("lava")

    def _end(self, reason: Reason) -> Change:
        """End the episode for a reason, and return the change that records the end."""
        self._now.over = reason
        return Change("over", name=reason)

    def _stand(self, cell: Cell) -> None:
        """Put the body at rest in a cell; the crosshair follows facing and pitch again."""
        self._now.pose = Pose(cell, self._now.pose.facing, self._now.pose.pitch)
        self._body.place(cell)

    def _look(self, changes: Iterable[Change]) -> None:
        """Report changes to the observer, and let it see what is now in view."""
        if self._observer:
            self._observer.follow(changes)
            self._observer.look(self._now.pose, self._step, self._now.items, self._now.mobs)
