"""A prompt that a level comes to, and what becomes of an answer to it: a case is played with the real loop.

The models answer what the case has scripted, up to the request that it is about. There its prompt is taken down; or
the answer that is judged is given, nothing after it, and the loop goes on as far as it gets.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Final, Literal

from coderLLM import CoderLLM
from main import Loop
from minigridenv import MiniGridEnv
from plannerLLM import PlannerLLM
from spca.code.regression import RegressionSuite
from spca.contracts import AgentSource, LevelInfo, TrustedPDDL
from spca.errors import ProviderConfigError
from spca.llm.providers.base import Message, Request, Response, Usage
from spca.reference import coder as reference_coder
from spca.reference import planner as reference_planner
from spca.runs import curriculum
from tests.support.bodies import grid
from tests.support.prompts.drawn import Drawing, register
from tests.support.reference.skill_runs import agent_with
from tests.support.spca.call_requests import ref
from tests.support.spca.doubles import AGENT, ROOT, Events, coder_client, planner_client, shared_solver

Step = str | Callable[[Sequence[Message]], str]
"""An answer, or what makes one of the conversation."""

REFERENCE: Final[Mapping[str, Step]] = {"planner": reference_planner.answer, "coder": reference_coder.answer}
LIBRARY: Final = (Path(__file__).parent / "library.txt").read_text(encoding="utf-8")
_LONGEST: Final = 600


@dataclass(frozen=True, slots=True)
class Case:
    """A prompt: the level, what the agent has learned, what was answered before, and two answers to try the bench.

    Attributes:
        kind: whose answer is judged.
        mode: what the models call this kind of request.
        actions: what the reference agent has learned; None: the strict library of the drawn worlds.
        without: actions that the strict library lacks here.
        trusted: environment id and seed whose reference PDDL solved the last level of the category.
        planner, coder: what was answered before.
        good, bad: answers that have to be found right and wrong.
        wrong_plan: a coder who says so is right.
    """

    name: str
    kind: Literal["planner", "coder"]
    mode: str
    world: Drawing | tuple[str, int]
    info: LevelInfo
    good: Step
    bad: Step
    actions: tuple[str, ...] | None = None
    without: tuple[str, ...] = ()
    trusted: tuple[str, int] | None = None
    planner: tuple[Step, ...] = ()
    coder: tuple[Step, ...] = ()
    wrong_plan: bool = False


class ScriptEndError(ProviderConfigError):
    """The script is at its end."""


@dataclass(slots=True)
class Player:
    """A model that answers in turn what its script says, and then is out of order."""

    script: list[Step]
    requests: list[Request] = field(default_factory=list)

    def complete(self, request: Request) -> Response:
        self.requests.append(request)
        if not self.script:
            raise ScriptEndError("the script is at its end")
        step = self.script.pop(0)
        return Response(step if isinstance(step, str) else step(request.messages), Usage(1, 1))


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of an answer: "right", "wrong", "rejected" or "needs coder", and why."""

    result: str
    why: str = ""


def prompt(case: Case) -> Sequence[Message]:
    """The conversation that the case is about."""
    planner, coder, _ = _play(case)
    asked = (planner if case.kind == "planner" else coder).requests
    before = case.planner if case.kind == "planner" else case.coder
    assert len(asked) == len(before) + 1, f"{case.name}: the loop asked {len(asked)} times, not {len(before) + 1}"
    return asked[-1].messages


def judge(case: Case, answer: Step) -> Verdict:
    """Carry out an answer."""
    planner, coder, why = _play(case, answer)
    if why is None:
        return Verdict("right")
    if case.kind == "planner" and len(coder.requests) > len(case.coder):
        return _missing(coder.requests[-1].messages[-1].text)
    if case.kind == "coder" and len(planner.requests) > len(case.planner):  # the plan was given back
        return Verdict("right" if case.wrong_plan else "wrong", _error(planner.requests[-1].messages[-1].text))
    *_, before, last = (planner if case.kind == "planner" else coder).requests[-1].messages
    return Verdict("rejected" if before.role == "assistant" else "wrong", _error(last.text) or why)


def _missing(asked: str) -> Verdict:
    """What a request for code says of the plan before it."""
    task = json.loads(re.findall(r"^<task>\n(.*)\n</task>$", asked, re.MULTILINE)[-1])
    if task["mode"] != "first":
        return Verdict("wrong", _error(asked))
    return Verdict("needs coder", f"{', '.join(task['actions'])} in {task['plan']}")


def _play(case: Case, *answers: Step) -> tuple[Player, Player, str | None]:
    """Play the level; both models, and why it is not solved, None if it is."""
    scripts = {"planner": [*case.planner], "coder": [*case.coder]}
    scripts[case.kind] += answers
    planner, coder = Player(scripts["planner"]), Player(scripts["coder"])
    clients = planner_client(planner), coder_client(coder)  # type: ignore[arg-type]
    events = Events()
    large = PlannerLLM(ref("x/large"), ref("x/small"), shared_solver(), events, clients[0])
    loop = Loop(
        large, CoderLLM(ref("x/coder"), events, clients[1]), RegressionSuite(MiniGridEnv), events, lambda *_: None
    )
    with closing(MiniGridEnv(*_place(case))) as world:
        try:
            result = loop.run_level(world, case.info, library(case), trusted(case))
        except ScriptEndError as end:
            return planner, coder, str(end)
    return planner, coder, None if result.solved else result.reason


def _place(case: Case) -> tuple[str, int]:
    return (register(case.name, case.world), 1) if isinstance(case.world, Drawing) else case.world


def library(case: Case) -> AgentSource:
    """The agent of a case."""
    if case.actions is None:
        return strict_library(case.without)
    return agent_with(frozenset(case.actions)) if case.actions else AGENT


@lru_cache(maxsize=16)
def strict_library(without: tuple[str, ...] = ()) -> AgentSource:
    """An agent whose actions do what they say and nothing else, and raise where they cannot."""
    text = LIBRARY
    for name in without:
        text = text.replace(strict_source(name), "")
    return AgentSource(grid.merge(AGENT.text, text, {}).text)


def strict_source(name: str) -> str:
    """A function of the strict library."""
    (source,) = re.findall(rf"^def {name}\(.*?(?=^def |\Z)", LIBRARY, flags=re.MULTILINE | re.DOTALL)
    return str(source)


def trusted(case: Case) -> TrustedPDDL | None:
    """The reference model's PDDL for the level before."""
    if case.trusted is None:
        return None
    player = Player([])
    planner = PlannerLLM(ref("x/m"), ref("x/m"), shared_solver(), Events(), planner_client(player))  # type: ignore[arg-type]
    with closing(MiniGridEnv(*case.trusted)) as world, suppress(ScriptEndError):
        planner.plan(world.sense(), case.info, "(none yet)")
    answer = json.loads(reference_planner.answer(player.requests[0].messages))
    return TrustedPDDL(answer["domain"], answer["problem"])


@lru_cache(maxsize=1)
def _tasks() -> Mapping[str, curriculum.Task]:
    return {task.env_id: task for task in curriculum.load(ROOT / "merged_curriculum2.json").tasks()}


def info_of(env_id: str) -> LevelInfo:
    """What the curriculum says of a level."""
    return _tasks()[env_id].info()


def _error(text: str) -> str:
    """What the system told the model that was wrong."""
    blocks = re.findall(r"^<(?:error|feedback)>\n(.*?)\n</", text, re.MULTILINE | re.DOTALL)
    return blocks[-1][:_LONGEST] if blocks else ""
