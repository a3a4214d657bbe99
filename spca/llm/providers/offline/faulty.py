"""``faulty/planner`` and ``faulty/coder``: the reference model with faults injected on a fixed schedule.

The schedules contain every known way in which models fail, so that a run with these models exercises every repair path
of the loop. Each conversation gets the next fault of a schedule, so the same calls always get the same faults.

``faulty/stubborn/coder`` repeats its faults: an action with a fault gets the same fault every time. Levels that need
the action always fail.

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
"""Fault of the first answer in each successive planner conversation; after the last entry, the schedule starts again.
"""

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
"""Fault of the problem writer in each successive planner conversation with a writer; after the last entry, the schedule
starts again.

``other_goal`` always writes the goal of the level for which the writer was made. ``careless`` ignores known objects,
and ignores that "after you" reverses the order of two tasks. A careless writer is accepted in a level where neither
matters, and fails in later levels.
"""

CODER_SCHEDULE: Final = (
    "syntax_error",
    *("wrong_outcome",) * 7,  # more than the retries of one plan, so that the loop asks for a new plan
    "none",
    "objection",
    "crash",
    "endless",
    "hang",
    "wrong_signature",
    "forbidden",
    "none",
)
"""Fault of the first answer in each successive coder conversation; after the last entry, the schedule starts again."""

STUBBORN_FAULTS: Final = ("crash", "endless", "wrong_outcome")
"""Faults of ``stubborn/coder``; a hash of an action's name decides whether the action has a fault, and which fault."""
STUBBORN_ODDS: Final = 3
"""``n``, where on average one of ``n`` actions has a fault of ``stubborn/coder``."""

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
"""Kind of model -> function that makes an unusable answer from the reference answer and the answer's number.

The answer of the kind ``cut-off`` is also reported as cut off by its length.
"""


class FaultyProvider:
    """The reference model with faults.

    Of the conversations with a faulty first answer, every third one also gets a faulty answer to its first repair
    request.
    """

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
        self._faulty_answers = 0  # first answers with a fault so far
        self._spoils_next_repair = False
        self._writer_fault = "none"
        self._unusable_answers = 0

    def complete(self, request: Request) -> Response:
        """Return the reference answer, spoiled by the next fault of the schedule or by the kind of the model."""
        kind, _, role = request.model.rpartition("/")
        has_kind = kind == "stubborn" or kind in UNUSABLE
        good = self._reference.complete(replace(request, model=role) if has_kind else request)
        if kind in UNUSABLE:
            self._unusable_answers += 1
            return unusable_answer(kind, good.text, self._unusable_answers)
        if request.model == "stubborn/coder":
            return Response(_replace_bodies(good.text, _stubborn_body), NO_TOKENS)
        if request.model == "planner":
            good = Response(self._spoil_writer(good.text, request), NO_TOKENS)
        fault = self._next_fault(request)
        if fault == "none":
            return good
        spoilers = _PLANNER_FAULTS if request.model == "planner" else _CODER_FAULTS
        spoil = spoilers[fault]
        tag = str(self._faulty_answers)
        return Response(spoil(good.text, tag), NO_TOKENS)

    def _spoil_writer(self, text: str, request: Request) -> str:
        """Return a planner's answer with a fault in its writer; all answers of a conversation get the same fault."""
        answer = json.loads(text)
        if not answer.get("writer"):
            return text
        if _is_opening(request):
            self._writer_fault = next(self._schedules["writer"])
        writer = _faulty_writer(answer["writer"], self._writer_fault, answer["problem"])
        return json.dumps(answer | {"writer": writer})

    def _next_fault(self, request: Request) -> str:
        """Return the fault for the next answer, "none" for no fault.

        A request that opens a conversation advances the schedule.
        """
        if not _is_opening(request):  # the request asks for a repair
            spoils_repair = self._spoils_next_repair
            self._spoils_next_repair = False
            if not spoils_repair:
                return "none"
            return "unparsable_pddl" if request.model == "planner" else "syntax_error"
        fault = next(self._schedules[request.model])
        if fault != "none":
            self._faulty_answers += 1
            self._spoils_next_repair = self._faulty_answers % 3 == 0
        return fault


def unusable_answer(kind: str, good: str, number: int) -> Response:
    """Return an unusable answer.

    Args:
        kind: a key of :data:`UNUSABLE`.
        good: the answer of the reference model.
        number: number of the answer, from 1.
    """
    finish = Finish.LENGTH if kind == "cut-off" else Finish.STOP
    return Response(UNUSABLE[kind](good, number), NO_TOKENS, finish)


