"""The planner half of the embedded reference model: a deterministic stand-in for an LLM that writes PDDL.

It sees what an LLM sees, the text of the chat, and answers in the same form. It reads the mission by grammar, not by
understanding, so it covers the missions of MiniGrid and BabyAI and those of gridworld tasks, and nothing else.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from spca.contracts import GRIDWORLD
from spca.errors import BadAnswerError
from spca.llm.providers.base import Message
from spca.reference.compiled import choose_writer
from spca.reference.formulation import STRATEGIES, formulate
from spca.reference.locks import Context
from spca.reference.mechanisms import formulation as mechanisms
from spca.reference.mechanisms.errands import read_errands
from spca.reference.mechanisms.strategy import History, jobs
from spca.reference.mechanisms.terrain import read_terrain
from spca.reference.mission import MissionError, Stages, parse, stages
from spca.reference.pddl_writer import Domain, Problem, domain_forms, domain_text, problem_text
from spca.reference.scene import read_scene


def answer(messages: Sequence[Message]) -> str:
    """PDDL for the newest snapshot, as a JSON object with "domain" and "problem".

    After ``n`` failed plans the answer is the ``n``-th formulation of the task, in turn. A trusted domain that has all
    that is needed is kept word for word. Where the prompt asks for problem writers and no plan has failed, the answer
    is one that reads the snapshot ("writer_name" and "writer"), its domain, and the problem that it writes.

    Raises:
        BadAnswerError: there is no readable snapshot, or its mission is empty or not in the grammar.
    """
    snapshot = _newest(messages, "snapshot")
    if snapshot is None:
        raise BadAnswerError("the reference planner needs a <snapshot> block; the prompt has none")
    level = _newest(messages, "level") or {}
    trusted = str((_newest(messages, "trusted_pddl") or {}).get("domain", ""))
    if level.get("category") == GRIDWORLD:
        return _write_answer(*_mechanisms(snapshot, level, messages), trusted)
    scene = read_scene(snapshot)
    if found := _add_writer(snapshot, level, messages):
        return found
    context = Context(scene, str(level.get("category", "")).lower())
    tasks = formulations(_read_mission(scene.mission), context)
    return _write_answer(*tasks[_failures(messages) % len(tasks)], trusted)


def _mechanisms(
    snapshot: Mapping[str, Any], level: Mapping[str, Any], messages: Sequence[Message]
) -> tuple[Domain, Problem]:
    """The planning task for a gridworld task."""
    terrain = read_terrain(snapshot)
    errands = read_errands(str(snapshot.get("mission", "")))
    keeps_keys = "in hand, which then stays in hand" in str(level.get("skill", ""))
    history = History.read(_list_failed_plans(messages))
    if not history.plans:  # the agent stands where it started
        errands = tuple(errand.from_start(terrain.position) for errand in errands)
    work = jobs(terrain, errands, history, keeps_keys=keeps_keys)
    return mechanisms.formulate(work, terrain.held, keeps_keys=keeps_keys)


def _write_answer(domain: Domain, problem: Problem, trusted: str) -> str:
    text = trusted if _suffices(trusted, domain) else domain_text(domain)
    return json.dumps({"domain": text, "problem": problem_text(problem, domain.name)})


def formulations(parts: Stages, context: Context) -> tuple[tuple[Domain, Problem], ...]:
    """The task seen in different ways, the usual one first; views with the same actions and objects count once."""
    tasks = [formulate(parts, context, strategy) for strategy in STRATEGIES]
    views: dict[object, tuple[Domain, Problem]] = {}
    for domain, problem in tasks:
        names = tuple(action.name for action in domain.actions)
        views.setdefault((names, domain.constants, problem.objects), (domain, problem))
    return tuple(views.values())


def _read_mission(mission: str) -> Stages:
    try:
        parts = stages(parse(mission))
    except MissionError as error:
        raise BadAnswerError(f"the reference planner: {error}") from error
    if not parts:
        raise BadAnswerError("the reference planner: the mission is empty, so there is nothing to plan for")
    return parts


def _add_writer(snapshot: Mapping[str, Any], level: Mapping[str, Any], messages: Sequence[Message]) -> str:
    """The answer with a problem writer, "" where none is asked for or none reads the snapshot."""
    asked = any("make_problem" in message.text for message in messages if message.role == "system")
    if not asked or _failures(messages):
        return ""
    told = _newest(messages, "writers") or {}
    known = {str(each.get("writer_name")) for each in told.get("missed", ())}
    found = choose_writer({**snapshot, "level": {"category": "", **level}}, known)
    if found is None:
        return ""
    writer, problem = found
    parts = {"domain": writer.domain, "problem": problem, "writer_name": writer.name, "writer": writer.source}
    return json.dumps(parts)


def _suffices(trusted: str, domain: Domain) -> bool:
    """Whether a domain that worked before has every part of the wanted one, spelled the same, and no other objects."""
    normal = " ".join(trusted.split())
    forms = (f"(define (domain {domain.name})", *domain_forms(domain))
    known_objects = "(:constants" not in normal or bool(domain.constants)
    return known_objects and all(" ".join(form.split()) in normal for form in forms)


def _failures(messages: Sequence[Message]) -> int:
    """How many plans of this level have failed so far."""
    return len(_list_failed_plans(messages))


def _list_failed_plans(messages: Sequence[Message]) -> list[str]:
    """Those plans as text, oldest first."""
    told = [block for block in _blocks(messages, "feedback") if block.get("kind") == "plan_failed"]
    plans = told[-1].get("failed_plans") if told else []
    if not isinstance(plans, list):
        return [""] * len(told)
    return [str(plan.get("plan", "")) if isinstance(plan, dict) else "" for plan in plans]


def _newest(messages: Sequence[Message], tag: str) -> dict[str, Any] | None:
    return next(reversed(list(_blocks(messages, tag))), None)


def _blocks(messages: Sequence[Message], tag: str) -> Iterator[dict[str, Any]]:
    """JSON objects in the user's ``<tag>`` blocks, oldest first; tags stand on lines of their own."""
    for message in messages:
        if message.role == "user":
            for text in _between(message.text.split("\n"), tag):
                yield _json_object(text, tag)


def _between(lines: Sequence[str], tag: str) -> Iterator[str]:
    start: int | None = None
    for number, line in enumerate(lines):
        if line == f"<{tag}>":
            start = number + 1
        elif line == f"</{tag}>" and start is not None:
            yield "\n".join(lines[start:number])
            start = None


def _json_object(text: str, tag: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except ValueError as error:
        raise BadAnswerError(f"the <{tag}> block of the prompt is not JSON: {error}") from error
    if not isinstance(value, dict):
        raise BadAnswerError(f"the <{tag}> block of the prompt is not a JSON object")
    return value
