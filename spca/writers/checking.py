"""Static checks of problem writers, and drafts of writers from a planner's answers (pure).

The checks are feedback for the model that wrote the source: code that reaches objects outside the writer's namespace is
refused with its line. Security does not depend on these checks, because the sandbox isolates writers (docs/sandbox.md).
"""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Iterator
from functools import lru_cache
from string import Formatter
from typing import Final

from spca.body import NO_INTERFACE
from spca.code import compilation
from spca.code.policy import rules
from spca.code.policy.names import Names
from spca.contracts import ProblemWriter
from spca.errors import PatchError
from spca.writers.in_sandbox import BUILTINS, FILENAME, FUNCTION

MAX_LINES: Final = 125
MAX_BYTES: Final = 20_000
"""Largest number of bytes of a writer's source in UTF-8."""

MAX_NAME: Final = 40

_NAME: Final = re.compile(rf"[a-z][a-z0-9_]{{0,{MAX_NAME - 1}}}")
_MAX_SHOWN: Final = 3
_MODULES: Final = ("re", "__future__")
_INSIDES: Final = re.compile(r"_|(gi|cr|ag|tb|f|co)_|(mro|obj)$")
"""Names of attributes through which code reaches the interpreter's internals, mostly given by prefix.

``obj`` is an attribute of AttributeError.
"""
_REACHING: Final = re.compile(r"\w*(\[[^\]]*\])*\.[^\W\d]")
"""A field of a format string that reads an attribute of its argument."""


def draft(name: str, source: str, domain: str) -> ProblemWriter | None:
    """Return the draft of a writer; None if ``source`` or ``name`` is empty.

    The draft's name is ``name``, turned into an identifier.
    """
    tidy = re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")[:MAX_NAME].strip("_")
    if not source.strip() or not re.search("[a-z]", tidy):
        return None
    identifier = tidy if tidy[0].isalpha() else f"w_{tidy}"[:MAX_NAME].strip("_")
    return ProblemWriter(identifier, domain, source)


def fault_of_draft(draft: ProblemWriter) -> str:
    """Return why the name or the source of a draft is not allowed; "" if both are allowed."""
    if not _NAME.fullmatch(draft.name):
        return f"its name must be an identifier of at most {MAX_NAME} small letters, digits and underscores"
    return fault_of(draft.source)


@lru_cache(maxsize=256)
def fault_of(source: str) -> str:
    """Return why a writer's source must not be executed; "" if it may be executed."""
    if len(source.encode(errors="replace")) > MAX_BYTES:
        return f"the writer has more than {MAX_BYTES} bytes"
    if source.count("\n") + (not source.endswith("\n")) > MAX_LINES:
        return f"the writer has more than {MAX_LINES} lines"
    try:
        with compilation.refusing():
            tree = compilation.tree(source, FILENAME)
            compilation.code(tree, FILENAME)
    except PatchError as error:
        return str(error)
    return "; ".join(list(dict.fromkeys(_faults(tree)))[:_MAX_SHOWN])


def _faults(tree: ast.Module) -> Iterator[str]:
    """Yield the faults of a writer's source, in the order of their lines."""
    functions = [node.name for node in tree.body if isinstance(node, ast.FunctionDef)]
    if FUNCTION not in functions:
        yield f"the writer defines no function {FUNCTION}"
    nodes = list(ast.walk(tree))
    names = Names({}, NO_INTERFACE).within(nodes)
    attributes = {node.attr for node in nodes if isinstance(node, ast.Attribute)}
    uses_format = not attributes.isdisjoint(("format", "format_map"))
    for node in sorted(nodes, key=_line):
        faults = [*_check_node(node, names)] or [*rules.check_node(node, names)]
        if uses_format:
            faults += _faults_of_format(node)
        yield from (f"line {_line(node)}: {fault}" for fault in faults if fault)


def _line(node: ast.AST) -> int:
    return getattr(node, "lineno", 1)


def _check_node(node: ast.AST, names: Names) -> Iterator[str]:
    """Yield the faults of a node by the rules that apply to writers but not to agents."""
    match node:
        case ast.Import(names=aliases):
            yield from (_no_module(alias.name) for alias in aliases if alias.name not in _MODULES)
        case ast.ImportFrom(module=module) if module not in _MODULES:
            yield _no_module(module or ".")
        case ast.ClassDef():
            yield "a writer needs no classes: use functions, tuples and dicts"
        case ast.Global():
            yield "a writer keeps nothing from call to call: return values instead of a global"
        case ast.Attribute(attr=name, ctx=ast.Load()):
            yield from _check_attribute(name)
        case ast.Attribute():
            yield "attributes must not be assigned or deleted"
        case ast.MatchClass(kwd_attrs=attributes):
            yield from (words for name in attributes for words in _check_attribute(name))
        case ast.Name(id=name, ctx=ast.Load()) if name.startswith("__") or _is_missing(name, names):
            yield "print nothing: return the problem" if name == "print" else f"{name} is not available to a writer"
        case ast.Name(id=name) | ast.arg(arg=name) | ast.FunctionDef(name=name) if name.startswith("__"):
            yield f"{name} must not be defined"


def _check_attribute(name: str) -> Iterator[str]:
    if _INSIDES.match(name):
        yield f"the attribute {name} is not available to a writer"


def _faults_of_format(node: ast.AST) -> Iterator[str]:
    """Yield the faults of a string in a source that calls ``format``, because any string may be the template.

    Templates that the code composes are not checked. Through them, a writer can reach only values in its own process.
    """
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        for field in _fields(node.value):
            if _REACHING.match(field):
                yield f"the format field {{{field[:MAX_NAME]}}} reaches into an attribute: format the value itself"


def _fields(template: str, nesting: int = 2) -> Iterator[str]:
    """Yield the fields of a format string, and of the format specifications in it (one level deep, as in Python)."""
    try:
        parts = list(Formatter().parse(template))
    except ValueError:  # not a format string
        return
    for _, field, specification, _ in parts:
        if field is not None:
            yield field
        if specification and nesting > 1:
            yield from _fields(specification, nesting - 1)


def _is_missing(name: str, names: Names) -> bool:
    """Return whether a name is a builtin that writers do not have, and that the source does not bind."""
    return hasattr(builtins, name) and name not in BUILTINS and name not in names.meanings


def _no_module(name: str) -> str:
    return f"module {name} is not available: a writer may import re alone"
