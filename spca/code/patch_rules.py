"""The form of a patch, and what an action must look like (pure).

What generated code may do at all is up to :mod:`spca.code.policy`, which has seen a patch before. Every refusal is a
:class:`~spca.errors.PatchError` whose text is meant for the coder LLM; lines are those of the patch.
"""

from __future__ import annotations

import ast
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain
from typing import Final

from spca.code.agent_source import AGENT_CLASS, Layout, is_generator, layout, parse, positional, rebinds_self
from spca.code.call_binding import fault_of_call
from spca.contracts import PRIMITIVE_METHODS
from spca.errors import PatchError

_MAX_CALLERS: Final = 5
_MAX_CALL: Final = 80
_UNBOUND = ("staticmethod", "classmethod", "property")


@dataclass(slots=True)
class Patch:
    """The statements of a patch, by name where they have one."""

    text: Layout
    imports: list[ast.Import | ast.ImportFrom] = field(default_factory=list)
    constants: dict[str, ast.Assign | ast.AnnAssign] = field(default_factory=dict)
    methods: dict[str, ast.FunctionDef] = field(default_factory=dict)


def dissect(patch: str) -> Patch:
    """Sort the statements of a patch; the methods may stand at the top level or in ``class Agent:``.

    Raises:
        PatchError: the patch does not compile, defines a name twice, or has more than methods in the class.
    """
    parts = Patch(layout(patch))
    for statement in _statements(parse(patch)):
        _sort(statement, parts)
    return parts


def is_static(node: ast.FunctionDef) -> bool:
    """Return whether a method takes no ``self``."""
    return "staticmethod" in _plain_decorators(node)


def check_method(node: ast.FunctionDef, *, is_static: bool = False) -> None:
    """Refuse a method that could not be called on the agent; one that is to become static may take what it likes.

    Raises:
        PatchError: it takes no ``self``.
    """
    decorators = _plain_decorators(node)
    first = "cls" if "classmethod" in decorators else "self"
    if not is_static and "staticmethod" not in decorators and positional(node)[:1] != (first,):
        where = f"line {node.lineno}: {node.name}"
        raise PatchError(f"{where} becomes a method of {AGENT_CLASS}: its first parameter must be {first}")


def check_action(name: str, parameters: tuple[str, ...], node: ast.FunctionDef | None) -> None:
    """Refuse an action that the plan cannot call with as many arguments as its PDDL has parameters.

    Raises:
        PatchError: it is missing, has another signature, or is no generator.
    """
    signature = f"({', '.join(('self', *parameters))})"
    if node is None:
        raise PatchError(f"{name} is missing; define {name}{signature}")
    unbound = [decorator for decorator in _plain_decorators(node) if decorator in _UNBOUND]
    if unbound:
        raise PatchError(f"{name} must be a plain method {name}{signature}, without @{unbound[0]}")
    count = len(parameters) + 1
    taken = len(positional(node))
    optional = len(node.args.defaults)
    has_required_keyword = any(default is None for default in node.args.kw_defaults)
    if not taken - optional <= count <= taken or node.args.vararg or has_required_keyword:
        raise PatchError(f"{name} must take {signature}, not ({ast.unparse(node.args)})")
    if not is_generator(node):
        raise PatchError(f"{name} must be a generator: yield primitive codes, or yield from other actions")


def check_calls(methods: Mapping[str, ast.FunctionDef], merged: Mapping[str, ast.FunctionDef]) -> None:
    """Refuse calls that are never what was meant.

    A call whose generator or primitive code is thrown away does nothing; a primitive is a code, nothing to yield from.

    Raises:
        PatchError: with the line of the call.
    """
    for method in methods.values():
        for node in ast.walk(method):
            match node:
                case ast.YieldFrom(value=ast.Call(func=ast.Attribute(value=ast.Name(id="self"), attr=name))):
                    if name in PRIMITIVE_METHODS:
                        call = f"line {node.lineno}: self.{name}() is one primitive code"
                        raise PatchError(f"{call}: write yield self.{name}(), without from")
                case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id="self"), attr=name))):
                    if name in PRIMITIVE_METHODS:
                        raise PatchError(f"line {node.lineno}: self.{name}() alone does nothing; yield it")
                    if name in merged and is_generator(merged[name]):
                        raise PatchError(f"line {node.lineno}: self.{name}(...) alone does nothing; yield from it")


