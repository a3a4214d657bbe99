"""Asking the reference planner, solving what it answers, and judging the plans by what the mission says."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from typing import Any

from spca.contracts import Snapshot
from spca.llm.providers.base import Message
from spca.prompts import render
from spca.reference import planner
from spca.reference.mission import (
    Clause,
    Description,
    GoTo,
    Open,
    PickUp,
    PutNear,
    PutNextTo,
    ReachGoal,
    Stages,
)
from tests.support.bodies.grid import make_snapshot, planner_state
from tests.support.spca.doubles import shared_solver

PARAMETERS = {
    **dict.fromkeys(["reach_goal", "cross_hazard", "cross_moving_obstacles", "traverse_rooms"], 2),
    **dict.fromkeys(["go_to_object", "go_to_door", "announce", "pick_up_object", "drop_held", "open_door"], 2),
    **dict.fromkeys(["pick_up_alone", "clear_blocker", "open_box", "observe_cue", "go_to_match"], 2),
    **dict.fromkeys(["fetch_key", "unlock_door", "put_next_to", "put_near"], 3),
    **dict.fromkeys(["walk_to_goal", "take_key", "put_down", "find_switch", "turn_off"], 2),
    **dict.fromkeys(["use_key", "press_switch", "push_block_to"], 3),
    "survive": 1,
}
"""Every action with its number of parameters, the agent included: what planner and coder agree on."""


ENDS = ("go_to_object", "go_to_door", "open_door", "open_box", "unlock_door")
"""Actions that are never the means to another in a plan of whole skills."""


def prompt(
    mission: str,
    *row: str,
    inventory: str | None = None,
    category: str = "composite_skills",
    failed: int = 0,
    trusted: dict[str, str] | None = None,
) -> list[Message]:
    """What PLAN sends: the agent in a corridor with the cells of ``row`` before it."""
    snapshot = make_snapshot(mission, "East", inventory, (("agent", *row),))
    return prompt_for(snapshot, category, failed, trusted)


def prompt_for(
    snapshot: Snapshot,
    category: str,
    failed: int = 0,
    trusted: dict[str, str] | None = None,
    writers: dict[str, Any] | None = None,
) -> list[Message]:
    """What PLAN sends; ``writers``, where it asks for problem writers, is what it tells of those that exist."""
    failures = [{"plan": "[]", "status": "stuck", "message": "no new state"}] * failed
    task = render(
        "planner_task",
        snapshot=planner_state(snapshot),
        level={"category": category, "skill": "s", "level": "l"},
        actions="(none yet)",
        trusted=trusted,
        writers=writers,
        compiles=writers is not None,
        feedback={"kind": "plan_failed", "failed_plans": failures} if failed else None,
    )
    system = render("planner_system", reserved="drop", compiles=writers is not None)
    return [Message("system", system), Message("user", task)]


def repair(message: str) -> list[Message]:
    """What PLAN adds when an answer cannot be used."""
    text = render("planner_repair", feedback={"kind": "pddl_error", "message": message}, compiles=False)
    return [Message("assistant", "{}"), Message("user", text)]


def pddl(messages: Sequence[Message]) -> dict[str, str]:
    answer: dict[str, str] = json.loads(planner.answer(messages))
    assert set(answer) == {"domain", "problem"}
    return answer


def plan(messages: Sequence[Message]) -> list[tuple[str, ...]]:
    """The solved plan as (action, arguments after the agent)."""
    answer = pddl(messages)
    return solved(answer["domain"], answer["problem"])


@cache
def solved(domain: str, problem: str) -> list[tuple[str, ...]]:
    result = shared_solver().solve(domain, problem)
    assert result.solved, f"{result.status}: {result.message}\n{domain}\n{problem}"
    assert all(step.args[0] == "a1" and len(step.args) == PARAMETERS[step.name] for step in result.steps)
    return [(step.name, *step.args[1:]) for step in result.steps]


def short(messages: Sequence[Message]) -> str:
    """The plan in one line."""
    return ", ".join(f"{name}({' '.join(args)})" for name, *args in plan(messages))


def name_of(what: Description) -> str:
    return "_".join([what.kind, what.colour or "any", *([what.place.value] if what.place else [])])


def does(step: tuple[str, ...], clause: Clause) -> bool:
    """Whether a step carries out a clause."""
    match clause:
        case GoTo(what):
            ways = {("go_to_door", name_of(what)), ("go_to_object", name_of(what))}
        case PickUp(what):
            ways = {("pick_up_object", name_of(what)), ("pick_up_alone", name_of(what))}
        case Open(what):
            ways = {("open_door", name_of(what)), ("open_box", name_of(what)), ("unlock_door", name_of(what))}
        case PutNextTo(what, target):
            return step == ("put_next_to", name_of(what), name_of(target))
        case PutNear(what, target):
            return step == ("put_near", name_of(what), name_of(target))
        case ReachGoal():
            return step[1:] == ("goal_green",)
        case _:
            raise AssertionError(f"no step is known for {clause}")
    return step[:2] in ways


def may_be(name: str, other: str) -> bool:
    """Whether two names may mean one thing."""
    (kind, colour, *_), (other_kind, other_colour, *_) = name.split("_"), other.split("_")
    return (kind == other_kind or "object" in {kind, other_kind}) and (
        colour == other_colour or "any" in {colour, other_colour}
    )


def is_early(step: tuple[str, ...], left: Sequence[set[Clause]], done: set[Clause]) -> bool:
    """Whether a step does what is asked for in later parts only."""
    later = any(does(step, clause) for part in left[1:] for clause in part)
    return later and not any(does(step, clause) for clause in left[0] | done)


def carries_out(steps: Sequence[tuple[str, ...]], parts: Stages, held: str | None = None) -> bool:
    """Whether steps are possible with one hand and carry out every part, one after the other."""
    left = [set(part) for part in parts]
    done: set[Clause] = set()
    for step in steps:
        action, *args = step
        if action in ENDS and is_early(step, left, done):
            return False
        if action in {"pick_up_object", "pick_up_alone", "fetch_key", "clear_blocker"} and held is not None:
            return False
        if action in {"put_next_to", "put_near", "drop_held"} and held != args[0]:
            return False
        if action == "unlock_door" and held != args[1]:
            return False
        if action == "go_to_object" and held is not None and may_be(args[0], held):
            return False
        if action in {"pick_up_object", "pick_up_alone", "fetch_key"}:
            held = args[0]
        elif action in {"put_next_to", "put_near", "drop_held"}:
            held = None
        if left:
            now = {clause for clause in left[0] if does(step, clause)}
            left[0] -= now
            done |= now
        while left and not left[0]:
            left.pop(0)
    return not left
