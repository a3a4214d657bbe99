"""What every World with the grid's body keeps besides the promises of all worlds: a map that shows what is known."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from spca.act.mapped_world import MappedWorld
from spca.bodies.grid.primitives import PRIMITIVE_METHODS
from spca.contracts import (
    AgentSource,
    Outcome,
    Plan,
    PlannerMode,
    Status,
)
from spca.protocols import World
from spca.sense.map_text import draw
from spca.sense.perception import DIRECTIONS, VOCABULARY
from spca.testing import WorldSuite
from tests.support.bodies.grid import show, words_of
from tests.support.contracts.executing import methods, steps

TURNER = methods("""
    def left(self):
        yield 0

    def right(self):
        yield 1

    def crash(self):
        yield 0
        yield 1
        raise ValueError("crashed")
""")


def planned(*names: str) -> Plan:
    return Plan(steps(*names), "", "", (), PlannerMode.FRESH)


def act(world: World, *names: str, agent: AgentSource = TURNER) -> Outcome:
    return world.run_sim(planned(*names), agent)


def at_fault(outcome: Outcome) -> tuple[Status, int | None, str | None, tuple[str, ...]]:
    return outcome.status, outcome.position, outcome.action, outcome.args


def assert_consistent(outcome: Outcome, plan: Sequence[str]) -> None:
    """What holds of any outcome."""
    assert outcome.steps == len(outcome.trace) == len(outcome.primitives)
    assert [step.position for step in outcome.trace] == sorted(step.position for step in outcome.trace)
    assert all(plan[step.position] == step.action and step.line > 0 for step in outcome.trace)
    assert all(0 <= code < len(PRIMITIVE_METHODS) for code in outcome.primitives)
    assert_shows_a_map(outcome.shown)
    assert outcome.solved == (outcome.status is Status.SUCCESS)
    assert outcome.message
    if outcome.position is not None:
        assert outcome.action == plan[outcome.position]


def assert_shows_a_map(shown: Mapping[str, Any]) -> None:
    """What holds of anything that a planner is shown of a world with the grid's body."""
    assert set(shown) == {"direction", "inventory", "visible_objects", "known_objects", "legend", "map"}
    assert len({len(row) for row in shown["map"]}) == 1
    (arrow,) = draw((("agent",),), shown["direction"])
    assert arrow in {"<", ">", "^", "v"}
    assert "".join(shown["map"]).count(arrow) == 1
    json.dumps(shown, allow_nan=False)


class GridWorldSuite(WorldSuite):
    """Inherit and override ``make``. The world must allow at least 70 primitives on the spot."""

    harmless = (1, 0, 1, 0)
    idle = 6

    def test_what_is_shown_has_a_map(self, world: World) -> None:
        shown = world.sense().shown
        assert_shows_a_map(shown)
        assert shown["direction"] in DIRECTIONS

    def test_a_map_is_shown_as_it_is(self, world: World) -> None:
        words = words_of(world)
        assert len({len(row) for row in words}) == 1
        assert {word for row in words for word in row} <= set(VOCABULARY)
        assert sum(row.count("agent") for row in words) == 1
        assert isinstance(world, MappedWorld)
        things = world._visible_objects()
        shown = world.sense().shown
        assert shown == show(words, shown["direction"], shown["inventory"], things)
        for thing in things:
            assert 0 <= thing.forward
            stated = thing.name.startswith(("door", "switch", "gate"))
            assert (thing.state is not None) == stated or (thing.name.startswith("block") and thing.state == "fixed")

    def test_the_end_of_an_attempt_shows_a_map(self, world: World) -> None:
        plan = ["right", "crash", "left"]
        outcome = act(world, *plan)
        assert_consistent(outcome, plan)
        assert outcome.primitives == (1, 0, 1)
