"""Which parameters a plan's arguments go to: by name where the method takes all the names, else in order."""

from __future__ import annotations

import pytest

from spca.code.call_binding import arguments_of
from spca.contracts import PlanStep
from tests.support.spca.doubles import AGENT


def bound(signature: str, *parameters: str, decorator: str = "") -> tuple[str, ...] | dict[str, str]:
    """What ``fetch(a1, key_blue)`` is called with where the PDDL names its arguments ``parameters``."""
    source = f"{AGENT.text}\n{decorator}    def fetch({signature}):\n        yield 3\n"
    return arguments_of(source, PlanStep("fetch", ("a1", "key_blue"), parameters))


@pytest.mark.parametrize(
    "signature",
    [
        "self, agent, thing",
        "self, thing, agent",
        "self, agent, tries=3, thing=None",
        "self, thing, *, agent, quiet=True",
        "this, agent, thing, *more, **others",
    ],
)
def test_a_method_that_takes_the_names_is_called_by_them(signature: str) -> None:
    assert bound(signature, "agent", "thing") == {"agent": "a1", "thing": "key_blue"}


@pytest.mark.parametrize(
    ("signature", "parameters"),
    [
        ("self, agent, obj", ("agent", "thing")),
        ("self, agent, thing, tries", ("agent", "thing")),
        ("self, agent, thing, *, tries", ("agent", "thing")),
        ("self, agent, thing, /", ("agent", "thing")),
        ("self, **things", ("agent", "thing")),
        ("self, agent, thing", ()),
        ("self, agent, thing", ("agent",)),
        ("self, agent, thing, more", ("self", "thing")),
        ("self, agent, __thing", ("agent", "__thing")),
    ],
)
def test_any_other_is_called_as_it_always_was(signature: str, parameters: tuple[str, ...]) -> None:
    assert bound(signature, *parameters) == ("a1", "key_blue")


def test_so_is_one_that_is_decorated_missing_or_does_not_compile() -> None:
    assert bound("agent, thing", "agent", "thing", decorator="    @staticmethod\n") == ("a1", "key_blue")
    for source in (AGENT.text, "class Agent:\n  def", "x = 1"):
        assert arguments_of(source, PlanStep("fetch", ("a1",), ("agent",))) == ("a1",)
