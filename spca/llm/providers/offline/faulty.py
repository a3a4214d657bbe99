"""``faulty/planner`` and ``faulty/coder``: the reference model with faults injected on a fixed schedule.

Every way in which a model is known to go wrong is on the schedules, so that a run with these models exercises every
repair path of the loop. The schedules count conversations, not time: the same calls get the same faults.

``faulty/stubborn/coder`` never learns instead: what it gets wrong it gets wrong whenever it is asked, so that some
levels fail for good and others do not.

``faulty/KIND/planner`` and ``faulty/KIND/coder`` never give a usable answer; :data:`UNUSABLE` lists the kinds.
"""

from __future__ import annotations

import ast
import hashlib
import itertools
import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Final

from spca.llm.providers.base import Finish, Request, Response, Target
from spca.llm.providers.offline.reference import NO_TOKENS, ReferenceProvider

PLANNER_SCHEDULE: Final = ("broken_json", "none", "unparsable_pddl", "unsolvable", "none", "wrong_action_name")
"""Fault of the first answer of each planner conversation, over and over."""

WRITER_SCHEDULE: Final = (
    "lost_fact",
    "none",
    "crash",
    "endless",
    "constant",
    "none",
    "other_goal",
    "none",
    "careless",
    "no_text",
    "forbidden",
    "too_long",
    "nondeterministic",
)
"""Fault of the problem writer of each planner conversation that has one, over and over.

``other_goal`` writes the goal of the level that it came with, whatever is asked for. ``careless`` overlooks what lies
on the map, and that "after you" turns an order round: it is accepted where neither matters, and fails where one does.
"""

CODER_SCHEDULE: Final = (
    "syntax_error",
    *("wrong_outcome",) * 7,  # outlasts the retries of one plan, so that a new plan is asked for
    "none",
    "objection",
    "crash",
    "endless",
    "hang",
    "wrong_signature",
    "forbidden",
    "none",
)
"""Fault of the first answer of each coder conversation, over and over."""

STUBBORN_FAULTS: Final = ("crash", "endless", "wrong_outcome")
"""Faults of ``stubborn/coder``; one action in :data:`STUBBORN_ODDS` has one, chosen by its name."""
STUBBORN_ODDS: Final = 3

_UNSOLVABLE: Final = {
    "domain": "(define (domain d) (:requirements :strips) (:predicates (p) (q)) "
    "(:action act :parameters () :precondition (p) :effect (q)))",
    "problem": "(define (problem x) (:domain d) (:init) (:goal (q)))",
}


_PROSE: Final = "I am sorry, but I cannot help with that. Is there anything else that you would like to know?"
_CUT_OFF_AT: Final = 120

UNUSABLE: Final[Mapping[str, Callable[[str, int], str]]] = {
    "prose": lambda _good, _number: _PROSE,
    "rambling": lambda _good, number: (
        f"On reflection, my thought number {number} is that this can be done in many ways."
    ),
    "broken-json": lambda _good, _number: json.dumps(_UNSOLVABLE)[:_CUT_OFF_AT],
    "same-pddl": lambda _good, _number: json.dumps(_UNSOLVABLE),
    "empty": lambda _good, _number: "",
    "cut-off": lambda good, _number: good[:_CUT_OFF_AT],
}
"""Kinds of models that never answer usably -> their answer, from the good one and its number among their answers.

What is ``cut-off`` ends at the limit on its length, too.
"""


class FaultyProvider:
    """Wraps the reference model; a repair answer has a fault of its own after every third faulty first answer."""

    models: Final = (
        *ReferenceProvider.models,
        "stubborn/coder",
        *(f"{kind}/{role}" for kind in UNUSABLE for role in ReferenceProvider.models),
    )

    def __init__(self, _target: Target | None = None) -> None:
        self._reference = ReferenceProvider()
        self._schedules: Mapping[str, Iterator[str]] = {
            "planner": itertools.cycle(PLANNER_SCHEDULE),
            "coder": itertools.cycle(CODER_SCHEDULE),
            "writer": itertools.cycle(WRITER_SCHEDULE),
        }
        self._faulty = 0
        self._again = False
        self._of_writer = "none"
        self._unusable = 0

    def complete(self, request: Request) -> Response:
        kind, _, role = request.model.rpartition("/")
        is_of_a_kind = kind == "stubborn" or kind in UNUSABLE
        good = self._reference.complete(replace(request, model=role) if is_of_a_kind else request)
        if kind in UNUSABLE:
            self._unusable += 1
            return unusable_answer(kind, good.text, self._unusable)
        if request.model == "stubborn/coder":
            return Response(_replace_bodies(good.text, _stubborn_body), NO_TOKENS)
        if request.model == "planner":
            good = Response(self._spoil_writer(good.text, request), NO_TOKENS)
        fault = self._next_fault(request)
        if fault == "none":
            return good
        change = (_PLANNER_FAULTS if request.model == "planner" else _CODER_FAULTS)[fault]
        return Response(change(good.text, f"{self._faulty}"), NO_TOKENS)

    def _spoil_writer(self, text: str, request: Request) -> str:
        """The answer with the fault of its conversation in its writer; a repair has it too."""
        answer = json.loads(text)
        if not answer.get("writer"):
            return text
        if _is_opening(request):
            self._of_writer = next(self._schedules["writer"])
        return json.dumps(answer | {"writer": _faulty_writer(answer["writer"], self._of_writer, answer["problem"])})

    def _next_fault(self, request: Request) -> str:
        if not _is_opening(request):
            again = self._again
            self._again = False
            if not again:
                return "none"
            return "unparsable_pddl" if request.model == "planner" else "syntax_error"
        fault = next(self._schedules[request.model])
        if fault != "none":
            self._faulty += 1
            self._again = self._faulty % 3 == 0
        return fault


