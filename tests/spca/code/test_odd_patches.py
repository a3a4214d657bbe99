"""Answers of a coder that are forgiven or refused for what they hold besides methods."""

from __future__ import annotations

from typing import Any

import pytest

from spca.bodies.grid.primitives import PRIMITIVE_METHODS
from spca.code.merge import objection
from spca.errors import PatchError
from tests.support.bodies.grid import merge
from tests.support.spca.doubles import AGENT


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ("PLAN: the key is green", "the key is green"),
        ("\n  PLAN:the key\n  is  green \n", "the key is green"),
        ("```\nPLAN: swap door and key\n```", "swap door and key"),
        ("```text\nPLAN: swap\n```\n", "swap"),
        ("**PLAN:** swap", "swap"),
        ("`PLAN: swap`", "swap"),
        ("PLAN: a\x1b[2Jb\u202e", "a␛[2Jb⟨U+202E⟩"),
        ("PLAN: " + "x" * 999, "x" * 260),
        ("PLAN:", ""),
        ("PLAN: \n", ""),
        ("I would rather not. PLAN: swap", ""),
        ("PLANS: swap", ""),
        ("plan: swap", ""),
        ("PLAN: first this\ndef go(self, a):\n    yield 1", ""),
        ("PLAN: this\n```python\ndef go(self, a):\n    yield 1\n```", ""),
        ("def go(self, a):\n    '''\nPLAN: swap\n'''\n    yield 1", ""),
        ("", ""),
    ],
)
def test_an_answer_that_says_only_what_is_wrong_with_the_plan(answer: str, words: str) -> None:
    assert objection(answer) == words


def merged(patch: str, base: str = AGENT.text, **expected: tuple[str, ...]) -> str:
    """What the patch adds to the agent, or to ``base``."""
    text = merge(base, patch, expected).text
    assert text.startswith(AGENT.text)
    return text[len(AGENT.text) :]


def refused(patch: str, base: str = AGENT.text, **expected: tuple[str, ...]) -> str:
    with pytest.raises(PatchError) as caught:
        merge(base, patch, expected)
    return str(caught.value)


GO = "def go(self, agent):\n    yield self.move_forward()\n"


@pytest.mark.parametrize(
    "guard",
    [
        'if __name__ == "__main__":\n    Agent().go()\n',
        "if __name__ == '__main__':\n    import os\n\n    print(os.environ)\nelse:\n    x = 1\n",
        'if "__main__" == __name__: open("x")\n',
        'if __name__ == "__main__":\n    print("""\nif\n""")',
    ],
)
def test_what_would_run_as_a_program_is_dropped(guard: str) -> None:
    assert merged(f"{GO}\n\n{guard}", go=("agent",)) == merged(GO)
    lines = guard.rstrip().count("\n") + 1
    assert refused(f"{guard.rstrip()}\n{GO}x = print()\n").startswith(f"line {lines + 3}: ")


def test_any_other_statement_at_the_top_is_still_refused() -> None:
    assert "only imports" in refused(f"{GO}\nif True:\n    x = 1\n")


@pytest.mark.parametrize("primitive", PRIMITIVE_METHODS)
def test_primitives_are_nothing_to_yield_from(primitive: str) -> None:
    said = refused(f"def go(self, agent):\n    yield 1\n    yield from self.{primitive}()\n")
    assert said == f"line 3: self.{primitive}() is one primitive code: write yield self.{primitive}(), without from"


HELPED = '''import math

def go(self, agent, thing):
    """Go."""
    kind = split(thing)[0]
    print(sorted([thing], key=split), distance((0, 0), (1, 1)))
    yield self.move_forward()
    return [split(x) for x in [thing]] if kind else self.split("é" + thing)


# belongs to split
def split(name):
    """Kind and colour."""
    return name.split("_")


def distance(a, b):
    return math.dist(a, b) + (distance(b, b) if a != b else 0)
'''


def test_helpers_without_self_become_static_methods() -> None:
    text = merge(AGENT.text, HELPED, {"go": ("agent", "thing")}).text
    assert "    kind = self.split(thing)[0]\n" in text
    assert "sorted([thing], key=self.split), self.distance((0, 0), (1, 1))" in text
    assert 'return [self.split(x) for x in [thing]] if kind else self.split("é" + thing)' in text
    assert "    # belongs to split\n    @staticmethod\n    def split(name):\n" in text
    assert "    @staticmethod\n    def distance(a, b):\n        return math.dist(a, b) + (Agent.distance(b, b)" in text
    names: dict[str, Any] = {}
    exec(text, names)  # noqa: S102 - harmless code of this test
    agent = names["Agent"]()
    assert list(agent.go("a1", "key_blue")) == [2]
    assert (agent.split("a_b"), agent.distance((0, 0), (0, 2))) == (["a", "b"], 2)


@pytest.mark.parametrize(
    ("caller", "called"),
    [
        ("yield len(split(thing))", "yield len(self.split(thing))"),
        ("yield len(self.split(thing))", "yield len(self.split(thing))"),
        ("yield len(Agent.split(thing))", "yield len(Agent.split(thing))"),
        ("yield len(list(map(split, [thing])))", "yield len(list(map(self.split, [thing])))"),
        ("yield (lambda x: len(split(x)))(thing)", "yield (lambda x: len(self.split(x)))(thing)"),
        ("yield (lambda self: len(split(self)))(thing)", "yield (lambda self: len(Agent.split(self)))(thing)"),
    ],
)
def test_a_helper_is_called_as_a_static_method_wherever_it_is_named(caller: str, called: str) -> None:
    text = merged(f"def go(self, thing):\n    {caller}\n\n\ndef split(name):\n    return name.split('_')\n")
    assert f"        {called}\n" in text
    assert "    @staticmethod\n    def split(name):\n" in text


