"""Running reference skills on real worlds: a plan by hand, the skills merged into the initial agent."""

from __future__ import annotations

from functools import lru_cache

from minigridenv import MiniGridEnv
from spca.contracts import AgentSource, Outcome, Plan, PlannerMode, PlanStep
from spca.plan.pddl import parse_plan
from spca.reference import coder
from tests.support.bodies import grid
from tests.support.spca.doubles import AGENT

PARAMETERS: dict[str, tuple[str, ...]] = {
    "reach_goal": ("a", "g"),
    "cross_hazard": ("a", "g"),
    "cross_moving_obstacles": ("a", "g"),
    "traverse_rooms": ("a", "g"),
    "go_to_object": ("a", "o"),
    "go_to_door": ("a", "d"),
    "announce": ("a", "x"),
    "pick_up_object": ("a", "o"),
    "pick_up_alone": ("a", "o"),
    "drop_held": ("a", "o"),
    "open_door": ("a", "d"),
    "fetch_key": ("a", "k", "d"),
    "unlock_door": ("a", "d", "k"),
    "clear_blocker": ("a", "d"),
    "open_box": ("a", "b"),
    "put_next_to": ("a", "o", "t"),
    "put_near": ("a", "o", "t"),
    "observe_cue": ("a", "c"),
    "go_to_match": ("a", "c"),
    "walk_to_goal": ("a", "g"),
    "take_key": ("a", "k"),
    "put_down": ("a", "k"),
    "use_key": ("a", "d", "k"),
    "press_switch": ("a", "s", "g"),
    "find_switch": ("a", "g"),
    "turn_off": ("a", "s"),
    "push_block_to": ("a", "b", "p"),
    "survive": ("a",),
}
"""Parameters of every action in the PDDL that the reference planner writes."""


@lru_cache(maxsize=64)
def agent_with(actions: frozenset[str]) -> AgentSource:
    """The initial agent with some actions as the reference coder writes them."""
    expected = {name: PARAMETERS[name] for name in sorted(actions)}
    return AgentSource(grid.merge(AGENT.text, coder.write(sorted(actions)), expected).text)


def run(world: MiniGridEnv, calls: str) -> Outcome:
    """Carry out a plan written as ``"go_to_door(a1, door_red), announce(a1, door_red)"``."""
    steps: tuple[PlanStep, ...] = parse_plan(f"[{calls}]")
    agent = agent_with(frozenset(step.action for step in steps))
    return world.run_sim(Plan(steps, "", "", (), PlannerMode.FRESH), agent)


def solve(env_id: str, seed: int, calls: str) -> Outcome:
    """A fresh world in which a plan is carried out without the mission to read."""
    world = MiniGridEnv(env_id, seed)
    world.mission = "(not to be read)"
    try:
        return run(world, calls)
    finally:
        world.close()
