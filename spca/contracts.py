"""The values that the phases of the loop pass on; :mod:`spca.protocols` describes the parts of the loop.

::

    World.sense() -> Snapshot -> PlannerLLM.plan(...) -> Plan
        -> CoderLLM.implement_actions(...) -> CodePatch -> World.run_sim(plan, agent) -> Outcome

All values are frozen. This module imports no other module of the program.
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
"""Names of the agent's primitive methods; the index is the code of the primitive."""

DIRECTIONS: tuple[str, ...] = ("East", "South", "West", "North")
"""Names of MiniGrid's directions; the index is MiniGrid's number of the direction."""


class Status(StrEnum):
    """How an attempt ended."""

    SUCCESS = "success"
    GOAL_NOT_REACHED = "goal_not_reached"
    STUCK = "stuck"
    RUNTIME_ERROR = "runtime_error"
    SYNTAX_ERROR = "syntax_error"
    MISSING_METHOD = "missing_method"
    REWARD_FAILED = "reward_failed"


class PlannerMode(StrEnum):
    """How a plan is made. ``COMPILED`` plans come from stored problem writers; the other plans come from a model.

    For plans of a model, the mode determines the model (large or small planner) and the prompt.
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
    """An object in the agent's current view of 7 x 7 cells.

    Attributes:
        state: "open", "closed" or "locked" for a door; "off" or "on" for a switch; "closed" or "open" for a gate;
            "fixed" for a block that cannot be pushed; else None.
        forward: distance ahead of the agent in cells, from 0 to 6.
        right: distance to the right of the agent in cells, from -3 to 3; negative to the left.
    """

    name: str
    state: str | None
    forward: int
    right: int


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The state that the phase SENSE returns for the phase PLAN. It holds no unseen cell, environment id or seed.

    Attributes:
        direction: name of the agent's direction, one of :data:`DIRECTIONS`.
        inventory: the object that the agent carries; None if the agent carries none.
        visible_grid: the accumulated map with one word per cell, as rows from north to south. The agent's cell is
            "agent"; a cell that was never seen is "unseen".
        visible_objects: objects in the current view.
    """

    mission: str
    direction: str
    inventory: str | None
    visible_grid: tuple[tuple[str, ...], ...]
    visible_objects: tuple[VisibleObject, ...]


GRIDWORLD: Final = "Gridworld"
"""Category of the levels that are tasks of gridworld; for these levels, planner and display of episodes differ."""


@dataclass(frozen=True, slots=True)
class LevelInfo:
    """What the planner is told about a level besides the snapshot."""

    category: str
    skill: str
    level: str


@dataclass(frozen=True, slots=True)
class PlanStep:
    """One action of a plan.

    Attributes:
        action: name of the action, which is also the name of the agent's method.
        args: arguments as they are passed to the agent's method.
        parameters: names of the arguments in the PDDL; () if unknown. They are ignored when steps are compared.
    """

    action: str
    args: tuple[str, ...]
    parameters: tuple[str, ...] = field(default=(), compare=False)

    def __str__(self) -> str:
        return f"{self.action}({', '.join(self.args)})"


@dataclass(frozen=True, slots=True)
class ActionSchema:
    """An action of a PDDL domain: its name and parameters as Python identifiers, and its ``(:action ...)`` text."""

    name: str
    parameters: tuple[str, ...]
    text: str


@dataclass(frozen=True, slots=True)
class PlannedAction:
    """A plan step as a solver returns it. The names are those of the PDDL, except that their case may differ."""

    name: str
    args: tuple[str, ...]


class SolveStatus(StrEnum):
    """Result of a solver for a PDDL domain and problem."""

    SOLVED = "solved"
    PARSE_ERROR = "parse_error"
    UNSOLVABLE = "unsolvable"
    INVALID_PLAN = "invalid_plan"
    EMPTY_PLAN = "empty_plan"
    TIMEOUT = "timeout"
    ENGINE_ERROR = "engine_error"


@dataclass(frozen=True, slots=True)
class SolveResult:
    """Answer of the solver; if not solved, ``message`` is an exact error message for the planner LLM."""

    status: SolveStatus
    steps: tuple[PlannedAction, ...] = ()
    engine: str = ""
    message: str = ""

    @property
    def solved(self) -> bool:
        return self.status is SolveStatus.SOLVED


@dataclass(frozen=True, slots=True)
class ProblemWriter:
    """Python code that turns snapshots into PDDL problems, for one PDDL domain and one family of missions.

    Attributes:
        name: a lower-case identifier.
        source: code that defines ``make_problem(snapshot: dict) -> str``. The function raises ValueError if the
            snapshot does not belong to the family of missions.
    """

    name: str
    domain: str
    source: str


