"""Check of the arguments that a plan passes to the agent's methods: unknown names and wrong order (pure).

If a fault is found here, the planner has to answer once more. If it is found only during execution, it costs several
answers of the coder, and the plan.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Final

from spca.body import NamingRules, Renamer
from spca.code.agent_source import methods_of, positional
from spca.code.call_binding import arguments_of, fault_of_names
from spca.contracts import ActionSchema, AgentSource, PlanStep

MAX_TOLD: Final = 3
"""Largest number of times that faults are reported for one question."""


class PlanCheck:
    """Checks the plans that the planner gives for one question.

    Each fault is reported once, and faults are reported at most :data:`MAX_TOLD` times. A planner that repeats a fault
    may be right, and no plan may be lost because of names.

    Args:
        agent: the agent whose methods the plans call; None for an agent without methods.
        told: the words of the mission and the map. The names of objects may consist of these words only; None allows
            any name.
        names: the body's rules for names of objects.
        rename: renames the words of examples of names in the messages.
    """

    def __init__(
        self, agent: AgentSource | None, told: frozenset[str] | None, names: NamingRules, rename: Renamer
    ) -> None:
        self._source = agent.text if agent else ""
        self._told = told
        self._names = names
        self._rename = rename
        self._methods = methods_of(agent.text) if agent else {}
        self._reported: set[str] = set()
        self._reports_left = MAX_TOLD

    def faults(self, steps: Sequence[PlanStep], schemas: Mapping[str, ActionSchema], written: Mapping[str, str]) -> str:
        """Return the faults that the planner has to correct, one per line.

        Return "" if every fault was reported before, or if no more reports are allowed.

        Args:
            steps: the plan's steps, with the names of the parameters.
            schemas: the plan's actions by name.
            written: the spelling of each object in the PDDL.
        """
        faults = chain(self._name_faults(steps, written), self._method_faults(steps, schemas))
        unique_faults = tuple(dict.fromkeys(faults))
        if self._reported.issuperset(unique_faults) or not self._reports_left:
            return ""
        self._reported.update(unique_faults)
        self._reports_left -= 1
        return "\n".join(unique_faults)

    def _name_faults(self, steps: Sequence[PlanStep], written: Mapping[str, str]) -> Iterator[str]:
        """Yield a fault for each object whose name contains a word that is not allowed."""
        if self._told is None:
            return
        for step in steps:
            for name, fault in self._names.find_name_faults(step, self._told, self._rename):
                yield f"object {written.get(name, name)}: {fault}"

    def _method_faults(self, steps: Sequence[PlanStep], schemas: Mapping[str, ActionSchema]) -> Iterator[str]:
        """Yield a fault for each step whose arguments do not fit the existing method of the same name."""
        for step in steps:
            node = self._methods.get(step.action)
            if node is None or node.decorator_list:  # a decorator may change the parameters
                continue
            fault = _fault_of_order(schemas[step.action], node) or self._fault_of_kinds(step, node)
            if fault:
                yield fault

    def _fault_of_kinds(self, step: PlanStep, node: ast.FunctionDef) -> str:
        """Return a fault if a step passes an object of the wrong kind, such as a coin for the parameter ``slot``; else
        "".
        """
        passed = arguments_of(self._source, step)
        if not isinstance(passed, dict):
            passed = dict(zip(positional(node)[1:], passed, strict=False))
        wrong = self._names.find_wrong_argument(passed)
        if wrong is None:
            return ""
        name, arg = wrong
        return (
            f"step {step} passes {arg} for '{name}', but the method that exists is {_call(node)}: "
            f"give the action these parameters in this order, and the objects the types that go with them"
        )


def _fault_of_order(schema: ActionSchema, node: ast.FunctionDef) -> str:
    """Return how an action's parameters differ from the method's parameters; "" if a call by name is possible."""
    names = positional(node)[1:]
    given = schema.parameters
    parameters = ", ".join(given)
    difference = f"action {schema.name} has the parameters ({parameters}), but the method that exists is {_call(node)}"
    if given != names and sorted(given) == sorted(names):
        order = " ".join(f"?{name}" for name in names)
        return f"{difference}: write the parameters in that order, {order}"
    if fault := fault_of_names(node, given):
        return f"{difference}, which {fault}: give the action these parameters, or another name"
    return ""


def _call(node: ast.FunctionDef) -> str:
    parameters = ", ".join(positional(node)[1:])
    return f"{node.name}({parameters})"
