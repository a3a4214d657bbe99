"""Compiling text that nobody has vouched for, in bounded time and memory (pure; nothing is executed).

CPython takes quadratic time for some sources of modest length, and emits the body of ``finally`` once for each way out
of its ``try``, which doubles the code with every level of nesting. What would cost that much is refused beforehand.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from tokenize import TokenError
from types import CodeType
from typing import Final

from spca.errors import PatchError

MAX_BYTES: Final = 200_000
"""Of a source in UTF-8."""

MAX_WORDS: Final = 60_000
"""Words and signs of the text, comments included: what parsing costs is bounded before it begins."""

MAX_NODES: Final = 40_000
"""Of the syntax tree. A source of :data:`MAX_BYTES` as people write it stays below this and :data:`MAX_WORDS`."""

MAX_DIGITS: Final = 1000
"""Of a whole number: Python refuses to write out one of more than 4300 digits, which is met long after reading it."""

MAX_BRACES: Final = 4000
"""Of the whole source: each part of a formatted string has one, and costs as much as the string is long."""

MAX_KEYWORDS: Final = 255
"""Of one call, class or class pattern: each is compared with each."""

MAX_SCOPES: Final = 2000
"""Functions, classes and comprehensions: each is looked for among all."""

_FUNCTIONS: Final = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
_SCOPES: Final = (*_FUNCTIONS, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_TRIES: Final = (ast.Try, ast.TryStar)
_WITH_KEYWORDS: Final = frozenset({ast.Call, ast.ClassDef, ast.MatchClass})
_WORD: Final = re.compile(r"\w+|([^\w\s])\1*")
_TOO_LARGE: Final = 10**MAX_DIGITS
_WAYS_OUT: Final = (ast.Return, ast.Break, ast.Continue)


@contextmanager
def refusing() -> Iterator[None]:
    """Turn what reading untrusted source raises into a :class:`~spca.errors.PatchError`; also a decorator.

    Raises:
        PatchError: says what could not be read.
    """
    try:
        yield
    except SyntaxError as error:
        where = f" at line {error.lineno}" if error.lineno else ""
        raise PatchError(f"syntax error{where}: {error.msg}") from error
    except TokenError as error:
        message, (line, _column) = error.args
        raise PatchError(f"syntax error at line {line}: {message}") from error
    except RecursionError as error:
        raise PatchError("the code cannot be compiled: too deeply nested") from error
    except (ValueError, MemoryError, OverflowError, SystemError) as error:  # the last: a defect of Python's own parser
        raise PatchError(f"the code cannot be compiled: {str(error) or 'too deeply nested'}") from error


def tree(source: str, filename: str) -> ast.Module:
    """Return the syntax tree of a source that is safe to compile.

    Raises:
        SyntaxError, ValueError, RecursionError, MemoryError: as the parser does.
        PatchError: the source is too long, or compiling it would take too long or too much memory.
    """
    # A lone surrogate has no UTF-8; the parser refuses it in its own words.
    size = len(source.encode(errors="replace"))
    if size > MAX_BYTES:
        raise PatchError(f"the code has {size} bytes, at most {MAX_BYTES} are possible; write less")
    if sum(1 for _ in _WORD.finditer(source)) > MAX_WORDS:
        raise PatchError(f"the code has more than {MAX_WORDS} words and signs; write less")
    if source.count("{") > MAX_BRACES:
        raise PatchError(f"the code has more than {MAX_BRACES} braces; write less")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # an invalid escape in generated code is not a fault of ours to report
        module = ast.parse(source, filename)
    nodes = all_nodes(module)
    if len(nodes) > MAX_NODES:
        raise PatchError(f"the code has more than {MAX_NODES} parts; write less")
    kinds = Counter(map(type, nodes))
    if sum(kinds[kind] for kind in _SCOPES) > MAX_SCOPES:
        raise PatchError(f"the code has more than {MAX_SCOPES} functions, classes and comprehensions; write less")
    for node in nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, int) and abs(node.value) >= _TOO_LARGE:
            raise PatchError(f"line {node.lineno}: a number of more than {MAX_DIGITS} digits; compute it from others")
        if type(node) in _WITH_KEYWORDS and _keywords(node) > MAX_KEYWORDS:
            line = getattr(node, "lineno", 1)
            raise PatchError(f"line {line}: more than {MAX_KEYWORDS} keywords; pass a list or a mapping")
    has_try = any(kinds[kind] for kind in _TRIES)
    if has_try and any(isinstance(n, _TRIES) and n.finalbody for n in nodes):
        _refuse_multiplied(module)
    return module


def code(module: ast.Module, filename: str) -> CodeType:
    """Compile a tree made by :func:`tree`; the tree stays as it is.

    Raises:
        SyntaxError, ValueError, RecursionError, MemoryError: as the compiler does.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return compile(module, filename, "exec", dont_inherit=True)


def children(node: ast.AST) -> list[ast.AST]:
    """Return what :func:`ast.iter_child_nodes` yields, in half its time: every source is walked several times."""
    found: list[ast.AST] = []
    for name in node._fields:
        value = getattr(node, name, None)
        if isinstance(value, ast.AST):
            found.append(value)
        elif isinstance(value, list):
            found += [item for item in value if isinstance(item, ast.AST)]
    return found


def all_nodes(root: ast.AST) -> list[ast.AST]:
    """Return a node and all within it, outer ones first.

    The list goes at most one node's children beyond :data:`MAX_NODES`.
    """
    nodes: list[ast.AST] = [root]
    for node in nodes:  # grows on the way
        nodes += children(node)
        if len(nodes) > MAX_NODES:
            break
    return nodes


def _keywords(node: ast.AST) -> int:
    if isinstance(node, ast.MatchClass):
        return len(node.kwd_attrs)
    return len(node.keywords) if isinstance(node, ast.Call | ast.ClassDef) else 0


def _refuse_multiplied(module: ast.Module) -> None:
    emitted, _ = _count_emitted(module.body)
    if emitted > 2 * MAX_NODES:
        raise PatchError("the bodies of nested finally blocks multiply to too much code; nest and leave them less")


def _count_emitted(statements: Iterable[ast.AST]) -> tuple[int, int]:
    """Return how many nodes of code are emitted, and how many ways lead out of the statements.

    Statements nest shallowly, so that recursion has room.
    """
    size = 0
    ways = 0
    for node in statements:
        inner, out = _count_emitted(_blocks(node))
        if isinstance(node, _TRIES):
            copied, copied_out = _count_emitted(node.finalbody)
            copies = 2 + out
            inner = inner + copies * copied
            out = out + copies * copied_out
        size += 1 + inner + sum(1 for _ in _expressions(node))
        ways += isinstance(node, _WAYS_OUT) + (0 if isinstance(node, _FUNCTIONS) else out)
    return size, ways


def _blocks(node: ast.AST) -> Iterator[ast.AST]:
    """Yield statements, handlers and cases right inside a statement, but for those of ``finally``."""
    for name, value in ast.iter_fields(node):
        if isinstance(value, list) and name != "finalbody":
            yield from (child for child in value if isinstance(child, ast.stmt | ast.excepthandler | ast.match_case))


def _expressions(node: ast.AST) -> Iterator[ast.AST]:
    """Yield everything in a statement that is no statement."""
    pending = [node]
    while pending:
        for child in children(pending.pop()):
            if not isinstance(child, ast.stmt | ast.excepthandler | ast.match_case):
                yield child
                pending.append(child)
