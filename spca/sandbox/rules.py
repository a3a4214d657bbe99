"""The rules of the gate, one for each kind of syntax node (pure).

Each rule yields what is wrong with a node, in words that a coder LLM can act on: the thing, and what to do instead.
The ways round that they close are those by which sandboxes of this kind have been left: attributes named by strings
(``getattr``, format fields, ``operator.attrgetter``, patterns of ``match``), frames of generators and tracebacks,
modules that hang on other modules, and names that are bound twice.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import Any, Final

from spca.contracts import PRIMITIVE_METHODS
from spca.plan.pddl import STATE_ATTRIBUTES
from spca.sandbox import names
from spca.sandbox.allowed import INSTEAD, MEMBERS
from spca.sandbox.attributes import (
    FORMATS,
    OBJ,
    fault_of_attribute,
    fault_of_named,
    fault_of_write,
    faults_of_format,
    instead_of_dunder,
    is_agent,
    is_caught,
    is_dunder,
    write_into,
)
from spca.sandbox.calls import is_read_field, of_call, of_fields, of_value
from spca.sandbox.scopes import Given, Kind, Scope, Survey, full_name, meanings, module_name

Words = Iterator[str]

_ASYNC: Final = "async code cannot run here; write plain generator methods"


def of_node(node: ast.AST, scope: Scope, found: Survey) -> Words:
    """What is wrong with a node, its children left aside."""
    rule = _RULES.get(type(node))
    return rule(node, scope, found) if rule else iter(())


def of_binding(node: ast.AST, name: str, scope: Scope) -> Words:
    """What is wrong with binding a name."""
    in_class = scope.kind is Kind.CLASS
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and scope.agent:
        yield from _method(node)
    elif is_dunder(name):
        settable = names.SPECIAL_METHODS | (names.CLASS_SETTINGS if isinstance(node, ast.Name) else frozenset())
        if not (in_class and name in settable):
            yield f"{name} must not be defined: {instead_of_dunder(name)}"
        elif name in names.CLASS_SETTINGS and not _is_plain(name, scope.given[name]):
            yield f"{name} must be a tuple of literals"
    elif in_class and name in names.INTERNALS:
        yield f"{name} is the name of an internal of Python; use another name"
    elif isinstance(node, ast.Import | ast.ImportFrom) and name.startswith("__"):
        yield f"import under a name without leading underscores, not {name}"


def _is_plain(name: str, bindings: list[Given | None]) -> bool:
    """Whether all values are tuples of literals; patterns take what ``__match_args__`` names from their subjects."""
    for given in bindings:
        match given:
            case Given(value=ast.Tuple(elts=parts) | ast.List(elts=parts), each=False):
                pass
            case Given(value=part, each=False):
                parts = [part]
            case _:
                return False
        for part in parts:
            if not isinstance(part, ast.Constant) or (name != "__slots__" and fault_of_named(str(part.value))):
                return False
    return True


def of_scope(scope: Scope) -> Iterator[tuple[int, str]]:
    """Names of a scope that stand for two things, one of them imported; with the line of the last binding."""
    for name, bindings in scope.bound.items():
        stands_for = {meaning for _, meaning in bindings}
        imported = [meaning for _, meaning in sorted(bindings) if meaning]
        strict = scope.kind is Kind.MODULE or any(meaning in MEMBERS for meaning in imported)
        if imported and len(stands_for if strict else set(imported)) > 1:
            line = max(line for line, _ in bindings)
            if line:
                yield line, f"'{name}' already stands for '{imported[0]}'; use another name"


def is_constant(node: ast.expr, scope: Scope, any_name: bool) -> bool:
    """Whether a value is known when the module is loaded: literals, arithmetic, tuples, a few harmless calls.

    Names may be those of builtins and imports, and with ``any_name`` also others.
    """
    if isinstance(node, ast.Name):
        return any_name or bool(full_name(node, scope))
    if isinstance(node, ast.Lambda):
        return any_name
    if isinstance(node, ast.Call):
        if full_name(node.func, scope) not in names.CONSTANT_CALLS:
            return False
        return all(is_constant(part, scope, any_name) for part in (*node.args, *(k.value for k in node.keywords)))
    if not isinstance(node, _CONSTANT_PARTS):
        return False
    parts = (part for part in ast.iter_child_nodes(node) if isinstance(part, ast.expr))
    return all(is_constant(part, scope, any_name) for part in parts)


def _method(node: ast.FunctionDef | ast.AsyncFunctionDef) -> Words:
    if node.name in PRIMITIVE_METHODS:
        if not _is_original(node):
            yield f"{node.name} is a primitive and must stay as it is; leave it out and call it"
    elif node.name in STATE_ATTRIBUTES:
        yield f"a method {node.name} would hide the state attribute self.{node.name}; rename it"
    elif is_dunder(node.name) and node.name != "__init__":
        yield f"special method {node.name} must not be defined"
    elif node.name in names.INTERNALS:
        yield f"{node.name} is the name of an internal of Python; use another name"


def _is_original(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    body = node.body[1:] if ast.get_docstring(node) is not None else node.body
    match body:
        case [ast.Return(value=ast.Constant(value=int(code)))]:
            is_code = code == PRIMITIVE_METHODS.index(node.name) and not isinstance(code, bool)
            return is_code and not node.decorator_list and ast.unparse(node.args) == "self"
        case _:
            return False


def _function(node: ast.FunctionDef, scope: Scope, _found: Survey) -> Words:
    if scope.agent or scope.kind is Kind.MODULE:
        yield from _decorators(node, scope)
        for default in (*node.args.defaults, *node.args.kw_defaults):
            if default is not None and not is_constant(default, scope, any_name=True):
                yield f"the defaults of {node.name} must be constants; compute them inside the method"


def _class(node: ast.ClassDef, scope: Scope, _found: Survey) -> Words:
    yield from of_fields(node, scope)
    if any(keyword.arg in ("metaclass", None) for keyword in node.keywords):
        yield f"class {node.name} must not have a metaclass; inherit from an ordinary class"
    for base in node.bases:
        maker = full_name(base.func, scope) if isinstance(base, ast.Call) else ""
        if (isinstance(base, ast.Call) and maker not in _CLASS_MAKERS) or full_name(base, scope) == "type":
            yield f"the bases of class {node.name} must be names of ordinary classes"


def _decorators(node: ast.FunctionDef, scope: Scope) -> Words:
    """Decorators of methods run when the module is loaded; inside a method they are calls like any other."""
    for decorator in node.decorator_list:
        named = decorator.func if isinstance(decorator, ast.Call) else decorator
        match decorator:
            case ast.Attribute(value=ast.Name(), attr="setter" | "getter" | "deleter"):
                continue
        if full_name(named, scope) not in names.DECORATORS:
            known = ", ".join(sorted(name.rpartition(".")[2] for name in names.DECORATORS))
            yield f"{node.name} has a decorator that is not available; available are {known}"
        elif isinstance(decorator, ast.Call):
            values = (*decorator.args, *(keyword.value for keyword in decorator.keywords))
            if any(keyword.arg is None for keyword in decorator.keywords) or not all(map(_is_literal, values)):
                yield f"the arguments of the decorator of {node.name} must be literals"


def _is_literal(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) or (isinstance(node, ast.UnaryOp) and isinstance(node.operand, ast.Constant))


def _import(node: ast.Import | ast.ImportFrom, scope: Scope, _found: Survey) -> Words:
    if scope.kind is Kind.CLASS:
        yield "imports belong above the methods, not into a class"
    if isinstance(node, ast.ImportFrom) and (node.level or node.names[0].name == "*"):
        yield "relative and star imports are not possible; import names from a module"
        return
    if isinstance(node, ast.ImportFrom) and node.module not in MEMBERS:
        yield _unknown_module(node.module or "")
        return
    for alias, _, meaning in meanings(node):
        if isinstance(node, ast.Import):
            if alias.name not in MEMBERS:
                yield _unknown_module(alias.name)
        elif meaning not in MEMBERS and alias.name not in MEMBERS[node.module or ""]:
            yield _unknown_member(node.module or "", alias.name)


def _unknown_module(name: str) -> str:
    root = name.partition(".")[0]
    usual = ", ".join(sorted(module for module in MEMBERS if "." not in module and not is_dunder(module)))
    instead = f"use {root} itself" if root in MEMBERS and "." in name else f"available are {usual}"
    return f"module {name} is not available: {INSTEAD.get(root, instead)}"


def _unknown_member(module: str, name: str) -> str:
    why = names.MEMBER_INSTEAD.get(f"{module}.{name}", f"it is not among the names of {module} that are allowed")
    return f"{module}.{name} is not available: {why}"


def _name(node: ast.Name, scope: Scope, found: Survey) -> Words:
    if not isinstance(node.ctx, ast.Load):
        return
    name = node.id
    if is_dunder(name) and name not in names.READABLE:
        if not (scope.kind is Kind.CLASS and name in names.SPECIAL_METHODS):
            yield f"{name} is not available: {instead_of_dunder(name)}"
        return
    if full_name(node, scope) == name:
        if name in names.REFUSED_BUILTINS:
            yield f"{name} is not available: {names.REFUSED_BUILTINS[name]}"
        elif name in names.BY_NAME and id(node) not in found.called:
            yield f"{name} can only be called, with a literal name; write x.name"
    if scope.kind is Kind.CLASS and is_read_field(node, scope):
        yield f"the field {name} cannot be read in the body of its class"
    yield from of_value(node, scope, found)
    module = module_name(node, scope)
    if module and id(node) not in found.attribute_of:
        yield f"the module {module} is no value; write {name}.<name> where it is used"


def _attribute(node: ast.Attribute, scope: Scope, found: Survey) -> Words:
    loads = isinstance(node.ctx, ast.Load)
    module = module_name(node.value, scope)
    if module and loads:
        submodule = f"{module}.{node.attr}"
        if submodule in MEMBERS:
            if id(node) not in found.attribute_of:
                yield f"the module {submodule} is no value; write {submodule}.<name> where it is used"
        elif node.attr not in MEMBERS[module]:
            yield _unknown_member(module, node.attr)
        yield from of_value(node, scope, found)
        return
    fault = fault_of_attribute(node.attr)
    if fault and not (loads and _is_usual_dunder(node, found)):
        yield fault
    if node.attr in FORMATS and loads and not is_agent(node.value, scope):
        yield from faults_of_format(node, scope, found)
    if node.attr == "obj" and is_caught(node.value, scope, found):
        yield OBJ
    if not loads:
        fault = fault_of_write(node.value, node.attr, scope)
        if fault:
            yield fault


def _is_usual_dunder(node: ast.Attribute, found: Survey) -> bool:
    """``super().__eq__``, a call of ``x.__init__``, ``x.__class__.__name__``."""
    match node.value:
        case ast.Call(func=ast.Name(id="super")) if node.attr in names.SPECIAL_METHODS:
            return True
        case _:
            is_name_of_class = node.attr == "__class__" and found.attribute_of.get(id(node)) in names.READABLE
            return is_name_of_class or (node.attr == "__init__" and id(node) in found.called)


def _subscript(node: ast.Subscript, scope: Scope, _found: Survey) -> Words:
    if not isinstance(node.ctx, ast.Load):
        yield from write_into(node.value, scope)


def _constant(node: ast.Constant, _scope: Scope, _found: Survey) -> Words:
    if isinstance(node.value, str) and node.value in names.SECRET_WORDS:
        yield f"the string '{node.value}' names an internal of Python; leave it out"


def _match_class(node: ast.MatchClass, scope: Scope, _found: Survey) -> Words:
    for attr in node.kwd_attrs:
        fault = fault_of_named(attr) or (OBJ if attr == "obj" and full_name(node.cls, scope) in _HAVE_OBJ else "")
        if fault:
            yield fault


def _global(node: ast.Global, _scope: Scope, _found: Survey) -> Words:
    yield f"global {', '.join(node.names)} is not possible: keep values on self"


def _nonlocal(node: ast.Nonlocal, scope: Scope, _found: Survey) -> Words:
    for name in node.names:
        imported_here = any(meaning for _, meaning in scope.bound.get(name, ()))
        if imported_here or scope.imported(name) in MEMBERS:
            yield f"{name} stands for something imported and must not be nonlocal"


def _comprehension(node: ast.comprehension, _scope: Scope, _found: Survey) -> Words:
    if node.is_async:
        yield _ASYNC


def _async(_node: ast.AST, _scope: Scope, _found: Survey) -> Words:
    yield _ASYNC


def _except_star(_node: ast.AST, _scope: Scope, _found: Survey) -> Words:
    yield "except* is not available; write except"


_HAVE_OBJ: Final = ("AttributeError", "Exception", "BaseException", "object")
_CLASS_MAKERS: Final = ("collections.namedtuple", "typing.NamedTuple", "typing.NewType")
_CONSTANT_PARTS: Final = (
    ast.Constant,
    ast.UnaryOp,
    ast.BinOp,
    ast.BoolOp,
    ast.Compare,
    ast.IfExp,
    ast.Tuple,
    ast.List,
    ast.Set,
    ast.Dict,
    ast.Subscript,
    ast.Slice,
    ast.Starred,
    ast.Attribute,
    ast.JoinedStr,
    ast.FormattedValue,
)
_RULES: Final[dict[type[ast.AST], Callable[[Any, Scope, Survey], Words]]] = {
    ast.FunctionDef: _function,
    ast.ClassDef: _class,
    ast.Import: _import,
    ast.ImportFrom: _import,
    ast.Name: _name,
    ast.Attribute: _attribute,
    ast.Subscript: _subscript,
    ast.Call: of_call,
    ast.Constant: _constant,
    ast.MatchClass: _match_class,
    ast.Global: _global,
    ast.Nonlocal: _nonlocal,
    ast.comprehension: _comprehension,
    ast.AsyncFunctionDef: _async,
    ast.AsyncFor: _async,
    ast.AsyncWith: _async,
    ast.Await: _async,
    ast.TryStar: _except_star,
}
