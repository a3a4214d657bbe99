"""The static policy: what it refuses with which words, what must pass, and that nothing makes it fail itself."""

from __future__ import annotations

import ast
import importlib
import sys
import time
from contextlib import suppress
from types import ModuleType

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from spca.bodies.grid.primitives import PRIMITIVE_METHODS
from spca.code.compilation import MAX_BYTES
from spca.code.policy.available import INSTEAD, MEMBER_INSTEAD, MODULES, fault_of_member
from spca.code.policy.check import MAX_DEPTH, MAX_SHOWN, Violation
from spca.contracts import AgentSource
from spca.errors import PatchError
from spca.reference import coder
from tests.support.bodies.grid import STATE_ATTRIBUTES, check_agent, check_patch, violations
from tests.support.spca.policy_cases import (
    HARMLESS,
    HIDDEN,
    INITIAL,
    MISSING,
    STATE,
    UNSEEDED,
    indented,
    method,
    refusal,
)

REFUSED = MISSING | HIDDEN | UNSEEDED | STATE


@pytest.mark.parametrize(("body", "words"), REFUSED.items())
def test_what_cannot_work_is_refused_with_its_line(body: str, words: str) -> None:
    said = refusal(method(body))
    assert words in said
    assert words.startswith("line ") or "line 2: " in said


@pytest.mark.parametrize(
    ("patch", "words"),
    [
        ("x = 1 if True else open('f')\n" + method("pass"), "line 1: open is not available"),
        ("X = [n for n in range(3)]\n" + method("pass"), "line 1: X is not a literal; compute it inside a method"),
        ("X = Y\n" + method("pass"), "line 1: X is not a literal"),
        ("A, B = 0, 1\n" + method("pass"), "line 1: a constant at the top level must be one name and its value"),
        ("Agent = 1\n" + method("pass"), "line 1: Agent is the name of the class"),
        ("def Agent(self):\n    yield 0\n", "line 1: Agent is the name of the class"),
        ("class Node:\n    pass\n" + method("pass"), "line 1: class Node must not be defined here; define it inside"),
        ("class Agent:\n    pass\nclass Agent:\n    pass\n", "line 3: class Agent must be defined only once"),
        ("class Agent(Base):\n    pass\n", "line 1: class Agent must have no bases"),
        ("class Agent(metaclass=M):\n    pass\n", "line 1: class Agent must have no bases"),
        ("@final\nclass Agent:\n    pass\n", "class Agent must have no bases, no keywords and no decorators"),
        ("if __name__ == '__main__':\n    pass\n", "line 1: only imports, literal constants and def blocks"),
        ("print('hi')\n", "line 1: only imports"),
        ("from math import *\n" + method("pass"), "line 1: relative and star imports are not possible"),
        ("np = 1\n" + method("pass"), "line 1: 'np' already stands for 'numpy'"),
        ("import random as np\n" + method("pass"), "line 1: 'np' already stands for 'numpy'"),
        ("@self.log\n" + method("pass"), "go has a decorator that is not available; available are"),
        ("@open('f')\n" + method("pass"), "open is not available"),
        ("import functools\n@functools.lru_cache(f())\n" + method("pass"), "the arguments of the decorator of go"),
        ("import functools\n@functools.lru_cache(**{})\n" + method("pass"), "the arguments of the decorator of go"),
        ("def go(self, x=open('f')):\n    yield 0\n", "line 1: open is not available"),
        (
            "def go(self, x=[].append(1)):\n    yield 0\n",
            "line 1: the defaults and annotations of go must be constants",
        ),
        ("def go(self, *, x=print()):\n    yield 0\n", "line 1: the defaults and annotations of go must be constants"),
        ("def go(self, x: f(1)):\n    yield 0\n", "line 1: the defaults and annotations of go must be constants"),
        (
            "def go(self, x=sorted([1], key=lambda x: 1)):\n    yield 0\n",
            "defaults and annotations of go must be constants",
        ),
        ("def go(self, x=sorted([1], key=run)):\n    yield 0\n", "defaults and annotations of go must be constants"),
        ("def go(self) -> print():\n    yield 0\n", "line 1: the defaults and annotations of go must be constants"),
        ("def go(self, x: open('f')):\n    yield 0\n", "line 1: open is not available"),
        ("def go(self) -> exec('1'):\n    yield 0\n", "line 1: exec is not available"),
        ("def mission(self):\n    yield 0\n", "line 1: a method mission would hide the state attribute self.mission"),
        ("def turn_left(self):\n    yield 0\n", "line 1: turn_left is a primitive and must stay as it is"),
        ("def turn_left(self):\n    return False\n", "line 1: turn_left is a primitive"),
        ("def turn_left(self, n=1):\n    return 0\n", "line 1: turn_left is a primitive"),
        ("@property\ndef turn_left(self):\n    return 0\n", "turn_left is a primitive"),
        ("def __setattr__(self, n, v):\n    pass\n", "line 1: special method __setattr__ must not be defined"),
        ("__builtins__ = {}\n" + method("pass"), "line 1: __builtins__ must not be defined"),
        ("import heapq as Agent\n" + method("pass"), "line 1: 'Agent' already stands for 'heapq'"),
        ("import heapq\nimport random as heapq\n" + method("pass"), "line 2: 'heapq' already stands for 'heapq'"),
        ("async def go(self):\n    pass\n", "line 1: async code cannot run here; write plain generator methods"),
        ("def go(self):\n    yield [x async for x in y]\n", "asynchronous comprehension|async code"),
    ],
)
def test_nothing_but_imports_constants_and_methods_is_at_the_top(patch: str, words: str) -> None:
    assert any(word in refusal(patch) for word in words.split("|"))


