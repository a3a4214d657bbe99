"""No call of a problem writer finds anything of another: not its memory, not what it replaced, not where it lay."""

from __future__ import annotations

import pytest

from spca.writers import running
from spca.writers.running import WriterRunner
from tests.support.spca.writing import FETCH, make_problem, state

REPLACING = """
import re


def frames(cell):
    try:
        "{0.gi_frame.f_back.f_back.f_back.f_globals.x}".format(cell[0])
    except AttributeError as error:
        yield error.obj


def outer_globals():
    cell = [None]
    cell[0] = frames(cell)
    return next(cell[0])


def make_problem(snapshot):
    outer = outer_globals()
    if "FUNCTION" not in outer:
        raise KeyError("these are not the runner's globals")
    for name in list(outer):
        if name.startswith("_") and not name.startswith("__"):
            outer[name] = lambda *given: "?not mine"
    return "replaced"
"""
"""Replaces every private function of the module that runs it, such as the one that hands over results."""


@pytest.mark.parametrize("checked", [True, False], ids=["policy", "no policy"])
def test_a_writer_that_replaces_what_hands_over_results_disables_nobody(
    runner: WriterRunner, monkeypatch: pytest.MonkeyPatch, checked: bool
) -> None:
    if not checked:
        monkeypatch.setattr(running, "fault_of", lambda _source: "")
    jobs = [(source, state(f"fetch the {colour} ball")) for colour in ("red", "blue") for source in (FETCH, REPLACING)]
    first, _, then, _ = runner.each(jobs)
    assert "(fetched ball_red)" in first.text
    assert "(fetched ball_blue)" in then.text


ADDRESS = make_problem("return repr(KIND).rpartition(' at ')[2]")
KINDS = ("object()", "make_problem", "[].append", "{}.get", "(i for i in ())")


@pytest.mark.parametrize("kind", KINDS)
def test_where_an_object_lies_is_drawn_anew_for_each_call(runner: WriterRunner, kind: str) -> None:
    """Else it would tell how many calls there were before."""
    source = ADDRESS.replace("KIND", kind)
    seen = [each.text for each in runner.each([(source, state())] * 16, again=True)]
    assert all(text.startswith("0x") for text in seen)
    assert len(set(seen)) > 4
