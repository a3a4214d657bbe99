"""Analysis of the source of ``class Agent``: its methods, their calls, and changes between two versions (pure)."""

from __future__ import annotations

import ast
import inspect
import re
import tokenize
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from io import StringIO
from types import MappingProxyType

from spca.code import compilation
from spca.errors import PatchError

AGENT_CLASS = "Agent"
_SYNTAX_ERROR = "syntax error at "

# The line ends of Python source; str.splitlines also splits at form feeds and other separators.
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)


@dataclass(frozen=True, slots=True)
class Layout:
    """The lines of a source.

    Attributes:
        lines: the lines with their line ends.
        in_string: numbers (from 1) of lines that begin inside a string.
        comments: numbers (from 1) of lines that contain only a comment.
    """

    lines: tuple[str, ...]
    in_string: frozenset[int]
    comments: frozenset[int]


@dataclass(frozen=True, slots=True)
class MethodInfo:
    """A method of the agent.

    Attributes:
        name: the name.
        params: names of the parameters without ``self``.
        doc: first line of the docstring.
        first_line, last_line: numbers (from 1) of the first and last line, including decorators and comments.
        is_generator: whether the method is a generator function.
    """

    name: str
    params: tuple[str, ...]
    doc: str
    first_line: int
    last_line: int
    is_generator: bool


@lru_cache(maxsize=16)
def signatures(source: str) -> tuple[MethodInfo, ...]:
    """Return the methods of ``class Agent`` in source order.

    Raises:
        PatchError: the source does not compile or has no ``class Agent``.
    """
    return tuple(_describe_method(layout(source), node) for node in methods_of(source).values())


def method_source(source: str, name: str) -> str:
    """Return the source of one method as a raw ``def`` at column 0, comments included, ending in a newline.

    Raises:
        PatchError: as :func:`signatures`, or because the agent has no such method.
    """
    node = methods_of(source).get(name)
    if node is None:
        raise PatchError(f"class {AGENT_CLASS} has no method '{name}'")
    return reindent(layout(source), node, "")


def direct_calls(source: str, name: str) -> tuple[str, ...]:
    """Return the names of the agent's methods that the method ``name`` uses, without duplicates, in order of first use.

    Raises:
        PatchError: as :func:`method_source`.
    """
    methods = methods_of(source)
    if name not in methods:
        raise PatchError(f"class {AGENT_CLASS} has no method '{name}'")
    return _references(methods[name], methods)


def call_closure(source: str, names: Collection[str]) -> frozenset[str]:
    """Return the methods in ``names`` and all methods that they call directly or indirectly.

    If any method is returned, ``__init__`` is too (if defined), because it runs before every method.

    Raises:
        PatchError: as :func:`signatures`.
    """
    methods = methods_of(source)
    pending = [name for name in names if name in methods]
    pending += ["__init__"] if pending and "__init__" in methods else []
    reached: set[str] = set()
    while pending:
        name = pending.pop()
        if name not in reached:
            reached.add(name)
            pending += _references(methods[name], methods)
    return frozenset(reached)


@compilation.refusing()
def find_changed_methods(old: str, new: str) -> tuple[str, ...]:
    """Return the methods of ``new`` that ``old`` lacks or defines with another meaning, in source order.

    Formatting and comments do not matter. A method also counts as changed if it uses a module-level name that has
    another meaning in ``old``.

    Raises:
        PatchError: as :func:`signatures`, for either text.
    """
    before = methods_of(old)
    after = methods_of(new)
    lines_before = split_lines(old)
    lines_after = split_lines(new)

    def is_unchanged(name: str, node: ast.FunctionDef) -> bool:
        known = before.get(name)
        if known is None:
            return False
        # Most methods have the same text; comparing texts is much faster than comparing meanings.
        is_same_text = _lines_of(lines_before, known) == _lines_of(lines_after, node)
        return is_same_text or _meaning(known) == _meaning(node)

    bound_before = _bindings(old)
    bound_after = _bindings(new)
    # A name without an old binding counts as rebound, because the new binding may hide a builtin.
    bound = bound_before.keys() | bound_after
    rebound = {name for name in bound if not _is_same(bound_before.get(name), bound_after.get(name))}

    changed: list[str] = []
    for name, node in after.items():
        if not is_unchanged(name, node) or (rebound and not rebound.isdisjoint(_names(node))):
            changed.append(name)
    return tuple(changed)


def parse(source: str) -> ast.Module:
    """Return the syntax tree of a source that compiles. Do not change the tree, because callers share it.

    Raises:
        PatchError: the source does not compile; the message names line, column and text.
    """
    tree_or_reason = _parse(source)
    if isinstance(tree_or_reason, str):
        raise PatchError(tree_or_reason)
    return tree_or_reason


def is_python(text: str) -> bool:
    """Return whether a text has no syntax error; :func:`parse` may still refuse the text for another reason."""
    tree_or_reason = _parse(text)
    return not (isinstance(tree_or_reason, str) and tree_or_reason.startswith(_SYNTAX_ERROR))