@pytest.mark.parametrize("body", HARMLESS)
def test_harmless_methods_pass(body: str) -> None:
    assert refusal(method(body)) == ""
    assert violations(f"{INITIAL}\n{indented(method(body))}") == ()


@pytest.mark.parametrize(
    "patch",
    [
        "from __future__ import annotations\n" + method("pass"),
        "LIMIT = 3 * 7\nDELTAS = {'East': (0, 1), 'West': (0, -1)}\nKINDS = frozenset({'key'})\nFAR = float('inf')\n"
        + method("pass"),
        "from typing import Tuple\nimport re\nPos = Tuple[int, int]\nCell = tuple[int, int]\nWORD = re.compile('a')\n"
        + method("pass"),
        "import math\nFAR: float = math.inf\nNONE: None\n'''Remark.'''\n" + method("pass"),
        "def go(self, a, b=-1, c=(1, -2), d=None, e=[], f={}, *, g=set(), h=float('inf'), i=lambda x: x):\n"
        "    yield 0\n",
        "@staticmethod\ndef near(a, b):\n    return a\n\n@property\ndef here(self):\n    return 1\n\n"
        "@here.setter\ndef here(self, value):\n    self._here = value\n",
        "from functools import cache\nimport functools\n@cache\ndef a(self):\n    return 1\n\n"
        "@functools.lru_cache(maxsize=128)\ndef b(self):\n    return 1\n",
        "KINDS = ('key', 'ball')\ndef go(self, kinds=frozenset(KINDS), least=min, first=KINDS[0]):\n    yield 0\n",
        "@classmethod\ndef make(cls):\n    return cls.go\n",
        "class Agent:\n    '''Doc.'''\n    mission: str\n    def __init__(self):\n        self.seen = {}\n",
    ],
)
def test_harmless_patches_pass(patch: str) -> None:
    assert refusal(patch) == ""


@pytest.mark.parametrize("name", PRIMITIVE_METHODS)
def test_a_primitive_that_is_as_it_was_passes(name: str) -> None:
    code = PRIMITIVE_METHODS.index(name)
    assert refusal(f"def {name}(self) -> int:\n    'Doc.'\n    return {code}\n") == ""
    assert f"{name} is a primitive" in refusal(f"def {name}(self):\n    return {(code + 1) % 7}\n")


@pytest.mark.parametrize("name", STATE_ATTRIBUTES)
def test_an_agent_does_not_assign_its_state_in_the_class(name: str) -> None:
    assert violations(f"class Agent:\n    {name}: str\n") == ()
    assert f"{name} belongs to the world" in str(violations(f"class Agent:\n    {name} = None\n")[0])


def test_the_initial_agent_and_the_reference_skills_pass() -> None:
    assert violations(INITIAL) == ()
    for name in coder.library():
        if not name.startswith("_"):
            check_patch(coder.write([name]), INITIAL)


def test_names_that_the_base_imports_are_known_in_a_patch() -> None:
    base = f"import random as r\n{INITIAL}"
    with pytest.raises(PatchError, match=r"line 2: random\._os is not available"):
        check_patch(method("r._os"), base)
    check_patch(method("r._os"), INITIAL)  # fails with a NameError when it is run


