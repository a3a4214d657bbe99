"""Real worlds in which the corpus acts: what every action sees and does there, and the same again elsewhere.

An action is carried out once by an executor that is trusted to be right; its views are kept. Any other executor that
is shown the same views must answer with the same events.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field

from minigridenv import MiniGridEnv
from spca.bodies.grid.body import GRID
from spca.body import Body
from spca.contracts import AgentSource, AgentView, Outcome, Plan, PlannerMode, PlanStep
from spca.protocols import Episode, Executor, Failed, Finished, Yielded
from tests.benign.topics import Method

Event = Yielded | Finished | Failed


@dataclass(frozen=True, slots=True)
class Stage:
    """A world, primitives that come first in it, and what the parameters of an action stand for, by name."""

    env_id: str
    seed: int
    prelude: tuple[int, ...]
    arguments: Mapping[str, str]

    def step(self, action: Method) -> PlanStep:
        """The plan step that calls ``action`` here."""
        return PlanStep(action.name, tuple(self.arguments[name] for name in action.parameters))


_AGENT = dict.fromkeys(("a", "a1", "ag", "agent", "_agent", "robot", "who"), "a1")
_ANY = {"kind": "ball", "side": "left", "heading": "north"}

STAGES = (
    Stage(
        "MiniGrid-DoorKey-6x6-v0",
        8,
        (),
        _AGENT
        | _ANY
        | dict.fromkeys(("obj", "key", "k", "o", "item", "thing", "target"), "key_yellow")
        | dict.fromkeys(("door", "d"), "door_yellow")
        | dict.fromkeys(("goal", "g", "other", "t", "dest"), "goal_green")
        | {
            "ball": "ball_any",
            "box": "box_any",
            "colour": "yellow",
            "x": "door_yellow",
            "b": "box_any",
            "c": "key_yellow",
        }
        | {"cue": "key_yellow"},
    ),
    Stage(
        "BabyAI-ActionObjDoor-v0",
        5,
        (0, 3),
        _AGENT
        | _ANY
        | dict.fromkeys(("obj", "o", "item", "thing", "x"), "ball_any")
        | dict.fromkeys(("key", "k", "c", "cue"), "key_any")
        | dict.fromkeys(("door", "d"), "door_any")
        | dict.fromkeys(("box", "b", "other", "t", "dest"), "box_any")
        | {"goal": "goal_any", "g": "goal_any", "target": "ball_any_left", "ball": "ball_any", "colour": "red"},
    ),
    Stage(
        "MiniGrid-LavaGapS6-v0",
        2,
        (2,),
        _AGENT
        | _ANY
        | dict.fromkeys(("obj", "o", "item", "thing", "target", "goal", "g", "other", "t", "dest", "x"), "goal_green")
        | {"key": "key_blue", "k": "key_blue", "door": "door_red", "d": "door_red", "ball": "ball_red_left"}
        | {"box": "box_grey", "b": "box_grey", "colour": "green", "c": "ball_red"}
        | {"cue": "ball_red"},
    ),
    Stage(
        "MiniGrid-FourRooms-v0",
        1,
        (1,),
        _AGENT
        | _ANY
        | dict.fromkeys(("obj", "o", "item", "thing", "target", "goal", "g", "other", "t", "dest", "x"), "goal_any")
        | {"key": "key_any", "k": "key_any", "door": "door_any", "d": "door_any", "ball": "ball_any_front"}
        | {"box": "box_any", "b": "box_any", "colour": "green", "c": "ball_any", "cue": "ball_any"},
    ),
)


@dataclass(slots=True)
class Recording:
    """One action on one stage: what it was shown, what it answered, how the attempt ended."""

    stage: Stage
    step: PlanStep
    agent: AgentSource
    views: list[AgentView] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    outcome: Outcome | None = None

    def __str__(self) -> str:
        return f"{self.step} in {self.stage.env_id}"


class _RecordingExecutor:
    """Hands on to another executor, keeping what passes."""

    def __init__(self, executor: Executor, recording: Recording) -> None:
        self._executor = executor
        self._recording = recording

    def start(self, agent: AgentSource, steps: Sequence[PlanStep], previous: Sequence[int], body: Body) -> Episode:
        return _RecordingEpisode(self._executor.start(agent, steps, previous, body), self._recording)


class _RecordingEpisode:
    def __init__(self, episode: Episode, recording: Recording) -> None:
        self._episode = episode
        self._recording = recording

    @property
    def printed(self) -> str:
        return self._episode.printed

    def advance(self, view: AgentView) -> Event:
        event = self._episode.advance(view)
        self._recording.views.append(view)
        self._recording.events.append(event)
        return event

    def close(self) -> None:
        self._episode.close()


def perform(executor: Executor, agent: AgentSource, actions: Sequence[Method]) -> Iterator[Recording]:
    """Each action on each stage, from the start of the world."""
    for stage in STAGES:
        for action in actions:
            step = stage.step(action)
            recording = Recording(stage, step, agent)
            plan = Plan((step,), "", "", (), PlannerMode.FRESH)
            with closing(
                MiniGridEnv(stage.env_id, stage.seed, executor=_RecordingExecutor(executor, recording))
            ) as world:
                for code in stage.prelude:
                    world.step(code)
                recording.outcome = world.run_sim(plan, agent)
            yield recording


def repeat(executor: Executor, recording: Recording) -> list[Event]:
    """What another executor answers to the same views; it ends early where it fails or finishes early."""
    events: list[Event] = []
    with closing(executor.start(recording.agent, [recording.step], recording.stage.prelude, GRID)) as episode:
        for view in recording.views:
            events.append(episode.advance(view))
            if not isinstance(events[-1], Yielded):
                break
    return events