@dataclass(frozen=True, slots=True)
class Plan:
    """A validated plan with its PDDL.

    Attributes:
        engine: name of the planning engine.
        writer: label of the stored problem writer that made the problem, such as ``unlock/v003``; "" if a model made
            it.
        draft: a new problem writer in the model's answer, which is not accepted yet; None if the answer has none.
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
        """Names of the used actions, each once, in order of first use."""
        return tuple(dict.fromkeys(step.action for step in self.steps))

    @property
    def objects(self) -> tuple[str, ...]:
        """Arguments of the actions, each once, in order of first use."""
        return tuple(dict.fromkeys(arg for step in self.steps for arg in step.args))


@dataclass(frozen=True, slots=True)
class TrustedPDDL:
    """The PDDL with which the last solved level of the category was solved."""

    domain: str
    problem: str


@dataclass(frozen=True, slots=True)
class FailedPlan:
    """A plan that did not solve the level, with status and message of its last attempt."""

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
    """The result of the phase CODE for the phase ACT: the merged agent, and the names of its new or changed methods."""

    agent: AgentSource
    changed: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CodeFailure:
    """No acceptable code was obtained; ``message`` is the last error.

    ``has_merged`` tells whether some code was merged into the agent and only the regression check refused it.
    """

    message: str
    calls: int
    has_merged: bool = False

    @property
    def reason(self) -> str:
        return f"no usable code after {self.calls} calls: {self.message}"


@dataclass(frozen=True, slots=True)
class PlanObjection:
    """The coder's refusal of a wrong plan; ``words`` is one line that says what is wrong with the plan."""

    words: str


@dataclass(frozen=True, slots=True)
class TraceStep:
    """One executed primitive and its origin.

    Attributes:
        code: code of the primitive; see :class:`Primitive`.
        position: index of the plan step that called the primitive, from 0.
        action: action of this plan step.
        line: line of the agent source that called the primitive.
    """

    code: int
    position: int
    action: str
    line: int


class EpisodeEnd(TypedDict):
    """The fields of :class:`Outcome` that describe the state at the end of an attempt."""

    trace: tuple[TraceStep, ...]
    last_map: tuple[tuple[str, ...], ...]
    reward: float
    corrections: tuple[str, ...]
    state_hash: str
    direction: str
    inventory: str | None


@dataclass(frozen=True, slots=True)
class Outcome:
    """How an attempt ended.

    Attributes:
        trace: executed primitives of the attempt.
        last_map: accumulated map at the end, as rows of words for cells.
        position, action, args: index, action and arguments of the plan step at fault, if any.
        traceback: traceback into the generated source.
        reward: last reward of the simulator.
        corrections: names of the simulator's judgements that were corrected in the episode.
        printed: output of the generated code.
        state_hash, direction, inventory: hash of the final state, and the agent's direction ("" if unknown) and
            carried object in the final state.
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
        """Return the outcome of an attempt that completed the mission."""
        return cls(Status.SUCCESS, "the mission is complete", **end)

    @classmethod
    def goal_not_reached(cls, **end: Unpack[EpisodeEnd]) -> Outcome:
        """Return the outcome of an attempt that executed its whole plan without completing the mission."""
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
        """Return the outcome of an attempt that failed at ``plan.steps[position]``.

        If ``position`` is None, no step of the plan is at fault.
        """
        if position is None:
            return cls(status, message, traceback=traceback, **end)
        step = plan.steps[position]
        return cls(status, message, position=position, action=step.action, args=step.args, traceback=traceback, **end)

    @property
    def solved(self) -> bool:
        return self.status is Status.SUCCESS

    @property
    def steps(self) -> int:
        """Number of primitives executed in the attempt."""
        return len(self.trace)

    @property
    def primitives(self) -> tuple[int, ...]:
        return tuple(step.code for step in self.trace)


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A state that can be restored: the primitives since the reset, and the hash of the resulting state."""

    primitives: tuple[int, ...]
    state_hash: str


@dataclass(frozen=True, slots=True)
class AgentView:
    """The read-only state that generated methods see, updated after every primitive.

    Attributes:
        full_grid: codes (uint8) of the accumulated map, rows x columns, with the agent's cell marked.
        observation: codes (uint8) of the current view, 7 x 7, in the orientation of the map.
        position, start_position: (row, column) in ``full_grid``.
        words: word of each code, the same in all views of an episode; None for the words of
            :mod:`spca.sense.perception`.
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
