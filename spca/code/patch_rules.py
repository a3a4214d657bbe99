"""Rules for the form of a patch and of an action (pure).

:mod:`spca.code.policy`, which decides what generated code may do, must have accepted the patch. Every refusal is a
:class:`~spca.errors.PatchError` whose text is meant for the coder LLM; line numbers refer to the patch.
"""

from __future__ import annotations

import ast
from collections import deque
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain
from typing import Final

from spca.code.agent_source import AGENT_CLASS, Layout, is_generator, layout, parse, positional, rebinds_self
from spca.code.call_binding import fault_of_call
from spca.errors import PatchError

_MAX_CALLERS: Final = 5
_MAX_CALL: Final = 80
_UNBOUND = ("staticmethod", "classmethod", "property")


@dataclass(slots=True)
class Patch:
    """The statements of a patch: its imports, its constants by name, and its methods by name."""

    text: Layout
    imports: list[ast.Import | ast.ImportFrom] = field(default_factory=list)
    constants: dict[str, ast.Assign | ast.AnnAssign] = field(default_factory=dict)
    methods: dict[str, ast.FunctionDef] = field(default_factory=dict)


def dissect(patch: str) -> Patch:
    """Return the statements of a patch by kind; methods may stand at the top level or in ``class Agent:``.

    Raises:
        PatchError: the patch does not compile, defines a name twice, or has other statements in the class.
    """
    parts = Patch(layout(patch))
    for statement in _statements(parse(patch)):
        _add_statement(statement, parts)
    return parts


def is_static(node: ast.FunctionDef) -> bool:
    """Return whether a method is a static method."""
    return "staticmethod" in _plain_decorators(node)


def check_method(node: ast.FunctionDef, *, is_static: bool = False) -> None:
    """Refuse a method without the first parameter ``self``; a static method needs no such parameter.

    Args:
        node: the method.
        is_static: whether the merge makes the method static.

    Raises:
        PatchError: the parameter is missing.
    """
    decorators = _plain_decorators(node)
    first = "cls" if "classmethod" in decorators else "self"
    takes_no_agent = is_static or "staticmethod" in decorators
    if not takes_no_agent and positional(node)[:1] != (first,):
        where = f"line {node.lineno}: {node.name}"
        raise PatchError(f"{where} becomes a method of {AGENT_CLASS}: its first parameter must be {first}")


