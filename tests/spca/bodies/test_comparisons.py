"""No module asks which body it has: it compares no body's name or type, and few modules know the grid's body at all."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from tests.support.spca.doubles import ROOT

OF_THE_GRID: Final = (
    *("spca/bodies", "spca/sense", "spca/reference", "spca/evaluation/proof"),
    *("spca/act/observing.py", "minigridenv.py", "gridworldenv.py"),
)
"""Folders and files that are written for the grid: body, perception, the model and the proofs that play it, worlds."""

KNOWS_THE_GRID: Final = {
    "spca/act/mapped_world.py": "the worlds of the grid's body",
    "spca/prompts/__init__.py": "prompts without another body are those of the grid",
    "spca/plugins/registry.py": "the built-in world has the grid's body; plugins add kinds and colours to it",
    "spca/evaluation/failure_groups.py": "stars the details of the grid's words in reasons; other words stay",
    "spca/report/level/headlines.py": "stars the details of the grid's words in reasons; other words stay",
    "spca/report/replay/minigrid_films.py": "draws the grid",
    "spca/report/replay/pictures.py": "draws the grid",
    "spca/report/replay/playback.py": "draws the grid",
    "spca/policy/observed_worlds.py": "the grid's world without a simulator",
    "spca/testing/generated_code.py": "the suites run generated code with the grid's body",
    "spca/testing/executor_suite.py": "the suites run generated code with the grid's body",
}
"""Other modules that import the grid's body or perception, each with its reason."""

TYPES: Final = ("Body", "GridNames", "GridDrawing", "MappedWorld", "MiniGridEnv", "GymnasiumWorld", "GridPrimitive")
"""Types of bodies and of their worlds."""


def find_comparisons(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Yield line and text of each comparison of a body, of its name, or of the type of a body or world."""
    for node in ast.walk(tree):
        match node:
            case ast.Compare(ops=[ast.In() | ast.NotIn()], left=left) if not is_of_body(left):
                continue  # what lies in a body of a request
            case ast.Compare(left=left, comparators=others) if any(map(is_of_body, [left, *others])):
                yield node.lineno, ast.unparse(node)
            case ast.Match(subject=ast.Attribute() as subject) if is_of_body(subject):
                yield node.lineno, ast.unparse(subject)
            case ast.Call(func=ast.Name(id="isinstance" | "issubclass"), args=[_, kinds]) if names_type(kinds):
                yield node.lineno, ast.unparse(node)
            case ast.Call(func=ast.Attribute(value=value, attr="startswith" | "endswith")) if is_of_body(value):
                yield node.lineno, ast.unparse(node)
            case ast.Subscript(slice=index) if is_of_body(index):
                yield node.lineno, ast.unparse(node)


def is_of_body(node: ast.expr) -> bool:
    """Return whether an expression is a body, its name, or its type."""
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name) if name in ("GRID", "body", "_body"):
            return True
        case ast.Attribute(value=value, attr="name"):
            return is_of_body(value)
        case ast.Call(func=ast.Name(id="type"), args=[value]):
            return is_of_body(value) or "world" in ast.unparse(value)
    return False


def names_type(node: ast.expr) -> bool:
    return any(isinstance(inner, ast.Name) and inner.id in TYPES for inner in ast.walk(node))


def imports_grid(tree: ast.AST) -> bool:
    """Return whether a module imports the grid's body, or perception; renaming is no part of either."""
    for node in ast.walk(tree):
        names: list[str] = []
        if isinstance(node, ast.ImportFrom) and node.module:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        for name in names:
            is_of_grid = name.startswith(("spca.bodies.grid", "spca.sense", "spca.act.mapped_world", "minigridenv"))
            if is_of_grid and not name.startswith("spca.sense.renaming"):
                return True
    return False


def list_modules() -> dict[str, ast.AST]:
    """Return the other modules by path."""
    files = [*ROOT.glob("*.py"), *(ROOT / "spca").rglob("*.py")]
    names = {path.relative_to(ROOT).as_posix(): path for path in sorted(files)}
    return {
        name: ast.parse(path.read_text(encoding="utf-8"))
        for name, path in names.items()
        if not name.startswith(OF_THE_GRID)
    }


@pytest.mark.parametrize(
    "source",
    [
        "if body.name == 'grid': pass",
        "x = 'grid' != self.world.body.name",
        "x = settings.body is GRID",
        "x = body.name in ('grid', 'plane')",
        "match world.body.name:\n    case 'grid': pass",
        "x = isinstance(world, MappedWorld)",
        "x = isinstance(body, (Body, str))",
        "x = type(body) is Body",
        "x = type(self._world) is MiniGridEnv",
        "x = TABLE[body.name]",
        "x = self._body.name.startswith('grid')",
    ],
)
def test_a_comparison_is_recognised(source: str) -> None:
    assert list(find_comparisons(ast.parse(source)))


@pytest.mark.parametrize(
    "source",
    [
        "x = f'the body {body.name}'",
        "x = body.interface.primitives[code] == name",
        "x = isinstance(value, str)",
        "x = level.name == 'grid'",
        "x = world.can_restore is True",
        "x = PARTS[name]",
    ],
)
def test_other_expressions_are_none(source: str) -> None:
    assert not list(find_comparisons(ast.parse(source)))


def test_no_module_compares_a_body() -> None:
    modules = list_modules()
    assert len(modules) > 200
    found = [f"{name}:{line}: {text}" for name, tree in modules.items() for line, text in find_comparisons(tree)]
    assert found == []


def test_the_modules_that_know_the_grid_are_listed() -> None:
    modules = list_modules()
    found = {name for name, tree in modules.items() if imports_grid(tree)}
    phases = {"main.py"}  # the application, which gives its commands the built-in world
    assert found - phases == KNOWS_THE_GRID.keys()


@pytest.mark.parametrize("name", OF_THE_GRID)
def test_what_is_written_for_the_grid_is_there(name: str) -> None:
    path = Path(ROOT / name)
    files = sorted(path.rglob("*.py")) if path.is_dir() else [path]
    words = ("spca.bodies", "spca.sense", "minigrid")
    assert any(word in file.read_text(encoding="utf-8") for file in files for word in words)
