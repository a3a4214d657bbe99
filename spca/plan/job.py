"""One attempt at a domain and problem with Unified Planning: read, choose an engine, solve, validate.

Importing this module imports Unified Planning, which takes seconds; only the solver's process does so.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from copy import copy
from functools import cache
from typing import Any

from unified_planning.engines import PlanGenerationResultStatus as Found
from unified_planning.engines import ValidationResultStatus as Verdict
from unified_planning.environment import get_environment
from unified_planning.io import PDDLReader
from unified_planning.model import Problem, ProblemKind
from unified_planning.plans import SequentialPlan

from spca.contracts import SolveStatus
from spca.plan.diagnosis import why_unsolvable
from spca.plan.engines import OWN, available_engines
from spca.plan.reading import parse_plain

Report = Callable[[Mapping[str, object]], None]
"""Receives what :func:`attempt` finds out, as JSON-able mappings."""

_FIRST_DOMAIN = """(define (domain d) (:requirements :strips :typing) (:types t) (:predicates (p ?x - t) (q ?x - t))
  (:action a :parameters (?x - t) :precondition (and (p ?x)) :effect (and (q ?x) (not (p ?x)))))"""
_FIRST_PROBLEM = "(define (problem p) (:domain d) (:objects o - t) (:init (p o)) (:goal (and (q o))))"
_MAX_MESSAGE = 1000
_PLACE = re.compile(r"line: (\d+), col:? (\d+)")
_ASIDE = re.compile(
    r"\s*(\(at char|(Error )?(in expression )?(found at|from) line:|Different elements).*", re.IGNORECASE
)
_NESTED = re.compile(r"UP\w+\((['\"])(.*)\1\)")
_HINTS = {
    "Not able to handle": "is it a declared predicate?",
    "Found invalid expression": "is it a declared object or constant?",
    "is not well-formed": "the types of the arguments do not fit the declaration",
    "already defined": "types, objects, predicates and actions must all have different names",
    "(:requirements": "is every requirement flag spelled right?",
}
_FAILURES = {
    Found.UNSOLVABLE_PROVEN: SolveStatus.UNSOLVABLE,
    Found.UNSOLVABLE_INCOMPLETELY: SolveStatus.UNSOLVABLE,
    Found.TIMEOUT: SolveStatus.TIMEOUT,
}


class UnreadableError(Exception):
    """The text is not PDDL that Unified Planning reads; ``str(error)`` says where and why."""


def attempt(domain: str, problem: str, engines: Sequence[str], report: Report) -> None:
    """Try the first of some engines that suits the problem.

    Args:
        engines: names that Unified Planning knows, in order of preference.
        report: called with ``{"solving", "left"}`` when the search begins and with ``{"status", "engine", "message",
            "steps", "final"}`` at the end; ``final`` means that no other engine could answer otherwise.
    """
    try:
        task = read(domain, problem)
    except UnreadableError as error:
        report(_result(SolveStatus.PARSE_ERROR, str(error), final=True))
        return
    kind = task.kind
    suitable = [name for name in engines if _engine_class(name).supports(kind)]
    if not suitable:
        report(_result(SolveStatus.ENGINE_ERROR, _find_unsupported(task, engines), final=True))
        return
    report({"solving": suitable[0], "left": len(suitable) - 1})
    report(_solve(task, suitable[0]))


def read(domain: str, problem: str) -> Problem:
    """Parse both texts.

    Raises:
        UnreadableError: with the parser's message, and line and column where it tells.
    """
    try:
        return _KnownKind.remember_kind(_parse_problem(domain, problem))
    except Exception as error:  # boundary: the reader raises anything from SyntaxError to KeyError and AssertionError
        in_domain = not _reads_alone(domain)
        raise UnreadableError(_explain(error, *(("domain", domain) if in_domain else ("problem", problem)))) from error


def _parse_problem(domain: str, problem: str) -> Problem:
    with suppress(Exception):  # boundary: what the reader refuses, the grammar refuses with a better message
        return parse_plain(_first_reader(), domain, problem)
    return _reader().parse_problem_string(domain, problem)


class _KnownKind(Problem):  # type: ignore[misc]  # Unified Planning has no types
    """A problem that is complete: what kind it is of, which everyone asks, is found out once."""

    @classmethod
    def remember_kind(cls, task: Problem) -> Problem:
        if type(task) is Problem:
            known = task.kind
            task.__class__ = cls
            task._kind_found = known
        return task

    @property
    def kind(self) -> ProblemKind:
        return self._kind_found.clone()


def prepare() -> None:
    """Do once what every attempt needs: build the grammar, load the engines, solve a first problem with each.

    Fast Downward gains nothing from it: it runs in processes of its own.
    """
    get_environment().credits_stream = None
    for name in _list_in_process_engines():
        attempt(_FIRST_DOMAIN, _FIRST_PROBLEM, [name], lambda _: None)


def rehearse() -> None:
    """Touch in a forked process, while it waits, what an attempt needs: memory is copied when it is first touched."""
    attempt(_FIRST_DOMAIN, _FIRST_PROBLEM, _list_in_process_engines()[:1], lambda _: None)


def _list_in_process_engines() -> list[str]:
    return [name for name in available_engines() if not name.startswith("fast-downward")]


def _reader() -> PDDLReader:
    """Return a reader that shares the grammar, which is slow to build, but not what a reader keeps of its texts."""
    return copy(_first_reader())


@cache
def _first_reader() -> PDDLReader:
    return PDDLReader()


def _reads_alone(domain: str) -> bool:
    try:
        _reader().parse_problem_string(domain, None)
    except Exception:  # boundary: as in read()
        return False
    return True


def _explain(error: Exception, which: str, text: str) -> str:
    message = " ".join(str(error).split())
    line = getattr(error, "lineno", None)
    column = getattr(error, "column", None)
    if place := _PLACE.search(message):
        line = int(place[1])
        column = int(place[2])
    if isinstance(error, KeyError):
        message = f"{message} is not declared"
    elif isinstance(error, RecursionError):
        message = "it is nested too deeply"
    message = _NESTED.sub(r"\2", _ASIDE.sub("", message))[:_MAX_MESSAGE]

    lines = text.split("\n")
    shown = ""
    if line and line <= len(lines):
        shown = lines[line - 1].strip()[:200]
    hints = [hint for cause, hint in _HINTS.items() if cause in message or cause in shown]

    where = f"{which}, line {line}, column {column}" if line else which
    explanation = f"{where}: {message or type(error).__name__}"
    if hints:
        explanation += f" ({hints[0]})"
    if shown:
        explanation += f"\n    {shown}"
    return explanation


@cache
def _factory() -> Any:
    factory = get_environment().factory
    if OWN in available_engines():
        factory.add_engine(OWN, "spca.plan.grounding", "GroundingPlanner")
    return factory


def _engine_class(name: str) -> Any:
    return _factory().engine(name)


def _find_unsupported(task: Problem, engines: Iterable[str]) -> str:
    """Return what the most capable engine lacks for this problem."""
    needed = set(task.kind.features)
    missing = [needed - set(_engine_class(name).supported_kind().features) for name in engines]
    if not missing:
        return "no engine is left to try"
    fewest = min(missing, key=len)
    features = ", ".join(sorted(feature.lower().replace("_", " ") for feature in fewest))
    return f"no engine in use supports this kind of problem; write the domain without: {features or 'its features'}"


def _solve(task: Problem, engine: str) -> Mapping[str, object]:
    try:
        with _factory().OneshotPlanner(name=engine) as planner:
            answer = planner.solve(task)
    except MemoryError:
        return _result(SolveStatus.ENGINE_ERROR, f"{engine} ran out of memory", engine)
    except Exception as error:  # boundary: engines raise exceptions of their own making
        return _result(SolveStatus.ENGINE_ERROR, f"{engine} failed: {_one_line(error)}", engine)
    if answer.plan is not None:
        return _validate(task, answer.plan, engine)
    status = _FAILURES.get(answer.status, SolveStatus.ENGINE_ERROR)
    if status is SolveStatus.UNSOLVABLE:
        return _result(status, f"no plan exists: the goal cannot be reached. {why_unsolvable(task)}".strip(), engine)
    reason = answer.status.name.lower().replace("_", " ")
    return _result(status, f"{engine} found no plan: {reason}", engine)


def _validate(task: Problem, plan: Any, engine: str) -> Mapping[str, object]:
    """Return the plan as a result, if validators that did not make it agree that it reaches the goal."""
    if not isinstance(plan, SequentialPlan):
        return _result(SolveStatus.ENGINE_ERROR, "actions must take no time; write no durative actions", final=True)
    fault = _fault(task, plan)
    if not plan.actions and fault is None:
        message = (
            "the goal already holds in the initial state, so no action is needed; :goal must say what is still to do"
        )
        return _result(SolveStatus.EMPTY_PLAN, message, engine, final=True)
    if not plan.actions:
        return _result(
            SolveStatus.EMPTY_PLAN, f"{engine} returned an empty plan, but the goal does not hold yet", engine
        )
    if fault is not None:
        return _result(SolveStatus.INVALID_PLAN, f"{engine} returned a plan that is not valid: {fault}", engine)

    steps: list[list[object]] = []
    for step in plan.actions:
        arguments = [arg.object().name for arg in step.actual_parameters]
        steps.append([step.action.name, arguments])
    return {**_result(SolveStatus.SOLVED, "", engine, final=True), "steps": steps}


def _fault(task: Problem, plan: SequentialPlan) -> str | None:
    """Return why the plan is not valid, or None."""
    factory = get_environment().factory
    with factory.PlanValidator(name="sequential_plan_validator") as validator:
        checked = validator.validate(task, plan)
    if checked.status is not Verdict.VALID:
        return " ".join(log.message for log in checked.log_messages or []) or "the validator refuses it"
    if "tamer" in available_engines() and _engine_class("tamer").supports(task.kind):
        try:
            with factory.PlanValidator(name="tamer") as validator:
                refused = validator.validate(task, plan).status is Verdict.INVALID
        except Exception:  # boundary: a second opinion that fails is no opinion
            refused = False
        if refused:
            return "tamer's validator refuses it"
    return None


def _one_line(error: Exception) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())[:300]


def _result(status: SolveStatus, message: str, engine: str = "", *, final: bool = False) -> Mapping[str, object]:
    return {"status": status.value, "message": message, "engine": engine, "final": final, "steps": []}
