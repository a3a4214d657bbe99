"""Attributes: which may be taken from anything, which may not be written, and who names them by a string (pure)."""

from __future__ import annotations

import ast
import re
import string
from collections.abc import Iterator
from typing import Final

from spca.code.agent_source import AGENT_CLASS
from spca.contracts import PRIMITIVE_METHODS
from spca.plan.pddl import STATE_ATTRIBUTES
from spca.sandbox import names
from spca.sandbox.literals import strings_of
from spca.sandbox.process.reports import clean
from spca.sandbox.scopes import Kind, Scope, Survey, module_name

MAX_NAME: Final = 60
"""Characters of a name of the source that a message shows."""

FORMATS: Final = ("format", "format_map")
OBJ: Final = "the attribute obj of an exception is not available: keep the thing itself in a variable"

_FIELD_ATTRIBUTE: Final = re.compile(r"\.([^.\[]*)")
_MAX_FIELDS: Final = 3


def is_dunder(name: str) -> bool:
    """Whether a name has double underscores on both sides."""
    return name.startswith("__") and name.endswith("__") and len(name) > 4


def shown(text: str, limit: int = MAX_NAME) -> str:
    """Text of the source for a message: one line of at most ``limit`` characters, nothing that steers a terminal."""
    line = " ".join(clean(text, limit + 1).split())
    return line if len(line) <= limit else f"{line[: limit - 3]}..."


def instead_of_dunder(name: str) -> str:
    """What to do without a dunder name."""
    return names.DUNDER_INSTEAD.get(name, "names in double underscores belong to Python")


def fault_of_attribute(attr: str) -> str:
    """Why an attribute may be taken from nothing, or ""."""
    if is_dunder(attr) and attr not in names.READABLE:
        return f"the attribute {shown(attr)} is not available: {instead_of_dunder(attr)}"
    if attr in names.INTERNALS:
        return f"the attribute {attr} is not available: generated code does not inspect code"
    if attr in names.REFUSED_ATTRIBUTES:
        return f"the attribute {attr} is not available: {names.REFUSED_ATTRIBUTES[attr]}"
    return ""


def fault_of_named(attr: str) -> str:
    """The same where the attribute is named by a string or a pattern: nothing says what it is taken from."""
    return fault_of_attribute(attr) or (f"{attr} can only be called on a literal string" if attr in FORMATS else "")


def is_agent(node: ast.expr, scope: Scope) -> bool:
    """Whether an expression is the first parameter of a method of the agent, usually ``self``."""
    if not isinstance(node, ast.Name):
        return False
    owner = scope.owner(node.id)
    return owner is not None and bool(owner.instance) and owner.instance == node.id


def is_caught(node: ast.expr, scope: Scope, found: Survey) -> bool:
    """Whether an expression may be an exception that was caught.

    It is the name that an ``except`` clause gives it, or anything but the agent in a method that gives it another one.
    """
    is_kept = id(scope.home) in found.keeping and not is_agent(node, scope)
    return is_kept or (isinstance(node, ast.Name) and scope.is_caught(node.id))


def is_agent_class(node: ast.expr, scope: Scope) -> bool:
    """Whether an expression is the class itself: its name, ``cls`` of a class method, or ``type(self)``."""
    match node:
        case ast.Name(id=name):
            owner = scope.owner(name)
            return (name == AGENT_CLASS and (owner is None or owner.kind is Kind.MODULE)) or (
                owner is not None and bool(owner.cls) and owner.cls == name
            )
        case ast.Call(func=ast.Name(id="type"), args=[of]):
            return is_agent(of, scope)
        case _:
            return False


def fault_of_write(value: ast.expr, attr: str, scope: Scope, deep: bool = False) -> str:
    """Why an attribute must not be written, or, when ``deep``, not what is in it."""
    if is_agent_class(value, scope):
        return f"attributes of class {AGENT_CLASS} must not be assigned; keep values on self"
    if module_name(value, scope):
        return f"the module {module_name(value, scope)} must not be changed"
    if is_agent(value, scope):
        if attr in STATE_ATTRIBUTES:
            return f"self.{attr} is read-only, the world keeps it; work on a copy"
        if attr in PRIMITIVE_METHODS and not deep:
            return f"self.{attr} is a primitive and must stay as it is"
    return ""


def write_into(node: ast.expr, scope: Scope) -> Iterator[str]:
    """Writing into what an expression names: the attribute it begins with decides."""
    while isinstance(node, ast.Attribute | ast.Subscript):
        if isinstance(node, ast.Attribute):
            fault = fault_of_write(node.value, node.attr, scope, deep=True)
            if fault:
                yield fault
                return
        node = node.value


def faults_of_format(node: ast.Attribute, scope: Scope, found: Survey) -> Iterator[str]:
    """Why the fields of a format string must not be filled in."""
    texts = strings_of(node.value, scope, found)
    if texts is None and not isinstance(node.value, ast.Constant):
        yield f"{node.attr} needs a literal string before the dot; use an f-string"
    for text in texts or ():
        if text not in found.formats:
            faults = map(fault_of_named, _field_attributes(text, _MAX_FIELDS))
            found.formats[text] = tuple(dict.fromkeys(filter(None, faults)))
        yield from found.formats[text]


def _field_attributes(text: str, levels: int) -> Iterator[str]:
    """Attributes that the fields of a format string take, those of nested fields included."""
    if not levels:
        return
    try:
        for _, fields, spec, _ in string.Formatter().parse(text):
            yield from _FIELD_ATTRIBUTE.findall(fields or "")
            yield from _field_attributes(spec or "", levels - 1)
    except ValueError:  # it is no format string and will fail as one
        return
