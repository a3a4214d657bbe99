"""No call of a problem writer finds anything of another: not its memory, not what it replaced, not where it lay."""

from __future__ import annotations

from contextlib import nullcontext

import pytest

from spca.sandbox.executor import SandboxExecutor
from spca.writers import running
from spca.writers.running import WriterRunner
from tests.redteam.writers import HOSTILE
from tests.support.spca.writing import FETCH, make_problem, state
from tests.support.tiers import few
from tests.support.writers.seasons import Figures, harm_done, play_season, without_policy, writer_for

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


SOON = ("replaced_namespace", "poisoned_pattern_cache", "wrong_everywhere", "counted_in_the_runner")
LEVELS, EPISODES = 18, 8
BENIGN: dict[tuple[int, int], Figures] = {}


def benign(executor: SandboxExecutor, levels: int, episodes: int) -> Figures:
    """What comes of a season in which the fifth writer is a good one too."""
    key = levels, episodes
    if key not in BENIGN:
        BENIGN[key] = play_season(executor, writer_for("juggle"), *key)
    return BENIGN[key]


@pytest.mark.parametrize("name", few(2, SOON))
def test_good_writers_plan_beside_a_hostile_one_as_without_it(executor: SandboxExecutor, name: str) -> None:
    """Of a writer that the static policy would refuse too."""
    without = benign(executor, LEVELS, EPISODES)
    assert (without.requests, without.frozen) == (4, EPISODES)
    with without_policy():
        assert harm_done(play_season(executor, HOSTILE[name], LEVELS, EPISODES), without) == ""


@pytest.mark.long
@pytest.mark.parametrize("checked", [True, False], ids=["policy", "no policy"])
@pytest.mark.parametrize("name", HOSTILE)
def test_good_writers_plan_beside_any_hostile_one(executor: SandboxExecutor, name: str, checked: bool) -> None:
    without = benign(executor, levels=50, episodes=150)
    with nullcontext() if checked else without_policy():
        assert harm_done(play_season(executor, HOSTILE[name]), without) == ""


def test_there_are_attacks_of_every_sort() -> None:
    assert len(HOSTILE) >= 40
    assert set(SOON) < set(HOSTILE)
