"""Methods of a source, read from its lines, as the parser would find them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spca.report.read.outline import MethodLines, method_at, method_named, methods
from tests.support.spca.doubles import ROOT

SOURCE = '''\
class Agent:
    LIMIT = 3

    @staticmethod
    @cached(
        size=3,
    )
    def first(a,
              b):
        """Text
def not_one(): with a line that looks like code
        """
        def inner():
            return (
     1
)
        yield inner()
    # a comment that belongs to nobody

    async def second(self): yield 2
    third = 3
def outside():
    if (
        True
    ):
        return
    return 1
'''


def by_syntax(tree: ast.AST) -> Iterator[MethodLines]:
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
            yield MethodLines(node.name, first, node.lineno, node.end_lineno or 0)
        elif not isinstance(node, ast.expr):
            yield from by_syntax(node)


def sources() -> Iterator[Path]:
    return chain(ROOT.glob("*.py"), ROOT.glob("spca/**/*.py"), ROOT.glob("tests/spca/**/*.py"))


def test_decorators_strings_brackets_and_inner_functions() -> None:
    found = methods(SOURCE)
    assert found == (
        MethodLines("first", 4, 8, 17),
        MethodLines("second", 20, 20, 20),
        MethodLines("outside", 22, 22, 27),
    )
    assert set(found) == set(by_syntax(ast.parse(SOURCE)))


@pytest.mark.long
def test_it_tells_what_the_syntax_tree_tells() -> None:
    for path in sources():
        source = path.read_text(encoding="utf-8")
        assert methods(source) == tuple(by_syntax(ast.parse(source))), path


def test_a_source_with_a_syntax_error_has_an_outline_too() -> None:
    broken = "class Agent:\n    def a(self)\n        yield 1\n\n    def b(self:\n        yield )\n"
    assert methods(broken) == (MethodLines("a", 2, 2, 3), MethodLines("b", 5, 5, 6))


def test_a_method_is_found_by_line_and_by_name() -> None:
    twice = "class Agent:\n    def a(self): 1\n    def a(self): 2\n"
    assert method_named(twice, "a") == MethodLines("a", 3, 3, 3)
    assert method_at(twice, 2) == MethodLines("a", 2, 2, 2)
    assert method_at(twice, 1) is None
    assert method_named(twice, "b") is None


@given(
    st.lists(
        st.sampled_from(["def f", "@d", "class A", '"""', "'", "(", ")", " ", "    ", "\n", "#", "x"]), max_size=60
    )
)
def test_methods_lie_one_after_the_other(pieces: list[str]) -> None:
    source = "".join(pieces)
    edges = [0, *chain.from_iterable((m.first, m.last + 1) for m in methods(source)), source.count("\n") + 3]
    assert edges == sorted(edges)
    assert all(m.first <= m.line <= m.last for m in methods(source))