def _is_opening(request: Request) -> bool:
    """Return whether a request opens a conversation; a repair contains an earlier answer."""
    return all(message.role != "assistant" for message in request.messages)


def _break_pddl(text: str, _tag: str) -> str:
    """Return a planner's answer without the last parenthesis of its problem."""
    answer = json.loads(text)
    problem = answer["problem"].rstrip()[:-1]
    return json.dumps(answer | {"problem": problem})


def _reserve_name(text: str, _tag: str) -> str:
    """Return a planner's answer whose first action is renamed to "drop", the name of a primitive."""
    answer = json.loads(text)
    domain = re.sub(r"\(:action\s+\S+", "(:action drop", answer["domain"], count=1)
    return json.dumps(answer | {"domain": domain})


def _faulty_writer(source: str, fault: str, problem: str) -> str:
    """Return the source of a faulty writer, which calls the good writer as ``written`` and spoils its result.

    Args:
        source: source of the good writer.
        fault: a key of :data:`_WRITERS`, or "none" for the good writer.
        problem: the problem that the good writer has written for the present level.
    """
    if fault == "none":
        return source
    goal = problem[problem.index("(:goal") :]
    body = _WRITERS[fault].replace("PROBLEM", repr(problem)).replace("GOAL", repr(goal))
    body_lines = [f"    {line}" for line in body.split("\n")]
    good = source.replace("def make_problem(", "def written(").rstrip()
    import_line = "" if "import re" in good else "import re"
    return "\n".join([import_line, good, "", "", "def make_problem(snapshot):", *body_lines, ""])


def _break_syntax(text: str, _tag: str) -> str:
    """Return code without the colon after the head of its first function."""
    return re.sub(r"^(def .*):$", r"\1", text, count=1, flags=re.MULTILINE)


def _extra_parameter(text: str, _tag: str) -> str:
    """Return code in which every action has an additional parameter."""

    def add_parameter(function: ast.FunctionDef) -> None:
        function.args.args.append(ast.arg("surplus"))

    return _change_actions(text, add_parameter)


def _replace_bodies(text: str, body_of: Callable[[str], str]) -> str:
    """Return code in which the bodies of actions are replaced.

    Args:
        body_of: returns the new body of an action by its name, "" to keep the body.
    """

    def replace_body(function: ast.FunctionDef) -> None:
        function.body = ast.parse(body_of(function.name)).body or function.body

    return _change_actions(text, replace_body)


def _set_bodies(body: str, text: str, tag: str) -> str:
    """Return code in which every action has the body ``body``, with the tag in place of TAG."""
    return _replace_bodies(text, lambda _name: body.replace("TAG", tag))


def _stubborn_body(name: str) -> str:
    """Return the faulty body that ``stubborn/coder`` writes for an action, "" if it writes the good body.

    A hash of the action's name decides.
    """
    number = int(hashlib.sha256(name.encode()).hexdigest()[:8], 16)
    choice, remainder = divmod(number, STUBBORN_ODDS)
    is_good = remainder != 0
    if is_good:
        return ""
    fault = STUBBORN_FAULTS[choice % len(STUBBORN_FAULTS)]
    return _BODIES[fault].replace("TAG", name)


def _change_actions(text: str, change: Callable[[ast.FunctionDef], None]) -> str:
    """Return code after calling ``change`` on each of its actions; actions are the functions with public names."""
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
"""Fault -> body of an action; TAG is replaced by a tag, so that repeated faults differ."""

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
"""Fault -> body of ``make_problem``; PROBLEM and GOAL are replaced by texts of the writer's first level."""

_PLANNER_FAULTS: Final[Mapping[str, Callable[[str, str], str]]] = {
    "broken_json": lambda text, _tag: text[: len(text) // 2],
    "unparsable_pddl": _break_pddl,
    "unsolvable": lambda _text, _tag: json.dumps(_UNSOLVABLE),
    "wrong_action_name": _reserve_name,
}
"""Fault of a planner's answer -> function that makes the faulty answer from the good answer and the tag."""

_CODER_FAULTS: Final[Mapping[str, Callable[[str, str], str]]] = {
    "syntax_error": _break_syntax,
    "wrong_signature": _extra_parameter,
    "objection": lambda _text, tag: f"PLAN: it does not lead to the goal ({tag})",
    **{name: partial(_set_bodies, code) for name, code in _BODIES.items()},
}
"""Fault of a coder's answer -> function that makes the faulty answer from the good answer and the tag."""
