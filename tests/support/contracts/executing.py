"""Running generated code by hand: views, sources, and what came of them."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from textwrap import dedent

import numpy as np

from spca.contracts import AgentSource, AgentView, PlanStep
from spca.protocols import Executor, Failed, Finished, Yielded
from spca.sense.perception import AGENT, EMPTY, VOCABULARY

Event = Yielded | Finished | Failed


def view(**changes: object) -> AgentView:
    """A small room: a blue key to the north-west of the agent."""
    grid = np.full((3, 4), EMPTY, dtype=np.uint8)
    grid[0, 0] = VOCABULARY.index("key blue")
    grid[1, 2] = AGENT
    observation = np.zeros((7, 7), dtype=np.uint8)
    observation[3, 0] = AGENT
    fields: dict[str, object] = {
        "mission": "get the blue key",
        "full_grid": grid,
        "observation": observation,
        "direction": 3,
        "inventory": None,
        "position": (1, 2),
        "start_position": (2, 2),
        "start_direction": 0,
    }
    return AgentView(**{**fields, **changes})  # type: ignore[arg-type]


def methods(text: str) -> AgentSource:
    """An agent with the given methods; its first line is line 1, the methods begin on line 2."""
    body = "".join(f"    {line}" if line.strip() else line for line in dedent(text).strip("\n").splitlines(True))
    return AgentSource(f"class Agent:\n{body}\n")


def steps(*names: str) -> tuple[PlanStep, ...]:
    return tuple(PlanStep(name, ()) for name in names)


def run(
    executor: Executor, agent: AgentSource, plan: Sequence[PlanStep], previous: Sequence[int] = (), limit: int = 50
) -> list[Event]:
    """Every event until the episode ends, at most ``limit``, with the same view throughout."""
    episode = executor.start(agent, plan, previous)
    events: list[Event] = []
    try:
        while len(events) < limit and (not events or isinstance(events[-1], Yielded)):
            events.append(episode.advance(view()))
    finally:
        episode.close()
    return events


def codes(events: Sequence[Event]) -> list[int]:
    return [event.step.code for event in events if isinstance(event, Yielded)]


def failure(events: Sequence[Event]) -> Failed:
    last = events[-1]
    assert isinstance(last, Failed), last
    return last


def pointed_at(failed: Failed) -> list[tuple[int, str, str]]:
    """Line, function and text of each frame of a failure's traceback."""
    lines = failed.traceback.splitlines()
    frames = []
    for head, text in itertools.pairwise(lines):
        if head.startswith("  ") and ", line " in head:
            place, _, name = head.partition(", in ")
            frames.append((int(place.rpartition(" ")[2]), name, text.strip()))
    return frames
