"""Compiling text that nobody has vouched for: what would take too long is refused, anything else is compiled."""

from __future__ import annotations

import resource
import time
from textwrap import indent

import pytest

from spca.code import compilation
from spca.errors import PatchError


def nested_finally(levels: int, leave: str = "pass") -> str:
    """The exponential source: each level's finally holds the next."""
    body = "yield 1"
    for _ in range(levels):
        body = f"try:\n    {leave}\nfinally:\n{indent(body, '    ')}"
    return f"class Agent:\n    def go(self):\n{indent(body, ' ' * 8)}\n"


def flat_finally(ways: int, statements: int) -> str:
    """One try with many ways out, and a long finally."""
    out = "".join("                if self.x: continue\n" for _ in range(ways))
    last = "".join("                self.x = 1\n" for _ in range(statements))
    return f"class Agent:\n    def go(self):\n        while self:\n            try:\n{out}            finally:\n{last}"


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("f(" + ", ".join(f"a{n}=1" for n in range(300)) + ")", "line 3: more than 255 keywords"),
        ("'" + "{}" * 5000 + "'", "more than 4000 braces"),
        ("\n        ".join(["[x for x in y]"] * 2500), "more than 2000 functions, classes and comprehensions"),
        ("x;" * 25_000, "more than 40000 parts"),
        ("x = (" + "1," * 40_000 + ")", "more than 60000 words and signs"),
        (
            "match self:\n            case A(" + ", ".join(f"a{n}=1" for n in range(300)) + "): pass",
            "more than 255 key",
        ),
    ],
)
def test_a_source_that_would_keep_the_compiler_busy_is_refused(body: str, words: str) -> None:
    source = f"class Agent:\n    def go(self):\n        {body}\n        yield 1\n"
    with pytest.raises(PatchError, match=words):
        compilation.tree(source, "x.py")


@pytest.mark.parametrize(
    "source",
    [
        nested_finally(18),
        nested_finally(12, "if self: return"),
        flat_finally(900, 2500),
        f"def go(self):\n    def inner():\n{indent(nested_finally(19), ' ' * 8)}\n    yield 1\n",
        f"try:\n    pass\nexcept ValueError:\n{indent(nested_finally(19), '    ')}",
    ],
)
def test_code_that_multiplies_is_refused_at_once(source: str) -> None:
    began, before = time.process_time(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(PatchError, match="finally blocks multiply"):
        compilation.tree(source, "x.py")
    assert time.process_time() - began < 3  # seconds or minutes, and gigabytes, if it were compiled
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100_000


@pytest.mark.parametrize(
    "source",
    [
        nested_finally(3),
        nested_finally(2, "if self: return"),
        flat_finally(20, 30),
        "try:\n    x = 1\nfinally:\n    y = 2\n",
    ],
)
def test_ordinary_clean_up_is_compiled(source: str) -> None:
    assert compilation.code(compilation.tree(source, "x.py"), "x.py").co_filename == "x.py"


def test_the_tree_can_be_used_after_compiling() -> None:
    module = compilation.tree("x = 1 + 2\n", "x.py")
    compilation.code(module, "x.py")
    compilation.code(module, "x.py")
    assert type(module.body[0].value).__name__ == "BinOp"  # type: ignore[attr-defined]
