"""Merging generated methods: what is touched, what is refused, and how code is found in an answer."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spca.bodies.grid.primitives import PRIMITIVE_METHODS
from spca.code.agent_source import method_source
from spca.code.merge import extract_code
from spca.errors import PatchError
from tests.support.bodies.grid import merge

INITIAL = (Path(__file__).parents[3] / "agent.py").read_text()

BASE = '''"""Docstring of the module."""

import numpy as np
from collections import deque

LIMIT = 3  # tries


class Agent:
    """An agent."""

    mission: str

    def turn_left(self) -> int:
        return 0

    # above far

    # right above go_to
    def go_to(self, a):  # behind go_to
        """Go.

        Further on.
        """
        yield   0

        # at the end of go_to

    def look( self ):
        # inside look
        text = """
  kept
"""
        return text ;

    @staticmethod
    def last(x=[
        1]):
        return x
'''

HEADS = [
    "def {name}(self, a):",
    "def {name}(self, a: str, b=(1,\n    2)):  # head",
    "@staticmethod\n# between\n@staticmethod\ndef {name}(self):",
]
BODIES = [
    "yield 0",
    '"""Doc.\n\n    More.\n    """\n    yield 1  # one\n    # end',
    "# first\n    x = '''\nat margin\n      deep\n'''\n\n    yield x",
    "x = f'''\n{1 + 1}\n  {\"#\"} # no comment\n'''; yield x",
    "text = 'a\\\nb'\n    if (text and\n  text):\n\n        yield 2\n# at margin",
    '"""One line"""\n    def inner():\n        """Inner\n    doc.\n        """\n    yield from (lambda: [inner()])()',
]
NAMES = ["go", "pick", "_find", "open_it", "last"]

methods = st.tuples(st.sampled_from(HEADS), st.sampled_from(BODIES), st.sampled_from(["", "# above\n", "# a\n# b\n"]))


def render(name: str, parts: tuple[str, str, str]) -> str:
    head, body, comment = parts
    return f"{comment}{head.format(name=name)}\n    {body}\n"


def indented(block: str) -> str:
    """The block as the merge itself indents it: through an empty agent."""
    return merge("class Agent:\n    pass\n", block).text.removeprefix("class Agent:\n    pass\n\n")


sources = st.dictionaries(st.sampled_from(NAMES), methods, min_size=1).map(
    lambda found: {name: render(name, parts) for name, parts in found.items()}
)
bases = st.tuples(
    sources, st.sampled_from(["", "\n    # section\n\n", "\n\n"]), st.sampled_from(["", "\n\nx = 1\n"])
).map(
    lambda drawn: (
        '"""Doc."""\n\n\ndef _mark(f):\n    return f\n\n\nclass Agent:\n    """Agent."""\n\n'
        + f"{drawn[1]}\n".join(map(indented, drawn[0].values()))
        + drawn[2]
    )
)


def method_nodes(source: str) -> dict[str, ast.FunctionDef]:
    agent = next(node for node in ast.parse(source).body if isinstance(node, ast.ClassDef))
    return {node.name: node for node in agent.body if isinstance(node, ast.FunctionDef)}


def without_docstring(node: ast.FunctionDef) -> str:
    body = node.body[1:] if ast.get_docstring(node) is not None else node.body
    return ast.dump(ast.FunctionDef(**{**dict(ast.iter_fields(node)), "body": body}))


@pytest.mark.long
@given(bases, sources)
def test_merging_twice_is_merging_once(base: str, patch: dict[str, str]) -> None:
    once = merge(base, "\n".join(patch.values()))
    assert merge(once.text, "\n".join(patch.values())) == type(once)(once.text, ())


@pytest.mark.long
@given(bases, sources)
def test_untouched_text_stays_byte_identical(base: str, patch: dict[str, str]) -> None:
    merged = merge(base, "\n".join(patch.values())).text
    old, new = base, merged
    for name, source in patch.items():
        new_block = indented(source)
        assert new.count(new_block) == 1
        if name in method_nodes(base):
            new = new.replace(new_block, "\0")
            old = old.replace(indented(method_source(base, name)), "\0")
        else:
            new = new.replace(f"\n{new_block}", "")
    assert new == old


@pytest.mark.long
@given(bases, sources)
def test_code_of_a_patch_means_the_same_in_the_agent(base: str, patch: dict[str, str]) -> None:
    merged = method_nodes(merge(base, "\n".join(patch.values())).text)
    for name, source in patch.items():
        written = ast.parse(source).body[0]
        assert isinstance(written, ast.FunctionDef)
        assert without_docstring(merged[name]) == without_docstring(written)
        assert ast.get_docstring(merged[name]) == ast.get_docstring(written)


@given(bases, sources)
def test_a_class_wrapper_makes_no_difference(base: str, patch: dict[str, str]) -> None:
    wrapped = "class Agent:\n    mission: str\n\n" + "\n".join(map(indented, patch.values()))
    assert merge(base, wrapped) == merge(base, "\n".join(patch.values()))


@pytest.mark.long
@given(bases)
def test_a_method_read_and_merged_again_changes_nothing(base: str) -> None:
    for name in method_nodes(base):
        assert merge(base, method_source(base, name)).text == base


def test_replacing_keeps_everything_around() -> None:
    patch = "# new above\ndef go_to(self, a):\n    # new inside\n    yield 1\n"
    merged = merge(BASE, patch)
    assert merged.changed == ("go_to",)
    head, _, tail = BASE.partition("    # right above")
    assert merged.text.startswith(
        f"{head}    # new above\n    def go_to(self, a):\n        # new inside\n        yield 1\n"
    )
    assert merged.text.endswith(tail.partition("# at the end of go_to\n")[2])


def test_appending_puts_methods_at_the_end_of_the_class() -> None:
    merged = merge(BASE + "\n\nAFTER = 1\n", "def a(self):\n    yield 0\n\n\ndef b(self):\n    yield 1")
    assert merged.changed == ("a", "b")
    added = "\n    def a(self):\n        yield 0\n\n    def b(self):\n        yield 1\n"
    assert merged.text == f"{BASE}{added}\n\nAFTER = 1\n"
    assert (
        merge("class Agent:\n    x = 1", "def a(self): yield 0").text
        == "class Agent:\n    x = 1\n\n    def a(self): yield 0\n"
    )


def test_carriage_returns_and_form_feeds_are_survived() -> None:
    base = BASE.replace("\n", "\r\n").replace("# inside look", "# in\x0cside \u2028 look")
    merged = merge(
        base, "def last(x):\r\n    '''a\r\n    b'''\r\n    return x\r\n".replace("def", "@staticmethod\r\ndef")
    )
    assert merged.changed == ("last",)
    kept = base.partition("    @staticmethod")[0]
    assert merged.text == f"{kept}    @staticmethod\n    def last(x):\n        '''a\n        b'''\n        return x\n"


def test_imports_are_merged_without_duplicates() -> None:
    patch = (
        "from __future__ import annotations\nimport numpy as np, heapq\nfrom collections import Counter, deque\n"
        "import collections.abc\n\ndef go(self):\n    yield 0\n"
    )
    merged = merge(BASE, patch)
    assert merged.text.startswith(
        '"""Docstring of the module."""\n\nfrom __future__ import annotations\n\nimport numpy as np\n'
        "from collections import deque\nimport heapq\nfrom collections import Counter\nimport collections.abc\n\nLIMIT"
    )
    assert merge(merged.text, patch).text == merged.text


def test_imports_find_a_place_where_there_are_none() -> None:
    merged = merge("class Agent:\n    pass\n", "import heapq\nQ = 1\ndef go(self):\n    yield 0\n").text
    assert merged == "import heapq\n\n\nQ = 1\n\n\nclass Agent:\n    pass\n\n    def go(self):\n        yield 0\n"
    merged = merge('"""Doc."""\n\nclass Agent:\n    pass\n', "import heapq\nQ = 1\ndef go(self):\n    yield 0\n").text
    assert merged.startswith('"""Doc."""\n\nimport heapq\n\nQ = 1\n\nclass Agent:')


def test_constants_are_added_and_replaced() -> None:
    patch = "LIMIT = 4; STEPS = ((0, 1),\n         (1, 0))  # right, down\ndef go(self):\n    yield self.look()\n"
    merged = merge(BASE, patch)
    assert "\nLIMIT = 4\nSTEPS = ((0, 1),\n         (1, 0))  # right, down\n\n\nclass" in merged.text
    assert "LIMIT = 3" not in merged.text
    assert merge(merged.text, patch).text == merged.text


def test_a_new_value_of_a_constant_changes_the_methods_that_use_it() -> None:
    base = BASE.replace("return text", "return text * LIMIT")
    assert merge(base, "LIMIT = 4\ndef go(self):\n    yield 0\n").changed == ("look", "go")


def test_an_unchanged_primitive_is_ignored() -> None:
    patch = f"{method_source(INITIAL, 'done')}\ndef go(self):\n    yield self.done()\n"
    merged = merge(INITIAL, patch)
    assert merged.changed == ("go",)
    assert merged.text.startswith(INITIAL)


GO = "def go(self, a, g):\n    yield self.turn_left()\n"


@pytest.mark.parametrize(
    ("patch", "message"),
    [
        ("def other(self):\n    yield 0\n", r"go is missing; define go\(self, a, g\)"),
        ("def go(self, a):\n    yield 0\n", r"go must take \(self, a, g\), not \(self, a\)"),
        ("def go(self, a, g, h):\n    yield 0\n", r"go must take \(self, a, g\), not \(self, a, g, h\)"),
        ("def go(self, *args):\n    yield 0\n", r"go must take \(self, a, g\), not \(self, \*args\)"),
        ("def go(self, a, g, *, k):\n    yield 0\n", r"go must take \(self, a, g\)"),
        ("@staticmethod\ndef go(self, a, g):\n    yield 0\n", "plain method .*without @staticmethod"),
        ("def go(self, a, g):\n    return 0\n", "go must be a generator"),
        ("def go(self, a, g):\n    def inner():\n        yield 0\n    return inner()\n", "go must be a generator"),
        ("def go(self, a, g):\n    return lambda: (yield 0)\n", "go must be a generator"),
    ],
)
def test_expected_actions_must_fit_their_pddl(patch: str, message: str) -> None:
    with pytest.raises(PatchError, match=message):
        merge(BASE, patch, {"go": ("a", "g")})


@pytest.mark.parametrize(
    "parameters", ["self, _a, _g", "self, a, /, g", "self, a, g, depth=0", "self, a='', g='', *, k=1"]
)
def test_parameters_may_be_named_and_defaulted_freely(parameters: str) -> None:
    assert merge(BASE, f"def go({parameters}):\n    yield 0\n", {"go": ("a", "g")}).changed == ("go",)


def test_an_expected_action_may_be_in_the_agent_already() -> None:
    assert merge(BASE, "def helper(self):\n    return 1\n", {"go_to": ("a",)}).changed == ("helper",)
    with pytest.raises(PatchError, match=r"go_to must take \(self, a, b\)"):
        merge(BASE, "def helper(self):\n    return 1\n", {"go_to": ("a", "b")})


@pytest.mark.parametrize(
    ("patch", "message"),
    [
        ("", "defines no method"),
        ("LIMIT = 3\n", "defines no method"),
        (GO + "def go(self):\n    yield 0\n", "lines 1 and 3: go is defined twice"),
        (GO + "class Agent:\n    def go(self):\n        yield 0\n", "lines 1 and 4: go is defined twice"),
        (GO + "class Other:\n    pass\n", "line 3: class Other"),
        ("class Agent:\n    pass\nclass Agent:\n    pass\n", "line 3: class Agent"),
        ("class Agent:\n    x = 1\n", "line 2: only methods may be in the class"),
        (GO + "async def wait(self):\n    pass\n", "line 3: async"),
        ("def go(self):\n    async def inner():\n        pass\n    yield 0\n", "line 2: async"),
        (GO + "print('hi')\n", "line 3: only imports, literal constants and def blocks"),
        (GO + "if True:\n    x = 1\n", "line 3: only imports"),
        (GO + "a = b = 1\n", "line 3: a constant at the top level must be one name"),
        (GO + "x = open('f')\n", "line 3: x is not a literal"),
        (GO + "x = 1\nx = 2\n", "line 4: constant x is assigned twice"),
        (GO + "Agent = 1\n", "line 3: Agent is the name of the class"),
        (GO + "from . import x\n", "line 3: relative and star"),
        (GO + "from math import *\n", "line 3: relative and star"),
        ("import random as np\n" + GO, "line 1: 'np' already stands for 'numpy'"),
        ("import heapq\nheapq = 1\n" + GO, "line 2: 'heapq' already stands for 'heapq'"),
        (GO + "def mission(self):\n    return ''\n", "line 3: a method mission would hide"),
        (GO + "def __getattr__(self, n):\n    return 1\n", "line 3: special method __getattr__"),
        (GO + "def helper(x):\n    return 1\n", "line 3: helper becomes a method .* must be self"),
        (GO + "def helper():\n    return 1\n", "line 3: helper becomes a method"),
        (
            "def go(self):\n    self.turn_left()\n    yield 0\n",
            r"line 2: self.turn_left\(\) alone does nothing; yield it",
        ),
        (
            "def go(self):\n    self.go_to(1)\n    yield 0\n",
            r"line 2: self.go_to\(...\) alone does nothing; yield from",
        ),
    ],
)
def test_what_has_no_place_in_a_patch_is_named_with_its_line(patch: str, message: str) -> None:
    with pytest.raises(PatchError, match=message):
        merge(BASE, patch)


def test_all_that_the_policy_refuses_in_a_patch_is_told_at_once() -> None:
    patch = "import os\n\ndef go(self):\n    self.full_grid[0, 0] = 'x'\n    yield open('f')\n"
    with pytest.raises(PatchError) as caught:
        merge(BASE, patch)
    assert [line.partition(":")[0] for line in str(caught.value).splitlines()] == ["line 1", "line 4", "line 5"]


def test_what_a_patch_does_to_the_rest_of_the_agent_is_seen() -> None:
    base = BASE.replace("return text", "return np.array([list(text)])")
    assert merge(base, "import heapq as list\n" + GO).changed == ("look", "go")
    long = f"# {'x' * 150_000}\n{GO}"
    with pytest.raises(PatchError, match="at most 200000 are possible"):
        merge(merge(BASE, long).text, long.replace("go", "other"))


@pytest.mark.parametrize("name", PRIMITIVE_METHODS)
def test_primitives_cannot_be_overridden(name: str) -> None:
    with pytest.raises(PatchError, match=f"line 3: {name} is a primitive"):
        merge(INITIAL, f"{GO}def {name}(self):\n    yield 0\n")


@pytest.mark.parametrize(
    ("patch", "message"),
    [
        ("def go(self):\n    yield frm self.x()\n", r"line 2, column \d+: .*\n    yield frm self.x\(\)"),
        ("def go(self:\n    yield 0\n", "line 1"),
        ("def go(self):\n    return 1\n  yield 0\n", r"line 3.*\n    yield 0"),
        ("def go(self, a, a):\n    yield 0\n", "line 1.*duplicate argument"),
        ("return 1\n", "line 1.*outside function"),
        ("def go(self):\n    x = [(yield 1) for _ in ()]\n", "line 2"),
        ("x = '\0'\n", "null"),
        ("x = '\ud800'\n", "surrogates"),
        ("x = " + "-" * 100_000 + "1", "cannot be compiled|syntax error"),
        ("x = " + "(" * 5_000 + ")" * 5_000, "cannot be compiled|syntax error"),
    ],
)
def test_what_does_not_compile_is_shown(patch: str, message: str) -> None:
    with pytest.raises(PatchError, match=message):
        merge(BASE, patch)


@pytest.mark.parametrize(("base", "message"), [("x = 1\n", "no class Agent"), ("class Agent: pass\n", "indented body")])
def test_a_base_must_be_an_agent(base: str, message: str) -> None:
    with pytest.raises(PatchError, match=message):
        merge(base, GO)


@pytest.mark.parametrize(
    "answer",
    [
        GO,
        f"```python\n{GO}```",
        f"Here it is:\n\n```py\n{GO}```\nIt turns left.",
        f"First\n```\n{GO}```\nand that is all",
        f"Sure!\n```python\n{GO}",
        f"To run it:\n```sh\npip install x\n```\n```python\n{GO}```",
        f"Use `go`:\n```python\nagent.go(1, 2)\n```\nwith\n```python\n{GO}```",
        f"Sure, here is the code you asked for.\n\n{GO}\nThis turns left; it's done.\n",
        f"import the following, please:\n{GO}",
        "Indented:\n```python\n    def go(self, a, g):\n        yield self.turn_left()\n```",
        "    def go(self, a, g):\n        yield self.turn_left()\n",
        f"class Agent:\n    {GO.replace(chr(10), chr(10) + '    ').rstrip()}\n",
        f"\r\n```python\r\n{GO}```\r\n",
    ],
)
def test_code_is_found_in_an_answer(answer: str) -> None:
    code = extract_code(answer)
    assert merge(BASE, code, {"go": ("a", "g")}) == merge(BASE, GO)
    assert extract_code(code) == code


def test_fenced_blocks_are_joined() -> None:
    answer = (
        "One\n```python\nimport heapq\ndef a(self):\n    yield 0\n```\ntwo\n```python\ndef b(self):\n    yield 1\n```\n"
    )
    assert merge(BASE, extract_code(answer)).changed == ("a", "b")


def test_broken_code_is_kept_so_that_its_error_can_be_shown() -> None:
    with pytest.raises(PatchError, match="yield frm"):
        merge(BASE, extract_code("Here:\n```python\ndef go(self):\n    yield frm x\n```\n"))
    with pytest.raises(PatchError, match="yield frm"):
        merge(BASE, extract_code("Here you are:\ndef go(self):\n    yield frm x\n"))


@given(st.text(max_size=200) | st.text(alphabet="`def go(self):\n yield0#\"'\\", max_size=80))
def test_any_answer_gives_code_or_a_patch_error(answer: str) -> None:
    try:
        merged = merge(BASE, extract_code(answer))
    except PatchError:
        return
    compile(merged.text, "agent.py", "exec")


def test_a_broken_definition_below_imports_is_kept_so_that_its_error_is_told() -> None:
    code = extract_code("Here it is:\nimport heapq\n\ndef reach(self)\n    yield 1\n")
    with pytest.raises(PatchError, match=r"line 3.*expected ':'"):
        merge(BASE, code)