def check_action(name: str, parameters: tuple[str, ...], node: ast.FunctionDef | None) -> None:
    """Refuse an action that a plan cannot call with one argument for each of its PDDL ``parameters``.

    Raises:
        PatchError: the action is missing, has another signature, or is no generator.
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
    fits_count = taken - optional <= count <= taken
    if not fits_count or node.args.vararg or has_required_keyword:
        raise PatchError(f"{name} must take {signature}, not ({ast.unparse(node.args)})")
    if not is_generator(node):
        raise PatchError(f"{name} must be a generator: yield primitive codes, or yield from other actions")


def check_calls(
    methods: Mapping[str, ast.FunctionDef], merged: Mapping[str, ast.FunctionDef], primitives: Collection[str]
) -> None:
    """Refuse calls that are always mistakes.

    If the call of a generator or primitive stands without ``yield``, its result is discarded and nothing happens.
    ``yield from`` needs a generator, but a primitive returns a code.

    Raises:
        PatchError: a call is a mistake; the message names its line.
    """
    for method in methods.values():
        for node in ast.walk(method):
            match node:
                case ast.YieldFrom(value=ast.Call(func=ast.Attribute(value=ast.Name(id="self"), attr=name))):
                    if name in primitives:
                        call = f"line {node.lineno}: self.{name}() is one primitive code"
                        raise PatchError(f"{call}: write yield self.{name}(), without from")
                case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id="self"), attr=name))):
                    if name in primitives:
                        raise PatchError(f"line {node.lineno}: self.{name}() alone does nothing; yield it")
                    if name in merged and is_generator(merged[name]):
                        raise PatchError(f"line {node.lineno}: self.{name}(...) alone does nothing; yield from it")


def check_callers(
    patch: Mapping[str, ast.FunctionDef], kept: Mapping[str, ast.FunctionDef], merged: Mapping[str, ast.FunctionDef]
) -> None:
    """Refuse calls whose arguments do not fit the called method.

    A call is checked only if the patch contains the caller or the called method.

    Args:
        patch: methods of the patch, whose nodes have the patch's line numbers.
        kept: methods of the agent before the merge.
        merged: methods of the agent after the merge.

    Raises:
        PatchError: some calls do not fit; the message lists the faulty callers of one called method.
    """
    # A name that some method assigns as an attribute may stand for any object, so its calls are not checked.
    stored = set(chain.from_iterable(map(_find_stored_attributes, merged.values())))
    faults: dict[str, list[str]] = {}
    for caller in merged:
        for call, name, bound in _iterate_agent_calls(patch.get(caller, merged[caller])):
            callee = merged.get(name)
            is_patched = caller in patch or name in patch
            if not is_patched or callee is None or name in stored:
                continue
            if _is_decorated(callee):
                continue

            keywords = [keyword.arg for keyword in call.keywords if keyword.arg]
            is_bound = bound and not is_static(callee)
            if fault := fault_of_call(callee, len(call.args), keywords, bound=is_bound):
                where = f"line {call.lineno}: {caller}" if caller in patch else caller
                shown = ast.unparse(call)[:_MAX_CALL]
                faults.setdefault(name, []).append(f"{where} calls {shown}, but it {fault}")

    for name, calls in faults.items():
        signature = f"{name}({ast.unparse(merged[name].args)})"
        rule = "give new parameters defaults or rewrite them" if name in kept else "let them agree"
        callers = "\n".join(calls[:_MAX_CALLERS])
        raise PatchError(f"{signature} does not fit its callers; {rule}:\n{callers}")


def _iterate_agent_calls(method: ast.FunctionDef) -> Iterator[tuple[ast.Call, str, bool]]:
    """Yield the calls ``self.name(...)`` and ``Agent.name(...)`` without unpacked arguments.

    Each item consists of the call, the name, and whether the call goes through ``self``, which passes the agent
    implicitly.
    """
    takes_self = positional(method)[:1] == ("self",)
    pending: deque[tuple[ast.AST, bool]] = deque()
    pending.extend((node, takes_self) for node in method.body)
    while pending:
        node, self_is_agent = pending.popleft()
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name(id=owner), attr=name), args=args, keywords=keywords):
                has_unpacked_list = any(isinstance(arg, ast.Starred) for arg in args)
                has_unpacked_mapping = not all(keyword.arg for keyword in keywords)
                is_on_agent = owner == AGENT_CLASS or (owner == "self" and self_is_agent)
                if is_on_agent and not has_unpacked_list and not has_unpacked_mapping:
                    yield node, name, owner == "self"
        self_is_agent = self_is_agent and not rebinds_self(node)
        pending.extend((child, self_is_agent) for child in ast.iter_child_nodes(node))


def _find_stored_attributes(method: ast.FunctionDef) -> Iterator[str]:
    """Yield the names of the attributes that a method assigns or deletes."""
    nodes = (node for node in ast.walk(method) if isinstance(node, ast.Attribute))
    return (node.attr for node in nodes if not isinstance(node.ctx, ast.Load))


def _is_decorated(node: ast.FunctionDef) -> bool:
    """Return whether a method has a decorator other than ``staticmethod``, because it may change the parameters."""
    is_only_static = len(node.decorator_list) == 1 and is_static(node)
    return bool(node.decorator_list) and not is_only_static


def _statements(tree: ast.Module) -> Iterator[ast.stmt]:
    """Yield the statements at the top level and in a ``class Agent:``, without docstrings and bare annotations."""
    for node in tree.body:
        if not isinstance(node, ast.ClassDef):
            if not _is_remark(node):
                yield node
            continue
        for inner in node.body:
            if isinstance(inner, ast.FunctionDef):
                yield inner
            elif not _is_remark(inner):
                raise PatchError(f"line {inner.lineno}: only methods may be in the class; put constants above them")


def _add_statement(statement: ast.stmt, parts: Patch) -> None:
    """Add a statement to its group in ``parts``; raise PatchError if the group already has the statement's name."""
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
    """Return whether a statement has no effect: a docstring, a bare annotation or ``pass``."""
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Constant)
    if isinstance(node, ast.AnnAssign):
        return node.value is None
    return isinstance(node, ast.Pass)


def _plain_decorators(node: ast.FunctionDef) -> list[str]:
    return [decorator.id for decorator in node.decorator_list if isinstance(decorator, ast.Name)]
