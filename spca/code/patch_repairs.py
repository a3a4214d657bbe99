"""Repairs of harmless mistakes in a patch before its checks, because asking the model again costs a call (pure).

``if __name__ == ...:`` is removed. A helper without ``self`` becomes a static method, and calls of the helper are
adapted. Every repair leaves code on its line, so that later messages give the line numbers of the model's answer.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Mapping
from itertools import chain

from spca.code.agent_source import AGENT_CLASS, parse, positional, rebinds_self, split_lines
from spca.code.call_binding import fault_of_call
from spca.errors import PatchError


def remove_main_guard(patch: str) -> str:
    """Replace each ``if __name__ == ...:`` block by blank lines.

    A patch that does not compile is returned unchanged.
    """
    try:
        guards = [node for node in parse(patch).body if _is_main_guard(node)]
    except PatchError:
        return patch
    lines = split_lines(patch)
    for guard in guards:
        for number in range(guard.lineno - 1, guard.end_lineno or guard.lineno):
            lines[number] = "\n"
    return "".join(lines)


def make_helpers_static(patch: str, actions: Collection[str], static: Collection[str]) -> tuple[str, frozenset[str]]:
    """Rewrite each use of a helper as an attribute of the agent, because helpers become static methods.

    A helper is a function of the patch without ``self`` and decorators. The uses are rewritten only if all of them are
    valid for a static method.

    Args:
        patch: the patch.
        actions: names of the requested actions, which never count as helpers.
        static: names of the static methods of the agent; a helper of such a name stays static even if it is not used.

    Returns:
        The patch, and the names of the helpers that must become static methods.

    Raises:
        PatchError: the patch does not compile.
    """
    functions = {node.name: node for node in _functions(parse(patch))}
    candidates: dict[str, ast.FunctionDef] = {}
    for name, node in functions.items():
        takes_self = positional(node)[:1] == ("self",)
        if name not in actions and not node.decorator_list and not takes_self:
            candidates[name] = node

    # A candidate becomes a static method only if every use stays valid, and if the patch or the agent needs it.
    uses = [use for node in functions.values() for use in _uses(node, candidates)]
    lines = [line.encode() for line in split_lines(patch)]
    unfit = {use.name for use in uses if not use.fits(candidates[use.name], lines)}
    for node in functions.values():
        unfit.update(_names_in_head(node))

    helpers = {use.name for use in uses}
    helpers.update(name for name in candidates if name in static)
    helpers -= unfit

    # From right to left, so that the columns of the other names on a line stay valid.
    for use in sorted(uses, key=lambda use: -use.node.col_offset):
        if use.name in helpers and isinstance(use.node, ast.Name):
            number = use.node.lineno - 1
            line = lines[number]
            column = use.node.col_offset
            owner = f"{use.owner}.".encode()
            lines[number] = line[:column] + owner + line[column:]
    return b"".join(lines).decode(), frozenset(helpers)


class _Use:
    """A use of a helper's name: a plain name, or an attribute of the agent or its class.

    ``owner`` is "self" or "Agent": a plain name can be rewritten as an attribute of this object. ``call`` is the call
    of the helper, or None if the use is not a call.
    """

    def __init__(self, node: ast.Name | ast.Attribute, owner: str, call: ast.Call | None) -> None:
        self.node = node
        self.owner = owner
        self.call = call
        self.name = node.id if isinstance(node, ast.Name) else node.attr

    def fits(self, helper: ast.FunctionDef, lines: list[bytes]) -> bool:
        """Return whether the use stays valid if the helper becomes a static method.

        The use must also stand at the position (line, byte column) that the tree gives. Before Python 3.12, the tree
        has wrong positions for names in f-strings.
        """
        node = self.node
        call = self.call
        if isinstance(node, ast.Name):
            line = lines[node.lineno - 1]
            if not line.startswith(node.id.encode(), node.col_offset):
                return False

        if call is None or any(isinstance(arg, ast.Starred) for arg in call.args):
            return True
        keywords = [keyword.arg for keyword in call.keywords if keyword.arg]
        if len(keywords) < len(call.keywords):  # an unpacked mapping may pass anything
            return True
        return not fault_of_call(helper, len(call.args), keywords, bound=False)


def _is_main_guard(node: ast.stmt) -> bool:
    """Return whether a statement is an ``if`` with a comparison of ``__name__``."""
    match node:
        case ast.If(
            test=ast.Compare(left=ast.Name(id="__name__")) | ast.Compare(comparators=[ast.Name(id="__name__")])
        ):
            return True
        case _:
            return False


def _functions(tree: ast.Module) -> Iterator[ast.FunctionDef]:
    """Yield the functions at the top level and in ``class Agent``."""
    blocks = [tree.body]
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and node.name == AGENT_CLASS:
            blocks.append(node.body)
    return (node for node in chain.from_iterable(blocks) if isinstance(node, ast.FunctionDef))


def _uses(function: ast.FunctionDef, helpers: Mapping[str, ast.FunctionDef]) -> Iterator[_Use]:
    """Yield the uses of helpers in a function; a name that the function binds itself is no use."""
    bound = _bound_names(function)
    calls: dict[int, ast.Call] = {}  # by id of the node that is called
    takes_self = positional(function)[:1] == ("self",)
    outer = "self" if takes_self else AGENT_CLASS
    pending: list[tuple[ast.AST, str]] = [(node, outer) for node in function.body]
    while pending:
        node, owner = pending.pop()
        match node:
            case ast.Call():  # visited before its children
                calls[id(node.func)] = node
            case ast.Name(id=name, ctx=ast.Load()) if name in helpers and name not in bound:
                yield _Use(node, owner, calls.get(id(node)))
            case ast.Attribute(value=ast.Name(id="self" | "Agent"), attr=name) if name in helpers:
                yield _Use(node, owner, calls.get(id(node)))
        inner = AGENT_CLASS if rebinds_self(node) else owner
        pending += [(child, inner) for child in ast.iter_child_nodes(node)]


def _bound_names(function: ast.FunctionDef) -> set[str]:
    """Return the names that a function binds itself: parameters, assigned names, and inner functions and classes."""
    names: set[str] = set()
    for node in ast.walk(function):
        match node:
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()) | ast.arg(arg=name):
                names.add(name)
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name) if node is not function:
                names.add(name)
    return names


def _names_in_head(function: ast.FunctionDef) -> Iterator[str]:
    """Yield the names that Python evaluates when it defines the function; at that time no agent exists."""
    head = (function.args, *function.decorator_list, *filter(None, [function.returns]))
    return (node.id for part in head for node in ast.walk(part) if isinstance(node, ast.Name))
