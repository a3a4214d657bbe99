"""What is put right in a patch before it is judged, since it is meant well and asking again costs a call (pure).

An ``if __name__ == ...:`` is dropped. A helper that takes no ``self`` becomes a static method, and is called as one.
Nothing moves to another line: what is said of the patch afterwards names the lines of the answer.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Mapping
from itertools import chain

from spca.code.agent_source import AGENT_CLASS, parse, positional, rebinds_self, split_lines
from spca.code.call_binding import fault_of_call
from spca.errors import PatchError


def without_main(patch: str) -> str:
    """The patch without what it does when it is run as a program; one that does not compile stays as it is."""
    try:
        guards = [node for node in parse(patch).body if _is_main_guard(node)]
    except PatchError:
        return patch
    lines = split_lines(patch)
    for guard in guards:
        for number in range(guard.lineno - 1, guard.end_lineno or guard.lineno):
            lines[number] = "\n"
    return "".join(lines)


def with_static_helpers(patch: str, actions: Collection[str], static: Collection[str]) -> tuple[str, frozenset[str]]:
    """The patch with its helpers called as static methods, and the names of those that take no ``self``.

    Args:
        actions: what is asked for, which is no helper.
        static: static methods of the agent.

    Raises:
        PatchError: it does not compile.
    """
    functions = {node.name: node for node in _functions(parse(patch))}
    candidates = {
        name: node
        for name, node in functions.items()
        if name not in actions and not node.decorator_list and positional(node)[:1] != ("self",)
    }
    uses = [use for node in functions.values() for use in _uses(node, candidates)]
    lines = [line.encode() for line in split_lines(patch)]
    bad = {use.name for use in uses if not use.fits(candidates[use.name], lines)}
    bad |= {name for node in functions.values() for name in _names_in_head(node)}
    chosen = ({use.name for use in uses} | {name for name in candidates if name in static}) - bad
    for use in sorted(uses, key=lambda use: -use.node.col_offset):
        if use.name in chosen and isinstance(use.node, ast.Name):
            line = use.node.lineno - 1
            at = use.node.col_offset
            lines[line] = lines[line][:at] + f"{use.owner}.".encode() + lines[line][at:]
    return b"".join(lines).decode(), frozenset(chosen)


class _Use:
    """A place where a helper is named: plainly, or as an attribute of the agent or its class."""

    def __init__(self, node: ast.Name | ast.Attribute, owner: str, call: ast.Call | None) -> None:
        self.node = node
        self.owner = owner
        self.call = call
        self.name = node.id if isinstance(node, ast.Name) else node.attr

    def fits(self, helper: ast.FunctionDef, lines: list[bytes]) -> bool:
        """Whether it can be called so without ``self``, and its name stands where the tree says.

        Before Python 3.12 the tree does not tell where names in f-strings stand.
        """
        node = self.node
        call = self.call
        if isinstance(node, ast.Name) and not lines[node.lineno - 1].startswith(node.id.encode(), node.col_offset):
            return False
        if call is None or any(isinstance(arg, ast.Starred) for arg in call.args):
            return True
        keywords = [keyword.arg for keyword in call.keywords if keyword.arg]
        return len(keywords) < len(call.keywords) or not fault_of_call(helper, len(call.args), keywords, bound=False)


def _is_main_guard(node: ast.stmt) -> bool:
    match node:
        case ast.If(
            test=ast.Compare(left=ast.Name(id="__name__")) | ast.Compare(comparators=[ast.Name(id="__name__")])
        ):
            return True
        case _:
            return False


def _functions(tree: ast.Module) -> Iterator[ast.FunctionDef]:
    classes = (node.body for node in tree.body if isinstance(node, ast.ClassDef) and node.name == AGENT_CLASS)
    return (node for node in chain(tree.body, *classes) if isinstance(node, ast.FunctionDef))


def _uses(function: ast.FunctionDef, helpers: Mapping[str, ast.FunctionDef]) -> Iterator[_Use]:
    """Where a function names helpers, but for names that it binds itself."""
    bound = _bound(function)
    calls: dict[int, ast.Call] = {}
    takes_self = positional(function)[:1] == ("self",)
    pending: list[tuple[ast.AST, str]] = [(node, "self" if takes_self else AGENT_CLASS) for node in function.body]
    while pending:
        node, owner = pending.pop()
        match node:
            case ast.Call():
                calls[id(node.func)] = node
            case ast.Name(id=name, ctx=ast.Load()) if name in helpers and name not in bound:
                yield _Use(node, owner, calls.get(id(node)))
            case ast.Attribute(value=ast.Name(id="self" | "Agent"), attr=name) if name in helpers:
                yield _Use(node, owner, calls.get(id(node)))
        inner = AGENT_CLASS if rebinds_self(node) else owner
        pending += [(child, inner) for child in ast.iter_child_nodes(node)]


def _bound(function: ast.FunctionDef) -> set[str]:
    """Names that a function binds itself."""
    nodes = list(ast.walk(function))
    names = {node.id for node in nodes if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)}
    names |= {node.arg for node in nodes if isinstance(node, ast.arg)}
    return names | {node.name for node in nodes[1:] if isinstance(node, ast.FunctionDef | ast.ClassDef)}


def _names_in_head(function: ast.FunctionDef) -> Iterator[str]:
    """Names that are read when the function is defined, where there is no agent yet."""
    head = (function.args, *function.decorator_list, *filter(None, [function.returns]))
    return (node.id for part in head for node in ast.walk(part) if isinstance(node, ast.Name))
