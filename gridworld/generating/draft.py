"""A task in the making: a floor, what has been put on it, and what depends on what."""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final, get_args

from gridworld.generating.floor import Floor
from gridworld.rules.tilings import Cell
from gridworld.task_spec import (
    BlockSpec,
    Color,
    DependencyChain,
    DependencyStep,
    Distractor,
    DoorSpec,
    GateSpec,
    GoalSpec,
    HazardSpec,
    HazardType,
    KeySpec,
    MazeLayout,
    MechanismSet,
    Position,
    Rules,
    SwitchSpec,
    SwitchType,
    TaskSpecification,
    TeleporterSpec,
)

COLORS: Final[tuple[Color, ...]] = get_args(Color)


class UnfitError(Exception):
    """A draw that came to nothing; the generator tries the next one, so that nobody else ever sees this."""


@dataclass(frozen=True, slots=True)
class Link:
    """A step of the dependency chain, and the words that tell it."""

    kind: str
    element: str
    unlocks: str
    words: str


@dataclass(slots=True)
class Draft:
    """What is drawn so far.

    Attributes:
        rng: the only source of chance.
        floor: where things may stand; doors and gates stand on narrow cells of it.
        start, goal: of the agent; ``goal`` is where the chain of locks leads, whatever the type of the goal is.
        closed: cells that bar the way at first: locks, and cells of the floor that became walls (``walled``).
        near: cells that the agent can reach before it has opened anything.
        taken: cells on which something stands, or nothing may.
        barred: cells that nobody can or should pass ever: hazards, blocks that never move.
        links: the dependency chain, first step first.
    """

    rng: random.Random
    floor: Floor
    start: Cell
    goal: Cell
    goal_spec: GoalSpec
    near: set[Cell]
    taken: set[Cell]
    closed: set[Cell] = field(default_factory=set)
    walled: set[Cell] = field(default_factory=set)
    barred: set[Cell] = field(default_factory=set)
    made: MechanismSet = field(default_factory=MechanismSet)
    rules: Rules = field(default_factory=Rules)
    links: list[Link] = field(default_factory=list)
    distractors: list[Distractor] = field(default_factory=list)

    @classmethod
    def on(cls, rng: random.Random, floor: Floor) -> Draft:
        """An empty draft: a start anywhere and a goal well away from it."""
        if len(floor.cells) < 12:
            raise UnfitError("the floor is too small")
        start = rng.choice(floor.cells)
        far = list(floor.distances(start))
        goal = rng.choice(far[len(far) // 2 :])
        goal_spec = GoalSpec("reach_position", Position(*goal))
        return cls(rng, floor, start, goal, goal_spec, set(floor.cells), {start, goal})

    def free(self, cells: Iterable[Cell]) -> list[Cell]:
        """Those on which something may be put, in order."""
        return sorted(cell for cell in cells if cell not in self.taken)

    def take(self, cells: Iterable[Cell]) -> Cell:
        """One of the free cells: the one farthest from the start among a few, so that things are not all at hand.

        Raises:
            UnfitError: there is none.
        """
        free = self.free(cells)
        if not free:
            raise UnfitError("no room is left")
        away = self.floor.distances(self.start)
        found = max(self.rng.sample(free, min(len(free), 3)), key=lambda cell: (away[cell], cell))
        self.taken.add(found)
        return found

    def close(self, cell: Cell) -> set[Cell]:
        """Bar the way at a cell; the cells that can no longer be reached."""
        self.taken.add(cell)
        self.closed.add(cell)
        before = self.near
        self.near = self.reach()
        return before - self.near - {cell}

    def reach(self, *without: Cell) -> set[Cell]:
        """Cells that the start is connected with through nothing closed and none of ``without``."""
        return set(self.floor.distances(self.start, {*without, *self.closed}))

    def stays_connected(self, cell: Cell) -> bool:
        """Whether nothing is cut off if a cell is barred."""
        barred = {*self.barred, *self.walled, cell}
        around = [near for near in self.floor.neighbours[cell] if near not in barred]
        return bool(around) and set(around) <= self.floor.distances(around[0], barred).keys()

    def unused_color(self) -> Color:
        """A colour that no key and no door has.

        Raises:
            UnfitError: there is none.
        """
        used = {key.color for key in self.made.keys} | {door.requires_key for door in self.made.doors}
        left = [color for color in COLORS if color not in used]
        if not left:
            raise UnfitError("all colours are in use")
        return self.rng.choice(left)

    def key(self, color: Color, cell: Cell) -> str:
        """A new key; its id."""
        name = self._name(f"k_{color}")
        self.made.keys.append(KeySpec(name, Position(*cell), color))
        return name

    def door(self, color: Color, cell: Cell, *, is_open: bool = False) -> str:
        """A new door; its id."""
        name = self._name(f"d_{color}")
        self.made.doors.append(DoorSpec(name, Position(*cell), color, "open" if is_open else "locked"))
        return name

    def gate(self, cell: Cell, *, is_open: bool = False) -> str:
        """A new gate; its id."""
        name = self._numbered("g")
        self.made.gates.append(GateSpec(name, Position(*cell), "open" if is_open else "closed"))
        return name

    def switch(self, cell: Cell, controls: list[str], kind: SwitchType | None, *, on: bool = False) -> str:
        """A new switch; its id."""
        name = self._numbered("s")
        color = self.rng.choice(COLORS[:5])
        self.made.switches.append(SwitchSpec(name, Position(*cell), controls, color, kind, "on" if on else "off"))
        return name

    def block(self, cell: Cell, *, pushable: bool = True) -> str:
        """A new block; its id."""
        name = self._numbered("b")
        self.made.blocks.append(BlockSpec(name, Position(*cell), pushable, "grey" if pushable else "purple"))
        return name

    def teleporter(self, a: Cell, b: Cell, *, bidirectional: bool) -> str:
        """A new teleporter; its id."""
        name = self._numbered("t")
        self.made.teleporters.append(TeleporterSpec(name, Position(*a), Position(*b), bidirectional))
        return name

    def hazard(self, cell: Cell, kind: HazardType) -> str:
        """A new hazard; its id."""
        name = self._numbered("h")
        self.made.hazards.append(HazardSpec(name, Position(*cell), kind))
        return name

    def distract(self, kind: str, name: str, words: str) -> None:
        """Note that a thing, or a group of things, leads astray."""
        self.distractors.append(Distractor(kind, name, words))

    def ids(self) -> list[str]:
        """Return the ids of all mechanisms."""
        made = self.made
        groups = (made.keys, made.doors, made.switches, made.gates, made.blocks, made.teleporters, made.hazards)
        return [thing.id for group in groups for thing in group]

    def specification(self, task_id: str, seed: int, tier: int) -> TaskSpecification:
        """The task as drawn, without a sensible ``max_steps``."""
        steps = [DependencyStep(i, link.kind, link.element, link.unlocks) for i, link in enumerate(self.links, 1)]
        chain = DependencyChain(len(steps), steps, self._notation())
        made = self.made
        passages = {
            position.to_tuple() for position in (*(d.position for d in made.doors), *(g.position for g in made.gates))
        }
        walls = sorted({*self.floor.walls, *self.walled} - passages, key=lambda cell: (cell[1], cell[0]))
        return TaskSpecification(
            task_id=task_id,
            seed=seed,
            difficulty_tier=tier,
            maze=MazeLayout(
                (self.floor.width, self.floor.height),
                [Position(*cell) for cell in walls],
                Position(*self.start),
                Position(*self.goal),
            ),
            goal=self.goal_spec,
            max_steps=1,
            mechanisms=self.made,
            rules=self.rules,
            dependency_chain=chain,
            distractors=list(self.distractors),
        )

    def description(self, spec: TaskSpecification) -> str:
        """What there is to do, step by step, and the goal."""
        steps = [f"{link.words[0].upper()}{link.words[1:]}." for link in self.links if link.words]
        return " ".join([*steps, spec.get_mission_text()])

    def _notation(self) -> str:
        names = [name for link in self.links for name in (link.element, link.unlocks)]
        kept = [name for name, before in zip(names, ["", *names], strict=False) if name != before]
        return " -> ".join([*kept, "G"])

    def _name(self, name: str) -> str:
        used = set(self.ids())
        return next(
            found for found in (name if not i else f"{name}_{i + 1}" for i in range(len(used) + 1)) if found not in used
        )

    def _numbered(self, letter: str) -> str:
        used = set(self.ids())
        return next(found for found in (f"{letter}{i + 1}" for i in range(len(used) + 1)) if found not in used)
