"""One attempt to solve a domain and problem with Unified Planning: read, choose an engine, solve, validate.

Importing this module imports Unified Planning, which takes seconds; therefore only the solver's process imports it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from copy import copy
from functools import cache
from typing import Any

from unified_planning.engines import PlanGenerationResultStatus, ValidationResultStatus
from unified_planning.environment import get_environment
from unified_planning.io import PDDLReader
from unified_planning.model import Problem, ProblemKind
from unified_planning.plans import SequentialPlan

from spca.common.plugins.sources import PluginSource
from spca.contracts import SolveStatus
from spca.plan.diagnosis import why_unsolvable
from spca.plan.engines import ENGINES, OWN, AddedEngine, available_engines
from spca.plan.reading import parse_plain

Report = Callable[[Mapping[str, object]], None]
"""Function that receives the reports of :func:`attempt`, as mappings that JSON can represent."""

_FIRST_DOMAIN = """(define (domain d) (:requirements :strips :typing) (:types t) (:predicates (p ?x - t) (q ?x - t))
  (:action a :parameters (?x - t) :precondition (and (p ?x)) :effect (and (q ?x) (not (p ?x)))))"""
_FIRST_PROBLEM = "(define (problem p) (:domain d) (:objects o - t) (:init (p o)) (:goal (and (q o))))"
_MAX_MESSAGE = 1000
_LOCATION = re.compile(r"line: (\d+), col:? (\d+)")
_PARSER_DETAILS = re.compile(
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
    PlanGenerationResultStatus.UNSOLVABLE_PROVEN: SolveStatus.UNSOLVABLE,
    PlanGenerationResultStatus.UNSOLVABLE_INCOMPLETELY: SolveStatus.UNSOLVABLE,
    PlanGenerationResultStatus.TIMEOUT: SolveStatus.TIMEOUT,
}


class UnreadableError(Exception):
    """Unified Planning cannot read the text; ``str(error)`` says where and why."""


def attempt(domain: str, problem: str, engines: Sequence[str], report: Report) -> None:
    """Solve the problem with the first engine in ``engines`` that supports it, and pass the outcome to ``report``.

    Args:
        engines: engine names of Unified Planning, in order of preference.
        report: called with ``{"solving", "left"}`` when the search begins: the engine, and how many further engines
            support the problem. Called with ``{"status", "engine", "message", "steps", "final"}`` at the end; ``final``
            means that no other engine could give a different answer.
    """
    try:
        task = read(domain, problem)
    except UnreadableError as error:
        report(_result(SolveStatus.PARSE_ERROR, str(error), final=True))
        return
    kind = task.kind
    suitable = [name for name in engines if _engine_class(name).supports(kind)]
    if not suitable:
        report(_result(SolveStatus.ENGINE_ERROR, _explain_unsupported(task, engines), final=True))
        return
    report({"solving": suitable[0], "left": len(suitable) - 1})
    report(_solve(task, suitable[0]))


def read(domain: str, problem: str) -> Problem:
    """Return the problem that both texts describe.

    Raises:
        UnreadableError: a text cannot be read; the message is the parser's, with line and column if the parser gives
            them.
    """
    try:
        return _KnownKind.remember_kind(_parse_problem(domain, problem))
    except Exception as error:  # boundary: the reader raises errors of any type
        which, text = ("problem", problem) if _reads_alone(domain) else ("domain", domain)
        raise UnreadableError(_explain(error, which, text)) from error


def _parse_problem(domain: str, problem: str) -> Problem:
    with suppress(Exception):  # boundary: after any error the grammar reads again, with better messages
        return parse_plain(_first_reader(), domain, problem)
    return _reader().parse_problem_string(domain, problem)


class _KnownKind(Problem):  # type: ignore[misc]  # Unified Planning has no types
    """A complete problem whose :attr:`kind` is cached; the base class computes it on every access."""

    @classmethod
    def remember_kind(cls, task: Problem) -> Problem:
        """Turn ``task`` into an instance of this class, and return it.

        An instance of another subclass of ``Problem`` stays unchanged.
        """
        if type(task) is Problem:
            known = task.kind
            task.__class__ = cls
            task._kind_found = known
        return task

    @property
    def kind(self) -> ProblemKind:
        return self._kind_found.clone()


def prepare() -> None:
    """Prepare what every attempt needs: build the grammar, load the engines, solve a first problem with each engine.

    Fast Downward is left out, because it runs in separate processes and gains nothing.
    """
    get_environment().credits_stream = None
    for name in _list_in_process_engines():
        attempt(_FIRST_DOMAIN, _FIRST_PROBLEM, [name], lambda _: None)


def add_engine(engine: AddedEngine) -> None:
    """Import the plugin of an engine, and make the engine known under its name.

    Raises:
        PluginError: the plugin cannot be imported, or Unified Planning does not know its engine.
    """
    source = PluginSource(engine.given, engine.module)
    source.import_plugin()
    try:
        module, _, name = engine.unified_planning_name.partition(":")
        if not name:
            known = _factory().engine(module)
            module = known.__module__
            name = known.__name__
        _factory().add_engine(engine.name, module, name)
    except Exception as error:  # boundary: the factory raises errors of any type
        raise source.make_error(f"registers the engine {engine.name}, which cannot be used", error) from error


def rehearse() -> None:
    """Solve a tiny problem in a forked process that waits for its request.

    Each memory page is copied on its first use; the tiny problem causes these copies in advance.
    """
    attempt(_FIRST_DOMAIN, _FIRST_PROBLEM, _list_in_process_engines()[:1], lambda _: None)


def _list_in_process_engines() -> list[str]:
    installed = available_engines()
    return [name for name in ENGINES if name in installed and not name.startswith("fast-downward")]


def _reader() -> PDDLReader:
    """Return a new reader with a state of its own; all readers share the grammar, because it is slow to build."""
    return copy(_first_reader())


@cache
def _first_reader() -> PDDLReader:
    return PDDLReader()


def _reads_alone(domain: str) -> bool:
    """Return whether Unified Planning can read the domain without a problem."""
    try:
        _reader().parse_problem_string(domain, None)
    except Exception:  # boundary: as in read()
        return False
    return True


def _explain(error: Exception, which: str, text: str) -> str:
    """Return a reader's error as text: its place, its cleaned message, and, if known, a hint and the faulty line.

    ``which`` is the name of the ``text`` ("domain" or "problem").
    """
    message = " ".join(str(error).split())
    line = getattr(error, "lineno", None)
    column = getattr(error, "column", None)
    if place := _LOCATION.search(message):
        line = int(place[1])
        column = int(place[2])
    if isinstance(error, KeyError):
        message = f"{message} is not declared"
    elif isinstance(error, RecursionError):
        message = "it is nested too deeply"
    message = _NESTED.sub(r"\2", _PARSER_DETAILS.sub("", message))[:_MAX_MESSAGE]

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


def _explain_unsupported(task: Problem, engines: Iterable[str]) -> str:
    """Return a message with the features of the problem that an engine does not support.

    The message is about the engine that lacks the fewest features.
    """
    needed = set(task.kind.features)
    missing = [needed - set(_engine_class(name).supported_kind().features) for name in engines]
    if not missing:
        return "no engine is left to try"
    fewest = min(missing, key=len)
    features = ", ".join(sorted(feature.lower().replace("_", " ") for feature in fewest))
    return f"no engine in use supports this kind of problem; write the domain without: {features or 'its features'}"


def _solve(task: Problem, engine: str) -> Mapping[str, object]:
    """Let an engine solve the problem; return the final report, see :func:`attempt`."""
    try:
        with _factory().OneshotPlanner(name=engine) as planner:
            answer = planner.solve(task)
    except MemoryError:
        return _result(SolveStatus.ENGINE_ERROR, f"{engine} ran out of memory", engine)
    except Exception as error:  # boundary: engines raise exceptions of any type
        return _result(SolveStatus.ENGINE_ERROR, f"{engine} failed: {_one_line(error)}", engine)
    if answer.plan is not None:
        return _validate(task, answer.plan, engine)
    status = _FAILURES.get(answer.status, SolveStatus.ENGINE_ERROR)
    if status is SolveStatus.UNSOLVABLE:
        message = f"no plan exists: the goal cannot be reached. {why_unsolvable(task)}".strip()
        return _result(status, message, engine)
    reason = answer.status.name.lower().replace("_", " ")
    return _result(status, f"{engine} found no plan: {reason}", engine)


def _validate(task: Problem, plan: Any, engine: str) -> Mapping[str, object]:
    """Return a result with the plan if independent validators accept it.

    Otherwise return a result that says why the plan was refused.
    """
    if not isinstance(plan, SequentialPlan):
        return _result(SolveStatus.ENGINE_ERROR, "actions must take no time; write no durative actions", final=True)
    fault = _validation_fault(task, plan)
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


def _validation_fault(task: Problem, plan: SequentialPlan) -> str | None:
    """Return why a validator refuses the plan; None if every validator accepts it."""
    factory = get_environment().factory
    with factory.PlanValidator(name="sequential_plan_validator") as validator:
        checked = validator.validate(task, plan)
    if checked.status is not ValidationResultStatus.VALID:
        return " ".join(log.message for log in checked.log_messages or []) or "the validator refuses it"
    if "tamer" in available_engines() and _engine_class("tamer").supports(task.kind):
        try:
            with factory.PlanValidator(name="tamer") as validator:
                refused = validator.validate(task, plan).status is ValidationResultStatus.INVALID
        except Exception:  # boundary: an error in the second validator is no refusal
            refused = False
        if refused:
            return "tamer's validator refuses it"
    return None


def _one_line(error: Exception) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())[:300]


def _result(status: SolveStatus, message: str, engine: str = "", *, final: bool = False) -> Mapping[str, object]:
    return {"status": status.value, "message": message, "engine": engine, "final": final, "steps": []}