@pytest.mark.parametrize(
    "patch",
    [
        "def go(agent, thing):\n    yield 1\n",
        "def go(self, thing):\n    yield 1\n\ndef split(name):\n    return name\n",
        "def go(self, thing, key=split):\n    yield key(thing)\n\ndef split(name):\n    return name\n",
        "def go(self, split):\n    yield split(1)\n\ndef split(name):\n    return name\n",
        "def go(self, thing):\n    split = len\n    yield split(thing)\n\ndef split(name):\n    return name\n",
        "def go(self, thing):\n    yield self.walk(thing)\n\ndef walk(me, thing):\n    return me.toggle()\n",
    ],
    ids=["an action", "never called", "default", "a parameter", "a variable", "self misnamed"],
)
def test_what_is_no_such_helper_must_take_self(patch: str) -> None:
    assert "its first parameter must be self" in refused(patch, go=("thing",))


def test_a_static_method_that_is_written_again_stays_one() -> None:
    base = merge(AGENT.text, "def go(self):\n    yield len(split('a'))\n\ndef split(name):\n    return [name]\n").text
    again = merge(base, "def split(name):\n    return name.split('_')\n").text
    assert again == base.replace("[name]", "name.split('_')")
    assert merge(base, "@staticmethod\ndef split(name):\n    return name.split('_')\n").text == again


WALKER = merge(
    AGENT.text,
    "def go(self, agent):\n    yield from self._walk(agent, 2)\n\ndef fetch(self, agent):\n"
    "    yield from self._walk(agent, steps=3)\n\ndef _walk(self, agent, steps):\n    yield steps\n",
).text


def test_a_helper_that_no_longer_fits_its_callers_is_refused_with_their_names() -> None:
    assert refused("def _walk(self, agent, steps, speed):\n    yield steps\n", WALKER).splitlines() == [
        "_walk(self, agent, steps, speed) does not fit its callers; give new parameters defaults or rewrite them:",
        "go calls self._walk(agent, 2), but it needs speed too",
        "fetch calls self._walk(agent, steps=3), but it needs speed too",
    ]
    rewritten = "def _walk(self, agent):\n    yield 1\n\ndef go(self, agent):\n    yield from self._walk(agent)\n"
    assert refused(rewritten, WALKER).splitlines()[1:] == [
        "fetch calls self._walk(agent, steps=3), but it takes no steps there"
    ]


def test_so_is_a_new_call_that_does_not_fit() -> None:
    new = "def open(self, agent):\n    yield 5\n    yield from self._walk()\n"
    assert refused(new, WALKER).splitlines() == [
        "_walk(self, agent, steps) does not fit its callers; give new parameters defaults or rewrite them:",
        "line 3: open calls self._walk(), but it needs agent, steps too",
    ]
    assert refused("def go(self):\n    yield self._see(1)\n\n\ndef _see(self):\n    return 1\n").splitlines() == [
        "_see(self) does not fit its callers; let them agree:",
        "line 2: go calls self._see(1), but it takes 0 arguments, not 1",
    ]


def test_a_static_helper_is_counted_without_self() -> None:
    base = merge(AGENT.text, "def go(self):\n    yield len(split('a'))\n\ndef split(name):\n    return [name]\n").text
    said = refused("def walk(self):\n    yield len(self.split('a', 2))\n", base)
    assert said.endswith("line 2: walk calls self.split('a', 2), but it takes 1 arguments, not 2")


def test_calls_between_static_helpers_have_to_fit_too() -> None:
    base = merge(
        AGENT.text,
        "def go(self):\n    yield len(words('a'))\n\ndef words(name):\n    return split(name)\n\n"
        "def split(name):\n    return [name]\n",
    ).text
    assert refused("def split(name, by):\n    return name.split(by)\n", base).splitlines() == [
        "split(name, by) does not fit its callers; give new parameters defaults or rewrite them:",
        "words calls Agent.split(name), but it needs by too",
    ]
    assert refused("def split(self, name):\n    return [name]\n", base).endswith("but it needs name too")
    merge(base, "def split(name, by='_'):\n    return name.split(by)\n")
    merge(base, "def walk(self):\n    yield from Agent.go(self)\n")


@pytest.mark.parametrize(
    "patch",
    [
        "def _walk(self, agent, steps, speed=1):\n    yield steps\n",
        "def _walk(self, *anything, **more):\n    yield 1\n",
        "def _walk(self, who, steps):\n    yield steps\n",
        "def go(self, agent):\n    yield from self._walk(*[agent, 2])\n",
        "def go(self, agent):\n    yield from self._walk(agent, **{'steps': 2})\n",
        "def go(self, agent):\n    self._walk = lambda: [1]\n    yield from self._walk()\n",
        "def go(self, agent):\n    class Odd:\n        def f(self):\n            return self._walk()\n    yield 1\n",
        "import functools\n\n@functools.cache\ndef _walk(self, agent, steps, speed):\n    return [1]\n",
    ],
)
def test_what_may_fit_is_kept(patch: str) -> None:
    merge(WALKER, patch)


def test_callers_that_never_fitted_do_not_keep_others_from_being_merged() -> None:
    odd = WALKER.replace("self._walk(agent, 2)", "self._walk()")
    merge(odd, "def open(self, agent):\n    yield 5\n")
    merge(odd, "def fetch(self, agent):\n    yield 5\n")