def agent_class(source: str) -> ast.ClassDef:
    """Return the node of ``class Agent``.

    Raises:
        PatchError: the source does not compile or has no ``class Agent``.
    """
    for node in parse(source).body:
        if isinstance(node, ast.ClassDef) and node.name == AGENT_CLASS:
            return node
    raise PatchError(f"the source has no class {AGENT_CLASS}")


@lru_cache(maxsize=16)
def methods_of(source: str) -> Mapping[str, ast.FunctionDef]:
    """Return the nodes of the agent's methods by name, in source order.

    If several methods have the same name, the last method counts, as in Python.

    Raises:
        PatchError: as :func:`agent_class`.
    """
    nodes = {node.name: node for node in agent_class(source).body if isinstance(node, ast.FunctionDef)}
    return MappingProxyType(nodes)


def split_lines(text: str) -> list[str]:
    """Split a text into lines with their line ends, as Python's compiler does."""
    return _LINE.findall(text)


@lru_cache(maxsize=16)
@compilation.refusing()
def layout(source: str) -> Layout:
    """Return the lines of a source that compiles, and which lines are comments or begin inside a string.

    Raises:
        PatchError: the tokenizer refuses the source although the compiler accepts it, because a line continuation
            stands where no line has begun.
    """
    lines = tuple(split_lines(source))
    in_string: set[int] = set()
    comments: set[int] = set()
    fstring_starts: list[int] = []  # line numbers of the f-strings that are open, the outermost first
    for token in tokenize.generate_tokens(StringIO(source, newline=None).readline):
        kind = tokenize.tok_name[token.type]
        if kind == "COMMENT" and not token.line[: token.start[1]].strip():
            comments.add(token.start[0])
        elif kind == "STRING":
            in_string.update(range(token.start[0] + 1, token.end[0] + 1))
        elif kind == "FSTRING_START":
            fstring_starts.append(token.start[0])
        elif kind == "FSTRING_END":
            in_string.update(range(fstring_starts.pop() + 1, token.end[0] + 1))
    return Layout(lines, frozenset(in_string), frozenset(comments))


def block(text: Layout, node: ast.stmt) -> tuple[int, int]:
    """Return the line range (indices from 0, end exclusive) of a definition.

    The range includes decorators, comments directly above the definition, and comments at the end of its body.
    """
    # The number (from 1) of a line is the index (from 0) of the next line: `first` and `end` are indices of lines, and
    # numbers of the lines above.
    first = _first_line(node)
    margin = _margin(text.lines[first])
    while first in text.comments and _margin(text.lines[first - 1]) == margin:
        first -= 1
    last = end = node.end_lineno or node.lineno
    while end < len(text.lines) and (not text.lines[end].strip() or _is_inner_comment(text, end, margin)):
        end += 1
        last = end if end in text.comments else last
    return first, last


def reindent(text: Layout, node: ast.FunctionDef, margin: str) -> str:
    """Return the source of a method with the indentation ``margin``, ending in a newline.

    Lines that begin inside a string are not changed, except lines of the docstring.
    """
    first, last = block(text, node)
    old = _margin(text.lines[node.lineno - 1])
    docstring = _docstring_lines(node)
    moved: list[str] = []
    for number, line in enumerate(text.lines[first:last], first + 1):
        if number in text.in_string and number not in docstring:
            moved.append(line)
        elif not line.strip():
            moved.append("\n")
        else:
            unindented = line.removeprefix(old) if line.startswith(old) else line.lstrip(" \t")
            moved.append(f"{margin}{unindented}")
    return "".join(moved).rstrip("\r\n") + "\n"


def is_generator(node: ast.FunctionDef) -> bool:
    """Return whether the function is a generator function: its own scope contains a ``yield``."""
    return any(isinstance(inner, ast.Yield | ast.YieldFrom) for inner in _walk_scope(node))


def positional(node: ast.FunctionDef) -> tuple[str, ...]:
    """Return the names of all positional parameters, including ``self``."""
    return tuple(arg.arg for arg in (*node.args.posonlyargs, *node.args.args))


def rebinds_self(node: ast.AST) -> bool:
    """Return whether ``self`` can mean another object inside ``node`` than outside.

    This is the case if ``node`` is a class, or a function with a parameter ``self``.
    """
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
        return any(arg.arg == "self" for arg in ast.walk(node.args) if isinstance(arg, ast.arg))
    return isinstance(node, ast.ClassDef)


@lru_cache(maxsize=16)
def _parse(source: str) -> ast.Module | str:
    """Return the tree of a source, or the reason why the source is refused; both results are cached."""
    try:
        with compilation.refusing():
            return _compile_tree(source)
    except PatchError as error:
        return str(error)


def _compile_tree(source: str) -> ast.Module:
    """Parse a source and check that the tree compiles too."""
    try:
        tree = compilation.tree(source, "<agent>")
        compilation.code(tree, "<agent>")
    except SyntaxError as error:
        raise PatchError(_describe_syntax_error(error, source)) from error
    return tree


