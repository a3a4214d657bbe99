"""What each name of a source stands for: its scopes, and where its nodes lie in them (pure, parse only).

One walk without recursion finds every node with its scope. Names are then resolved as Python does it: a name bound in
a function is never a global or a builtin there, names of a class body are invisible in its methods, the first
iterable of a comprehension and everything in the head of a definition belong to the surrounding scope.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Final

from spca.agent_code import AGENT_CLASS, positional
from spca.sandbox.allowed import MEMBERS

MAX_DEPTH: Final = 100
"""Levels of nesting in the syntax tree; what walks trees by recursion has room for that."""

Function = ast.FunctionDef | ast.AsyncFunctionDef
Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp


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
    agent, or its class. ``foreign`` are names declared global or nonlocal, ``caught`` those of exceptions.
    """

    kind: Kind
    parent: Scope | None = None
    agent: bool = False
    instance: str = ""
    cls: str = ""
    bound: dict[str, list[tuple[int, str]]] = field(default_factory=dict)
    foreign: set[str] = field(default_factory=set)
    caught: set[str] = field(default_factory=set)

    def bind(self, name: str, line: int, meaning: str = "") -> None:
        self.bound.setdefault(name, []).append((line, meaning))

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
        return next((meaning for _, meaning in owner.bound[name] if meaning), "") if owner else ""


@dataclass(slots=True)
class Survey:
    """A source's nodes with their scopes, in no particular order.

    ``bindings`` are (node, name, scope); ``attribute_of`` maps the id of a node to the attribute taken from it;
    ``called`` are ids of nodes that are called; ``too_deep`` is the line where the nesting ends being readable.
    """

    module: Scope
    scopes: list[Scope] = field(default_factory=list)
    sites: list[tuple[ast.AST, Scope]] = field(default_factory=list)
    bindings: list[tuple[ast.AST, str, Scope]] = field(default_factory=list)
    attribute_of: dict[int, str] = field(default_factory=dict)
    called: set[int] = field(default_factory=set)
    too_deep: int = 0


def survey(tree: ast.Module, base: ast.Module | None = None) -> Survey:
    """Find the nodes and names of an agent; with ``base`` those of a patch to it.

    Functions at the top level of a patch are methods, and the names at the top level of ``base`` are known.
    """
    found = Survey(Scope(Kind.MODULE))
    found.scopes.append(found.module)
    methods = found.module
    if base is not None:
        _bind_base(base, found.module)
        methods = Scope(Kind.CLASS, found.module, agent=True)
    walk = _Walk(found)
    for node in tree.body:
        walk.push((node,), methods if isinstance(node, Function) else found.module, 1)
    walk.run()
    return found


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


def _bind_base(base: ast.Module, scope: Scope) -> None:
    for node in base.body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            for _, name, meaning in meanings(node):
                scope.bind(name, 0, meaning)
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for target in targets:
                if isinstance(target, ast.Name):
                    scope.bind(target.id, 0)
        elif isinstance(node, Function | ast.ClassDef):
            scope.bind(node.name, 0)