def test_a_source_needs_an_agent() -> None:
    assert violations("x = 1\n") == (Violation(1, "the source has no class Agent"),)


@pytest.mark.skipif(sys.version_info < (3, 12), reason="type parameters came with Python 3.12")
def test_type_parameters_shield_what_they_name() -> None:
    assert refusal(method("def f[T: int](x: T) -> T: return x\nclass B[T]: pass\ntype Pos = tuple[int, int]")) == ""
    assert "eval is not available" in refusal(method("def f[T: eval('1')](x): return x"))
    assert "numpy.load is not available" in refusal(method("import numpy as np\ntype X = np.load('f')"))


def test_all_violations_are_told_at_once_in_source_order() -> None:
    patch = "import os\n" + method("\n".join(f"x{n} = eval('{n}'); y = exec" for n in range(20)))
    said = refusal(patch).splitlines()
    assert said[0] == "line 1: module os is not available: generated code has no files, processes or environment"
    assert said[1] == "line 3: eval is not available: write the expression itself, or use int() or float()"
    assert said[2] == "line 3: exec is not available: write the code itself"
    assert len(said) == MAX_SHOWN + 1
    assert said[-1] == f"and {41 - MAX_SHOWN} more"


@pytest.mark.parametrize(
    "body",
    [
        f"import {'a' * 50_000}.b",
        f"from numpy import {'a' * 50_000}",
        f"np.{'a' * 50_000}",
        f"global {', '.join(f'x{n}' for n in range(5000))}",
        "\n".join(f"import {letter * 500}, {letter * 501}" for letter in "abcdefghijklm"),
        f"x = {'A' * 50_000} +* 1",
        f"x = '{'A' * 50_000}",
        "x = '\x1b[2J' 1",
        "x = '\u202e\u115f' 1",
        f"{'A' * 50_000}: nonlocal = 1",
        f"nonlocal {'A' * 50_000}",
        f"def f(a):\n    global {'a' * 50_000}\n    {'a' * 50_000} = 1\n    nonlocal {'a' * 50_000}",
    ],
)
def test_what_is_told_is_short_and_steers_no_terminal(body: str) -> None:
    said = refusal(method(body))
    assert 0 < len(said) < 2000
    assert all(character.isprintable() for character in said.replace("\n", ""))
    assert not any(line.startswith("line 1:") for line in said.splitlines())
    with pytest.raises(PatchError) as caught:
        check_agent(AgentSource(f"{INITIAL}\n{indented(method(body))}"))
    assert len(str(caught.value)) < 2000


def test_a_name_is_shown_cut() -> None:
    said = refusal(method(f"import {'A' * 50_000}"))
    assert said.startswith(f"line 2: module {'A' * 57}... is not available: available are")


NAMES_OF_ALL_SORTS = {
    "bound often": "\n".join(["a = 'x'", "for b in A: pass", "getattr(self, b)", "a.format()"] * 3000),
    "looked up often": "\n".join(["x = np.linalg.norm(a.b.c.d.e.f)"] * 2500),
    "written often": "\n".join(["self.a[0][0][0][0][0][0][0][0] = 1"] * 1200),
    "chains": "\n".join([f"x{'.y' * 90}"] * 280),
    "wrong often": "\n".join(["open(); np.x; import os"] * 2000),
}


@pytest.mark.parametrize("body", NAMES_OF_ALL_SORTS.values(), ids=NAMES_OF_ALL_SORTS)
def test_many_names_take_little_time(body: str) -> None:
    started = time.process_time()
    refusal(("A = (" + "'x'," * 30 + ")\n") * 30 + method(body))
    assert time.process_time() - started < 3  # about 0.7 on an idle machine


def test_an_agent_is_refused_again_and_again() -> None:
    agent = AgentSource(f"{INITIAL}\n    def go(self):\n        open('f')\n        yield 0\n")
    line = agent.text.count("\n") - 1
    for _ in range(2):
        with pytest.raises(PatchError, match=f"^line {line}: open is not available"):
            check_agent(agent)
    check_agent(AgentSource(INITIAL))


