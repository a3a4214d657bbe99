"""MiniGrid worlds that are drawn, a character a cell, and judged by their goal square or by BabyAI's verifier."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import gymnasium
from minigrid.core.grid import Grid
from minigrid.core.mission import MissionSpace
from minigrid.core.world_object import Ball, Box, Door, Goal, Key, Lava, Wall, WorldObj
from minigrid.envs.babyai.core.verifier import Instr
from minigrid.minigrid_env import MiniGridEnv

_FACING: Final = ">v<^"
_SCENERY: Final[Mapping[str, Any]] = {"#": Wall, "~": Lava, "G": Goal}
_KINDS: Final[Mapping[str, Any]] = {"key": Key, "ball": Ball}


@dataclass(frozen=True, slots=True)
class Drawing:
    """A world: ``#`` wall, ``.`` floor, ``~`` lava, ``G`` goal, an arrow for the agent, any other letter a thing.

    Attributes:
        things: what a letter stands for: "door red locked", "key blue", "box grey", "box grey with key blue".
        judge: makes the instruction that the verifier judges; None: to step onto the goal solves the level.
        held: what is in hand at the start, "key yellow".
        steps: primitives that the episode lasts at most.
    """

    mission: str
    rows: tuple[str, ...]
    things: Mapping[str, str] = field(default_factory=dict)
    judge: Callable[[], Instr] | None = None
    held: str = ""
    steps: int = 400


class DrawnEnv(MiniGridEnv):
    """The world of a :class:`Drawing`; it is the same for every seed."""

    def __init__(self, drawing: Drawing, **options: Any) -> None:
        self._drawing = drawing
        self.instrs: Any = None
        space = MissionSpace(mission_func=lambda: drawing.mission)
        width, height = len(drawing.rows[0]), len(drawing.rows)
        super().__init__(space, width=width, height=height, max_steps=drawing.steps, **options)

    def reset(self, **options: Any) -> Any:
        first = super().reset(**options)
        self.carrying: Any = thing(self._drawing.held) if self._drawing.held else None
        self.instrs = self._drawing.judge() if self._drawing.judge else None
        if self.instrs is not None:
            self.instrs.reset_verifier(self)
        return first

    def step(self, action: Any) -> Any:
        obs, reward, is_terminated, is_truncated, info = super().step(action)
        if self.instrs is None:
            return obs, reward, is_terminated, is_truncated, info
        if action == self.actions.drop:
            self.instrs.update_objs_poss()
        verdict = self.instrs.verify(action)
        if verdict in ("success", "failure"):
            is_terminated, reward = True, self._reward() if verdict == "success" else 0
        return obs, reward, is_terminated, is_truncated, info

    def room_from_pos(self, *_place: int) -> DrawnEnv:
        """All of the world counts as one room."""
        return self

    def pos_inside(self, *_place: int) -> bool:
        return True

    def _gen_grid(self, width: int, height: int) -> None:
        self.grid = Grid(width, height)
        self.mission = self._drawing.mission
        for y, row in enumerate(self._drawing.rows):
            for x, letter in enumerate(row):
                if letter in _FACING:
                    self.agent_pos, self.agent_dir = (x, y), _FACING.index(letter)
                elif letter != ".":
                    self.put_obj(self._cell(letter), x, y)

    def _cell(self, letter: str) -> WorldObj:
        if letter not in _SCENERY:
            return thing(self._drawing.things[letter])
        scenery: WorldObj = _SCENERY[letter]()
        return scenery


def thing(words: str) -> WorldObj:
    """A door, key, ball or box from its words."""
    kind, colour, *rest = words.split(" ")
    if kind == "door":
        return Door(colour, is_open=rest == ["open"], is_locked=rest == ["locked"])
    if kind == "box":
        return Box(colour, contains=thing(" ".join(rest[1:])) if rest else None)
    found: WorldObj = _KINDS[kind](colour)
    return found


def register(name: str, drawing: Drawing) -> str:
    """Make a drawing known to gymnasium; its environment id."""
    env_id = f"Drawn-{name.replace('_', '-')}-v0"
    if env_id not in gymnasium.registry:
        gymnasium.register(env_id, entry_point=lambda **options: DrawnEnv(drawing, **options))
    return env_id