class _Walk:
    """Visits every node once, with a stack of its own: deep trees must not exhaust Python's."""

    def __init__(self, found: Survey) -> None:
        self._found = found
        self._pending: list[tuple[ast.AST, Scope, int]] = []

    def push(self, nodes: Iterable[ast.AST | None], scope: Scope, depth: int) -> None:
        for node in nodes:
            if node is not None:
                self._pending.append((node, scope, depth))

    def run(self) -> None:
        found, pending = self._found, self._pending
        while pending:
            node, scope, depth = pending.pop()
            if depth > MAX_DEPTH:
                found.too_deep = found.too_deep or getattr(node, "lineno", 1)  # some nodes have no line
                continue
            found.sites.append((node, scope))
            visit = _VISITS.get(type(node))
            if visit is None:
                self.push(ast.iter_child_nodes(node), scope, depth + 1)
            else:
                visit(self, node, scope, depth + 1)

    def inside(self, kind: Kind, parent: Scope, agent: bool = False) -> Scope:
        scope = Scope(kind, parent, agent)
        self._found.scopes.append(scope)
        return scope

    def bind(self, node: ast.AST, name: str, scope: Scope, meaning: str = "") -> None:
        scope.bind(name, getattr(node, "lineno", 0), meaning)
        self._found.bindings.append((node, name, scope))

    def function(self, node: Function, scope: Scope, depth: int) -> None:
        self.bind(node, node.name, scope)
        outer = self._with_type_parameters(node, scope, depth)
        inner = self.inside(Kind.FUNCTION, outer)
        first = next(iter(positional(node)), "") if isinstance(node, ast.FunctionDef) else ""
        if scope.agent:
            kinds = {item.id for item in node.decorator_list if isinstance(item, ast.Name)}
            inner.instance = first if kinds.isdisjoint(("staticmethod", "classmethod")) else ""
            inner.cls = first if "classmethod" in kinds else ""
        self.push(node.decorator_list, scope, depth)
        self._parameters(node.args, outer, inner, depth)
        self.push((node.returns,), outer, depth)
        self.push(node.body, inner, depth)

    def lambda_(self, node: ast.Lambda, scope: Scope, depth: int) -> None:
        inner = self.inside(Kind.FUNCTION, scope)
        self._parameters(node.args, scope, inner, depth)
        self.push((node.body,), inner, depth)

    def class_(self, node: ast.ClassDef, scope: Scope, depth: int) -> None:
        self.bind(node, node.name, scope)
        outer = self._with_type_parameters(node, scope, depth)
        is_agent = scope.kind is Kind.MODULE and node.name == AGENT_CLASS
        self.push(node.decorator_list, scope, depth)
        self.push([*node.bases, *node.keywords], outer, depth)
        self.push(node.body, self.inside(Kind.CLASS, outer, is_agent), depth)

    def type_alias(self, node: Any, scope: Scope, depth: int) -> None:
        outer = self._with_type_parameters(node, scope, depth)
        self.push((node.name,), scope, depth)
        self.push((node.value,), outer, depth)

    def type_parameter(self, node: Any, scope: Scope, depth: int) -> None:
        self.bind(node, node.name, scope)
        self.push(ast.iter_child_nodes(node), scope, depth)

    def comprehension(self, node: Comprehension, scope: Scope, depth: int) -> None:
        inner = self.inside(Kind.COMPREHENSION, scope)
        first = node.generators[0]
        self.push((first.iter,), scope, depth)
        self.push((first.target, *first.ifs, *node.generators[1:]), inner, depth)
        self._found.sites.append((first, inner))
        results = (node.key, node.value) if isinstance(node, ast.DictComp) else (node.elt,)
        self.push(results, inner, depth)

    def walrus(self, node: ast.NamedExpr, scope: Scope, depth: int) -> None:
        home = scope
        while home.kind is Kind.COMPREHENSION and home.parent is not None:
            home = home.parent
        self.push((node.target,), home, depth)
        self.push((node.value,), scope, depth)

    def name(self, node: ast.Name, scope: Scope, _depth: int) -> None:
        if not isinstance(node.ctx, ast.Load):
            self.bind(node, node.id, scope)

    def attribute(self, node: ast.Attribute, scope: Scope, depth: int) -> None:
        self._found.attribute_of[id(node.value)] = node.attr
        self.push((node.value,), scope, depth)

    def call(self, node: ast.Call, scope: Scope, depth: int) -> None:
        self._found.called.add(id(node.func))
        self.push((node.func, *node.args, *node.keywords), scope, depth)

    def import_(self, node: ast.Import | ast.ImportFrom, scope: Scope, _depth: int) -> None:
        for _, name, meaning in meanings(node):
            self.bind(node, name, scope, meaning)

    def foreign(self, node: ast.Global | ast.Nonlocal, scope: Scope, _depth: int) -> None:
        scope.foreign.update(node.names)

    def handler(self, node: ast.ExceptHandler, scope: Scope, depth: int) -> None:
        if node.name:
            self.bind(node, node.name, scope)
            scope.caught.add(node.name)
        self.push(ast.iter_child_nodes(node), scope, depth)

    def capture(self, node: ast.MatchAs | ast.MatchStar | ast.MatchMapping, scope: Scope, depth: int) -> None:
        name = node.rest if isinstance(node, ast.MatchMapping) else node.name
        if name:
            self.bind(node, name, scope)
        self.push(ast.iter_child_nodes(node), scope, depth)

    def _parameters(self, args: ast.arguments, outer: Scope, inner: Scope, depth: int) -> None:
        self.push([*args.defaults, *args.kw_defaults], outer, depth)
        for arg in (*args.posonlyargs, *args.args, *args.kwonlyargs, args.vararg, args.kwarg):
            if arg is not None:
                self.bind(arg, arg.arg, inner)
                self.push((arg.annotation,), outer, depth)

    def _with_type_parameters(self, node: Any, scope: Scope, depth: int) -> Scope:
        """The scope of what may use the type parameters of a definition (Python 3.12)."""
        parameters = getattr(node, "type_params", ())
        inner = self.inside(Kind.FUNCTION, scope) if parameters else scope
        self.push(parameters, inner, depth)
        return inner


_VISITS: Final[dict[type[ast.AST], Callable[[_Walk, Any, Scope, int], None]]] = {
    ast.FunctionDef: _Walk.function,
    ast.AsyncFunctionDef: _Walk.function,
    ast.Lambda: _Walk.lambda_,
    ast.ClassDef: _Walk.class_,
    ast.ListComp: _Walk.comprehension,
    ast.SetComp: _Walk.comprehension,
    ast.DictComp: _Walk.comprehension,
    ast.GeneratorExp: _Walk.comprehension,
    ast.NamedExpr: _Walk.walrus,
    ast.Name: _Walk.name,
    ast.Attribute: _Walk.attribute,
    ast.Call: _Walk.call,
    ast.Import: _Walk.import_,
    ast.ImportFrom: _Walk.import_,
    ast.Global: _Walk.foreign,
    ast.Nonlocal: _Walk.foreign,
    ast.ExceptHandler: _Walk.handler,
    ast.MatchAs: _Walk.capture,
    ast.MatchStar: _Walk.capture,
    ast.MatchMapping: _Walk.capture,
}
for _name in ("TypeVar", "ParamSpec", "TypeVarTuple"):
    if hasattr(ast, _name):
        _VISITS[getattr(ast, _name)] = _Walk.type_parameter
if hasattr(ast, "TypeAlias"):
    _VISITS[ast.TypeAlias] = _Walk.type_alias
