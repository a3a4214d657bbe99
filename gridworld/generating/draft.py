"""A task in the making: a floor, what has been put on it, and what depends on what."""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import count, pairwise
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
    DoorState,
    GateSpec,
    GateState,
    GoalSpec,
    HazardSpec,
    HazardType,
    KeySpec,
    MazeLayout,
    MechanismSet,
    Position,
    Rules,
    SwitchSpec,
    SwitchState,
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
    def begin(cls, rng: random.Random, floor: Floor) -> Draft:
        """Return an empty draft: a start anywhere and a goal well away from it."""
        if len(floor.cells) < 12:
            raise UnfitError("the floor is too small")
        start = rng.choice(floor.cells)
        far = list(floor.distances(start))
        goal = rng.choice(far[len(far) // 2 :])
        goal_spec = GoalSpec("reach_position", Position(*goal))
        return cls(rng, floor, start, goal, goal_spec, set(floor.cells), {start, goal})

    def list_free(self, cells: Iterable[Cell]) -> list[Cell]:
        """Return the cells on which something may be put, sorted."""
        return sorted(cell for cell in cells if cell not in self.taken)

    def take(self, cells: Iterable[Cell]) -> Cell:
        """Take a free cell: of a few, the one farthest from the start, so that things are not all at hand.

        Raises:
            UnfitError: there is none.
        """
        free = self.list_free(cells)
        if not free:
            raise UnfitError("no room is left")
        away = self.floor.distances(self.start)
        candidates = self.rng.sample(free, min(len(free), 3))
        found = max(candidates, key=lambda cell: (away[cell], cell))
        self.taken.add(found)
        return found

    def close(self, cell: Cell) -> set[Cell]:
        """Bar the way at a cell; return the cells that can no longer be reached."""
        self.taken.add(cell)
        self.closed.add(cell)
        before = self.near
        self.near = self.find_reachable()
        return before - self.near - {cell}

    def find_reachable(self, *without: Cell) -> set[Cell]:
        """Return the cells that the start is connected with through nothing closed and none of ``without``."""
        return set(self.floor.distances(self.start, {*without, *self.closed}))

    def stays_connected(self, cell: Cell) -> bool:
        """Return whether nothing is cut off if a cell is barred."""
        barred = {*self.barred, *self.walled, cell}
        around = [near for near in self.floor.neighbours[cell] if near not in barred]
        if not around:
            return False
        reachable = self.floor.distances(around[0], barred)
        return set(around) <= reachable.keys()

    def choose_unused_color(self) -> Color:
        """Return a colour that no key and no door has.

        Raises:
            UnfitError: there is none.
        """
        used = {key.color for key in self.made.keys}
        used |= {door.requires_key for door in self.made.doors}
        left = [color for color in COLORS if color not in used]
        if not left:
            raise UnfitError("all colours are in use")
        return self.rng.choice(left)

    def add_key(self, color: Color, cell: Cell) -> str:
        """Add a new key; return its id."""
        name = self._choose_id(f"k_{color}")
        self.made.keys.append(KeySpec(name, Position(*cell), color))
        return name

    def add_door(self, color: Color, cell: Cell, *, is_open: bool = False) -> str:
        """Add a new door; return its id."""
        name = self._choose_id(f"d_{color}")
        state: DoorState = "open" if is_open else "locked"
        self.made.doors.append(DoorSpec(name, Position(*cell), color, state))
        return name

    def add_gate(self, cell: Cell, *, is_open: bool = False) -> str:
        """Add a new gate; return its id."""
        name = self._number_id("g")
        state: GateState = "open" if is_open else "closed"
        self.made.gates.append(GateSpec(name, Position(*cell), state))
        return name

    def add_switch(self, cell: Cell, controls: list[str], kind: SwitchType | None, *, on: bool = False) -> str:
        """Add a new switch; return its id."""
        name = self._number_id("s")
        color = self.rng.choice(COLORS[:5])
        state: SwitchState = "on" if on else "off"
        self.made.switches.append(SwitchSpec(name, Position(*cell), controls, color, kind, state))
        return name

    def add_block(self, cell: Cell, *, pushable: bool = True) -> str:
        """Add a new block; return its id."""
        name = self._number_id("b")
        color: Color = "grey" if pushable else "purple"
        self.made.blocks.append(BlockSpec(name, Position(*cell), pushable, color))
        return name

    def add_teleporter(self, a: Cell, b: Cell, *, bidirectional: bool) -> str:
        """Add a new teleporter; return its id."""
        name = self._number_id("t")
        ends = (Position(*a), Position(*b))
        self.made.teleporters.append(TeleporterSpec(name, *ends, bidirectional))
        return name

    def add_hazard(self, cell: Cell, kind: HazardType) -> str:
        """Add a new hazard; return its id."""
        name = self._number_id("h")
        self.made.hazards.append(HazardSpec(name, Position(*cell), kind))
        return name

    def distract(self, kind: str, name: str, words: str) -> None:
        """Note that a thing, or a group of things, leads astray."""
        self.distractors.append(Distractor(kind, name, words))

    def list_ids(self) -> list[str]:
        """Return the ids of all mechanisms."""
        made = self.made
        groups = (made.keys, made.doors, made.switches, made.gates, made.blocks, made.teleporters, made.hazards)
        return [thing.id for group in groups for thing in group]

    def build_specification(self, task_id: str, seed: int, tier: int) -> TaskSpecification:
        """Return the task as drawn, without a sensible ``max_steps``."""
        steps = list[DependencyStep]()
        for number, link in enumerate(self.links, 1):
            steps.append(DependencyStep(number, link.kind, link.element, link.unlocks))
        chain = DependencyChain(len(steps), steps, self._format_chain())

        passages = {door.position.to_tuple() for door in self.made.doors}
        passages |= {gate.position.to_tuple() for gate in self.made.gates}
        walls = sorted({*self.floor.walls, *self.walled} - passages, key=lambda cell: (cell[1], cell[0]))
        maze = MazeLayout(
            (self.floor.width, self.floor.height),
            [Position(*cell) for cell in walls],
            Position(*self.start),
            Position(*self.goal),
        )
        return TaskSpecification(
            task_id=task_id,
            seed=seed,
            difficulty_tier=tier,
            maze=maze,
            goal=self.goal_spec,
            max_steps=1,
            mechanisms=self.made,
            rules=self.rules,
            dependency_chain=chain,
            distractors=list(self.distractors),
        )

    def describe(self, spec: TaskSpecification) -> str:
        """Describe what there is to do, step by step, and the goal."""
        words = [link.words for link in self.links if link.words]
        steps = [f"{text[0].upper()}{text[1:]}." for text in words]
        return " ".join([*steps, spec.get_mission_text()])

    def _format_chain(self) -> str:
        names = ["", *(name for link in self.links for name in (link.element, link.unlocks))]
        kept = [name for before, name in pairwise(names) if name != before]
        return " -> ".join([*kept, "G"])

    def _choose_id(self, name: str) -> str:
        used = set(self.list_ids())
        if name not in used:
            return name
        return next(found for number in count(2) if (found := f"{name}_{number}") not in used)

    def _number_id(self, letter: str) -> str:
        used = set(self.list_ids())
        return next(found for number in count(1) if (found := f"{letter}{number}") not in used)