def test_a_long_source_is_refused() -> None:
    fits = "#" * (MAX_BYTES - len(INITIAL) - 1) + f"\n{INITIAL}"
    check_agent(AgentSource(fits))
    with pytest.raises(PatchError, match=rf"the code has {MAX_BYTES + 1} bytes, at most"):
        check_agent(AgentSource(f"#{fits}"))
    with pytest.raises(PatchError, match="write less"):
        check_patch("é" * (MAX_BYTES // 2 + 1), INITIAL)


@pytest.mark.parametrize("opening", ["x = " + "-" * 200 + "1", "x = " + " + ".join("1" * 200), "x" + ".y" * 200])
def test_deep_nesting_is_refused(opening: str) -> None:
    assert refusal(method(opening)) == f"line 2: more than {MAX_DEPTH} levels of nesting; split it into several methods"


@pytest.mark.parametrize(
    "inner", ["with open('f'): pass", "match 1:\n case x: open('f')", "f(*[y for y in open('f')])"]
)
@pytest.mark.parametrize("levels", range(80, 98))
def test_nothing_hides_where_the_nesting_becomes_too_deep(inner: str, levels: int) -> None:
    for _ in range(levels):
        inner = "if x:\n" + "".join(f" {line}\n" for line in inner.splitlines())
    assert refusal(method(inner)) != ""


@pytest.mark.parametrize("opening", ["(" * 10_000, "x = " + "-" * 100_000 + "1", "[" * 150 + "]" * 150, "\0", "\ud800"])
def test_what_cannot_be_parsed_is_refused(opening: str) -> None:
    with pytest.raises(PatchError):
        check_patch(method(opening), INITIAL)


PIECES = [
    "x", "np", "self", "self.full_grid", "getattr", "open", "'{0.a}'", "'__class__'", "[]", "type", "super()", "__x__",
    "({} for {} in {})", "[{} := {}]", "{}.{}", "{}[{}]", "{}({})", "lambda {}: {}", "{} = {}", "del {}", "import {}",
    "from {} import {}", "def {}({}={}): yield {}", "class {}({}): {}", "nonlocal {}", "global {}",
    "try: {}\nexcept {}: {}",
    "match {}:\n case {}({}=a): {}", "with {} as {}: {}", "f'{{{}!r:{{{}}}}}'", "{}.format({})", "async def {}(): {}",
]  # fmt: skip
code = st.recursive(
    st.sampled_from(PIECES),
    lambda inner: st.tuples(st.sampled_from(PIECES), st.lists(inner, min_size=4, max_size=4)).map(
        lambda drawn: drawn[0].format(*drawn[1]) if "{}" in drawn[0] else drawn[0]
    ),
    max_leaves=8,
)


@pytest.mark.long
@settings(max_examples=150)
@given(st.text(max_size=300) | st.lists(code, max_size=4).map("\n".join))
@example("class Agent:\n  def f(self):\n    nonlocal x")
@example("{}.format(1)")
def test_any_text_is_judged_and_nothing_else_happens(text: str) -> None:
    for judged in (text, method(text.replace("\n", "\n    ")), f"class Agent:\n    def go(self):\n        {text}\n"):
        started = time.process_time()
        for check in (refusal, violations):
            with suppress(PatchError):
                check(judged)
        assert time.process_time() - started < 1


@pytest.mark.long
@settings(max_examples=200)
@given(st.sampled_from([*REFUSED]), st.integers(0, 3))
def test_no_nesting_hides_a_violation(body: str, depth: int) -> None:
    for level in range(depth):
        body = f"def inner{level}():\n{indented(body)}"
    assert refusal(method(body)) != ""


@pytest.mark.parametrize("name", MODULES)
def test_every_public_name_of_a_module_is_known(name: str) -> None:
    module = importlib.import_module(name)
    public = getattr(module, "__all__", None) or [member for member in vars(module) if not member.startswith("_")]
    kept = [member for member in public if member in vars(module) and f"{name}.{member}" not in MEMBER_INSTEAD]
    values = [member for member in kept if not isinstance(getattr(module, member), ModuleType)]
    assert [fault for member in values if (fault := fault_of_member(name, member))] == []


def test_advice_is_for_what_is_not_available() -> None:
    assert not {*INSTEAD} & {*MODULES}
    for name in MEMBER_INSTEAD:
        assert fault_of_member(*name.rsplit(".", 1)) == f"{name} is not available: {MEMBER_INSTEAD[name]}"


@pytest.mark.long
def test_a_large_agent_passes() -> None:
    block = ast.unparse(ast.parse(coder.write([name for name in coder.library() if not name.startswith("_")])))
    methods = "".join(f"    {line}\n" for line in block.splitlines() if not line.startswith("import"))
    source = INITIAL + "".join(methods.replace("def ", f"def v{n}_") for n in range(9))[: 60_000 - len(INITIAL)]
    source = source[: source.rindex("    def ")]
    check_agent(AgentSource(source))
