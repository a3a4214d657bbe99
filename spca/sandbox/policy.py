"""Layer 1, the gate: reads generated code before anything runs it, and tells the coder LLM what to change.

It parses and never imports. It is feedback, not the wall: what it lets through still runs behind the kernel's, so in
doubt it lets harmless code pass.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from spca.code import compilation
from spca.code.agent_source import AGENT_CLASS, layout, parse
from spca.contracts import PRIMITIVE_METHODS, AgentSource
from spca.errors import PatchError
from spca.plan.pddl import STATE_ATTRIBUTES
from spca.sandbox import rules
from spca.sandbox.attributes import MAX_NAME, shown
from spca.sandbox.process.reports import clean
from spca.sandbox.scopes import Scope
from spca.sandbox.walk import MAX_DEPTH, survey

MAX_SHOWN: Final = 10
"""Violations in one message."""

MAX_LISTED: Final = 1900
MAX_LINE: Final = 300
"""Characters of the whole message, and of one violation or quoted line."""

_LONG_NAME: Final = re.compile(rf"\S{{{MAX_NAME + 1},}}")


@dataclass(frozen=True, slots=True, order=True)
class Violation:
    """Something that generated code must not do; ``line`` counts from 1 in the source that was checked."""

    line: int
    words: str

    def __str__(self) -> str:
        return f"line {self.line}: {self.words}"


@compilation.refusing()
def violations(source: str) -> tuple[Violation, ...]:
    """What an agent module does that it must not do, in source order.

    Raises:
        PatchError: the source does not compile, is too long, or cannot be laid out in lines.
    """
    tree = _tree(source)
    layout(source)  # merging and showing an agent need it
    found = _violations(tree, None)
    if not any(isinstance(node, ast.ClassDef) and node.name == AGENT_CLASS for node in tree.body):
        return (Violation(1, f"the source has no class {AGENT_CLASS}"), *found)
    return found


def check_agent(agent: AgentSource) -> None:
    """Refuse an agent that must not be run; answers are remembered.

    Raises:
        PatchError: with all violations, the first :data:`MAX_SHOWN` in full.
    """
    refusal = _refusal(agent)
    if refusal:
        raise PatchError(refusal)


@compilation.refusing()
def check_patch(patch: str, base: str) -> None:
    """Refuse a patch whose methods must not become part of the agent ``base``; lines are those of the patch.

    Raises:
        PatchError: as :func:`check_agent`, or one of the texts does not compile.
    """
    found = _violations(_tree(patch), _tree(base))
    if found:
        raise PatchError(_listed(found))


@lru_cache(maxsize=64)
def _refusal(agent: AgentSource) -> str:
    try:
        return _listed(violations(agent.text))
    except PatchError as error:
        return str(error)


def _tree(source: str) -> ast.Module:
    try:
        return parse(source)
    except PatchError as error:
        lines = clean(str(error), MAX_LISTED).splitlines()
        raise PatchError("\n".join(line[:MAX_LINE] for line in lines)[:MAX_LISTED]) from None


def _listed(found: Sequence[Violation]) -> str:
    told = [str(violation) for violation in found[:MAX_SHOWN]]
    while sum(map(len, told)) > MAX_LISTED - 100:
        told.pop()
    more = len(found) - len(told)
    return "\n".join([*told, f"and {more} more"] if more else told)


def _violation(line: int, words: str) -> Violation:
    """A violation whose words, names of the source among them, can be shown."""
    return Violation(line, shown(_LONG_NAME.sub(lambda name: shown(name[0]), words), MAX_LINE))


def _violations(tree: ast.Module, base: ast.Module | None) -> tuple[Violation, ...]:
    found = survey(tree, base)
    if found.too_deep:
        return (Violation(found.too_deep, f"more than {MAX_DEPTH} levels of nesting; split it into several methods"),)
    faults = {_violation(node.lineno, words) for node, words in _of_module(tree, found.module, base is not None)}
    faults |= {_violation(line, words) for scope in found.scopes for line, words in rules.of_scope(scope)}
    for node, name, scope in found.bindings:
        for words in rules.of_binding(node, name, scope):
            faults.add(_violation(_line(node), words))
    for node, scope in found.sites:
        for words in rules.of_node(node, scope, found):
            faults.add(_violation(_line(node), words))
    return tuple(sorted(faults))


def _line(node: ast.AST) -> int:
    if isinstance(node, ast.comprehension):
        node = node.target
    return getattr(node, "lineno", 1)


def _of_module(tree: ast.Module, scope: Scope, is_patch: bool) -> Iterator[tuple[ast.stmt, str]]:
    """What has no place at the top level; the rules of single nodes come on top."""
    agents = 0
    for node in tree.body:
        match node:
            case ast.Import() | ast.ImportFrom() | ast.Expr(value=ast.Constant()) | ast.Pass():
                pass
            case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
                yield from _of_constant(node, name, scope, is_patch)
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                if name == AGENT_CLASS:
                    yield node, f"{AGENT_CLASS} is the name of the class"
            case ast.Assign():
                yield node, "a constant at the top level must be one name and its value; write one for each line"
            case ast.ClassDef(name=name) if name == AGENT_CLASS:
                agents += 1
                if agents > 1:
                    yield node, f"class {AGENT_CLASS} must be defined only once"
                yield from _of_agent(node, scope)
            case ast.ClassDef(name=name):
                yield node, f"class {name} must not be defined here; define it inside the method that uses it"
            case _:
                yield node, "only imports, literal constants and def blocks may be at the top level"


def _of_agent(agent: ast.ClassDef, scope: Scope) -> Iterator[tuple[ast.stmt, str]]:
    if agent.bases or agent.keywords or agent.decorator_list:
        yield agent, f"class {AGENT_CLASS} must have no bases, no keywords and no decorators"
    for node in agent.body:
        match node:
            case ast.Expr(value=ast.Constant()) | ast.Pass() | ast.FunctionDef() | ast.AsyncFunctionDef():
                pass
            case ast.AnnAssign(value=None, target=ast.Name()):
                pass
            case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
                if name in STATE_ATTRIBUTES or name in PRIMITIVE_METHODS:
                    yield node, f"{name} belongs to the world and must not be assigned in the class; leave it out"
                yield from _of_constant(node, name, scope, False)
            case _:
                yield node, f"only methods and literal constants may be in class {AGENT_CLASS}"


def _of_constant(
    node: ast.Assign | ast.AnnAssign, name: str, scope: Scope, is_patch: bool
) -> Iterator[tuple[ast.stmt, str]]:
    if name == AGENT_CLASS:
        yield node, f"{name} is the name of the class"
    # A constant of a patch stands on its own: which methods change with it is seen from its text.
    elif node.value is not None and not rules.is_constant(node.value, scope, any_name=not is_patch):
        yield node, f"{name} is not a literal; compute it inside a method"
