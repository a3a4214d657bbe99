"""The planner half of the embedded reference model: a deterministic stand-in for an LLM that writes PDDL.

The planner gets the same messages as an LLM and answers in the same form. The planner parses missions with fixed
grammars. The grammars cover only the missions of MiniGrid, of BabyAI and of gridworld tasks.
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
    """Return a JSON object with the keys "domain" and "problem": the PDDL texts for the newest snapshot.

    A mission of a curriculum level has several formulations. After ``n`` failed plans, the answer is the formulation
    with the index ``n`` modulo the number of formulations. If the trusted domain has all needed parts, the answer
    repeats the trusted domain word for word.

    If the prompt asks for problem writers and no plan has failed, the answer uses a shipped writer that can read the
    snapshot. The JSON object then also has the keys "writer_name" and "writer", and the domain and problem are those of
    the writer.

    Raises:
        BadAnswerError: no snapshot can be read, or the snapshot's mission is empty or not in the grammar.
    """
    snapshot = _find_newest_block(messages, "snapshot")
    if snapshot is None:
        raise BadAnswerError("the reference planner needs a <snapshot> block; the prompt has none")
    level = _find_newest_block(messages, "level") or {}
    trusted = str((_find_newest_block(messages, "trusted_pddl") or {}).get("domain", ""))
    if level.get("category") == GRIDWORLD:
        domain, problem = _plan_gridworld_task(snapshot, level, messages)
        return _write_answer(domain, problem, trusted)

    scene = read_scene(snapshot)
    writer_answer = _answer_with_writer(snapshot, level, messages)
    if writer_answer:
        return writer_answer

    context = Context(scene, str(level.get("category", "")).lower())
    tasks = formulations(_read_mission(scene.mission), context)
    domain, problem = tasks[len(_list_failed_plans(messages)) % len(tasks)]
    return _write_answer(domain, problem, trusted)


def _plan_gridworld_task(
    snapshot: Mapping[str, Any], level: Mapping[str, Any], messages: Sequence[Message]
) -> tuple[Domain, Problem]:
    """Return the planning domain and problem for the next jobs of a gridworld task."""
    terrain = read_terrain(snapshot)
    errands = read_errands(str(snapshot.get("mission", "")))
    keeps_keys = "in hand, which then stays in hand" in str(level.get("skill", ""))
    history = History.read(_list_failed_plans(messages))
    if not history.plans:
        # No plan was carried out yet, so the agent stands where it started.
        errands = tuple(errand.from_start(terrain.position) for errand in errands)
    work = jobs(terrain, errands, history, keeps_keys=keeps_keys)
    return mechanisms.formulate(work, terrain.held, keeps_keys=keeps_keys)


def _write_answer(domain: Domain, problem: Problem, trusted: str) -> str:
    """Return the JSON answer with the domain and the problem.

    If the text ``trusted`` has all parts of ``domain``, the answer contains ``trusted`` in place of ``domain``.
    """
    text = trusted if _has_parts(trusted, domain) else domain_text(domain)
    return json.dumps({"domain": text, "problem": problem_text(problem, domain.name)})


def formulations(parts: Stages, context: Context) -> tuple[tuple[Domain, Problem], ...]:
    """Return the pair (domain, problem) for the mission by each strategy, in the order of ``STRATEGIES``.

    A pair is left out if an earlier pair has the same actions, constants and objects.
    """
    distinct: dict[object, tuple[Domain, Problem]] = {}
    for strategy in STRATEGIES:
        domain, problem = formulate(parts, context, strategy)
        names = tuple(action.name for action in domain.actions)
        distinct.setdefault((names, domain.constants, problem.objects), (domain, problem))
    return tuple(distinct.values())


def _read_mission(mission: str) -> Stages:
    """Return the stages of a mission.

    Raises:
        BadAnswerError: the mission is empty or not in the grammar.
    """
    try:
        parts = stages(parse(mission))
    except MissionError as error:
        raise BadAnswerError(f"the reference planner: {error}") from error
    if not parts:
        raise BadAnswerError("the reference planner: the mission is empty, so there is nothing to plan for")
    return parts


def _answer_with_writer(snapshot: Mapping[str, Any], level: Mapping[str, Any], messages: Sequence[Message]) -> str:
    """Return the JSON answer with a problem writer.

    Return "" if the prompt asks for no writer, if a plan has failed, or if no shipped writer can read the snapshot.
    """
    asks_for_writer = any("make_problem" in message.text for message in messages if message.role == "system")
    if not asks_for_writer or _list_failed_plans(messages):
        return ""

    writers = _find_newest_block(messages, "writers") or {}
    known_names = {str(missed.get("writer_name")) for missed in writers.get("missed", ())}
    state = {**snapshot, "level": {"category": "", **level}}
    choice = choose_writer(state, known_names)
    if choice is None:
        return ""
    writer, problem = choice
    parts = {"domain": writer.domain, "problem": problem, "writer_name": writer.name, "writer": writer.source}
    return json.dumps(parts)


def _has_parts(trusted: str, domain: Domain) -> bool:
    """Return whether the text ``trusted`` contains every part of ``domain``, ignoring differences in white space.

    Return False as well if ``trusted`` declares constants and ``domain`` has none.
    """
    trusted_words = " ".join(trusted.split())
    if "(:constants" in trusted_words and not domain.constants:
        return False
    forms = (f"(define (domain {domain.name})", *domain_forms(domain))
    return all(" ".join(form.split()) in trusted_words for form in forms)


def _list_failed_plans(messages: Sequence[Message]) -> list[str]:
    """Return the texts of the failed plans of this level, oldest first; an unknown text is ""."""
    feedback = [block for block in _iterate_blocks(messages, "feedback") if block.get("kind") == "plan_failed"]
    if not feedback:
        return []
    plans = feedback[-1].get("failed_plans")
    if not isinstance(plans, list):
        # Each block tells of one failed plan without the plan's text.
        return [""] * len(feedback)
    return [str(plan.get("plan", "")) if isinstance(plan, dict) else "" for plan in plans]


def _find_newest_block(messages: Sequence[Message], tag: str) -> dict[str, Any] | None:
    """Return the JSON object of the last ``<tag>`` block, or None if there is no such block."""
    blocks = list(_iterate_blocks(messages, tag))
    return blocks[-1] if blocks else None


def _iterate_blocks(messages: Sequence[Message], tag: str) -> Iterator[dict[str, Any]]:
    """Yield the JSON objects of the ``<tag>`` blocks in the user's messages, oldest first.

    The opening tag and the closing tag of a block each stand alone on a line.
    """
    for message in messages:
        if message.role == "user":
            for text in _iterate_block_texts(message.text.split("\n"), tag):
                yield _read_json_object(text, tag)


def _iterate_block_texts(lines: Sequence[str], tag: str) -> Iterator[str]:
    """Yield the text between each opening tag and the next closing tag."""
    start: int | None = None  # number of the first line inside the block; None outside of blocks
    for number, line in enumerate(lines):
        if line == f"<{tag}>":
            start = number + 1
        elif line == f"</{tag}>" and start is not None:
            yield "\n".join(lines[start:number])
            start = None


def _read_json_object(text: str, tag: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except ValueError as error:
        raise BadAnswerError(f"the <{tag}> block of the prompt is not JSON: {error}") from error
    if not isinstance(value, dict):
        raise BadAnswerError(f"the <{tag}> block of the prompt is not a JSON object")
    return value
