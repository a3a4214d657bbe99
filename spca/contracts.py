"""The values that the phases of the loop pass on; :mod:`spca.protocols` describes the parts of the loop.

::

    World.sense() -> Snapshot -> PlannerLLM.plan(...) -> Plan
        -> CoderLLM.implement_actions(...) -> CodePatch -> World.run_sim(plan, agent) -> Outcome

All values are frozen. This module imports no other module of the program.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final, TypedDict, Unpack


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
class Snapshot:
    """The state that the phase SENSE returns for the phase PLAN. It holds no hidden state, environment id or seed.

    Attributes:
        mission: the task in words.
        shown: everything else that the planner is shown, as values of JSON; a value ``map`` holds rows of text.
    """

    mission: str
    shown: Mapping[str, Any] = field(hash=False)


GRIDWORLD: Final = "Gridworld"
"""Category of the levels that are tasks of gridworld; for these levels, planner and display of episodes differ."""


@dataclass(frozen=True, slots=True)
class LevelInfo:
    """What the planner is told about a level besides the snapshot."""

    category: str
    skill: str
    level: str


@dataclass(frozen=True, slots=True)
class LevelSpec:
    """What a world is built from, besides a seed.

    Attributes:
        id: environment id.
        kwargs: keyword arguments of the environment, as JSON values.
        mission: the task in words, for a world that has no mission of its own; "" for none.
        world: name of the world that a plugin has registered; "" for the world of MiniGrid.
    """

    id: str
    kwargs: Mapping[str, Any] = field(default_factory=dict, hash=False)
    mission: str = ""
    world: str = ""

    @property
    def name(self) -> str:
        """The id; with arguments or a mission, the id, "+" and the beginning of a hash of them."""
        if not self.kwargs and not self.mission:
            return self.id
        content = json.dumps([self.kwargs, self.mission], sort_keys=True)
        return f"{self.id}+{hashlib.sha256(content.encode()).hexdigest()[:8]}"

    def describe_extras(self) -> dict[str, Any]:
        """Return arguments, mission and world for a record; {} if the level is a plain id of MiniGrid's world."""
        extras = {"kwargs": dict(self.kwargs), "mission_text": self.mission, "world": self.world}
        return {name: value for name, value in extras.items() if value}

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> LevelSpec:
        """Return the level of a record with ``env_id`` and the fields of :meth:`describe_extras`.

        Raises:
            ValueError: a field has the wrong type.
        """
        kwargs = record.get("kwargs", {})
        mission = record.get("mission_text", "")
        world = record.get("world", "")
        if not isinstance(kwargs, dict) or not isinstance(mission, str) or not isinstance(world, str):
            raise ValueError("its arguments are no JSON object, or its mission or its world is no text")
        return cls(record["env_id"], kwargs, mission, world)


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
    """A plan that did not solve the level, with status and message of its last attempt.

    ``found`` names what the plan discovered; after a discovery, a new plan is no sign of a mistake.
    """

    plan: str
    status: str
    message: str
    found: tuple[str, ...] = ()


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
        code: code of the primitive, its index in the body's primitives.
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
    shown: Mapping[str, Any]
    reward: float
    corrections: tuple[str, ...]
    state_hash: str
    found: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Outcome:
    """How an attempt ended.

    Attributes:
        trace: executed primitives of the attempt.
        shown: what the planner is shown of the state at the end; see :class:`Snapshot`.
        position, action, args: index, action and arguments of the plan step at fault, if any.
        traceback: traceback into the generated source.
        reward: last reward of the simulator.
        corrections: names of the simulator's judgements that were corrected in the episode.
        printed: output of the generated code.
        state_hash: hash of the final state.
        found: names of what the attempt saw or changed for the first time: kinds of things, recipes, opened ways.
    """

    status: Status
    message: str
    trace: tuple[TraceStep, ...]
    shown: Mapping[str, Any] = field(hash=False)
    position: int | None = None
    action: str | None = None
    args: tuple[str, ...] = ()
    traceback: str = ""
    reward: float = 0.0
    corrections: tuple[str, ...] = ()
    printed: str = ""
    state_hash: str = ""
    found: tuple[str, ...] = ()

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
        values: the value of each state attribute, in the order of :attr:`spca.body.AgentInterface.attributes`. An array
            of words is an array of indices into ``words``.
        words: the words of arrays of words, the same in all views of an episode.
    """

    values: tuple[Any, ...]
    words: tuple[str, ...] = ()
