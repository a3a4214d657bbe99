"""Where the nodes of a source lie in its scopes, and which names they bind (pure, parse only).

One walk without recursion finds every node with its scope. The first iterable of a comprehension and everything in the
head of a definition belong to the surrounding scope, as in Python.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from typing import Any, Final

from spca.code.agent_source import AGENT_CLASS, positional
from spca.code.compilation import children
from spca.sandbox.scopes import Given, Kind, Scope, Survey, meanings

MAX_DEPTH: Final = 100
"""Levels of nesting in the syntax tree; what walks trees by recursion has room for that."""

Function = ast.FunctionDef | ast.AsyncFunctionDef
Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp


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
    _find_kept(found)
    return found


def _find_kept(found: Survey) -> None:
    caught = frozenset[str]().union(*(scope.caught for scope in found.scopes))
    for site, scope in found.sites:
        if isinstance(site, ast.Name) and site.id in caught and isinstance(site.ctx, ast.Load):
            is_read = id(site) not in found.shown and id(site) not in found.attribute_of
            if is_read and scope.is_caught(site.id):
                found.keeping.add(id(scope.home))


def _bind_base(base: ast.Module, scope: Scope) -> None:
    for node in base.body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            for _, name, meaning in meanings(node):
                scope.bind(name, 0, meaning)
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for target in targets:
                if isinstance(target, ast.Name):
                    scope.bind(target.id, 0, given=Given(node.value, scope) if node.value else None)
        elif isinstance(node, Function | ast.ClassDef):
            scope.bind(node.name, 0)


class _Walk:
    """Visits every node once, with a stack of its own: deep trees must not exhaust Python's."""

    def __init__(self, found: Survey) -> None:
        self._found = found
        self._pending: list[tuple[ast.AST, Scope, int]] = []
        self._given: dict[int, Given] = {}

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
                pending += [(child, scope, depth + 1) for child in children(node)]
            else:
                visit(self, node, scope, depth + 1)

    def inside(self, kind: Kind, parent: Scope, agent: bool = False) -> Scope:
        scope = Scope(kind, parent, agent)
        self._found.scopes.append(scope)
        return scope

    def bind(self, node: ast.AST, name: str, scope: Scope, meaning: str = "") -> None:
        scope.bind(name, getattr(node, "lineno", 0), meaning, self._given.get(id(node)))
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
        self._show(node.returns)
        self.push((node.returns,), outer, depth)
        self.push(node.body, inner, depth)
        if node.name == "__exit__":
            inner.caught.update(inner.bound.keys() - {first})

    def lambda_(self, node: ast.Lambda, scope: Scope, depth: int) -> None:
        inner = self.inside(Kind.FUNCTION, scope)
        self._parameters(node.args, scope, inner, depth)
        self.push((node.body,), inner, depth)

    def class_(self, node: ast.ClassDef, scope: Scope, depth: int) -> None:
        self.bind(node, node.name, scope)
        outer = self._with_type_parameters(node, scope, depth)
        self._show(*node.bases)
        self._found.classes.setdefault(node.name, []).extend((base, outer) for base in node.bases)
        self._found.fields |= {id(item.value) for item in node.body if isinstance(item, ast.AnnAssign) and item.value}
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
        self.push(children(node), scope, depth)

    def comprehension(self, node: Comprehension, scope: Scope, depth: int) -> None:
        inner = self.inside(Kind.COMPREHENSION, scope)
        first = node.generators[0]
        for part in node.generators:
            self._given[id(part.target)] = Given(part.iter, scope if part is first else inner, each=True)
        self.push((first.iter,), scope, depth)
        self.push((first.target, *first.ifs, *node.generators[1:]), inner, depth)
        self._found.sites.append((first, inner))
        results = (node.key, node.value) if isinstance(node, ast.DictComp) else (node.elt,)
        self.push(results, inner, depth)

    def walrus(self, node: ast.NamedExpr, scope: Scope, depth: int) -> None:
        home = scope
        while home.kind is Kind.COMPREHENSION and home.parent is not None:
            home = home.parent
        self._given[id(node.target)] = Given(node.value, scope)
        self.push((node.target,), home, depth)
        self.push((node.value,), scope, depth)

    def assign(self, node: ast.Assign, scope: Scope, depth: int) -> None:
        self._given.update((id(target), Given(node.value, scope)) for target in node.targets)
        self.push((*node.targets, node.value), scope, depth)

    def annotated(self, node: ast.AnnAssign, scope: Scope, depth: int) -> None:
        if node.value is not None:
            self._given[id(node.target)] = Given(node.value, scope)
        self._show(node.annotation)
        self.push(children(node), scope, depth)

    def loop(self, node: ast.For, scope: Scope, depth: int) -> None:
        self._given[id(node.target)] = Given(node.iter, scope, each=True)
        self.push(children(node), scope, depth)

    def looking(self, node: ast.AST, scope: Scope, depth: int) -> None:
        match node:
            case ast.FormattedValue(value=seen) | ast.MatchClass(cls=seen) | ast.Subscript(slice=seen):
                self._show(seen)
                if isinstance(node, ast.Subscript) and id(node) not in self._found.called:
                    self._show(node.value if isinstance(node.value, ast.Name) and node.value.id == "type" else None)
            case ast.Compare(left=left, comparators=others):
                self._show(left, *others)
            case ast.Raise(exc=exc, cause=cause):
                self._show(exc, cause)
            case _:
                pass
        self.push(children(node), scope, depth)

    def name(self, node: ast.Name, scope: Scope, _depth: int) -> None:
        if not isinstance(node.ctx, ast.Load):
            self.bind(node, node.id, scope)

    def attribute(self, node: ast.Attribute, scope: Scope, depth: int) -> None:
        self._found.attribute_of[id(node.value)] = node.attr
        self.push((node.value,), scope, depth)

    def call(self, node: ast.Call, scope: Scope, depth: int) -> None:
        self._found.called.add(id(node.func))
        if isinstance(node.func, ast.Name) and node.func.id in _LOOKING:
            self._show(*node.args)
        elif isinstance(node.func, ast.Name) and node.func.id == "map" and len(node.args) == 2:
            self._show(node.args[0])
        self._show(*(keyword.value for keyword in node.keywords if keyword.arg == "key"))
        self.push((node.func, *node.args, *node.keywords), scope, depth)

    def import_(self, node: ast.Import | ast.ImportFrom, scope: Scope, _depth: int) -> None:
        for _, name, meaning in meanings(node):
            self.bind(node, name, scope, meaning)

    def foreign(self, node: ast.Global | ast.Nonlocal, scope: Scope, _depth: int) -> None:
        scope.foreign.update(node.names)
        self._found.foreign.update(node.names)

    def handler(self, node: ast.ExceptHandler, scope: Scope, depth: int) -> None:
        if node.name:
            self.bind(node, node.name, scope)
            scope.caught.add(node.name)
        self.push(children(node), scope, depth)

    def capture(self, node: ast.MatchAs | ast.MatchStar | ast.MatchMapping, scope: Scope, depth: int) -> None:
        name = node.rest if isinstance(node, ast.MatchMapping) else node.name
        if name:
            self.bind(node, name, scope)
        self.push(children(node), scope, depth)

    def _show(self, *nodes: ast.expr | None) -> None:
        """Note what stands, perhaps among others, where a value is looked at and not kept."""
        pending = [node for node in nodes if node is not None]
        while pending:
            node = pending.pop()
            if id(node) in self._found.shown:
                continue
            self._found.shown.add(id(node))
            if isinstance(node, ast.Tuple | ast.List):
                pending += node.elts
            elif isinstance(node, ast.BinOp):
                pending += [node.left, node.right]

    def _parameters(self, args: ast.arguments, outer: Scope, inner: Scope, depth: int) -> None:
        self.push([*args.defaults, *args.kw_defaults], outer, depth)
        for arg in (*args.posonlyargs, *args.args, *args.kwonlyargs, args.vararg, args.kwarg):
            if arg is not None:
                self.bind(arg, arg.arg, inner)
                self._show(arg.annotation)
                self.push((arg.annotation,), outer, depth)

    def _with_type_parameters(self, node: Any, scope: Scope, depth: int) -> Scope:
        """The scope of what may use the type parameters of a definition (Python 3.12)."""
        parameters = getattr(node, "type_params", ())
        inner = self.inside(Kind.FUNCTION, scope) if parameters else scope
        self.push(parameters, inner, depth)
        return inner


_LOOKING: Final = frozenset({"print", "str", "repr", "len", "type", "isinstance", "issubclass"})
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
    ast.Assign: _Walk.assign,
    ast.AnnAssign: _Walk.annotated,
    ast.For: _Walk.loop,
    ast.FormattedValue: _Walk.looking,
    ast.MatchClass: _Walk.looking,
    ast.Subscript: _Walk.looking,
    ast.Compare: _Walk.looking,
    ast.Raise: _Walk.looking,
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
