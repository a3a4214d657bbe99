"""What the names of one definition stand for: something imported, a builtin, or anything else (pure).

Scopes inside a definition are not told apart. A name that it binds in two ways stands for nothing known.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from spca.code.policy.available import MODULES

_MAX_PARTS: Final = max(name.count(".") for name in MODULES) + 1
"""Attributes in a row that can matter: a chain may be long, and each of its parts is looked at."""


@dataclass(frozen=True, slots=True)
class Names:
    """The full name of what each name stands for; "" where it is bound otherwise. Names that are missing are builtins.

    ``self_is_agent`` is False where ``self`` may be another object as well, such as one of a local class.
    """

    meanings: Mapping[str, str]
    self_is_agent: bool = False

    def full_name(self, node: ast.expr) -> str:
        """Return what an expression names: "numpy.random", "collections.deque", "len"; "" for something computed."""
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
        """Return the names as a definition sees them that consists of ``nodes``."""
        selves = [node for node in nodes if isinstance(node, ast.arg) and node.arg == "self"]
        is_agent = len(selves) == 1
        return Names({**self.meanings, **merge_meanings(bindings(nodes))}, is_agent)


def merge_meanings(bound: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return the meaning of each name; "" where it has several."""
    meanings: dict[str, str] = {}
    for name, meaning in bound:
        meanings[name] = meaning if meanings.get(name, meaning) == meaning else ""
    return meanings


def bindings(nodes: Iterable[ast.AST]) -> Iterator[tuple[str, str]]:
    """Yield each name that syntax nodes bind, with the full name of what is imported under it, "" otherwise."""
    for node in nodes:
        match node:
            case ast.Import() | ast.ImportFrom():
                yield from _iterate_imports(node)
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()) | ast.arg(arg=name) | ast.MatchMapping(rest=str(name)):
                yield name, ""
            case ast.alias():
                pass
            case _:
                own = getattr(node, "name", None)
                if isinstance(own, str):  # definitions, exceptions, patterns, type parameters
                    yield own, ""


def iterate_top_level(statements: Sequence[ast.stmt]) -> Iterator[tuple[ast.stmt, str, str]]:
    """Yield each name that top-level statements bind, with its statement and meaning as in :func:`bindings`."""
    for node in statements:
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", node)]
        yield from ((node, name, meaning) for name, meaning in bindings(targets))


def _iterate_imports(node: ast.Import | ast.ImportFrom) -> Iterator[tuple[str, str]]:
    for alias in node.names:
        if isinstance(node, ast.ImportFrom):
            yield alias.asname or alias.name, f"{node.module or ''}.{alias.name}"
        elif alias.asname:
            yield alias.asname, alias.name
        else:
            root = alias.name.partition(".")[0]
            yield root, root