def check_callers(
    patch: Mapping[str, ast.FunctionDef], kept: Mapping[str, ast.FunctionDef], merged: Mapping[str, ast.FunctionDef]
) -> None:
    """Refuse a method whose parameters do not fit where it is called, if the patch has either of them.

    Args:
        patch: methods of the patch, with its lines.
        kept: methods of the agent before.
        merged: those after.

    Raises:
        PatchError: with the callers of the first such method.
    """
    stored = set(chain.from_iterable(map(_find_stored_attributes, merged.values())))
    faults: dict[str, list[str]] = {}
    for caller in merged:
        for call, name, bound in _iterate_agent_calls(patch.get(caller, merged[caller])):
            callee = merged.get(name)
            is_patched = caller in patch or name in patch
            if callee is None or name in stored or not is_patched or not _is_callable(callee):
                continue

            keywords = [keyword.arg for keyword in call.keywords if keyword.arg]
            is_bound = bound and not is_static(callee)
            if fault := fault_of_call(callee, len(call.args), keywords, bound=is_bound):
                where = f"line {call.lineno}: {caller}" if caller in patch else caller
                shown = ast.unparse(call)[:_MAX_CALL]
                faults.setdefault(name, []).append(f"{where} calls {shown}, but it {fault}")

    for name, found in faults.items():
        signature = f"{name}({ast.unparse(merged[name].args)})"
        rule = "give new parameters defaults or rewrite them" if name in kept else "let them agree"
        callers = "\n".join(found[:_MAX_CALLERS])
        raise PatchError(f"{signature} does not fit its callers; {rule}:\n{callers}")


def _iterate_agent_calls(method: ast.FunctionDef) -> Iterator[tuple[ast.Call, str, bool]]:
    """Yield calls of ``self.name(...)`` and ``Agent.name(...)`` whose number of arguments can be told.

    Each comes with the name, and whether the agent is passed by itself.
    """
    takes_self = positional(method)[:1] == ("self",)
    pending: deque[tuple[ast.AST, bool]] = deque()
    pending.extend((node, takes_self) for node in method.body)
    while pending:
        node, is_own = pending.popleft()
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name(id=owner), attr=name), args=args, keywords=keywords):
                is_unpacked = any(isinstance(arg, ast.Starred) for arg in args)
                counted = not is_unpacked and all(keyword.arg for keyword in keywords)
                if counted and (owner == AGENT_CLASS or (owner == "self" and is_own)):
                    yield node, name, owner == "self"
        is_own = is_own and not rebinds_self(node)
        pending.extend((child, is_own) for child in ast.iter_child_nodes(node))


def _find_stored_attributes(method: ast.FunctionDef) -> Iterator[str]:
    """Return the attributes that a method assigns; what is then called may be anything."""
    nodes = (node for node in ast.walk(method) if isinstance(node, ast.Attribute))
    return (node.attr for node in nodes if not isinstance(node.ctx, ast.Load))


def _is_callable(node: ast.FunctionDef) -> bool:
    """Return whether what a call passes is what the definition takes."""
    return not node.decorator_list or (len(node.decorator_list) == 1 and is_static(node))


def _statements(tree: ast.Module) -> Iterator[ast.stmt]:
    """Yield top-level statements and those of a ``class Agent:`` wrapper, but no docstrings or bare annotations."""
    for node in tree.body:
        if not isinstance(node, ast.ClassDef):
            yield from () if _is_remark(node) else (node,)
            continue
        for inner in node.body:
            if isinstance(inner, ast.FunctionDef):
                yield inner
            elif not _is_remark(inner):
                raise PatchError(f"line {inner.lineno}: only methods may be in the class; put constants above them")


def _sort(statement: ast.stmt, parts: Patch) -> None:
    match statement:
        case ast.Import() | ast.ImportFrom():
            parts.imports.append(statement)
        case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
            if name in parts.constants:
                raise PatchError(f"line {statement.lineno}: constant {name} is assigned twice")
            parts.constants[name] = statement
        case ast.FunctionDef(name=name):
            if name in parts.methods:
                lines = f"{parts.methods[name].lineno} and {statement.lineno}"
                raise PatchError(f"lines {lines}: {name} is defined twice; define each method once")
            parts.methods[name] = statement
        case _:
            raise AssertionError(f"the policy lets no {type(statement).__name__} through")


def _is_remark(node: ast.stmt) -> bool:
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Constant)
    if isinstance(node, ast.AnnAssign):
        return node.value is None
    return isinstance(node, ast.Pass)


def _plain_decorators(node: ast.FunctionDef) -> list[str]:
    return [decorator.id for decorator in node.decorator_list if isinstance(decorator, ast.Name)]
