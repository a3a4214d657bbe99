"""The values that flow through the loop; the parts that take and return them are in :mod:`spca.protocols`.

::

    World.sense() -> Snapshot -> PlannerLLM.plan(...) -> Plan
        -> CoderLLM.implement_actions(...) -> CodePatch -> World.run_sim(plan, agent) -> Outcome

Everything here is frozen; nothing here imports anything of ours.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from enum import IntEnum, StrEnum
from typing import Final, TypedDict, Unpack

import numpy as np
from numpy.typing import NDArray


class Primitive(IntEnum):
    """The seven primitive actions, numbered as in MiniGrid (``minigrid.core.actions.Actions``)."""

    TURN_LEFT = 0
    TURN_RIGHT = 1
    MOVE_FORWARD = 2
    PICK_UP = 3
    DROP = 4
    TOGGLE = 5
    DONE = 6


PRIMITIVE_METHODS: tuple[str, ...] = tuple(p.name.lower() for p in Primitive)
"""Names of the agent's primitive methods, indexed by code."""

DIRECTIONS: tuple[str, ...] = ("East", "South", "West", "North")
"""Words for MiniGrid's direction indices 0-3."""


class Status(StrEnum):
    """How an attempt ended; exactly one of seven."""

    SUCCESS = "success"
    GOAL_NOT_REACHED = "goal_not_reached"
    STUCK = "stuck"
    RUNTIME_ERROR = "runtime_error"
    SYNTAX_ERROR = "syntax_error"
    MISSING_METHOD = "missing_method"
    REWARD_FAILED = "reward_failed"


class PlannerMode(StrEnum):
    """Where a plan comes from. All but ``COMPILED``, a stored problem writer, are calls of the planner's model, and
    decide model and prompt.
    """

    FRESH = "fresh"
    REUSE = "reuse"
    REPLAN = "replan"
    SYNTAX = "syntax"
    COMPILED = "compiled"


class CoderMode(StrEnum):
    """Why the coder is called."""

    FIRST = "first"
    SEMANTIC = "semantic"
    SYNTAX = "syntax"


