"""Reading an agent: methods, calls, differences."""

from __future__ import annotations

from pathlib import Path

import pytest

from spca.bodies.grid.primitives import PRIMITIVE_METHODS
from spca.code.agent_source import (
    MethodInfo,
    call_closure,
    direct_calls,
    find_changed_methods,
    method_source,
    signatures,
)
from spca.errors import PatchError

INITIAL = (Path(__file__).parents[3] / "agent.py").read_text()

SOURCE = '''import numpy as np
SPEED = 1

class Agent:
    def go(self, a, /, b: str = "x", *rest, k=1):
        """Go there.

        Then stop.
        """
        yield from self._walk(a)
        cells = sorted([b], key=self._rank)

    # why
    @staticmethod
    def _rank(x):
        return SPEED
        # tail

    def _walk(self, a):
        yield self._again(a)
        yield np.sum(Agent._rank(a))

    def _again(self, a):
        def inner():
            yield 1
        return self._walk(a) or self.other.go(a) or inner
'''


def test_signatures_describe_the_methods() -> None:
    assert signatures(SOURCE) == (
        MethodInfo("go", ("a", "b"), "Go there.", 5, 11, True),
        MethodInfo("_rank", (), "", 13, 17, False),
        MethodInfo("_walk", ("a",), "", 19, 21, True),
        MethodInfo("_again", ("a",), "", 23, 26, False),
    )
    assert [method.name for method in signatures(INITIAL)] == list(PRIMITIVE_METHODS)


def test_method_source_is_a_raw_def_with_its_comments() -> None:
    assert method_source(SOURCE, "_rank") == "# why\n@staticmethod\ndef _rank(x):\n    return SPEED\n    # tail\n"
    with pytest.raises(PatchError, match="no method 'fly'"):
        method_source(SOURCE, "fly")


def test_calls_are_followed_through_self() -> None:
    assert direct_calls(SOURCE, "go") == ("_walk", "_rank")
    assert direct_calls(SOURCE, "_again") == ("_walk",)
    assert call_closure(SOURCE, ["_walk"]) == {"_walk", "_again", "_rank"}
    assert call_closure(SOURCE, ["go", "fly"]) == {"go", "_walk", "_again", "_rank"}
    assert call_closure(SOURCE, ["fly"]) == frozenset()
    with pytest.raises(PatchError, match="no method 'fly'"):
        direct_calls(SOURCE, "fly")


def test_calls_are_followed_through_getattr_with_a_literal_name() -> None:
    named = 'getattr(self, "_rank")(a) or getattr(self.other, "_walk") or getattr(self, "fly", None)'
    source = f"{SOURCE}\n    def act(self, a):\n        return {named} or getattr(self, a) or self._again(a)\n"
    assert direct_calls(source, "act") == ("_rank", "_again")
    assert call_closure(source, ["act"]) == {"act", "_again", "_walk", "_rank"}


def test_init_is_reached_by_every_method() -> None:
    source = SOURCE + "\n    def __init__(self):\n        self.seen = self._rank(1)\n"
    assert call_closure(source, ["_rank"]) == {"_rank", "__init__"}


@pytest.mark.parametrize(
    ("old", "new", "changed"),
    [
        ("        yield from self._walk(a)\n", "        # why\n\n        yield   from self._walk( a )\n", ()),
        ("        Then stop.\n", "      Then stop.\n", ("go",)),
        ('        """Go there.\n\n        Then stop.\n        """', '        """Go there.\n\n Then stop.\n """', ()),
        ("_walk(a)\n        cells", "_walk(b)\n        cells", ("go",)),
        ("SPEED = 1", "SPEED = 2", ("_rank",)),
        ("SPEED = 1", "SPEED = 1\nOTHER = 1", ()),
        ("numpy as np", "math as np", ("_walk",)),
        ("def _rank", "def _order", ("_order",)),
        ("@staticmethod", "@classmethod", ("_rank",)),
    ],
)
def test_only_a_new_meaning_is_a_change(old: str, new: str, changed: tuple[str, ...]) -> None:
    assert old in SOURCE
    assert find_changed_methods(SOURCE, SOURCE.replace(old, new, 1)) == changed


def test_unreadable_sources_are_refused() -> None:
    for source in ("", "x = 1", "class Other: pass", "class Agent:\n  def"):
        with pytest.raises(PatchError):
            signatures(source)
