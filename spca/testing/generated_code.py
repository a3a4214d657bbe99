"""Generated code for the suites: an agent with given methods, its episode by hand, and what came of it."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from contextlib import closing
from textwrap import dedent

import numpy as np

from spca.bodies.grid.body import GRID
from spca.body import Body
from spca.contracts import AgentSource, AgentView, PlanStep
from spca.protocols import Executor, Failed, Finished, Yielded
from spca.sense.perception import AGENT, DIRECTIONS, EMPTY, VOCABULARY, vocabulary

Event = Yielded | Finished | Failed


def make_agent(text: str) -> AgentSource:
    """Return an agent with the given methods; its class is line 1, so that the methods begin on line 2."""
    lines = dedent(text).strip("\n").splitlines(keepends=True)
    body = "".join(f"    {line}" if line.strip() else line for line in lines)
    return AgentSource(f"class Agent:\n{body}\n")


def make_steps(*names: str) -> tuple[PlanStep, ...]:
    """Return steps of a plan without arguments."""
    return tuple(PlanStep(name, ()) for name in names)


def make_view(**changes: object) -> AgentView:
    """Return a view of the grid's body: a small room with a blue key to the north-west of the agent.

    Args:
        changes: values of state attributes by name.
    """
    grid = np.full((3, 4), EMPTY, dtype=np.uint8)
    grid[0, 0] = VOCABULARY.index("key blue")
    grid[1, 2] = AGENT
    observation = np.zeros((7, 7), dtype=np.uint8)
    observation[3, 0] = AGENT
    fields: dict[str, object] = {
        "mission": "get the blue key",
        "current_dir": "North",
        "current_observation": observation,
        "full_grid": grid,
        "inventory": None,
        "start_position": (2, 2),
        "start_dir": DIRECTIONS[0],
    }
    names = [name for name, _kind in GRID.interface.attributes]
    if unknown := changes.keys() - set(names):
        raise ValueError(f"the grid's body has no attribute {min(unknown)}")
    shown = {**fields, **changes}
    return AgentView(tuple(shown[name] for name in names), vocabulary())


def run_steps(
    executor: Executor,
    agent: AgentSource,
    plan: Sequence[PlanStep],
    previous: Sequence[int] = (),
    limit: int = 50,
    body: Body = GRID,
    view: AgentView | None = None,
) -> list[Event]:
    """Return every event until an episode ends, at most ``limit``; all of them see the same view.

    Args:
        view: a view of the body; None for :func:`make_view`.
    """
    events: list[Event] = []
    with closing(executor.start(agent, plan, previous, body)) as episode:
        while len(events) < limit and (not events or isinstance(events[-1], Yielded)):
            events.append(episode.advance(view or make_view()))
    return events


def list_codes(events: Sequence[Event]) -> list[int]:
    """Return the codes of the primitives among events."""
    return [event.step.code for event in events if isinstance(event, Yielded)]


def require_failure(events: Sequence[Event]) -> Failed:
    """Return the last event, which must be a failure."""
    last = events[-1]
    assert isinstance(last, Failed), last
    return last


def list_frames(failed: Failed) -> list[tuple[int, str, str]]:
    """Return line, function and text of each frame of a failure's traceback."""
    frames = []
    for head, text in itertools.pairwise(failed.traceback.splitlines()):
        if head.startswith("  ") and ", line " in head:
            place, _, name = head.partition(", in ")
            frames.append((int(place.rpartition(" ")[2]), name, text.strip()))
    return frames
