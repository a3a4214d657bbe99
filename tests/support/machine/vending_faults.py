"""A plugin for tests: a scripted model that learns the vending machine, and makes each kind of fault on the way.

A category of :data:`CURRICULUM` has one kind of fault. What the model answers follows from the question alone, so that
a run that was killed goes on as if it had not been.
"""

from __future__ import annotations

import json
import re
from typing import Any, Final

from spca import Response

MACHINE: Final = "MyLab/Vending-v0"

_CATEGORIES: Final = (
    ("plan_faults", "buy what is asked for", [{"id": MACHINE, "seeds": "1:4"}]),
    ("code_faults", "serve a drink", [{"id": MACHINE, "seeds": "4:6"}]),
    ("plan_fails", "choose and pay", [{"id": MACHINE, "seeds": "6:8"}]),
    ("lost_lives", "spend with care", [{"id": MACHINE, "seeds": "8:10"}]),
    ("two_drinks", "buy more than one", [{"id": MACHINE, "kwargs": {"slots": 5, "wanted": 2}, "seeds": "10:13"}]),
    (
        "half_missions",
        "buy something",
        [{"id": MACHINE, "seeds": "20:22"}, {"id": MACHINE, "kwargs": {"wanted": 2}, "seed": 22}],
    ),
    ("rewrites", "sell again", [{"id": MACHINE, "kwargs": {"slots": 5}, "seeds": "14:17"}]),
)

CURRICULUM: Final = {
    "world": "vending",
    "categories": [
        {"category_name": name, "skill": skill, "levels": [{"name": "all", "configs": configs}]}
        for name, skill, configs in _CATEGORIES
    ],
}

WRITER: Final = """import re


def make_problem(snapshot):
    if snapshot["level"]["category"] not in CATEGORIES:
        raise ValueError("this writer knows other levels")
    match = re.fullmatch("buy ((?:a [a-z]+)(?: and a [a-z]+)*)", snapshot["mission"])
    if match is None:
        raise ValueError("this mission buys no drinks")
    drinks = re.findall("a ([a-z]+)", match[1])
    if len(drinks) > MOST:
        raise ValueError("too many drinks")
    goals = " ".join(f"(bought {drink})" for drink in drinks)
    objects = " ".join(drinks)
    return f"(define (problem task) (:domain vending) (:objects {objects} - drink) (:init) (:goal (and {goals})))"
"""

GOOD: Final = '''def ACTION(self, drink):
    """Select the slot of a drink, pay for it and pull the lever."""
    for _ in range(len(self.labels)):
        if self.labels[self.selected] == drink:
            break
        yield self.next_slot()
    while self.credit < self.price:
        if self.price - self.credit >= 10:
            yield self.insert_dime()
        else:
            yield self.insert_penny()
    yield self.pull_lever()
'''

SHORT: Final = GOOD.replace("len(self.labels)", "3")
"""Does not reach the fifth slot, and buys what it finds."""
CRASHING: Final = GOOD.replace("    while", "    print('paying', self.price)\n    drink.price\n    while")
STUCK: Final = 'def ACTION(self, drink):\n    """Look around."""\n    while True:\n        yield self.next_slot()\n'
WRONG: Final = 'def ACTION(self, drink):\n    """Wait."""\n    yield self.insert_penny()\n'
CARELESS: Final = GOOD.replace("== drink", "!= drink")
NARROW: Final = GOOD.replace("range(len(self.labels))", "range(4)").replace(
    "        if", "        yield self.next_slot()\n        if"
)
"""Mends the fifth slot and forgets the first."""

_BLOCK: Final = re.compile(r"^<(\w+)>\n(.*?)\n</\1>$", re.DOTALL | re.MULTILINE)


class FaultyModel:
    """A provider whose answers are faulty until the faults have been told."""

    def complete(self, request: Any) -> Response:
        """Return the answer to a question, or the next correction of an answer."""
        question = request.messages[1].text
        blocks = dict(_BLOCK.findall(question))
        answers = _list_code(blocks) if request.phase == "coder" else _list_plans(blocks)
        said = [message.text for message in request.messages if message.role == "assistant"]
        number = answers.index(said[-1]) + 1 if said else 0
        return Response(answers[min(number, len(answers) - 1)])


