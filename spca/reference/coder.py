"""The coder half of the embedded reference model: answers like an LLM that knows the reference skills by heart.

The skills are methods in the Python files of :mod:`spca.reference.skills` and its folder ``mechanisms``. Each file
defines a ``class Agent`` with some of the skills. The files are read as text and never imported, because an answer
consists of source. The source contains the requested methods and their helpers, which are the methods that they call,
directly or indirectly.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from textwrap import dedent
from typing import Any

from spca.errors import BadAnswerError
from spca.llm.providers.base import Message

_FOLDERS = (("skills",), ("skills", "mechanisms"))
_LISTED_METHOD = re.compile(r"^\s*(\w+)\(self\b", re.MULTILINE)
_DEFINED_METHOD = re.compile(r"^\s*def (\w+)\(self\b", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Skill:
    """A method of the reference library.

    Attributes:
        source: the source of the method, without the indentation of the class body.
        uses: the names of all attributes of ``self`` in the source, including the names of the called methods.
        imports: the import statements that the source needs.
    """

    source: str
    uses: frozenset[str]
    imports: tuple[str, ...]


def answer(messages: Sequence[Message]) -> str:
    """Return the source of the methods that the newest ``<task>`` block asks for, and of their helpers.

    If the task's mode is "first", the helpers that ``<agent_methods>`` or ``<agent_source>`` lists are left out. In
    every other mode, such as a repair, all helpers are included.

    Raises:
        BadAnswerError: no task can be read, or the task names an action that the library does not have.
    """
    task = _read_task(messages)
    actions = tuple(dict.fromkeys(map(str, task["actions"])))
    if task.get("mode") == "first":
        return write(actions, _list_present_methods(messages))
    return write(actions)


def write(actions: Iterable[str], present: Iterable[str] = ()) -> str:
    """Return the source of the methods called ``actions`` and of their helpers, preceded by the needed import
    statements.

    The helpers whose names are in ``present`` are left out.

    Raises:
        BadAnswerError: one of ``actions`` is not the name of a public method of the library.
    """
    skills = library()
    wanted = tuple(actions)
    for name in wanted:
        if name not in skills or name.startswith("_"):
            raise BadAnswerError(f"the reference coder has no skill named {name!r}")
    chosen = _add_helpers(skills, wanted, frozenset(present))
    imports = sorted({line for name in chosen for line in skills[name].imports})
    blocks = [skills[name].source for name in chosen]
    if imports:
        blocks.insert(0, "\n".join(imports))
    return "\n\n\n".join(blocks) + "\n"


@lru_cache(maxsize=1)
def library() -> Mapping[str, Skill]:
    """Return all methods of the skill files, keyed by name.

    The order is that of the files and, in each file, that of the methods.
    """
    skills: dict[str, Skill] = {}
    for path in _FOLDERS:
        folder = resources.files("spca.reference").joinpath(*path)
        for entry in sorted(folder.iterdir(), key=lambda entry: entry.name):
            if entry.name.endswith(".py"):
                skills.update(_parse_skills(entry.read_text(encoding="utf-8")))
    return skills


def _add_helpers(skills: Mapping[str, Skill], wanted: Sequence[str], present: frozenset[str]) -> list[str]:
    """Return the names of the wanted methods, followed by the names of their helpers in breadth-first order.

    The helpers in ``present``, and the methods that only these helpers use, are left out.
    """
    chosen = list(wanted)
    for name in chosen:  # chosen grows during the loop, so helpers of helpers are added too
        for other in skills:
            if other in skills[name].uses and other not in present and other not in chosen:
                chosen.append(other)
    return chosen


def _parse_skills(text: str) -> dict[str, Skill]:
    """Return the methods of all classes in the text of a skill file, keyed by name."""
    tree = ast.parse(text)
    lines = text.splitlines()
    imports: dict[str, str] = {}  # the import statement by the name that the statement binds
    methods: list[ast.FunctionDef] = []
    for node in tree.body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            for alias in node.names:
                bound_name = (alias.asname or alias.name).split(".")[0]
                imports[bound_name] = ast.unparse(node)
        elif isinstance(node, ast.ClassDef):
            methods.extend(child for child in node.body if isinstance(child, ast.FunctionDef))

    return {method.name: _make_skill(method, lines, imports) for method in methods}


def _make_skill(method: ast.FunctionDef, lines: Sequence[str], imports: Mapping[str, str]) -> Skill:
    """Return the :class:`Skill` for a method of a skill file.

    Args:
        lines: the lines of the skill file.
        imports: each import statement of the skill file, keyed by the name that the statement binds.
    """
    names: set[str] = set()
    uses: set[str] = set()
    for node in ast.walk(method):
        match node:
            case ast.Name(id=name):
                names.add(name)
            case ast.Attribute(value=ast.Name(id="self"), attr=attribute):
                uses.add(attribute)

    source = dedent("\n".join(lines[method.lineno - 1 : method.end_lineno]))
    needed_imports = tuple(line for name, line in imports.items() if name in names)
    return Skill(source, frozenset(uses), needed_imports)


def _read_task(messages: Sequence[Message]) -> dict[str, Any]:
    """Return the JSON object in the newest ``<task>`` block; the value of its key "actions" is a list.

    Raises:
        BadAnswerError: the block is missing or malformed.
    """
    block = _find_newest_block(messages, "task")
    if block is None:
        raise BadAnswerError("the reference coder found no <task> in the conversation")
    try:
        task = json.loads(block)
    except ValueError as error:
        raise BadAnswerError(f"the reference coder cannot read the <task>: {error}") from error
    if not isinstance(task, dict) or not isinstance(task.get("actions"), list):
        raise BadAnswerError("the <task> names no list of actions")
    return task


def _list_present_methods(messages: Sequence[Message]) -> frozenset[str]:
    """Return the names of the methods that the newest ``<agent_methods>`` and ``<agent_source>`` blocks list."""
    listing = _find_newest_block(messages, "agent_methods") or ""
    source = _find_newest_block(messages, "agent_source") or ""
    return frozenset([*_LISTED_METHOD.findall(listing), *_DEFINED_METHOD.findall(source)])


def _find_newest_block(messages: Sequence[Message], tag: str) -> str | None:
    """Return the content of the last ``<tag>`` block in the user's messages, or None if there is no such block."""
    block = re.compile(rf"<{tag}>\n?(.*?)\n?</{tag}>", re.DOTALL)
    for message in reversed(messages):
        if message.role != "user":
            continue
        blocks = block.findall(message.text)
        if blocks:
            return str(blocks[-1])
    return None
