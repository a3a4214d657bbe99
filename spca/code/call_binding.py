"""The assignment of a call's arguments to a method's parameters, derived from the source alone (pure)."""

from __future__ import annotations

import ast
from collections.abc import Collection, Sequence

from spca.code.agent_source import methods_of
from spca.contracts import PlanStep
from spca.errors import PatchError


def arguments_of(source: str, step: PlanStep) -> tuple[str, ...] | dict[str, str]:
    """Return the arguments of a step, by name or in order.

    If the method has all of the step's parameter names, return a dictionary by parameter name, else a tuple in order.
    Arguments by name fit a method whose parameters are in another order than in the PDDL. Arguments in order fit a
    method whose parameters have other names, as in libraries of earlier runs.
    """
    try:
        node = methods_of(source).get(step.action)
    except PatchError:  # the episode ends with the same error
        return step.args

    has_names = len(step.parameters) == len(step.args)
    if node is None or not has_names or not _takes(node, step.parameters):
        return step.args
    return dict(zip(step.parameters, step.args, strict=True))


def fault_of_names(node: ast.FunctionDef, names: Sequence[str]) -> str:
    """Return why a plan cannot call a method with arguments of these names; "" if the plan can call it.

    The text continues a sentence after "which".
    """
    if node.decorator_list or _takes(node, names):
        return ""
    return fault_of_call(node, len(names), ())


def fault_of_call(node: ast.FunctionDef, given: int, keywords: Collection[str], *, bound: bool = True) -> str:
    """Return why a function cannot be called with ``given`` positional arguments and these keywords.

    Return "" if the call is possible.

    Args:
        bound: whether the call passes the agent implicitly as the first argument, as ``self.method()`` does.
    """
    args = node.args
    count = given + bound  # positional arguments including the agent
    by_position = [arg.arg for arg in (*args.posonlyargs, *args.args)]
    if count > len(by_position) and not args.vararg:
        return f"takes {len(by_position) - bound} arguments, not {given}"

    passed_by_position = max(0, count - len(args.posonlyargs))  # parameters of args.args
    keyword_args = [*args.args[passed_by_position:], *args.kwonlyargs]
    by_keyword = {arg.arg for arg in keyword_args}
    unknown = [name for name in keywords if name not in by_keyword]
    if unknown and not args.kwarg:
        return f"takes no {unknown[0]} there"

    required = by_position[count : len(by_position) - len(args.defaults)]
    for arg, default in zip(args.kwonlyargs, args.kw_defaults, strict=True):
        if default is None:
            required.append(arg.arg)
    lacking = [name for name in required if name not in keywords]
    return f"needs {', '.join(lacking)} too" if lacking else ""


def _takes(node: ast.FunctionDef, names: Collection[str]) -> bool:
    """Return whether a method can be called with exactly these keywords (and ``self``)."""
    args = node.args
    if any(name.startswith("__") for name in names):  # Python mangles such names within a class
        return False
    known = {arg.arg for arg in (*args.posonlyargs, *args.args, *args.kwonlyargs)}
    return not node.decorator_list and {*names} <= known and not fault_of_call(node, 0, names)
