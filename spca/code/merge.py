"""Merging of generated methods into the text of ``class Agent`` (pure).

A patch consists of raw ``def`` blocks, optionally after imports and literal constants. The merge replaces and inserts
whole lines, by the line ranges of the syntax tree. Therefore all other lines stay equal byte by byte.
:mod:`spca.code.policy` decides what generated code may do, and :mod:`spca.code.patch_rules` defines the form of a
patch.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice

from spca.body import AgentInterface
from spca.code import compilation
from spca.code.agent_source import (
    AGENT_CLASS,
    Layout,
    agent_class,
    block,
    find_changed_methods,
    is_python,
    layout,
    methods_of,
    parse,
    reindent,
    split_lines,
)
from spca.code.patch_repairs import make_helpers_static, remove_main_guard
from spca.code.patch_rules import Patch, check_action, check_callers, check_calls, check_method, dissect, is_static
from spca.code.policy import check as policy
from spca.common.text import escape_code, one_line
from spca.contracts import AgentSource
from spca.errors import PatchError

_FENCE = re.compile(r"^[ \t]*```[ \t]*(\w*)[^\n]*\n(.*?)(?:^[ \t]*```[ \t]*$|\Z)", re.MULTILINE | re.DOTALL)
_CODE_START = re.compile(
    r"\s*((def|class)\s+\w+\s*[(:]|async\s+def\s|@\w|import\s+\w|from\s+[\w.]+\s+import\s|\w+\s*=)"
)
_OBJECTION = re.compile(r"[\s>*_`]*PLAN[*_`]*:[\s*_`]*(\S.*)", re.DOTALL)
_FENCE_LINE = re.compile(r"^[ \t]*```.*$", re.MULTILINE)
_COMMENT = re.compile(rb"\s*(#[^\r\n]*)")
_DEFINITION = re.compile(r"^\s*(def|async|class)\b", re.MULTILINE)
_MAX_OBJECTION = 260
"""Largest number of characters of a coder's objection to a plan."""
_MAX_TRIES = 40
_MAX_TRIED = 100_000
"""Limits of the search for code in an answer.

At most ``_MAX_TRIES`` line ranges are compiled, with at most ``_MAX_TRIED`` characters in total.
"""


@dataclass(frozen=True, slots=True)
class MergeResult:
    """The merged source (``text``), and the methods that are new or have a new meaning (``changed``)."""

    text: str
    changed: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Edit:
    """The replacement of the lines from ``first`` to ``last`` by ``text``.

    The indices count from 0, and ``last`` is exclusive. If both are equal, ``text`` is inserted before ``first``.
    """

    first: int
    last: int
    text: str


@compilation.refusing()
def merge(
    base: str, patch: str, interface: AgentInterface, expected: Mapping[str, tuple[str, ...]] | None = None
) -> MergeResult:
    """Merge the methods of ``patch`` into ``class Agent`` of ``base``: replace existing methods, append new methods.

    Args:
        base: source of the agent module.
        patch: raw ``def`` blocks, either at the top level or inside ``class Agent:``.
        interface: names of the agent's primitives and state.
        expected: actions that the result must define, each with its parameter names without ``self``. Each action must
            be a generator that accepts this number of positional arguments.

    Raises:
        PatchError: the patch does not compile, the policy refuses it, or it breaks a rule of
            :mod:`spca.code.patch_rules`.
    """
    patch = remove_main_guard(escape_code(patch))
    kept = methods_of(base)
    policy.check_patch(patch, base, interface)

    static_before = [name for name, node in kept.items() if is_static(node)]
    patch, static = make_helpers_static(patch, expected or (), static_before)
    parts = dissect(patch)
    for name in interface.primitives:
        if name in kept:  # the policy accepts only unchanged primitives
            parts.methods.pop(name, None)
    for name, node in parts.methods.items():
        check_method(node, is_static=name in static)
    if not parts.methods:
        raise PatchError("the code defines no method; answer with the def blocks of the actions")

    edits = [*_import_edits(base, parts), *_constant_edits(base, parts)]
    edits += _method_edits(base, parts, static)
    text = _splice(base, edits)

    merged = methods_of(text)
    for name, parameters in (expected or {}).items():
        check_action(name, parameters, merged.get(name))
    check_calls(parts.methods, merged, interface.primitives)
    check_callers(parts.methods, kept, merged)
    policy.check_agent(AgentSource(text), interface)
    return MergeResult(text, find_changed_methods(base, text))


