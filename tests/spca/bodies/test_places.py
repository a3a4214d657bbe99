"""The names of the grid's primitives are listed with the body, and nowhere else in the package."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from spca.bodies.grid.primitives import PRIMITIVE_METHODS
from tests.support.spca.doubles import ROOT

PACKAGE = ROOT / "spca"
HOMES = ("bodies", "reference/skills", "prompts")
"""Folders that may list them: bodies, and what is written in the words of a body."""

NAMES = frozenset(PRIMITIVE_METHODS)
AT_LEAST = 2
"""Two names in one list are a list of primitives; "drop" or "done" alone is any word."""


def lists_of_names(tree: ast.AST) -> Iterator[tuple[int, frozenset[str]]]:
    """Yield the line and the names of each tuple, list, set, dictionary or enumeration that lists primitives."""
    for node in ast.walk(tree):
        words: set[str] = set()
        match node:
            case ast.Tuple(elts=elements) | ast.List(elts=elements) | ast.Set(elts=elements):
                words = texts_of(elements)
            case ast.Dict(keys=keys, values=values):
                words = max(texts_of(keys), texts_of(values), key=lambda texts: len(NAMES & texts))
            case ast.ClassDef(bases=bases) if any("Enum" in ast.unparse(base) for base in bases):
                words = {ast.unparse(part.targets[0]) for part in node.body if isinstance(part, ast.Assign)}
            case ast.Call(func=ast.Attribute(value=ast.Constant(value=str(text)), attr="split")):
                words = set(text.replace(",", " ").split())
        found = NAMES.intersection(word.lower() for word in words)
        if len(found) >= AT_LEAST:
            yield getattr(node, "lineno", 0), found


def texts_of(nodes: Sequence[ast.expr | None]) -> set[str]:
    return {node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)}


def modules() -> list[Path]:
    files = sorted(PACKAGE.rglob("*.py"))
    return [file for file in files if not file.relative_to(PACKAGE).as_posix().startswith(HOMES)]


@pytest.mark.parametrize(
    "source",
    [
        'X = ("turn_left", "toggle")',
        'X = {"turn_left": 0, "turn_right": 1}',
        'X = {0: "turn_left", 1: "turn_right"}',
        'X = "turn_left turn_right".split()',
        "class Move(IntEnum):\n    TURN_LEFT = 0\n    TOGGLE = 5\n",
        'def go(x):\n    return x in {"pick_up", "drop"}',
    ],
)
def test_a_list_of_primitives_is_recognised(source: str) -> None:
    assert list(lists_of_names(ast.parse(source)))


@pytest.mark.parametrize(
    "source", ['X = ("done", "open")', 'X = "toggle"', "class Job(StrEnum):\n    DONE = 1\n    A = 2"]
)
def test_other_words_are_none(source: str) -> None:
    assert not list(lists_of_names(ast.parse(source)))


def test_the_home_of_the_primitives_lists_them() -> None:
    tree = ast.parse((PACKAGE / "bodies" / "grid" / "primitives.py").read_text(encoding="utf-8"))
    assert NAMES in {found for _line, found in lists_of_names(tree)}


def test_no_other_module_lists_the_primitives() -> None:
    files = modules()
    assert len(files) > 200
    found = [
        f"{file.relative_to(ROOT)}:{line} lists {', '.join(sorted(names))}"
        for file in files
        for line, names in lists_of_names(ast.parse(file.read_text(encoding="utf-8")))
    ]
    assert found == []
