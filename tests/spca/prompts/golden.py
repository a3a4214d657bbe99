"""Renders all that a model is given in a run, in each wording: ``golden/`` holds it word for word.

``python -m tests.spca.prompts.golden`` writes the files anew, after a change that was meant.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from coderLLM import CoderLLM
from minigridenv import MiniGridEnv
from plannerLLM import PDDLResp, PlannerLLM
from spca.code import library
from spca.contracts import (
    AgentSource,
    FailedPlan,
    LevelInfo,
    Outcome,
    Plan,
    PlannerMode,
    PlanStep,
    Snapshot,
    Status,
    TraceStep,
    TrustedPDDL,
)
from spca.errors import ProviderConfigError
from spca.llm.providers.base import Message
from spca.plan.pddl import extract_actions
from spca.prompts import USUAL, Wording, render
from spca.sense.renaming import Renaming
from tests.support.bodies.grid import agent_state, failure_report, show, words_of
from tests.support.spca.call_requests import ref
from tests.support.spca.doubles import AGENT, Events, ScriptedProvider, coder_client, planner_client, shared_solver

FOLDER: Final = Path(__file__).with_name("golden")
WORDINGS: Final = {"usual": USUAL, "bare": Wording(bare=True), "renamed": Wording(renaming=Renaming(7))}

_DOMAIN: Final = """(define (domain rooms)
 (:requirements :strips :typing :negative-preconditions)
 (:types agent thing)
 (:predicates (has ?a - agent ?t - thing) (unlocked ?t - thing))
 (:action fetch_key :parameters (?a - agent ?key - thing) :precondition (not (has ?a ?key)) :effect (has ?a ?key))
 (:action unlock_door :parameters (?a - agent ?door - thing ?key - thing)
  :precondition (has ?a ?key) :effect (unlocked ?door)))"""
_PROBLEM: Final = """(define (problem p) (:domain rooms) (:objects a1 - agent key_yellow door_yellow - thing)
 (:init) (:goal (unlocked door_yellow)))"""
_WRITER: Final = "def make_problem(snapshot):\n    raise ValueError('no yellow door')\n"
_METHODS: Final = '''
    def fetch_key(self, agent, key):
        """Walk to the key and pick it up."""
        while self.inventory is None:
            yield from self._walk_to(key)
            yield self.pickup()

    def _walk_to(self, thing):
        """Walk until the thing is ahead."""
        for _ in range(9):
            yield self.move_forward()
'''
_CODE: Final = "def unlock_door(self, agent, door, key):\n    yield self.toggle()\n"
_LONG: Final = "walks on and on, " * 200


@dataclass(frozen=True)
class Situation:
    """What the models are asked about: the start of one level, in the words of a wording."""

    wording: Wording

    @cached_property
    def _start(self) -> tuple[Snapshot, tuple[tuple[str, ...], ...]]:
        with closing(MiniGridEnv("MiniGrid-DoorKey-6x6-v0", 3, renaming=self.wording.renaming)) as world:
            return world.sense(), words_of(world)

    @property
    def snapshot(self) -> Snapshot:
        return self._start[0]

    @property
    def map_without_pose(self) -> dict[str, Any]:
        """What is shown of the map alone: the agent is drawn without a direction."""
        return show(self._start[1], "")

    @property
    def level(self) -> LevelInfo:
        level = LevelInfo("unlock_door", "Unlock the yellow door with the yellow key", "DoorKey")
        return self.wording.renaming.level(level)

    def words(self, text: str) -> str:
        return self.wording.renaming.text(text)

    @property
    def agent(self) -> AgentSource:
        return AgentSource(AGENT.text.rstrip("\n") + "\n" + self.words(_METHODS))

    @property
    def plan(self) -> Plan:
        domain = self.words(_DOMAIN)
        door, key = self.words("door_yellow"), self.words("key_yellow")
        first, second = extract_actions(domain)
        steps = (PlanStep(first.name, ("a1", key)), PlanStep(second.name, ("a1", door, key)))
        return Plan(steps, domain, self.words(_PROBLEM), (first, second), PlannerMode.FRESH)


def conversations(wording: Wording) -> Iterator[tuple[str, str]]:
    """Yield the name and the text of each conversation of a run with such prompts."""
    at = Situation(wording)
    trusted = TrustedPDDL(at.words(_DOMAIN), at.words(_PROBLEM))
    failed = (
        FailedPlan("[fetch_key(a1, key_yellow)]", "stuck", "stuck: the same map 15 times\nand more"),
        FailedPlan("[unlock_door(a1, door_yellow, key_yellow)]", "plan_objection", f"the coder says that it {_LONG}"),
    )
    nearest = {"writer_name": "rooms", "domain": at.words(_DOMAIN), "writer": _WRITER}
    missed = [{"writer_name": "rooms", "how": "failed", "why": "the plan was carried out in vain"}]
    writers = {"nearest": nearest, "others": ["mazes"], "missed": missed, "rejected": "it names a constant"}

    yield "planner_fresh", ask_planner(at, [*bad_plans(at)])
    yield "planner_without_writers", ask_planner(at, ["no JSON"], compiles=False)
    yield "planner_reuse", ask_planner(at, ["no JSON"], trusted=trusted)
    yield "planner_replan", ask_planner(at, ["no JSON"], trusted=trusted, failed=failed)
    yield "planner_writers", ask_planner(at, [], writers=writers)
    yield "planner_writers_trusted", ask_planner(at, [], trusted=trusted, writers=writers)

    yield "coder_first", ask_coder(at, [*bad_code(at)])
    yield (
        "coder_regression",
        ask_coder(at, [at.words(_CODE)], check=lambda _: at.words("fetch_key breaks level 3: stuck")),
    )
    for status in (Status.STUCK, Status.RUNTIME_ERROR):
        yield f"coder_{status.value}", ask_coder(at, ["no code at all"], error=report(at, status))


def bad_plans(at: Situation) -> Iterator[str]:
    """Yield answers that cannot be used, each for another reason, in words of the world."""
    unsolvable = _DOMAIN.replace(":effect (has ?a ?key)", ":effect (not (has ?a ?key))")
    undeclared = _DOMAIN.replace("(has ?a ?key)", "(holds ?a ?key)")
    solved = _PROBLEM.replace("(:init)", "(:init (unlocked door_yellow))")
    elsewhere = _PROBLEM.replace("key_yellow", "the_lost_umbrella")

    yield "I would rather talk about it."
    yield '{"domain": "(define (domain d)"}'
    for domain, problem in (
        (_DOMAIN[:-1], _PROBLEM),
        (undeclared, _PROBLEM),
        (unsolvable, _PROBLEM),
        (_DOMAIN, solved),
        (_DOMAIN, elsewhere),
    ):
        yield answer(at.words(domain), at.words(problem))


def bad_code(at: Situation) -> Iterator[str]:
    """Yield answers of a coder that cannot be used, each for another reason, in words of the world."""
    yield "I'm sorry, but I can't help with that."
    for code in (
        "def unlock_door(self, agent, door, key):\n    yield self.toggle(\n",
        "def unlock_door(self, door):\n    yield self.toggle()\n",
        "def open_door(self, agent, door, key):\n    yield self.toggle()\n",
        "def unlock_door(self, agent, door, key):\n    import os\n    yield os.getpid()\n",
    ):
        yield at.words(code)


def answer(domain: str, problem: str) -> str:
    return PDDLResp(domain=domain, problem=problem).model_dump_json(exclude_defaults=True)


def report(at: Situation, status: Status) -> str:
    """Return the feedback on a failed attempt."""
    plan = at.plan
    is_error = status is Status.RUNTIME_ERROR
    outcome = Outcome(
        status,
        f"ValueError: {_LONG}" if is_error else "the same map 15 times",
        tuple(TraceStep(code, 0, plan.steps[0].action, 80 + code) for code in (2, 2, 2, 0, 1, 3)),
        at.map_without_pose,
        0,
        plan.steps[0].action,
        plan.steps[0].args,
        "  agent_tmp.py, line 81, in fetch_key\n    yield from self._walk_to(key)\n" if is_error else "",
        printed="still looking\n" if is_error else "",
    )
    # The golden renderings are older than the line of pose and hand; a real outcome has this line.
    return failure_report(plan, outcome).replace("the agent faces ; in its hand: nothing\n", "")


def ask_planner(
    at: Situation,
    answers: Iterable[str],
    *,
    compiles: bool = True,
    trusted: TrustedPDDL | None = None,
    failed: tuple[FailedPlan, ...] = (),
    writers: Mapping[str, Any] | None = None,
) -> str:
    """Return what a planner gets that answers so, to the end of the script or its first usable answer."""
    model = ScriptedProvider(*answers, ProviderConfigError("enough"))
    planner = PlannerLLM(
        ref("x/m"), ref("x/m"), shared_solver(), Events(), planner_client(model), compiles=compiles, wording=at.wording
    )
    actions = library.action_listing(at.agent.text, at.snapshot.mission)
    with suppress(ProviderConfigError):
        planner.plan(at.snapshot, at.level, actions, agent=at.agent, trusted=trusted, failed=failed, writers=writers)
    return transcript(request.messages for request in model.requests)


def ask_coder(
    at: Situation, answers: Iterable[str], error: str | None = None, check: Callable[[AgentSource], str] | None = None
) -> str:
    """Return what a coder gets that answers so, to the end of the script or its first usable answer."""
    plan = at.plan
    model = ScriptedProvider(*answers, ProviderConfigError("enough"))
    coder = CoderLLM(ref("x/m"), Events(), coder_client(model), wording=at.wording)
    schemas = {schema.name: schema for schema in plan.schemas}
    wanted = plan.actions if error else plan.actions[1:]
    state = agent_state(at.snapshot, at.level.skill, plan.objects)
    with suppress(ProviderConfigError):
        coder.implement_actions(wanted, schemas, plan.text, state, error, agent=at.agent, check=check)
    return transcript(request.messages for request in model.requests)


def transcript(requests: Iterable[Iterable[Message]]) -> str:
    """Return the first request whole, and of each further one what was not in the one before."""
    shown, before = list[str](), list[Message]()
    for number, messages in enumerate(map(list, requests), 1):
        new = [message for message in messages if message not in before]
        shown += [f"===== request {number}: {message.role}\n{message.text}\n" for message in new]
        before = messages
    return "\n".join(shown)


def renderings() -> Iterator[tuple[Path, str]]:
    """Yield the path of each file of ``golden/`` and what it has to hold."""
    for name, wording in WORDINGS.items():
        for conversation, text in conversations(wording):
            yield Path(name) / f"{conversation}.txt", text
    yield Path("reask.txt"), render("reask", error="the answer is not valid: problem: Field required")


def main() -> None:
    """Write the files anew."""
    shutil.rmtree(FOLDER, ignore_errors=True)
    for path, text in renderings():
        target = FOLDER / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