def extract_code(answer: str) -> str:
    """Return the Python code in an LLM's answer: its fenced blocks, or else the code between sentences.

    If no code is found, return the answer; the merge then reports the error.
    """
    text = answer.replace("\r\n", "\n")
    if is_python(text):
        return text

    python_blocks: list[str] = []
    for language, code in _FENCE.findall(text):
        if language.lower() in ("python", "py", "python3", ""):
            python_blocks.append(code)
    blocks = [code for code in python_blocks if _DEFINITION.search(code)] or python_blocks
    return _wrap_in_class("\n".join(blocks)) if blocks else _find_code_between_sentences(text)


def objection(answer: str) -> str:
    """Return the reason in one line if the whole answer is ``PLAN: reason``; "" for any other answer."""
    without_fences = _FENCE_LINE.sub("", answer)
    if _DEFINITION.search(without_fences):
        return ""
    match = _OBJECTION.fullmatch(without_fences)
    if match is None:
        return ""

    reason = one_line(" ".join(match[1].split()))
    return reason[:_MAX_OBJECTION].rstrip("*_` ")


def _wrap_in_class(code: str) -> str:
    """Put code whose first line is indented into ``class Agent:``; return other code unchanged."""
    for line in code.split("\n"):
        if line.strip() and not line.lstrip().startswith("#"):
            return f"class {AGENT_CLASS}:\n{code}" if line[0].isspace() else code
    return code


def _find_code_between_sentences(text: str) -> str:
    """Return the code that stands between the sentences of an answer.

    The code consists of lines that compile and contain a definition. It begins as early as possible, and then is as
    long as possible. If no lines compile, return all lines from the first line that looks like code. The error message
    then names a place in this code.
    """
    lines = text.split("\n")
    starts = [number for number, line in enumerate(lines) if _CODE_START.match(line)]
    characters_left = _MAX_TRIED
    for start, end in islice(_iterate_line_ranges(lines, starts), _MAX_TRIES):
        code = _wrap_in_class("\n".join(lines[start:end]) + "\n")
        characters_left -= len(code)
        if characters_left < 0:
            break
        if _DEFINITION.search(code) and is_python(code):
            return code
    return "\n".join(lines[starts[0] :]) if starts else text


