"""What a plan passes to the agent's methods: names that mean nothing there, arguments in another order (pure).

Either is found here for one answer of the planner; found by acting, it costs the coder's calls and a plan.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Final

from spca.code.agent_source import methods_of, positional
from spca.code.call_binding import arguments_of, fault_of_names
from spca.contracts import ActionSchema, AgentSource, PlanStep
from spca.sense import object_names
from spca.sense.renaming import TRUE_WORDS, Renaming, find_meaning

MAX_TOLD: Final = 3
"""Times that faults are told at most."""

_TELLING: Final = ("key", "door", "ball", "box")
"""Kinds that tell, as the name of a parameter, what it takes."""


class PlanCheck:
    """Looks at plans for one question to the planner.

    Each fault is told once, and :data:`MAX_TOLD` times something is: a planner that insists may be right, and no plan
    may be lost to names.

    Args:
        agent: whose methods the plans call; None for one without any.
        told: the words of the mission and the map, which objects may be called by; None where any name will do.
        renaming: the words that examples of names are told in.
    """

    def __init__(self, agent: AgentSource | None, told: frozenset[str] | None, renaming: Renaming = TRUE_WORDS) -> None:
        self._source = agent.text if agent else ""
        self._told = told
        self._renaming = renaming
        self._methods = methods_of(agent.text) if agent else {}
        self._said: set[str] = set()
        self._left = MAX_TOLD

    def faults(self, steps: Sequence[PlanStep], schemas: Mapping[str, ActionSchema], written: Mapping[str, str]) -> str:
        """Return what the planner has to change, a line each; "" if nothing that it was not told before.

        Args:
            steps: of the plan, with the names of the parameters.
            schemas: of the actions, by name.
            written: how the PDDL spells the objects.
        """
        faults = chain(self._name_faults(steps, written), self._method_faults(steps, schemas))
        found = tuple(dict.fromkeys(faults))
        if self._said.issuperset(found) or not self._left:
            return ""
        self._said.update(found)
        self._left -= 1
        return "\n".join(found)

    def _name_faults(self, steps: Sequence[PlanStep], written: Mapping[str, str]) -> Iterator[str]:
        if self._told is None:
            return
        for name in dict.fromkeys(chain.from_iterable(map(_things, steps))):
            if fault := object_names.fault_of(name, self._told):
                advice = object_names.advice(name, self._told, self._renaming)
                yield f"object {written.get(name, name)}: {fault}; {advice}"

    def _method_faults(self, steps: Sequence[PlanStep], schemas: Mapping[str, ActionSchema]) -> Iterator[str]:
        for step in steps:
            node = self._methods.get(step.action)
            if node is None or node.decorator_list:  # a decorator may change what is taken
                continue
            fault = _fault_of_order(schemas[step.action], node) or self._fault_of_kinds(step, node)
            if fault:
                yield fault

    def _fault_of_kinds(self, step: PlanStep, node: ast.FunctionDef) -> str:
        passed = arguments_of(self._source, step)
        if not isinstance(passed, dict):
            passed = dict(zip(positional(node)[1:], passed, strict=False))
        wrong = {name: arg for name, arg in passed.items() if _differ(name, arg)}
        wanted = {_kind(name) for name in wrong}
        for name, arg in wrong.items():
            kind = object_names.kind_of(arg)
            if "door" in (kind, _kind(name)) or kind in wanted:
                return (
                    f"step {step} passes {arg} for '{name}', but the method that exists is {_call(node)}: "
                    f"give the action these parameters in this order, and the objects the types that go with them"
                )
        return ""


def _things(step: PlanStep) -> Iterator[str]:
    """Return the arguments that are not the agent, which comes first."""
    return (arg for number, arg in enumerate(step.args) if number or object_names.is_thing(arg))


def _fault_of_order(schema: ActionSchema, node: ast.FunctionDef) -> str:
    names = positional(node)[1:]
    given = schema.parameters
    parameters = ", ".join(given)
    told = f"action {schema.name} has the parameters ({parameters}), but the method that exists is {_call(node)}"
    if given != names and sorted(given) == sorted(names):
        order = " ".join(f"?{name}" for name in names)
        return f"{told}: write the parameters in that order, {order}"
    if fault := fault_of_names(node, given):
        return f"{told}, which {fault}: give the action these parameters, or another name"
    return ""


def _call(node: ast.FunctionDef) -> str:
    parameters = ", ".join(positional(node)[1:])
    return f"{node.name}({parameters})"


def _kind(parameter: str) -> str:
    """Return the kind of thing that a parameter's name tells, or ""."""
    kind = find_meaning(parameter.rstrip("_0123456789"))
    return kind if kind in _TELLING else ""


def _differ(parameter: str, arg: str) -> bool:
    kind = object_names.kind_of(arg)
    return kind in _TELLING and _kind(parameter) not in ("", kind)