def unusable_answer(kind: str, good: str, number: int) -> Response:
    """Return the answer of a model that never answers usably.

    Args:
        kind: one of :data:`UNUSABLE`.
        good: what the reference model answers.
        number: of the answer, counted from 1.
    """
    finish = Finish.LENGTH if kind == "cut-off" else Finish.STOP
    return Response(UNUSABLE[kind](good, number), NO_TOKENS, finish)


def _is_opening(request: Request) -> bool:
    return all(message.role != "assistant" for message in request.messages)


def _break_pddl(text: str, _tag: str) -> str:
    answer = json.loads(text)
    return json.dumps(answer | {"problem": answer["problem"].rstrip()[:-1]})


def _reserve_name(text: str, _tag: str) -> str:
    answer = json.loads(text)
    return json.dumps(answer | {"domain": re.sub(r"\(:action\s+\S+", "(:action drop", answer["domain"], count=1)})


def _faulty_writer(source: str, fault: str, problem: str) -> str:
    """A writer with a fault: one that calls the good one and spoils what it returns."""
    if fault == "none":
        return source
    goal = problem[problem.index("(:goal") :]
    body = _WRITERS[fault].replace("PROBLEM", repr(problem)).replace("GOAL", repr(goal))
    good = source.replace("def make_problem(", "def written(").rstrip()
    lines = ["import re" * ("import re" not in good), good, "", "", "def make_problem(snapshot):"]
    return "\n".join([*lines, *(f"    {line}" for line in body.split("\n")), ""])


def _break_syntax(text: str, _tag: str) -> str:
    return re.sub(r"^(def .*):$", r"\1", text, count=1, flags=re.MULTILINE)


def _extra_parameter(text: str, _tag: str) -> str:
    def change(function: ast.FunctionDef) -> None:
        function.args.args.append(ast.arg("surplus"))

    return _change_actions(text, change)


def _replace_bodies(text: str, body_of: Callable[[str], str]) -> str:
    """Return code whose public functions consist of other statements, by their names; "" for their own."""

    def change(function: ast.FunctionDef) -> None:
        function.body = ast.parse(body_of(function.name)).body or function.body

    return _change_actions(text, change)


def _set_bodies(body: str, text: str, tag: str) -> str:
    return _replace_bodies(text, lambda _name: body.replace("TAG", tag))


def _stubborn_body(name: str) -> str:
    number = int(hashlib.sha256(name.encode()).hexdigest()[:8], 16)
    if number % STUBBORN_ODDS:
        return ""
    fault = STUBBORN_FAULTS[number // STUBBORN_ODDS % len(STUBBORN_FAULTS)]
    return _BODIES[fault].replace("TAG", name)


def _change_actions(text: str, change: Callable[[ast.FunctionDef], None]) -> str:
    module = ast.parse(text)
    for node in module.body:
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
            change(node)
    return ast.unparse(ast.fix_missing_locations(module))


_BODIES: Final = {
    "crash": "yield 0\nraise ValueError('injected fault TAG')",
    "endless": "while True:\n    yield 0",
    "hang": "yield 0\nwhile True:\n    fault = 'TAG'",
    "forbidden": "import os\nyield len(os.listdir('/TAG'))",
    "wrong_outcome": "fault = 'TAG'\nyield 0",
}
_WRITERS: Final = {
    "lost_fact": r"return re.sub(r'(:init|:goal \(and) \([^()]*\)', r'\1', written(snapshot), count=1)",
    "crash": "return written(snapshot)[len(snapshot)]['goal']",
    "endless": "while True:\n    written(snapshot)",
    "constant": "return PROBLEM",
    "other_goal": "return re.sub(r'\\(:goal.*', lambda _: GOAL, written(snapshot), flags=re.DOTALL)",
    "careless": "order = snapshot['mission'].replace(' after you ', ', then ')\n"
    "return written({**snapshot, 'mission': order, 'known_objects': {}})",
    "no_text": "return [written(snapshot)]",
    "forbidden": "import os\nreturn os.linesep.join([written(snapshot)])",
    "too_long": "\n".join(["return written(snapshot)"] * 130),
    "nondeterministic": "return f'{written(snapshot)}; {written}'",
}
_PLANNER_FAULTS: Final[Mapping[str, Callable[[str, str], str]]] = {
    "broken_json": lambda text, _tag: text[: len(text) // 2],
    "unparsable_pddl": _break_pddl,
    "unsolvable": lambda _text, _tag: json.dumps(_UNSOLVABLE),
    "wrong_action_name": _reserve_name,
}
_CODER_FAULTS: Final[Mapping[str, Callable[[str, str], str]]] = {
    "syntax_error": _break_syntax,
    "wrong_signature": _extra_parameter,
    "objection": lambda _text, tag: f"PLAN: it does not lead to the goal ({tag})",
    **{name: partial(_set_bodies, code) for name, code in _BODIES.items()},
}
