"""What the host does with text from outside, as the loop does it: tests and the fuzzer send theirs through here."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from plannerLLM import PDDLResp
from spca.code import agent_source, library, merge
from spca.contracts import AgentSource, PlannedAction
from spca.errors import PlanTextError
from spca.llm import feedback
from spca.llm.calls.answers import check_complete, parse_answer, plain, quotable
from spca.llm.providers.base import Response
from spca.plan import pddl
from spca.prompts import render
from tests.support.bodies import grid


def answered(text: str) -> str:
    """The text of an answer as the client hands it on.

    Raises:
        BadAnswerError: it is empty or too long.
    """
    response = Response(plain(text))
    quotable(response).encode()
    check_complete(response)
    return response.text


def coder_call(answer: str, base: str, action: str = "go", parameters: tuple[str, ...] = ("x",)) -> str:
    """Everything that is done with the answer of a coder; the merged source.

    Raises:
        PatchError: it cannot be merged.
    """
    merged = grid.merge(base, merge.extract_code(answer), {action: parameters}).text
    agent_source.find_changed_methods(base, merged)
    agent_source.call_closure(merged, [action])
    show_agent(merged, action)
    return merged


def show_agent(source: str, action: str = "go") -> None:
    """What prompts show of an agent, which must be text that can be written.

    Raises:
        PatchError: it must not be run.
    """
    grid.check_agent(AgentSource(source))
    involved = grid.find_involved(source, [action], f"line 3: an error in {action}")
    texts = [library.sources(source, involved), grid.listing(source, relevant_to=[action], leave_out=involved)]
    texts += [library.action_listing(source, f"{action} to the red ball"), *library.missing(source, [action])]
    "".join(texts).encode()


def planner_call(answer: str) -> tuple[pddl.NameMap, Sequence[PlannedAction]]:
    """Everything that the host does with the answer of a planner but for solving it.

    Raises:
        BadAnswerError: it is not of the form.
        PlanTextError: its PDDL cannot be read.
    """
    made = parse_answer(answer, PDDLResp)
    domain = made.domain or ""  # none to be kept
    schemas = grid.extract_actions(domain)
    names = grid.name_map(domain, made.problem)
    for text in (domain, made.problem):
        if fault := pddl.shape_fault(text):
            raise PlanTextError(fault)
    planned = tuple(PlannedAction(schema.name, tuple(names.objects)[: len(schema.parameters)]) for schema in schemas)
    tuple(map(names.step, planned))
    return names, planned


def repair(template: str, told: str, actions: Iterable[str] = ("go",)) -> None:
    """The prompt that tells a model what was wrong, which must be text that can be written."""
    task = {"mode": "syntax", "actions": list(actions), "plan": "[go(x)]", "schemas": {}}
    to_coder = {"task": task, "error": told, "source": told}
    to_planner = {"feedback": feedback.pddl_error(told), "compiles": True}
    given = to_planner if template == "planner_repair" else to_coder
    render(template, **given).encode()
