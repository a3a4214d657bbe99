"""Which parameters of a method a call's arguments go to, told from the source alone (pure)."""

from __future__ import annotations

import ast
from collections.abc import Collection

from spca.code.agent_source import methods_of
from spca.contracts import PlanStep
from spca.errors import PatchError


def arguments_of(source: str, step: PlanStep) -> tuple[str, ...] | dict[str, str]:
    """The arguments of a step as its method is called: by name where it takes all of their names, else in order.

    So a method whose parameters stand in another order than in the PDDL gets the right ones, and one that calls them
    otherwise, as libraries of earlier runs may, is called as it always was.
    """
    try:
        node = methods_of(source).get(step.action)
    except PatchError:  # what does not compile ends its episode with that
        return step.args
    if node is None or len(step.parameters) != len(step.args) or not _takes(node, step.parameters):
        return step.args
    return dict(zip(step.parameters, step.args, strict=True))


def _takes(node: ast.FunctionDef, names: Collection[str]) -> bool:
    """Whether a method that takes ``self`` can be called with these keywords and nothing else."""
    args = node.args
    if node.decorator_list or len(args.posonlyargs) > 1:
        return False
    named = [*args.posonlyargs, *args.args][1:]
    optional = len(args.defaults)
    required = {arg.arg for arg in named[: max(0, len(named) - optional)]}
    required |= {arg.arg for arg, default in zip(args.kwonlyargs, args.kw_defaults, strict=True) if default is None}
    return required <= {*names} <= {arg.arg for arg in (*named, *args.kwonlyargs)}