@dataclass(frozen=True, slots=True)
class VisibleObject:
    """An object in the current 7x7 view, placed relative to the agent.

    ``forward`` counts cells ahead of the agent (0-6), ``right`` cells to its right (negative: left, -3..3).
    ``state`` is "open", "closed" or "locked" for doors, "off" or "on" for switches, "closed" or "open" for gates,
    "fixed" for blocks that cannot be pushed, else None.
    """

    name: str
    state: str | None
    forward: int
    right: int


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What SENSE hands to PLAN; nothing unseen, no environment id, no seed.

    ``visible_grid`` is the accumulated map as rows of cell words (north up), the agent's own cell reading "agent",
    cells never seen reading "unseen".
    """

    mission: str
    direction: str
    inventory: str | None
    visible_grid: tuple[tuple[str, ...], ...]
    visible_objects: tuple[VisibleObject, ...]


GRIDWORLD: Final = "Gridworld"
"""Category of levels that are tasks of gridworld; their planner, and what shows their episodes, are others."""


@dataclass(frozen=True, slots=True)
class LevelInfo:
    """What the planner gets about a level besides the snapshot."""

    category: str
    skill: str
    level: str


@dataclass(frozen=True, slots=True)
class PlanStep:
    """One action of a plan with its arguments as they are passed to the agent's method.

    ``parameters`` are the names that the PDDL gives the arguments, () where they are not known; two steps that do the
    same are equal whatever their names.
    """

    action: str
    args: tuple[str, ...]
    parameters: tuple[str, ...] = field(default=(), compare=False)

    def __str__(self) -> str:
        return f"{self.action}({', '.join(self.args)})"


@dataclass(frozen=True, slots=True)
class ActionSchema:
    """An action of a PDDL domain: Python name, Python parameter names, and its ``(:action ...)`` text."""

    name: str
    parameters: tuple[str, ...]
    text: str


@dataclass(frozen=True, slots=True)
class PlannedAction:
    """A step as a solver returned it, in the names of the PDDL, whatever their case."""

    name: str
    args: tuple[str, ...]


class SolveStatus(StrEnum):
    """What a solver made of a PDDL domain and problem."""

    SOLVED = "solved"
    PARSE_ERROR = "parse_error"
    UNSOLVABLE = "unsolvable"
    INVALID_PLAN = "invalid_plan"
    EMPTY_PLAN = "empty_plan"
    TIMEOUT = "timeout"
    ENGINE_ERROR = "engine_error"


@dataclass(frozen=True, slots=True)
class SolveResult:
    """Answer of the solver stage; ``message`` is exact and meant for the planner LLM when not solved."""

    status: SolveStatus
    steps: tuple[PlannedAction, ...] = ()
    engine: str = ""
    message: str = ""

    @property
    def solved(self) -> bool:
        return self.status is SolveStatus.SOLVED


@dataclass(frozen=True, slots=True)
class ProblemWriter:
    """A problem writer: Python that turns the snapshots of a family of missions into problems for one domain.

    ``source`` defines ``make_problem(snapshot: dict) -> str``, which raises ValueError for a snapshot that it cannot
    read; ``name`` is a lower-case identifier.
    """

    name: str
    domain: str
    source: str


@dataclass(frozen=True, slots=True)
class Plan:
    """A validated plan together with the PDDL it came from.

    ``writer`` names the stored writer that made the problem (``unlock/v003``), "" where a model did; ``draft`` is the
    writer that came with a model's answer, not yet accepted.
    """

    steps: tuple[PlanStep, ...]
    domain: str
    problem: str
    schemas: tuple[ActionSchema, ...]
    mode: PlannerMode
    engine: str = ""
    writer: str = ""
    draft: ProblemWriter | None = field(default=None, compare=False)

    @property
    def text(self) -> str:
        """The plan as a call string: ``[pick_up_obj(a1, key_blue), open_door(a1, door_blue)]``."""
        return f"[{', '.join(map(str, self.steps))}]"

    @property
    def actions(self) -> tuple[str, ...]:
        """Names of the actions used, each once, in order of first use."""
        return tuple(dict.fromkeys(step.action for step in self.steps))

    @property
    def objects(self) -> tuple[str, ...]:
        """What the actions are called with, each once, in order of first use."""
        return tuple(dict.fromkeys(arg for step in self.steps for arg in step.args))


@dataclass(frozen=True, slots=True)
class TrustedPDDL:
    """PDDL that solved the last level of the category."""

    domain: str
    problem: str


@dataclass(frozen=True, slots=True)
class FailedPlan:
    """A plan that did not solve the level: the plan text and how its last attempt ended."""

    plan: str
    status: str
    message: str


@dataclass(frozen=True, slots=True)
class PlanFailure:
    """No valid plan was obtained; ``message`` is the last error."""

    message: str
    calls: int

    @property
    def reason(self) -> str:
        return f"no valid plan after {self.calls} calls: {self.message}"


@dataclass(frozen=True, slots=True)
class AgentSource:
    """Source text of a module that defines ``class Agent``, with its hash."""

    text: str
    sha256: str = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "sha256", hashlib.sha256(self.text.encode()).hexdigest())


@dataclass(frozen=True, slots=True)
class CodePatch:
    """What CODE hands to ACT: the merged agent, and which of its methods are new or changed."""

    agent: AgentSource
    changed: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CodeFailure:
    """No acceptable code was obtained; ``message`` is the last error.

    ``has_merged``: some code could be executed, and only the regression check refused it.
    """

    message: str
    calls: int
    has_merged: bool = False

    @property
    def reason(self) -> str:
        return f"no usable code after {self.calls} calls: {self.message}"


@dataclass(frozen=True, slots=True)
class PlanObjection:
    """The coder sends the plan back, since it is the plan that is wrong; ``words`` say what, in one line."""

    words: str


@dataclass(frozen=True, slots=True)
class TraceStep:
    """One primitive with where it came from: plan position, high-level action and line of the agent source."""

    code: int
    position: int
    action: str
    line: int


class EpisodeEnd(TypedDict):
    """What every outcome says of the end of an attempt, as fields of :class:`Outcome`."""

    trace: tuple[TraceStep, ...]
    last_map: tuple[tuple[str, ...], ...]
    reward: float
    corrections: tuple[str, ...]
    state_hash: str
    direction: str
    inventory: str | None


@dataclass(frozen=True, slots=True)
class Outcome:
    """How an attempt ended, and what is needed to understand it.

    ``position``, ``action`` and ``args`` name the plan step at fault, if any; ``traceback`` points
    into the generated source; ``last_map`` is the accumulated map at the end, rows of cell words; ``trace`` the
    primitives of this attempt; ``reward`` the simulator's last reward; ``corrections`` names
    what of the simulator's own judgement was corrected in this episode; ``printed`` is what generated code printed;
    ``state_hash``, ``direction`` ("" where it is not known) and ``inventory`` are those of the state in which it ended.
    """

    status: Status
    message: str
    trace: tuple[TraceStep, ...]
    last_map: tuple[tuple[str, ...], ...]
    position: int | None = None
    action: str | None = None
    args: tuple[str, ...] = ()
    traceback: str = ""
    reward: float = 0.0
    corrections: tuple[str, ...] = ()
    printed: str = ""
    state_hash: str = ""
    direction: str = ""
    inventory: str | None = None

    @classmethod
    def success(cls, **end: Unpack[EpisodeEnd]) -> Outcome:
        """Return the outcome of a mission that is complete."""
        return cls(Status.SUCCESS, "the mission is complete", **end)

    @classmethod
    def goal_not_reached(cls, **end: Unpack[EpisodeEnd]) -> Outcome:
        """Return the outcome of a plan that was carried out in vain."""
        return cls(Status.GOAL_NOT_REACHED, "the plan was carried out but the mission is not complete", **end)

    @classmethod
    def failure(
        cls,
        status: Status,
        message: str,
        plan: Plan,
        position: int | None,
        traceback: str = "",
        **end: Unpack[EpisodeEnd],
    ) -> Outcome:
        """Return the outcome of a failure at ``plan.steps[position]``; None for ``position`` blames no step."""
        if position is None:
            return cls(status, message, traceback=traceback, **end)
        step = plan.steps[position]
        return cls(status, message, position=position, action=step.action, args=step.args, traceback=traceback, **end)

    @property
    def solved(self) -> bool:
        return self.status is Status.SUCCESS

    @property
    def steps(self) -> int:
        """Primitives executed in this attempt."""
        return len(self.trace)

    @property
    def primitives(self) -> tuple[int, ...]:
        return tuple(step.code for step in self.trace)


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A state that can be restored: the primitives since reset and the hash of the state they lead to."""

    primitives: tuple[int, ...]
    state_hash: str


@dataclass(frozen=True, slots=True)
class AgentView:
    """The read-only state that generated methods see, refreshed after every primitive.

    Arrays hold codes (uint8) of ``words``, the same in every view of an episode; None for the vocabulary of
    :mod:`spca.sense.perception`. ``full_grid`` is rows x columns with the agent's cell marked, ``observation`` 7 x 7 in
    the map's orientation. Positions are (row, column) in ``full_grid``.
    """

    mission: str
    full_grid: NDArray[np.uint8]
    observation: NDArray[np.uint8]
    direction: int
    inventory: str | None
    position: tuple[int, int]
    start_position: tuple[int, int]
    start_direction: int
    words: tuple[str, ...] | None = None
