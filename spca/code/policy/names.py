"""The meanings of the names in one definition: an imported object, a builtin, or unknown (pure).

Nested scopes of a definition are not distinguished. A name with two different meanings counts as unknown.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from spca.body import AgentInterface
from spca.code.policy.available import MODULES

_MAX_PARTS: Final = max(name.count(".") for name in MODULES) + 1
"""Largest number of attributes in a chain that can be a full name; bounds the time for long chains."""


@dataclass(frozen=True, slots=True)
class Names:
    """The meanings of names in a definition.

    Attributes:
        meanings: maps each bound name to the full name of the imported object; "" if the name is not bound by an
            import. Names that are not in the mapping are builtins.
        interface: names of the agent's primitives and state.
        self_is_agent: whether ``self`` is always the agent; False if it may, for example, be an object of a local
            class.
    """

    meanings: Mapping[str, str]
    interface: AgentInterface
    self_is_agent: bool = False

    def full_name(self, node: ast.expr) -> str:
        """Return the full name of an expression, such as "numpy.random", "collections.deque" or "len".

        Return "" if the expression is computed, so that its meaning is unknown.
        """
        attributes: list[str] = []
        while isinstance(node, ast.Attribute) and len(attributes) < _MAX_PARTS:
            attributes.insert(0, node.attr)
            node = node.value
        if not isinstance(node, ast.Name):
            return ""
        if not attributes:
            return self.meanings.get(node.id, node.id if hasattr(builtins, node.id) else "")
        *modules, last = (self.meanings.get(node.id, ""), *attributes)
        module = ".".join(modules)
        return f"{module}.{last}" if module in MODULES else ""

    def within(self, nodes: Sequence[ast.AST]) -> Names:
        """Return the meanings inside a definition that consists of ``nodes``."""
        self_parameters = [node for node in nodes if isinstance(node, ast.arg) and node.arg == "self"]
        self_is_agent = len(self_parameters) == 1  # no inner function or class has another ``self``
        return Names({**self.meanings, **merge_meanings(bindings(nodes))}, self.interface, self_is_agent)


def merge_meanings(bound: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Map each name to its meaning; a name with different meanings gets ""."""
    meanings: dict[str, str] = {}
    for name, meaning in bound:
        meanings[name] = meaning if meanings.get(name, meaning) == meaning else ""
    return meanings


def bindings(nodes: Iterable[ast.AST]) -> Iterator[tuple[str, str]]:
    """Yield (name, meaning) for each name that the nodes bind.

    The meaning is the full name of the imported object, or "" if the binding is not an import.
    """
    for node in nodes:
        match node:
            case ast.Import() | ast.ImportFrom():
                yield from _iterate_imports(node)
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()) | ast.arg(arg=name) | ast.MatchMapping(rest=str(name)):
                yield name, ""
            case ast.alias():
                pass
            case _:
                bound_name = getattr(node, "name", None)
                if isinstance(bound_name, str):  # definitions, exceptions, patterns, type parameters
                    yield bound_name, ""


def iterate_top_level(statements: Sequence[ast.stmt]) -> Iterator[tuple[ast.stmt, str, str]]:
    """Yield (statement, name, meaning) for each name that top-level statements bind; see :func:`bindings`."""
    for node in statements:
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", node)]
        yield from ((node, name, meaning) for name, meaning in bindings(targets))


def _iterate_imports(node: ast.Import | ast.ImportFrom) -> Iterator[tuple[str, str]]:
    """Yield (name, full name of the imported object) for each name that an import binds."""
    for alias in node.names:
        if isinstance(node, ast.ImportFrom):
            yield alias.asname or alias.name, f"{node.module or ''}.{alias.name}"
        elif alias.asname:
            yield alias.asname, alias.name
        else:
            root = alias.name.partition(".")[0]
            yield root, root