def _iterate_line_ranges(lines: Sequence[str], starts: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yield line ranges (start, end exclusive): for each of the ``starts`` all possible ranges, the longest first.

    A range ends before a line without indentation, or after the last line.
    """
    ends = [len(lines)]
    for number in reversed(range(len(lines))):
        if lines[number] and not lines[number][0].isspace():
            ends.append(number)

    for start in starts:
        for end in ends:
            if end <= start:
                break
            yield start, end


def _splice(base: str, edits: Sequence[_Edit]) -> str:
    """Apply the edits, which must not overlap, to a source."""
    lines = layout(base).lines
    pieces: list[str] = []
    position = 0
    for edit in sorted(edits, key=lambda edit: edit.first):
        pieces += lines[position : edit.first]
        if pieces and not pieces[-1].endswith(("\n", "\r")):  # the last line of the source
            pieces.append("\n")
        pieces.append(edit.text)
        position = edit.last
    return "".join([*pieces, *lines[position:]])


def _method_edits(base: str, parts: Patch, static: Collection[str]) -> Iterator[_Edit]:
    """Yield edits that replace existing methods and append new methods.

    Methods named in ``static`` get the decorator ``@staticmethod``.
    """
    text = layout(base)
    agent = agent_class(base)
    kept = methods_of(base)
    margin = re.match(r"[ \t]*", text.lines[agent.body[0].lineno - 1])
    if margin is None or not margin[0]:
        raise PatchError(f"class {AGENT_CLASS} of the agent must have an indented body")
    _, end = block(text, agent)
    for name, node in parts.methods.items():
        source = reindent(parts.text, node, margin[0])
        if name in static:
            comment_lines = node.lineno - 1 - block(parts.text, node)[0]
            lines = split_lines(source)
            lines.insert(comment_lines, f"{margin[0]}@staticmethod\n")
            source = "".join(lines)
        if name in kept:
            yield _Edit(*block(text, kept[name]), source)
        else:
            yield _Edit(end, end, f"\n{source}")


def _import_edits(base: str, parts: Patch) -> Iterator[_Edit]:
    """Yield edits that insert new imports.

    Imports from ``__future__`` come above all other statements, other imports below the last import.
    """
    known = [node for node in parse(base).body if isinstance(node, ast.Import | ast.ImportFrom)]
    present: set[str] = set()
    for node in known:
        present.update(_import_lines(node))

    future = ""
    usual = ""
    for node in parts.imports:
        for line in _import_lines(node):
            if line not in present and line.startswith("from __future__"):
                future += line
            elif line not in present:
                usual += line
            present.add(line)

    start = _body_start(base)
    below = max([start, *(node.end_lineno or 0 for node in known)])
    if future:
        yield _Edit(start, start, _paragraph(base, start, future))
    if usual:
        yield _Edit(below, below, usual if known else _paragraph(base, below, usual))


def _import_lines(node: ast.Import | ast.ImportFrom) -> Iterator[str]:
    """Yield a separate import line for each name that an import binds."""
    for alias in node.names:
        if isinstance(node, ast.ImportFrom):
            yield f"{ast.unparse(ast.ImportFrom(node.module, [alias], 0))}\n"
        else:
            yield f"{ast.unparse(ast.Import([alias]))}\n"


def _constant_edits(base: str, parts: Patch) -> Iterator[_Edit]:
    """Yield edits that replace constants of the same name and insert new constants.

    New constants come below the last constant above the class, or else below the imports.
    """
    agent = agent_class(base)
    above = [node for node in parse(base).body if node.lineno < agent.lineno]
    imports = [node for node in above if isinstance(node, ast.Import | ast.ImportFrom)]
    assigned: dict[str, ast.stmt] = {}
    for statement in above:
        constant = _constant_name(statement)
        if constant is not None:
            assigned[constant] = statement

    added = ""
    for name, node in parts.constants.items():
        source = _statement_source(parts.text, node)
        old = assigned.get(name)
        if old is None:
            added += source
        elif ast.dump(old) != ast.dump(node):
            yield _Edit(old.lineno - 1, old.end_lineno or old.lineno, source)

    ends = [node.end_lineno or 0 for node in (*imports, *assigned.values())]
    below = max(ends, default=_body_start(base))
    if added:
        yield _Edit(below, below, added if assigned else _paragraph(base, below, added))


def _constant_name(node: ast.stmt) -> str | None:
    match node:
        case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
            return name
        case _:
            return None


def _statement_source(text: Layout, node: ast.stmt) -> str:
    """Return the source of a top-level statement and its trailing comment.

    Other statements on the same lines are left out.
    """
    first = node.lineno - 1
    last = (node.end_lineno or node.lineno) - 1
    start = node.col_offset
    end = node.end_col_offset or 0
    bottom = _encode_line(text.lines[last])
    if first == last:
        code = bottom[start:end]
    else:
        top = _encode_line(text.lines[first])
        middle = "".join(text.lines[first + 1 : last])
        code = top[start:] + middle.encode() + bottom[:end]

    comment = _COMMENT.match(bottom, end)
    behind = f"  {comment[1].decode().rstrip()}" if comment else ""
    return f"{code.decode()}{behind}\n"


@lru_cache(maxsize=4)
def _encode_line(line: str) -> bytes:
    """Return a line in UTF-8, because the columns of the syntax tree count bytes.

    The result is cached, because thousands of statements may share a line.
    """
    return line.encode()


def _body_start(base: str) -> int:
    """Return the number of lines up to the end of the module docstring; 0 without a docstring."""
    first = parse(base).body[0]
    has_docstring = isinstance(first, ast.Expr)
    return (first.end_lineno or 0) if has_docstring else 0


def _paragraph(base: str, index: int, source: str) -> str:
    """Return ``source`` with the blank lines that separate it from the lines around it.

    ``index`` is the index of the line before which the source will be inserted.
    """
    lines = layout(base).lines
    before = "\n" if index and lines[index - 1].strip() else ""
    after = "\n\n" if index < len(lines) and lines[index].strip() else ""
    return f"{before}{source}{after}"