def _describe_syntax_error(error: SyntaxError, source: str) -> str:
    """Return a message that names the place of the error, followed by the faulty line on a line of its own."""
    if not error.lineno:
        return f"{_SYNTAX_ERROR}{error.msg}"

    column = f", column {error.offset}" if error.offset else ""
    message = f"{_SYNTAX_ERROR}line {error.lineno}{column}: {error.msg}"

    lines = split_lines(source)
    shown = lines[error.lineno - 1].strip() if error.lineno <= len(lines) else ""
    return f"{message}\n    {shown}" if shown else message


def _describe_method(text: Layout, node: ast.FunctionDef) -> MethodInfo:
    first, last = block(text, node)
    line = (ast.get_docstring(node) or "").partition("\n")[0]
    doc = "".join(c if c.isprintable() else " " for c in line).strip()  # escapes may give control characters
    parameters = positional(node)[1:]
    return MethodInfo(node.name, parameters, doc, first + 1, last, is_generator(node))


def _walk_scope(node: ast.FunctionDef) -> Iterator[ast.AST]:
    """Yield the nodes in the body of a function, without the bodies of inner functions and classes."""
    pending: list[ast.AST] = list(node.body)
    while pending:
        inner = pending.pop()
        yield inner
        if not isinstance(inner, _SCOPES):
            pending += ast.iter_child_nodes(inner)


def _references(node: ast.FunctionDef, methods: Collection[str]) -> tuple[str, ...]:
    """Return the names in ``methods`` that ``node`` uses, in order of first use.

    A use is an attribute of the agent, or a ``getattr`` call on the agent with a constant name.
    """
    owners = {*positional(node)[:1], "self", AGENT_CLASS}
    uses = []
    for inner in ast.walk(node):
        match inner:
            case ast.Attribute(value=ast.Name(id=owner), attr=str(name)):
                pass
            case ast.Call(func=ast.Name(id="getattr"), args=[ast.Name(id=owner), ast.Constant(value=str(name)), *_]):
                pass
            case _:
                continue
        if owner in owners and name in methods:
            uses.append((inner.lineno, inner.col_offset, name))
    return tuple(dict.fromkeys(name for _, _, name in sorted(uses)))


def _names(node: ast.AST) -> set[str]:
    return {inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name)}


def _meaning(node: ast.stmt) -> str:
    """Return a text that is equal for equal code; the indentation of a docstring does not matter."""
    if not isinstance(node, ast.FunctionDef) or (document := ast.get_docstring(node)) is None:
        return ast.dump(node)

    fields = dict(ast.iter_fields(node))
    fields["body"] = node.body[1:]
    without_docstring = ast.FunctionDef(**fields)
    return ast.dump(without_docstring) + inspect.cleandoc(document)


def _is_same(old: ast.stmt | str | None, new: ast.stmt | str | None) -> bool:
    """Return whether two values of :func:`_bindings` have the same meaning; None means that the name is not bound."""
    if isinstance(old, ast.stmt) and isinstance(new, ast.stmt):
        return _meaning(old) == _meaning(new)
    return old == new


@lru_cache(maxsize=4)
def _bindings(source: str) -> Mapping[str, ast.stmt | str]:
    """Map each module-level name to its binding: the statement of a constant or function, or the path of an import."""
    bound: dict[str, ast.stmt | str] = {}
    for node in parse(source).body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            module = f"{node.level}.{node.module}" if isinstance(node, ast.ImportFrom) else ""
            for alias in node.names:
                name = alias.asname or alias.name.split(".")[0]
                bound[name] = f"{module} {alias.name}"
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for target in targets:
                bound |= dict.fromkeys(_names(target), node)
        elif isinstance(node, ast.FunctionDef):
            bound[node.name] = node
    return bound


def _first_line(node: ast.stmt) -> int:
    """Return the index (from 0) of a statement's first line, including its decorators."""
    decorators = node.decorator_list if isinstance(node, ast.FunctionDef | ast.ClassDef) else []
    return min([node.lineno, *(decorator.lineno for decorator in decorators)]) - 1


def _lines_of(lines: Sequence[str], node: ast.stmt) -> Sequence[str]:
    return lines[_first_line(node) : node.end_lineno]


def _margin(line: str) -> str:
    """Return the indentation of a line."""
    return line[: len(line) - len(line.lstrip(" \t"))]


def _is_inner_comment(text: Layout, index: int, margin: str) -> bool:
    """Return whether a line is a comment that is indented deeper than ``margin``."""
    inner = _margin(text.lines[index])
    return index + 1 in text.comments and inner.startswith(margin) and inner != margin


def _docstring_lines(node: ast.FunctionDef) -> range:
    """Return the numbers (from 1) of the docstring's lines after its first line."""
    if ast.get_docstring(node, clean=False) is None:
        return range(0)
    docstring = node.body[0]
    last = docstring.end_lineno or 0
    return range(docstring.lineno + 1, last + 1)
