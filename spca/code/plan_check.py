"""Check of the arguments that a plan passes to the agent's methods: unknown names and wrong order (pure).

If a fault is found here, the planner has to answer once more. If it is found only during execution, it costs several
answers of the coder, and the plan.
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
"""Largest number of times that faults are reported for one question."""

_KINDS: Final = ("key", "door", "ball", "box")
"""Kinds of objects: if a parameter's name is one of these words, the parameter takes an object of this kind."""


class PlanCheck:
    """Checks the plans that the planner gives for one question.

    Each fault is reported once, and faults are reported at most :data:`MAX_TOLD` times. A planner that repeats a fault
    may be right, and no plan may be lost because of names.

    Args:
        agent: the agent whose methods the plans call; None for an agent without methods.
        told: the words of the mission and the map. The names of objects may consist of these words only; None allows
            any name.
        renaming: the renaming of words that examples of names in the messages follow.
    """

    def __init__(self, agent: AgentSource | None, told: frozenset[str] | None, renaming: Renaming = TRUE_WORDS) -> None:
        self._source = agent.text if agent else ""
        self._told = told
        self._renaming = renaming
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
        for name in dict.fromkeys(chain.from_iterable(map(_iterate_objects, steps))):
            if fault := object_names.fault_of(name, self._told):
                advice = object_names.advice(name, self._told, self._renaming)
                yield f"object {written.get(name, name)}: {fault}; {advice}"

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
        """Return a fault if a step passes an object of the wrong kind, such as a key for the parameter ``door``; else
        "".

        If no door is involved, a wrong kind is a fault only if another parameter also got a wrong object and wants this
        kind.
        """
        passed = arguments_of(self._source, step)
        if not isinstance(passed, dict):
            passed = dict(zip(positional(node)[1:], passed, strict=False))
        wrong = {name: arg for name, arg in passed.items() if _has_other_kind(name, arg)}
        wanted_kinds = {_kind(name) for name in wrong}
        for name, arg in wrong.items():
            kind = object_names.kind_of(arg)
            if "door" in (kind, _kind(name)) or kind in wanted_kinds:
                return (
                    f"step {step} passes {arg} for '{name}', but the method that exists is {_call(node)}: "
                    f"give the action these parameters in this order, and the objects the types that go with them"
                )
        return ""


def _iterate_objects(step: PlanStep) -> Iterator[str]:
    """Yield the arguments of a step, without the agent, which may be the first argument."""
    return (arg for number, arg in enumerate(step.args) if number or object_names.is_thing(arg))


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


def _kind(parameter: str) -> str:
    """Return the kind of object that a parameter's name denotes; "" if the name denotes no kind."""
    kind = find_meaning(parameter.rstrip("_0123456789"))
    return kind if kind in _KINDS else ""


def _has_other_kind(parameter: str, arg: str) -> bool:
    """Return whether an argument is an object of another kind than the kind that the parameter's name denotes."""
    kind = object_names.kind_of(arg)
    return kind in _KINDS and _kind(parameter) not in ("", kind)
