"""What a problem writer's source may contain, and drafts of writers as they come with a planner's answer (pure).

Writers of one run share a process, so what would let one reach beyond its own namespace is refused here; what they
share with the host is nothing, see docs/sandbox.md.
"""

from __future__ import annotations

import ast
import builtins
import re
import textwrap
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from typing import Final

from spca.code import compilation
from spca.code.agent_source import AGENT_CLASS
from spca.code.policy.check import violations
from spca.code.policy.names import bindings
from spca.contracts import ProblemWriter
from spca.errors import PatchError
from spca.writers.in_sandbox import BUILTINS, FILENAME, FUNCTION

MAX_LINES: Final = 125
MAX_BYTES: Final = 20_000
"""Of a writer's source."""

MAX_NAME: Final = 40

_NAME: Final = re.compile(rf"[a-z][a-z0-9_]{{0,{MAX_NAME - 1}}}")
_FUTURE: Final = re.compile("^from __future__ import annotations", re.MULTILINE)
_MODULES: Final = ("re", "__future__")
_INSIDES: Final = re.compile(r"_|(gi|cr|ag|tb|f|co)_|mro$")
"""What attributes begin with that lead from a value into the interpreter."""


def draft(name: str, source: str, domain: str) -> ProblemWriter | None:
    """Return the writer that an answer carries, None where it carries none; its name is made an identifier."""
    tidy = re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")[:MAX_NAME].strip("_")
    if not source.strip() or not re.search("[a-z]", tidy):
        return None
    return ProblemWriter(tidy if tidy[0].isalpha() else f"w_{tidy}"[:MAX_NAME].strip("_"), domain, source)


def fault_of_draft(draft: ProblemWriter) -> str:
    """Return why a draft cannot be kept, whatever it does; "" if it can."""
    if not _NAME.fullmatch(draft.name):
        return f"its name must be an identifier of at most {MAX_NAME} small letters, digits and underscores"
    return fault_of(draft.source)


@lru_cache(maxsize=256)
def fault_of(source: str) -> str:
    """Return why a writer must not be run, "" if it may."""
    if len(source.encode(errors="replace")) > MAX_BYTES:
        return f"the writer has more than {MAX_BYTES} bytes"
    if source.count("\n") + (not source.endswith("\n")) > MAX_LINES:
        return f"the writer has more than {MAX_LINES} lines"
    try:
        tree = compilation.tree(source, FILENAME)
        compilation.code(tree, FILENAME)
        found = _of_policy(source)
    except SyntaxError as error:
        return f"syntax error at line {error.lineno or 1}: {error.msg}"
    except (PatchError, ValueError, RecursionError, MemoryError) as error:
        return str(error)
    own = dict.fromkeys(_faults(tree))
    lines = {fault.partition(":")[0] for fault in own}
    others = [fault for fault in found if fault.partition(":")[0] not in lines]
    return "; ".join([*own, *others][:3])


def _of_policy(source: str) -> list[str]:
    """What the policy refuses; a module of its own may compute its constants, so it is read as a method."""
    body = textwrap.indent(_FUTURE.sub("", source), "    ", lambda _line: True)
    found = violations(f"class {AGENT_CLASS}:\n  def write(self):\n{body}\n    return\n")
    return [str(replace(violation, line=max(1, violation.line - 2))) for violation in found]


def _faults(tree: ast.Module) -> Iterator[str]:
    if not any(isinstance(node, ast.FunctionDef) and node.name == FUNCTION for node in tree.body):
        yield f"the writer defines no function {FUNCTION}"
    nodes = list(ast.walk(tree))
    own = {name for name, _ in bindings(nodes)}
    for node in nodes:
        for words in _of_node(node, own):
            yield f"line {getattr(node, 'lineno', 1)}: {words}"


def _of_node(node: ast.AST, own: set[str]) -> Iterator[str]:
    match node:
        case ast.Import(names=aliases):
            yield from (_no_module(alias.name) for alias in aliases if alias.name not in _MODULES)
        case ast.ImportFrom(module=module) if module not in _MODULES:
            yield _no_module(module or ".")
        case ast.ClassDef():
            yield "a writer needs no classes: use functions, tuples and dicts"
        case ast.Attribute(attr=name, ctx=ast.Load()):
            yield from _of_attribute(name)
        case ast.Attribute():
            yield "attributes must not be assigned or deleted"
        case ast.MatchClass(kwd_attrs=names):
            yield from (words for name in names for words in _of_attribute(name))
        case ast.Name(id=name, ctx=ast.Load()) if name.startswith("__") or (_is_missing(name) and name not in own):
            yield "print nothing: return the problem" if name == "print" else f"{name} is not available to a writer"
        case ast.Name(id=name) | ast.arg(arg=name) | ast.FunctionDef(name=name) if name.startswith("__"):
            yield f"{name} must not be defined"
        case _:
            pass


def _of_attribute(name: str) -> Iterator[str]:
    if _INSIDES.match(name):
        yield f"the attribute {name} is not available to a writer"


def _is_missing(name: str) -> bool:
    return hasattr(builtins, name) and name not in BUILTINS


def _no_module(name: str) -> str:
    return f"module {name} is not available: a writer may import re alone"
