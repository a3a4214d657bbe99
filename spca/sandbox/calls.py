"""The rules of calls: attributes named by a string, classes made of data, random generators without a seed (pure)."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable, Iterator
from typing import Final

from spca.sandbox import names
from spca.sandbox.attributes import OBJ, fault_of_named, fault_of_write, is_agent, is_caught, is_dunder
from spca.sandbox.literals import strings_of
from spca.sandbox.scopes import Scope, Survey, full_name

Words = Iterator[str]

_ENUM: Final = "the names of an enum must be literal, without double underscores; write a class statement"
_FIELD: Final = "field can only be the value of an annotated name in the body of a @dataclass"
_ARRAYS: Final = ("full_grid", "current_observation", "previous_actions")


def of_call(node: ast.Call, scope: Scope, found: Survey) -> Words:
    """What is wrong with a call, its parts left aside."""
    function = full_name(node.func, scope)
    given = len(node.args) + len(node.keywords)
    if function in names.BY_NAME:
        yield from _by_name(node, function, scope, found)
    elif function in names.ONE_ARGUMENT and (given > 1 or any(isinstance(a, ast.Starred) for a in node.args)):
        yield f"{function} can only be called with one argument: {names.ONE_ARGUMENT[function]}"
    elif function == "type" and node.args and _is_class(node.args[0], scope, found):
        yield "type of a class makes classes; write a class statement, or the class itself"
    elif function in names.SEEDED and _is_unseeded(node):
        yield f"give {function.rpartition('.')[2]} a seed, such as 0: runs must be repeatable"
    elif function == names.FIELD and id(node) not in found.fields:
        yield _FIELD
    if given > 1 and _is_enum(node.func, scope, found) and not _has_plain_names(node, scope, found):
        yield _ENUM
    yield from _made_or_changed(node, scope)


def of_value(node: ast.expr, scope: Scope, found: Survey) -> Words:
    """What is wrong with the name of something that makes classes or copies attributes where it is not called."""
    name = full_name(node, scope)
    in_use = (id(node) in part for part in (found.called, found.shown, found.attribute_of))
    if name in names.ONLY_CALLED and not any(in_use):
        yield f"{name} can only be called or looked at: {names.ONLY_CALLED[name]}"


def of_fields(node: ast.ClassDef, scope: Scope) -> Words:
    """A field that leaves the body of its class can be renamed, and dataclass runs names as code."""
    made = [item for item in node.body if isinstance(item, ast.AnnAssign) and _is_field(item.value, scope)]
    if not made:
        return
    calls = (item.func if isinstance(item, ast.Call) else item for item in node.decorator_list)
    decorators = {full_name(item, scope) for item in calls}
    if names.DATACLASS not in decorators or not decorators <= {names.DATACLASS, "functools.total_ordering"}:
        yield f"class {node.name} has a field: decorate it with dataclass alone"


def is_read_field(node: ast.Name, scope: Scope) -> bool:
    """Whether a name in the body of a class is one of its fields."""
    return any(given is not None and _is_field(given.value, scope) for given in scope.given.get(node.id, ()))


def _is_field(node: ast.expr | None, scope: Scope) -> bool:
    return isinstance(node, ast.Call) and full_name(node.func, scope) == names.FIELD


def _by_name(node: ast.Call, function: str, scope: Scope, found: Survey) -> Words:
    match node.args:
        case [value, name, *_] if not isinstance(value, ast.Starred):
            attrs = strings_of(name, scope, found)
        case _:
            attrs = None
    if attrs is None:
        yield f"{function} needs a literal name; write x.name, or choose between methods with if"
        return
    for attr in attrs:
        fault = fault_of_named(attr) or (OBJ if attr == "obj" and is_caught(value, scope, found) else "")
        if not fault and function in ("setattr", "delattr"):
            fault = fault_of_write(value, attr, scope)
        if fault and attr not in names.SECRET_WORDS:
            yield fault


def _is_class(node: ast.expr, scope: Scope, found: Survey) -> bool:
    name = full_name(node, scope)
    if isinstance(node, ast.Call):
        return full_name(node.func, scope) == "type"
    if isinstance(node, ast.Name) and node.id in found.classes:
        return True
    return name in names.ONLY_CALLED or isinstance(getattr(builtins, name, None), type)


def _is_unseeded(node: ast.Call) -> bool:
    given: Iterable[ast.expr] = node.args[:1] or [k.value for k in node.keywords if k.arg in (None, *names.SEED_WORDS)]
    return all(isinstance(value, ast.Constant) and value.value is None for value in given)


def _is_enum(node: ast.expr, scope: Scope, found: Survey) -> bool:
    """Whether an expression is an enum class of the library, or a class of the source that inherits from one."""
    if found.enums is None:
        found.enums = _enums(found)
    return full_name(node, scope) in names.ENUMS or (isinstance(node, ast.Name) and node.id in found.enums)


def _enums(found: Survey) -> set[str]:
    heirs: dict[str, list[str]] = {}
    pending: list[str] = []
    for name, bases in found.classes.items():
        for base, scope in bases:
            if full_name(base, scope) in names.ENUMS:
                pending.append(name)
            elif isinstance(base, ast.Name):
                heirs.setdefault(base.id, []).append(name)
    enums: set[str] = set()
    while pending:
        name = pending.pop()
        if name not in enums:
            enums.add(name)
            pending += heirs.get(name, ())
    return enums


def _has_plain_names(node: ast.Call, scope: Scope, found: Survey) -> bool:
    """Whether an enum is made of names that the source spells out: dunder names would become its attributes."""
    given = [*node.args[1:2], *(keyword.value for keyword in node.keywords if keyword.arg == "names")]
    if len(given) != 1 or any(isinstance(a, ast.Starred) for a in node.args) or any(not k.arg for k in node.keywords):
        return False
    match given[0]:
        case ast.Tuple(elts=elements) | ast.List(elts=elements):
            parts = [e.elts[0] if isinstance(e, ast.Tuple | ast.List) and e.elts else e for e in elements]
        case ast.Dict(keys=keys):
            parts = [key if key is not None else given[0] for key in keys]
        case text:
            parts = [text]
    for part in parts:
        texts = strings_of(part, scope, found)
        if texts is None or any(_holds_dunder(text, found) for text in texts):
            return False
    return True


def _holds_dunder(text: str, found: Survey) -> bool:
    if text not in found.dunders:
        found.dunders[text] = any(map(is_dunder, text.replace(",", " ").split()))
    return found.dunders[text]


def _made_or_changed(node: ast.Call, scope: Scope) -> Words:
    match node:
        case ast.Call(func=ast.Attribute(value=ast.Attribute(value=value, attr=state), attr=attr)):
            if attr in names.MUTATORS and state in _ARRAYS and is_agent(value, scope):
                yield fault_of_write(value, state, scope)
        case ast.Call(func=ast.Call(func=maker), args=[ast.Constant(value=str()), ast.Tuple(), _]):
            if full_name(maker, scope) == "type":
                yield "type can only be called with one argument: write a class statement to make a class"
        case _:
            pass
