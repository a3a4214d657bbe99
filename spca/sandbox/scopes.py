"""What each name of a source stands for: scopes and how names are found in them (pure, parse only).

Names are resolved as Python does it: a name bound in a function is never a global or a builtin there, names of a class
body are invisible in its methods.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import Enum

from spca.sandbox.allowed import MEMBERS


class Kind(Enum):
    """Scopes differ in who sees their names."""

    MODULE = "module"
    CLASS = "class"
    FUNCTION = "function"
    COMPREHENSION = "comprehension"


@dataclass(slots=True, eq=False)
class Scope:
    """Names bound in one scope, each with lines and meanings: the full name of what is imported, "" otherwise.

    ``agent`` marks the body of class Agent; ``instance`` and ``cls`` name the parameter of its method that is the
    agent, or its class. ``foreign`` are names declared global or nonlocal, ``caught`` those of exceptions;
    ``meant`` has the first meaning of what is imported, ``given`` for each binding of a name where its value stands,
    None where that is not to be seen.
    """

    kind: Kind
    parent: Scope | None = None
    agent: bool = False
    instance: str = ""
    cls: str = ""
    bound: dict[str, list[tuple[int, str]]] = field(default_factory=dict)
    foreign: set[str] = field(default_factory=set)
    caught: set[str] = field(default_factory=set)
    meant: dict[str, str] = field(default_factory=dict)
    given: dict[str, list[Given | None]] = field(default_factory=dict)

    def bind(self, name: str, line: int, meaning: str = "", given: Given | None = None) -> None:
        self.bound.setdefault(name, []).append((line, meaning))
        self.given.setdefault(name, []).append(given)
        if meaning:
            self.meant.setdefault(name, meaning)

    @property
    def home(self) -> Scope:
        """The outermost function around, or the scope itself."""
        scope, outer = self, self.parent
        while outer is not None and not outer.agent and outer.kind is not Kind.MODULE:
            scope, outer = outer, outer.parent
        return scope

    def is_caught(self, name: str) -> bool:
        """Whether a name is one that an ``except`` clause gives an exception."""
        owner = self.owner(name)
        return owner is not None and name in owner.caught

    def owner(self, name: str) -> Scope | None:
        """The scope that gives a name its meaning here; None for builtins. Class bodies shield nothing."""
        scope: Scope | None = self
        while scope is not None:
            if scope.kind is not Kind.CLASS and name in scope.bound and name not in scope.foreign:
                return scope
            scope = scope.parent
        return None

    def imported(self, name: str) -> str:
        """Full name of what is imported under a name, "" when it is bound otherwise or not at all."""
        owner = self.owner(name)
        return owner.meant.get(name, "") if owner else ""


@dataclass(frozen=True, slots=True)
class Given:
    """Where a name gets its value: an expression and its scope, with ``each`` the elements of it."""

    value: ast.expr
    scope: Scope
    each: bool = False


@dataclass(slots=True)
class Survey:
    """A source's nodes with their scopes, in no particular order.

    ``bindings`` are (node, name, scope); ``attribute_of`` maps the id of a node to the attribute taken from it;
    ``called`` are ids of nodes that are called, ``shown`` of those that are only looked at (printed, compared, named in
    an annotation), ``fields`` of values that a class body gives to annotated names; ``foreign`` are all names that some
    scope declares global or nonlocal, ``keeping`` the ids of outermost functions in which a caught exception is more
    than looked at, ``classes`` the names of class statements with their bases; ``too_deep`` is the line where the
    nesting ends being readable. ``strings``, ``enums``, ``formats`` and ``dunders`` remember answers about names and
    strings, which many sites may share.
    """

    module: Scope
    scopes: list[Scope] = field(default_factory=list)
    sites: list[tuple[ast.AST, Scope]] = field(default_factory=list)
    bindings: list[tuple[ast.AST, str, Scope]] = field(default_factory=list)
    attribute_of: dict[int, str] = field(default_factory=dict)
    called: set[int] = field(default_factory=set)
    shown: set[int] = field(default_factory=set)
    fields: set[int] = field(default_factory=set)
    foreign: set[str] = field(default_factory=set)
    keeping: set[int] = field(default_factory=set)
    classes: dict[str, list[tuple[ast.expr, Scope]]] = field(default_factory=dict)
    too_deep: int = 0
    strings: dict[tuple[int, str, bool], tuple[str, ...] | None] = field(default_factory=dict)
    enums: set[str] | None = None
    formats: dict[str, tuple[str, ...]] = field(default_factory=dict)
    dunders: dict[str, bool] = field(default_factory=dict)


def full_name(node: ast.expr, scope: Scope) -> str:
    """What an expression names: "numpy.random", "collections.deque", "len"; "" when it is something computed."""
    if isinstance(node, ast.Name):
        owner = scope.owner(node.id)
        # A name that only an annotation binds at the top level still is the builtin.
        is_builtin = (owner is None or owner.kind is Kind.MODULE) and hasattr(builtins, node.id)
        return scope.imported(node.id) or (node.id if is_builtin else "")
    if isinstance(node, ast.Attribute):
        module = module_name(node.value, scope)
        return f"{module}.{node.attr}" if module else ""
    return ""


def module_name(node: ast.expr, scope: Scope) -> str:
    """Name of the allowed module that an expression stands for, or ""."""
    name = scope.imported(node.id) if isinstance(node, ast.Name) else full_name(node, scope)
    return name if name in MEMBERS else ""


def meanings(node: ast.Import | ast.ImportFrom) -> Iterable[tuple[ast.alias, str, str]]:
    """For each name that an import binds: its alias, the name, the full name of what it stands for."""
    for alias in node.names:
        if isinstance(node, ast.ImportFrom):
            yield alias, alias.asname or alias.name, f"{'.' * node.level}{node.module or ''}.{alias.name}"
        else:
            root = alias.name.partition(".")[0]
            yield alias, alias.asname or root, alias.name if alias.asname else root