def _list_plans(blocks: dict[str, str]) -> list[str]:
    """Return the answers to a planner's question, the last of which is the best."""
    drinks = re.findall(r"a ([a-z]+)", json.loads(blocks["snapshot"])["mission"])
    category = json.loads(blocks["level"])["category"]
    failed = len(json.loads(blocks["feedback"])["failed_plans"]) if "feedback" in blocks else 0
    reserved = _plan("pull_lever", drinks)
    unknown = _plan("buy_drink", drinks, goal="mug")
    answers = {
        "plan_faults": _plan("buy_drink", drinks, _writer(category), "buy_drinks"),
        "code_faults": _plan("serve_drink", drinks),
        "plan_fails": _plan(("look_around", "wait_here", "choose_drink")[min(failed, 2)], drinks),
        "lost_lives": _plan("spend_coins", drinks),
        "two_drinks": _plan("buy_drink", drinks, _writer("plan_faults", category, most=2), "buy_drinks"),
        "half_missions": _plan("buy_drink", drinks, _write_half(category), "buy_first"),
        "rewrites": _plan("sell_drink", drinks),
    }
    best = answers[category]
    if category == "plan_faults":
        return [best.replace("(:action", "(:act"), reserved, unknown, "I cannot say.", best]
    if category == "two_drinks" and "trusted_pddl" not in blocks:
        return [_plan("buy_drink", drinks, _write_constant(category, drinks), "buy_these")]
    return [best]


def _write_half(category: str) -> str:
    """Return a writer that forgets the second drink."""
    return _writer(category, most=2).replace("in drinks)", "in drinks[:1])")


def _write_constant(category: str, drinks: list[str]) -> str:
    """Return a writer that knows the drinks of its own level only."""
    goals = " ".join(f"(bought {drink})" for drink in drinks)
    return re.sub("goals = .*", f"goals = {goals!r}", _writer(category, most=2))


def _list_code(blocks: dict[str, str]) -> list[str]:
    """Return the answers to a coder's question, the last of which is the best."""
    task = json.loads(blocks["task"])
    (action, *_) = task["actions"]
    error = blocks.get("error", "")
    answers: list[str]
    match action:
        case "serve_drink" if not error:
            signature = GOOD.replace("(self, drink)", "(self, drink, mug)")
            imports = GOOD.replace("    for", "    import os\n    for")
            assigns = GOOD.replace("    for", "    self.credit = 99\n    for")
            answers = ["Here you are.", "def (", signature, imports, assigns, CRASHING]
        case "serve_drink":
            answers = [STUCK] if "runtime_error" in error else [GOOD.replace("def ACTION", "def pull_lever"), GOOD]
        case "look_around" | "wait_here":
            answers = ["PLAN: no step buys the drink."] if error and action == "look_around" else [WRONG]
        case "spend_coins":
            answers = [GOOD] if error else [CARELESS]
        case "sell_drink" if error:
            answers = [NARROW, GOOD]
        case "sell_drink":
            answers = [SHORT]
        case _:
            answers = [GOOD]
    return [text.replace("ACTION", action) for text in answers]


def _plan(action: str, drinks: list[str], writer: str = "", name: str = "", goal: str = "") -> str:
    domain = (
        "(define (domain vending) (:requirements :strips :typing) (:types drink) (:predicates (bought ?d - drink))"
        f" (:action {action} :parameters (?drink - drink) :effect (bought ?drink)))"
    )
    goals = " ".join(f"(bought {drink})" for drink in [goal] * bool(goal) or drinks)
    objects = " ".join(drinks)
    problem = f"(define (problem task) (:domain vending) (:objects {objects} - drink) (:init) (:goal (and {goals})))"
    return json.dumps({"domain": domain, "problem": problem, "writer_name": name, "writer": writer})


def _writer(*categories: str, most: int = 1) -> str:
    return WRITER.replace("CATEGORIES", repr(categories)).replace("MOST", str(most))


def register(registry: Any) -> None:
    """Register the provider ``vending-faults``."""
    registry.provider("vending-faults", lambda _target: FaultyModel())
