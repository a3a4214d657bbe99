"""Compilation of untrusted text in bounded time and memory (pure; nothing is executed).

CPython takes quadratic time for some sources of modest length. CPython also emits a copy of a ``finally`` body for each
exit from its ``try``, which doubles the code with every level of nesting. This module refuses such sources before they
are compiled.
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
"""Largest number of bytes of a source in UTF-8."""

MAX_WORDS: Final = 60_000
"""Largest number of words and signs of a text, including comments; the limit is checked before the text is parsed."""

MAX_NODES: Final = 40_000
"""Largest number of nodes of a syntax tree.

An ordinary source of :data:`MAX_BYTES` stays below this limit and below :data:`MAX_WORDS`.
"""

MAX_DIGITS: Final = 1000
"""Largest number of digits of an integer; Python can read, but cannot print, integers of more than 4300 digits."""

MAX_BRACES: Final = 4000
"""Largest number of ``{`` in a source, because each field of an f-string costs as much time as the whole string."""

MAX_KEYWORDS: Final = 255
"""Largest number of keywords of one call, class or class pattern.

The limit is needed because the compiler compares each pair of keywords.
"""

MAX_SCOPES: Final = 2000
"""Largest number of functions, classes and comprehensions, because the compiler searches all scopes for each scope."""

_FUNCTIONS: Final = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
_SCOPES: Final = (*_FUNCTIONS, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_TRIES: Final = (ast.Try, ast.TryStar)
_WITH_KEYWORDS: Final = frozenset({ast.Call, ast.ClassDef, ast.MatchClass})
_WORD: Final = re.compile(r"\w+|([^\w\s])\1*")
_TOO_LARGE: Final = 10**MAX_DIGITS
_EXITS: Final = (ast.Return, ast.Break, ast.Continue)


@contextmanager
def refusing() -> Iterator[None]:
    """Replace the errors of reading an untrusted source by :class:`~spca.errors.PatchError`.

    The result is a context manager, and can also be used as a decorator.

    Raises:
        PatchError: the source cannot be read; the message says where and why.
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
    except (ValueError, MemoryError, OverflowError, SystemError) as error:  # SystemError: a defect of CPython's parser
        raise PatchError(f"the code cannot be compiled: {str(error) or 'too deeply nested'}") from error


def tree(source: str, filename: str) -> ast.Module:
    """Return the syntax tree of a source that is safe to compile.

    Raises:
        SyntaxError, ValueError, RecursionError, MemoryError: from the parser.
        PatchError: the source is too long, or compiling it would take too long or too much memory.
    """
    # A lone surrogate has no UTF-8 form, so it is replaced here; the parser refuses it below.
    size = len(source.encode(errors="replace"))
    if size > MAX_BYTES:
        raise PatchError(f"the code has {size} bytes, at most {MAX_BYTES} are possible; write less")
    if sum(1 for _ in _WORD.finditer(source)) > MAX_WORDS:
        raise PatchError(f"the code has more than {MAX_WORDS} words and signs; write less")
    if source.count("{") > MAX_BRACES:
        raise PatchError(f"the code has more than {MAX_BRACES} braces; write less")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # for example about an invalid escape in generated code
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
        if type(node) in _WITH_KEYWORDS and _count_keywords(node) > MAX_KEYWORDS:
            line = getattr(node, "lineno", 1)
            raise PatchError(f"line {line}: more than {MAX_KEYWORDS} keywords; pass a list or a mapping")
    has_try = any(kinds[kind] for kind in _TRIES)
    if has_try and any(isinstance(n, _TRIES) and n.finalbody for n in nodes):
        _refuse_multiplied(module)
    return module


def code(module: ast.Module, filename: str) -> CodeType:
    """Return the code of a tree from :func:`tree`; do not change the tree.

    Raises:
        SyntaxError, ValueError, RecursionError, MemoryError: from the compiler.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return compile(module, filename, "exec", dont_inherit=True)


def children(node: ast.AST) -> list[ast.AST]:
    """Return the nodes that :func:`ast.iter_child_nodes` yields, but in half the time."""
    nodes: list[ast.AST] = []
    for name in node._fields:
        value = getattr(node, name, None)
        if isinstance(value, ast.AST):
            nodes.append(value)
        elif isinstance(value, list):
            nodes += [item for item in value if isinstance(item, ast.AST)]
    return nodes


def all_nodes(root: ast.AST) -> list[ast.AST]:
    """Return ``root`` and all nodes within it, breadth first.

    If the tree has more than :data:`MAX_NODES` nodes, return an incomplete list that is longer than this limit.
    """
    nodes: list[ast.AST] = [root]
    for node in nodes:  # the list grows during the loop
        nodes += children(node)
        if len(nodes) > MAX_NODES:
            break
    return nodes


def _count_keywords(node: ast.AST) -> int:
    """Return the number of keywords of a call, class or class pattern."""
    if isinstance(node, ast.MatchClass):
        return len(node.kwd_attrs)
    return len(node.keywords) if isinstance(node, ast.Call | ast.ClassDef) else 0


def _refuse_multiplied(module: ast.Module) -> None:
    """Raise PatchError if copies of ``finally`` bodies make the compiled code too long."""
    emitted, _ = _count_emitted(module.body)
    if emitted > 2 * MAX_NODES:
        raise PatchError("the bodies of nested finally blocks multiply to too much code; nest and leave them less")


def _count_emitted(statements: Iterable[ast.AST]) -> tuple[int, int]:
    """Return the number of nodes that the compiler emits for the statements, and the statements' number of exits.

    An exit is a ``return``, ``break`` or ``continue``, which leaves the statements. Recursion is safe, because
    statements nest only about a hundred levels deep.
    """
    size = 0
    exits = 0
    for node in statements:
        inner_size, inner_exits = _count_emitted(_blocks(node))
        if isinstance(node, _TRIES):
            final_size, final_exits = _count_emitted(node.finalbody)
            # The compiler emits a copy for the normal end, a copy for an exception, and a copy for each exit.
            copies = 2 + inner_exits
            inner_size += copies * final_size
            inner_exits += copies * final_exits
        size += 1 + inner_size + sum(1 for _ in _expressions(node))
        exits += isinstance(node, _EXITS)
        if not isinstance(node, _FUNCTIONS):
            exits += inner_exits
    return size, exits


def _blocks(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the statements, handlers and cases directly inside a statement, except those of ``finally``."""
    for name, value in ast.iter_fields(node):
        if isinstance(value, list) and name != "finalbody":
            yield from (child for child in value if isinstance(child, ast.stmt | ast.excepthandler | ast.match_case))


def _expressions(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes of a statement that belong to no inner statement, handler or case."""
    pending = [node]
    while pending:
        for child in children(pending.pop()):
            if not isinstance(child, ast.stmt | ast.excepthandler | ast.match_case):
                yield child
                pending.append(child)
