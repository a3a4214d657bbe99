"""One attempt with Unified Planning, in this process: messages, choice of engines, independent validation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from unified_planning.engines import PlanGenerationResult, PlanGenerationResultStatus
from unified_planning.engines.engine import Engine
from unified_planning.engines.mixins import OneshotPlannerMixin
from unified_planning.environment import get_environment
from unified_planning.plans import SequentialPlan

from spca.plan import job
from spca.plan.engines import AUTOMATIC, ENGINES, available_engines
from tests.support.tiers import few

DOMAIN = """(define (domain Rooms)
  (:requirements :strips :typing)
  (:types agent key door)
  (:predicates (holding ?a - agent ?k - key) (opened ?d - door) (fits ?k - key ?d - door))
  (:action take :parameters (?a - agent ?k - key) :precondition (and) :effect (and (holding ?a ?k)))
  (:action unlock
    :parameters (?a - agent ?d - door ?k - key)
    :precondition (and (holding ?a ?k) (fits ?k ?d))
    :effect (and (opened ?d))))"""
PROBLEM = """(define (problem p) (:domain Rooms)
  (:objects a1 - agent key_blue - key door_blue - door)
  (:init (fits key_blue door_blue))
  (:goal (and (opened door_blue))))"""


def run(domain: str, problem: str, *engines: str) -> dict[str, Any]:
    reports: list[Mapping[str, object]] = []
    job.attempt(domain, problem, engines or tuple(AUTOMATIC), reports.append)
    return {key: value for report in reports for key, value in report.items()}


@pytest.fixture(autouse=True, scope="module")
def prepared() -> None:
    job.prepare()


@pytest.fixture(autouse=True)
def in_an_empty_folder(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # Fast Downward writes where it runs


@pytest.mark.parametrize("engine", few(3, ENGINES))
def test_every_engine_solves(engine: str) -> None:
    if engine not in available_engines():
        pytest.skip(f"{engine} is not installed")
    found = run(DOMAIN, PROBLEM, engine)
    assert (found["status"], found["engine"], found["final"]) == ("solved", engine, True)
    assert found["steps"] == [["take", ["a1", "key_blue"]], ["unlock", ["a1", "door_blue", "key_blue"]]]


@pytest.mark.parametrize(
    ("old", "new", "engine"),
    [
        ("", "", "pyperplan"),
        ("precondition (and)", "precondition (and (not (holding ?a ?k)))", "tamer"),
        ("door)\n", "door - thing thing)\n", "pyperplan"),
        ("effect (and (opened ?d))", "effect (when (fits ?k ?d) (opened ?d))", "pyperplan-adl"),
    ],
)
def test_the_fastest_suitable_engine_is_chosen(old: str, new: str, engine: str) -> None:
    if engine not in available_engines():
        pytest.skip(f"{engine} is not installed")
    found = run(DOMAIN.replace(old, new, 1), PROBLEM, *(name for name in AUTOMATIC if name in available_engines()))
    assert (found["status"], found["engine"]) == ("solved", engine)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "(opened ?d)))",
            "(opend ?d)))",
            "domain, line 9, column 18: Not able to handle: (opend ?d) (is it a declared",
        ),
        ("?d - door ?k", "?d - dor ?k", "domain, line 7, column 29: Undefined parameter's type: dor."),
        ("(fits ?k ?d))", "(fits ?z ?d))", "domain, line 8, column 46: Undefined name found: z."),
        (":strips", ":strip", "domain, line 2, column 3: Expected ')', found '(' (is every requirement flag spelled"),
        ("(:action unlock", "(:action take", "domain: Name take already defined! (types, objects, predicates and"),
        ("(opened door_blue)", "(opened door_red)", "problem, line 4, column 23: Found invalid expression: door_red."),
        ("(opened door_blue)", "(opened)", "problem, line 4, column 15: In FluentExp, fluent: opened has arity 1"),
        ("(opened door_blue)", "(opened key_blue)", "is not well-formed (the types of the arguments do not fit"),
        ("key_blue - key", "key_blue - keyy", "problem: 'keyy' is not declared"),
        ("(:goal (and (opened door_blue)))", "", "problem: Missing goal section"),
        (
            "(define (domain Rooms)",
            "(defin (domain Rooms)",
            "domain, line 1, column 2: Expected 'define', found 'defin'",
        ),
    ],
)
def test_parser_messages_say_where_and_show_the_line(old: str, new: str, message: str) -> None:
    domain, problem = DOMAIN.replace(old, new, 1), PROBLEM.replace(old, new, 1)
    found = run(domain, problem)
    assert (found["status"], found["final"]) == ("parse_error", True)
    assert message in found["message"]
    if ", line " in message:
        assert new.strip("()") in found["message"].partition("\n")[2]


def test_nesting_that_exhausts_the_parser_is_a_parse_error() -> None:
    found = run(DOMAIN, PROBLEM.replace("(opened door_blue)", "(and " * 3000 + "(opened door_blue)" + ")" * 3000))
    assert found["status"] == "parse_error"
    assert "nested too deeply" in found["message"]


@pytest.mark.parametrize("goal", ["(opened door_blue)", "(and)"])
def test_a_goal_that_holds_already_is_an_empty_plan(goal: str) -> None:
    problem = PROBLEM.replace("(:init", "(:init (opened door_blue)").replace("(and (opened door_blue))", goal)
    found = run(DOMAIN, problem)
    assert (found["status"], found["final"]) == ("empty_plan", True)
    assert "already holds" in found["message"]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("(fits key_blue door_blue)", "", "(opened ...) can only come from unlock, which needs (fits ...)"),
        ("(and (opened ?d))", "(and)", "No action has (opened ...) as an effect"),
        ("(and (holding ?a ?k)))", "(and))", "(opened ...) can only come from unlock, which needs (holding ...)"),
        ("door_blue - door", "door_blue door_red - door", None),
    ],
)
def test_an_unreachable_goal_is_explained(old: str, new: str, message: str | None) -> None:
    problem = PROBLEM.replace(old, new, 1)
    if message is None:
        problem = problem.replace("(opened door_blue)", "(opened door_red)")
    found = run(DOMAIN.replace(old, new, 1), problem)
    assert (found["status"], found["final"]) == ("unsolvable", False)
    assert (message or "cannot be reached") in found["message"]


def test_what_no_engine_supports_is_named() -> None:
    domain = DOMAIN.replace("precondition (and)", "precondition (and (not (holding ?a ?k)))")
    found = run(domain, PROBLEM, "pyperplan")
    assert (found["status"], found["final"]) == ("engine_error", True)
    assert found["message"].endswith("without: negative conditions")


def test_durative_actions_are_refused() -> None:
    domain = """(define (domain d) (:requirements :durative-actions) (:predicates (p))
      (:durative-action a :parameters () :duration (= ?duration 5) :condition (and) :effect (and (at end (p)))))"""
    found = run(domain, "(define (problem p) (:domain d) (:init) (:goal (p)))", *available_engines())
    assert (found["status"], found["final"]) == ("engine_error", True)


class _Claims(Engine, OneshotPlannerMixin):  # type: ignore[misc] # Unified Planning is not typed
    """An engine that claims success with a plan made without looking at the problem."""

    names: tuple[str, ...] = ()

    def __init__(self) -> None:
        Engine.__init__(self)
        OneshotPlannerMixin.__init__(self)

    @property
    def name(self) -> str:
        return type(self).__name__

    @staticmethod
    def supported_kind() -> Any:
        return get_environment().factory.engine("fast-downward").supported_kind()

    @staticmethod
    def supports(_kind: Any) -> bool:
        return True

    def _solve(self, problem: Any, *_: Any) -> Any:
        objects = {str(o.type): get_environment().expression_manager.ObjectExp(o) for o in problem.all_objects}
        actions = [problem.action(name) for name in self.names]
        plan = SequentialPlan([action(*(objects[str(p.type)] for p in action.parameters)) for action in actions])
        return PlanGenerationResult(PlanGenerationResultStatus.SOLVED_OPTIMALLY, plan, self.name)


class Hasty(_Claims):
    names = ("unlock", "take")


class Lazy(_Claims):
    names = ("take",)


class Idle(_Claims):
    names = ()


class Honest(_Claims):
    names = ("take", "take", "unlock")


class Broken(_Claims):
    names = ("fly",)


@pytest.mark.parametrize(
    ("engine", "status", "message"),
    [
        (Hasty, "invalid_plan", "Hasty returned a plan that is not valid: Preconditions"),
        (Lazy, "invalid_plan", "Lazy returned a plan that is not valid: Goals"),
        (Idle, "empty_plan", "the goal does not hold yet"),
        (Honest, "solved", ""),
        (Broken, "engine_error", "Broken failed: UPValueError"),
    ],
)
def test_no_engine_is_believed(engine: type[_Claims], status: str, message: str) -> None:
    get_environment().factory.add_engine(engine.__name__, __name__, engine.__name__)
    found = run(DOMAIN, PROBLEM, engine.__name__, "pyperplan")
    assert (found["status"], found["left"], found["final"]) == (status, 1, status == "solved")
    assert message in found["message"]
