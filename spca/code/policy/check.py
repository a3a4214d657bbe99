"""Check an agent or a patch against the policy; report every fault with its line."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from spca.body import AgentInterface
from spca.code import compilation
from spca.code.agent_source import AGENT_CLASS, layout, parse
from spca.code.policy import rules
from spca.code.policy.names import Names, iterate_top_level, merge_meanings
from spca.common.text import visible
from spca.contracts import AgentSource
from spca.errors import PatchError

MAX_SHOWN: Final = 10
"""Largest number of violations that one message shows."""

MAX_DEPTH: Final = 100
"""Largest number of nesting levels in the syntax tree; recursive functions over trees can process this depth."""

_MAX_LISTED: Final = 1900
_MAX_LINE: Final = 300
_MAX_NAME: Final = 60
"""Largest numbers of characters in messages.

``_MAX_LISTED`` limits a whole message, ``_MAX_LINE`` one violation or quoted line, ``_MAX_NAME`` a name.
"""

_LONG_NAME: Final = re.compile(rf"\S{{{_MAX_NAME + 1},}}")

_Function = ast.FunctionDef | ast.AsyncFunctionDef
_Faults = Iterator[tuple[ast.AST, str]]


@dataclass(frozen=True, slots=True, order=True)
class Violation:
    """A fault in generated code; ``line`` is the line of the checked source, from 1."""

    line: int
    words: str

    def __str__(self) -> str:
        return f"line {self.line}: {self.words}"


@compilation.refusing()
def violations(source: str, interface: AgentInterface) -> tuple[Violation, ...]:
    """Return the violations of the policy in an agent module, sorted by line.

    Raises:
        PatchError: the source does not compile, is too long, or cannot be split into lines.
    """
    tree = _parse(source)
    layout(source)  # raises for a source that cannot be merged or shown
    found = _violations(tree, None, interface)
    classes = [node.name for node in tree.body if isinstance(node, ast.ClassDef)]
    if AGENT_CLASS not in classes:
        return (Violation(1, f"the source has no class {AGENT_CLASS}"), *found)
    return found


def check_agent(agent: AgentSource, interface: AgentInterface) -> None:
    """Refuse an agent that violates the policy; the result is cached.

    Raises:
        PatchError: shows the first :data:`MAX_SHOWN` violations and the number of further violations.
    """
    refusal = _refusal(agent, interface)
    if refusal:
        raise PatchError(refusal)


@compilation.refusing()
def check_patch(patch: str, base: str, interface: AgentInterface) -> None:
    """Refuse a patch of the agent ``base`` that violates the policy; lines in the message are lines of the patch.

    Raises:
        PatchError: as :func:`check_agent`, or one of the texts does not compile.
    """
    found = _violations(_parse(patch), _parse(base), interface)
    if found:
        raise PatchError(_list_violations(found))


@lru_cache(maxsize=64)
def _refusal(agent: AgentSource, interface: AgentInterface) -> str:
    """Return the message with which an agent is refused; "" if the agent is allowed."""
    try:
        return _list_violations(violations(agent.text, interface))
    except PatchError as error:
        return str(error)


def _parse(source: str) -> ast.Module:
    """Return the syntax tree of a source; if the source is refused, shorten and clean the message of the PatchError."""
    try:
        return parse(source)
    except PatchError as error:
        lines = str(error)[:_MAX_LISTED].splitlines()
        message = "\n".join(_show_source(line, _MAX_LINE) for line in lines)
        raise PatchError(message[:_MAX_LISTED]) from error


def _list_violations(found: Sequence[Violation]) -> str:
    """Return a message with as many violations as fit, followed by the number of omitted violations."""
    shown = [str(violation) for violation in found[:MAX_SHOWN]]
    while sum(map(len, shown)) > _MAX_LISTED - 100:
        shown.pop()
    hidden = len(found) - len(shown)
    return "\n".join([*shown, f"and {hidden} more"] if hidden else shown)


def _show_source(text: str, limit: int) -> str:
    """Return a text from the source as one line of at most ``limit`` printable characters, for use in a message."""
    start = visible(text[: limit + 1]).replace("\n", " ")
    line = "".join(c for c in start if c.isprintable())
    if len(line) <= limit:
        return line
    return f"{line[: limit - 3]}..."


def _shorten_name(match: re.Match[str]) -> str:
    return _show_source(match[0], _MAX_NAME)


def _violations(tree: ast.Module, base: ast.Module | None, interface: AgentInterface) -> tuple[Violation, ...]:
    """Return the violations in an agent, or in a patch of the agent ``base``.

    The violations are sorted, without duplicates, and have short texts.
    """
    if line := _find_too_deep(tree):
        return (Violation(line, f"more than {MAX_DEPTH} levels of nesting; split it into several methods"),)

    faults = {(_line(node), words) for node, words in _faults(tree, base, interface) if words}
    found: set[Violation] = set()
    for line, words in faults:
        short = _LONG_NAME.sub(_shorten_name, words)
        found.add(Violation(line, _show_source(short, _MAX_LINE)))
    return tuple(sorted(found))


def _find_too_deep(tree: ast.Module) -> int:
    """Return the largest line number of a node that is nested deeper than :data:`MAX_DEPTH`; 0 without such a node."""
    level: list[ast.AST] = [tree]
    for _ in range(MAX_DEPTH + 1):
        level = [child for node in level for child in compilation.children(node)]
    return max((_line(node) for node in level), default=0)


def _line(node: ast.AST) -> int:
    """Return the line of a node, from 1; 1 for a node without a line."""
    if isinstance(node, ast.comprehension):
        node = node.target
    return getattr(node, "lineno", 1)


def _faults(tree: ast.Module, base: ast.Module | None, interface: AgentInterface) -> _Faults:
    """Yield (node, fault) for the nodes of an agent, or of a patch of the agent ``base``; "" means no fault."""
    is_patch = base is not None
    # Functions at the top level of a patch become methods.
    statements = [node for node in tree.body if not (is_patch and isinstance(node, _Function))]
    bound = [*iterate_top_level(base.body if base else ()), *iterate_top_level(statements)]
    names = Names(merge_meanings((name, meaning) for _, name, meaning in bound), interface)
    yield from _top_level_faults(tree, names, is_patch)
    yield from _find_rebound_names(bound, set(map(id, statements)))
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and node.name == AGENT_CLASS:
            for part in node.body:
                yield from _part_faults(part, names, is_method=True)
        else:
            yield from _part_faults(node, names, is_method=is_patch)


def _part_faults(part: ast.stmt, names: Names, is_method: bool) -> _Faults:
    """Yield the faults within one statement of the top level or of the class body.

    ``is_method`` says whether a function at this place is a method, or becomes a method by merging.
    """
    if isinstance(part, _Function):
        yield from ((part, words) for words in rules.check_head(part, names))
        if is_method:
            yield from ((part, words) for words in rules.check_method_name(part, names.interface))
    nodes = compilation.all_nodes(part)
    local_names = names.within(nodes) if isinstance(part, _Function | ast.ClassDef) else names
    yield from ((node, words) for node in nodes for words in rules.check_node(node, local_names))


def _find_rebound_names(bound: Sequence[tuple[ast.stmt, str, str]], checked_ids: set[int]) -> _Faults:
    """Yield the top-level statements that give a second meaning to a name, if one of the meanings is an import.

    Such statements are faults because other methods may use the first meaning. Only statements whose ids are in
    ``checked_ids`` are reported.
    """
    meanings: dict[str, list[str]] = {}
    for node, name, meaning in bound:
        known = meanings.setdefault(name, [])
        known.append(meaning)
        if id(node) not in checked_ids:
            continue
        is_ambiguous = len(set(known)) > 1
        if any(known) and is_ambiguous:  # the meaning of a name that is not imported is ""
            imported = next(filter(None, known))
            yield node, f"'{name}' already stands for '{imported}'; use another name"


def _top_level_faults(tree: ast.Module, names: Names, is_patch: bool) -> _Faults:
    """Yield the faults of top-level statements; only imports, constants and definitions can be merged."""
    agents = 0
    for node in tree.body:
        match node:
            case ast.Import() | ast.ImportFrom() | ast.Expr(value=ast.Constant()) | ast.Pass():
                pass
            case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
                yield node, _fault_of_constant(node, name, names, is_patch)
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                if name == AGENT_CLASS:
                    yield node, f"{AGENT_CLASS} is the name of the class"
            case ast.Assign():
                yield node, "a constant at the top level must be one name and its value; write one for each line"
            case ast.ClassDef(name=name) if name == AGENT_CLASS:
                agents += 1
                if agents > 1:
                    yield node, f"class {AGENT_CLASS} must be defined only once"
                yield from _agent_faults(node, names)
            case ast.ClassDef(name=name):
                yield node, f"class {name} must not be defined here; define it inside the method that uses it"
            case _:
                yield node, "only imports, literal constants and def blocks may be at the top level"


def _agent_faults(agent: ast.ClassDef, names: Names) -> _Faults:
    """Yield the faults of ``class Agent`` itself, and of the statements in its body except methods."""
    if agent.bases or agent.keywords or agent.decorator_list:
        yield agent, f"class {AGENT_CLASS} must have no bases, no keywords and no decorators"
    for node in agent.body:
        match node:
            case ast.Expr(value=ast.Constant()) | ast.Pass() | ast.FunctionDef() | ast.AsyncFunctionDef():
                pass
            case ast.AnnAssign(value=None, target=ast.Name()):
                pass
            case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
                if name in names.interface.reserved_names:
                    yield node, f"{name} belongs to the world and must not be assigned in the class; leave it out"
                yield node, _fault_of_constant(node, name, names, False)
            case _:
                yield node, f"only methods and literal constants may be in class {AGENT_CLASS}"


def _fault_of_constant(node: ast.Assign | ast.AnnAssign, name: str, names: Names, is_patch: bool) -> str:
    """Return why a constant must not be defined; "" if it may be defined."""
    if name == AGENT_CLASS:
        return f"{name} is the name of the class"
    if rules.is_dunder(name):
        return f"{name} must not be defined: names in double underscores belong to Python"
    # A constant of a patch must not use other constants: the regression check finds changed methods by its text.
    if node.value is not None and not rules.is_constant(node.value, names, any_name=not is_patch):
        return f"{name} is not a literal; compute it inside a method"
    return ""
