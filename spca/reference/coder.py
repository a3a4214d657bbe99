"""The coder half of the embedded reference model: answers like an LLM that knows these skills by heart.

The skills are Python files in :mod:`spca.reference.skills` and the folder in it, each a piece of one ``class
Agent``. They are read as text, never imported: an answer is the source of the methods asked for and of the helpers they
need.
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
_LISTED = re.compile(r"^\s*(\w+)\(self\b", re.MULTILINE)
_DEFINED = re.compile(r"^\s*def (\w+)\(self\b", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Skill:
    """A method of the reference library: its source at column 0, the methods it uses, the imports it needs."""

    source: str
    uses: frozenset[str]
    imports: tuple[str, ...]


def answer(messages: Sequence[Message]) -> str:
    """Return the methods that the newest ``<task>`` asks for, with their helpers, as raw ``def`` blocks.

    Mode "first" leaves out helpers that ``<agent_methods>`` lists or ``<agent_source>`` holds; a repair holds all
    of them.

    Raises:
        BadAnswerError: there is no readable task, or it names an action that the library does not have.
    """
    task = _task(messages)
    actions = tuple(dict.fromkeys(map(str, task["actions"])))
    return write(actions, _present(messages) if task.get("mode") == "first" else ())


def write(actions: Iterable[str], present: Iterable[str] = ()) -> str:
    """Return the source of ``actions`` and of everything they call, except the methods already ``present``.

    Raises:
        BadAnswerError: the library has no skill of that name.
    """
    skills = library()
    wanted = tuple(actions)
    for name in wanted:
        if name not in skills or name.startswith("_"):
            raise BadAnswerError(f"the reference coder has no skill named {name!r}")
    chosen = _closure(skills, wanted, frozenset(present))
    imports = sorted({line for name in chosen for line in skills[name].imports})
    blocks = [skills[name].source for name in chosen]
    if imports:
        blocks.insert(0, "\n".join(imports))
    return "\n\n\n".join(blocks) + "\n"


@lru_cache(maxsize=1)
def library() -> Mapping[str, Skill]:
    """Return every method of the skill files by name, in the order of the files."""
    folders = (resources.files("spca.reference").joinpath(*path) for path in _FOLDERS)
    entries = (sorted(folder.iterdir(), key=lambda entry: entry.name) for folder in folders)
    files = [entry for folder in entries for entry in folder if entry.name.endswith(".py")]
    skills: dict[str, Skill] = {}
    for entry in files:
        skills.update(_skills_of(entry.read_text(encoding="utf-8")))
    return skills


def _closure(skills: Mapping[str, Skill], wanted: Sequence[str], present: frozenset[str]) -> list[str]:
    """Return ``wanted`` and what they use, breadth first: actions come before their helpers."""
    chosen = list(wanted)
    for name in chosen:
        used = (other for other in skills if other in skills[name].uses)
        chosen.extend(other for other in used if other not in present and other not in chosen)
    return chosen


def _skills_of(text: str) -> dict[str, Skill]:
    tree = ast.parse(text)
    lines = text.splitlines()
    imports: dict[str, str] = {}
    methods: list[ast.FunctionDef] = []
    for node in tree.body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            for alias in node.names:
                bound_name = (alias.asname or alias.name).split(".")[0]
                imports[bound_name] = ast.unparse(node)
        elif isinstance(node, ast.ClassDef):
            methods.extend(child for child in node.body if isinstance(child, ast.FunctionDef))

    return {method.name: _skill(method, lines, imports) for method in methods}


def _skill(method: ast.FunctionDef, lines: Sequence[str], imports: Mapping[str, str]) -> Skill:
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


def _task(messages: Sequence[Message]) -> dict[str, Any]:
    block = _newest(messages, "task")
    if block is None:
        raise BadAnswerError("the reference coder found no <task> in the conversation")
    try:
        task = json.loads(block)
    except ValueError as error:
        raise BadAnswerError(f"the reference coder cannot read the <task>: {error}") from error
    if not isinstance(task, dict) or not isinstance(task.get("actions"), list):
        raise BadAnswerError("the <task> names no list of actions")
    return task


def _present(messages: Sequence[Message]) -> frozenset[str]:
    """Return the methods that the agent has already, as far as the prompt shows."""
    listed = _LISTED.findall(_newest(messages, "agent_methods") or "")
    return frozenset([*listed, *_DEFINED.findall(_newest(messages, "agent_source") or "")])


def _newest(messages: Sequence[Message], tag: str) -> str | None:
    """Return the content of the last ``<tag>`` block that a user wrote."""
    block = re.compile(rf"<{tag}>\n?(.*?)\n?</{tag}>", re.DOTALL)
    for message in reversed(messages):
        if message.role != "user":
            continue
        blocks = block.findall(message.text)
        if blocks:
            return str(blocks[-1])
    return None
