"""The draft of a task: a floor, the mechanisms on the floor, and the dependency chain."""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import count, groupby
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
    """A random draw that does not give a task. The generator catches this internal error and draws again."""


@dataclass(frozen=True, slots=True)
class Link:
    """A step of the dependency chain: ``element`` unlocks ``unlocks``; ``words`` state the step as an instruction."""

    kind: str
    element: str
    unlocks: str
    words: str


@dataclass(slots=True)
class Draft:
    """The parts of a task that are drawn so far.

    Attributes:
        rng: the only source of randomness.
        floor: the cells where mechanisms may stand; doors and gates stand on narrow cells.
        start: the initial cell of the agent.
        goal: the cell to which the chain of locks leads, whatever the type of the goal is.
        goal_spec: the goal of the task.
        near: cells that the agent can reach without opening a lock.
        taken: cells on which no further mechanism may be put.
        closed: cells that the agent cannot enter at the start: the cells of locks, and the cells of ``walled``.
        walled: cells of the floor that became walls.
        barred: cells that the agent cannot or should not cross: hazards, fixed blocks, and ends of decoy teleporters.
        mechanisms: the mechanisms of the task.
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
    mechanisms: MechanismSet = field(default_factory=MechanismSet)
    rules: Rules = field(default_factory=Rules)
    links: list[Link] = field(default_factory=list)
    distractors: list[Distractor] = field(default_factory=list)

    @classmethod
    def begin(cls, rng: random.Random, floor: Floor) -> Draft:
        """Return a draft without mechanisms, with a random start and a random goal.

        The cells are ordered by their distance from the start; the goal is in the farther half.

        Raises:
            UnfitError: the floor has fewer than 12 cells.
        """
        if len(floor.cells) < 12:
            raise UnfitError("the floor is too small")
        start = rng.choice(floor.cells)
        nearest_first = list(floor.distances(start))
        goal = rng.choice(nearest_first[len(nearest_first) // 2 :])
        goal_spec = GoalSpec("reach_position", Position(*goal))
        return cls(rng, floor, start, goal, goal_spec, set(floor.cells), {start, goal})

    def list_free(self, cells: Iterable[Cell]) -> list[Cell]:
        """Return the free cells among ``cells``, sorted; a cell is free if it is not taken."""
        return sorted(cell for cell in cells if cell not in self.taken)

    def take(self, cells: Iterable[Cell]) -> Cell:
        """Choose a cell for a mechanism, mark the cell as taken, and return it.

        Of up to 3 random free cells among ``cells``, the cell farthest from the start is chosen.

        Raises:
            UnfitError: no cell is free.
        """
        free = self.list_free(cells)
        if not free:
            raise UnfitError("no room is left")
        distances = self.floor.distances(self.start)
        candidates = self.rng.sample(free, min(len(free), 3))
        farthest = max(candidates, key=lambda cell: (distances[cell], cell))
        self.taken.add(farthest)
        return farthest

    def close(self, cell: Cell) -> set[Cell]:
        """Mark a cell as taken and closed; return the other cells that the agent can no longer reach."""
        self.taken.add(cell)
        self.closed.add(cell)
        old_near = self.near
        self.near = self.find_reachable()
        return old_near - self.near - {cell}

    def find_reachable(self, *without: Cell) -> set[Cell]:
        """Return the cells that can be reached from the start without entering closed cells or cells of ``without``."""
        return set(self.floor.distances(self.start, {*without, *self.closed}))

    def stays_connected(self, cell: Cell) -> bool:
        """Return whether the open neighbours of a cell stay connected with each other if the cell is barred.

        Open neighbours are floor cells that are neither barred nor walled; without open neighbours, the result is
        False.
        """
        barred = {*self.barred, *self.walled, cell}
        neighbours = [near for near in self.floor.neighbours[cell] if near not in barred]
        if not neighbours:
            return False
        reachable = self.floor.distances(neighbours[0], barred)
        return set(neighbours) <= reachable.keys()

    def choose_unused_color(self) -> Color:
        """Return a random colour that no key and no door has.

        Raises:
            UnfitError: all colours are in use.
        """
        used = {key.color for key in self.mechanisms.keys}
        used |= {door.requires_key for door in self.mechanisms.doors}
        unused = [color for color in COLORS if color not in used]
        if not unused:
            raise UnfitError("all colours are in use")
        return self.rng.choice(unused)

    def add_key(self, color: Color, cell: Cell) -> str:
        """Add a new key; return its id."""
        name = self._choose_id(f"k_{color}")
        self.mechanisms.keys.append(KeySpec(name, Position(*cell), color))
        return name

    def add_door(self, color: Color, cell: Cell, *, is_open: bool = False) -> str:
        """Add a new door; return its id."""
        name = self._choose_id(f"d_{color}")
        state: DoorState = "open" if is_open else "locked"
        self.mechanisms.doors.append(DoorSpec(name, Position(*cell), color, state))
        return name

    def add_gate(self, cell: Cell, *, is_open: bool = False) -> str:
        """Add a new gate; return its id."""
        name = self._number_id("g")
        state: GateState = "open" if is_open else "closed"
        self.mechanisms.gates.append(GateSpec(name, Position(*cell), state))
        return name

    def add_switch(self, cell: Cell, controls: list[str], kind: SwitchType | None, *, on: bool = False) -> str:
        """Add a new switch; return its id."""
        name = self._number_id("s")
        color = self.rng.choice(COLORS[:5])
        state: SwitchState = "on" if on else "off"
        self.mechanisms.switches.append(SwitchSpec(name, Position(*cell), controls, color, kind, state))
        return name

    def add_block(self, cell: Cell, *, pushable: bool = True) -> str:
        """Add a new block; return its id."""
        name = self._number_id("b")
        color: Color = "grey" if pushable else "purple"
        self.mechanisms.blocks.append(BlockSpec(name, Position(*cell), pushable, color))
        return name

    def add_teleporter(self, a: Cell, b: Cell, *, bidirectional: bool) -> str:
        """Add a new teleporter; return its id."""
        name = self._number_id("t")
        ends = (Position(*a), Position(*b))
        self.mechanisms.teleporters.append(TeleporterSpec(name, *ends, bidirectional))
        return name

    def add_hazard(self, cell: Cell, kind: HazardType) -> str:
        """Add a new hazard; return its id."""
        name = self._number_id("h")
        self.mechanisms.hazards.append(HazardSpec(name, Position(*cell), kind))
        return name

    def distract(self, kind: str, name: str, words: str) -> None:
        """Record that a mechanism, or a group of mechanisms, is a distractor."""
        self.distractors.append(Distractor(kind, name, words))

    def list_ids(self) -> list[str]:
        """Return the ids of all mechanisms."""
        kinds = self.mechanisms
        groups = (kinds.keys, kinds.doors, kinds.switches, kinds.gates, kinds.blocks, kinds.teleporters, kinds.hazards)
        return [thing.id for group in groups for thing in group]

    def build_specification(self, task_id: str, seed: int, tier: int) -> TaskSpecification:
        """Return the task of this draft; its ``max_steps`` is a placeholder."""
        steps: list[DependencyStep] = []
        for number, link in enumerate(self.links, 1):
            steps.append(DependencyStep(number, link.kind, link.element, link.unlocks))
        chain = DependencyChain(len(steps), steps, self._format_chain())

        passages = {door.position.to_tuple() for door in self.mechanisms.doors}
        passages |= {gate.position.to_tuple() for gate in self.mechanisms.gates}
        wall_cells = {*self.floor.walls, *self.walled} - passages
        row_by_row = sorted(wall_cells, key=lambda cell: (cell[1], cell[0]))
        walls = [Position(*cell) for cell in row_by_row]
        dimensions = (self.floor.width, self.floor.height)
        maze = MazeLayout(dimensions, walls, Position(*self.start), Position(*self.goal))
        return TaskSpecification(
            task_id=task_id,
            seed=seed,
            difficulty_tier=tier,
            maze=maze,
            goal=self.goal_spec,
            max_steps=1,
            mechanisms=self.mechanisms,
            rules=self.rules,
            dependency_chain=chain,
            distractors=list(self.distractors),
        )

    def describe(self, spec: TaskSpecification) -> str:
        """Return the steps of the dependency chain and the goal as sentences."""
        words = [link.words for link in self.links if link.words]
        steps = [f"{text[0].upper()}{text[1:]}." for text in words]
        return " ".join([*steps, spec.get_mission_text()])

    def _format_chain(self) -> str:
        """Return the chain as "KEY -> DOOR -> ... -> G"; a name that follows itself is written once."""
        names: list[str] = []
        for link in self.links:
            names += [link.element, link.unlocks]
        without_repeats = [name for name, _ in groupby(names)]
        return " -> ".join([*without_repeats, "G"])

    def _choose_id(self, name: str) -> str:
        """Return an unused id: the name or, if a mechanism has this id, the first unused of NAME_2, NAME_3, ..."""
        used = set(self.list_ids())
        if name not in used:
            return name
        candidates = (f"{name}_{number}" for number in count(2))
        return next(candidate for candidate in candidates if candidate not in used)

    def _number_id(self, letter: str) -> str:
        """Return the letter with the first number, from 1, that gives an unused id."""
        used = set(self.list_ids())
        candidates = (f"{letter}{number}" for number in count(1))
        return next(candidate for candidate in candidates if candidate not in used)
