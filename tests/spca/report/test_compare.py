"""Two runs side by side, and the published run."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spca.report.compare import compare, differs, pair_ended_levels, totals
from spca.report.read import baseline
from spca.report.read.comparison import Side
from spca.report.read.model import LevelRow, Run, Usage
from spca.report.read.run_files import open_run
from spca.report.read.runs import categories, overview
from spca.runs.curriculum import load
from tests.support.spca.doubles import ROOT


def row(number: int, env_id: str, outcome: str = "success", category: str = "c", **more: Any) -> LevelRow:
    calls: dict[str, Any] = {"rounds": 1, "planner_calls": 2, "coder_calls": 1, "steps": 5} | more
    return LevelRow(number, category, "all", env_id, 1, outcome, seconds=2.5, usage=Usage(1, 1, 90, 10), **calls)


def run_of(*levels: LevelRow, name: str = "a", seed: int | None = 1, sandbox: str = "strict") -> Run:
    versions = {"minigrid": "3.2.0"}
    return Run(
        name, "", "finished", {}, {}, versions, None, sandbox, seed, 0.0, 1.0, Usage(), categories(levels), levels
    )


def test_levels_meet_by_category_and_environment(finished_run: Path) -> None:
    run = overview(open_run(finished_run))
    comparison = compare(run, run)
    assert [level.env_id for level in comparison.levels] == [level.env_id for level in run.levels]
    assert all(level.a == level.b for level in comparison.levels)
    assert comparison.notes == ()
    assert not any(map(differs, comparison.levels))
    assert comparison.levels[1].a == Side("fail", 1, 2, 220, 10, 2, run.levels[1].seconds, 2)


def test_levels_that_only_one_has_stand_alone_and_are_noted() -> None:
    a = run_of(row(1, "x"), row(2, "y"), row(3, "z", category="d"))
    b = run_of(row(1, "z"), row(2, "x"), name="b")
    comparison = compare(a, b)
    met = [(level.category, level.env_id, level.a is not None, level.b is not None) for level in comparison.levels]
    assert met == [("c", "x", True, True), ("c", "y", True, False), ("d", "z", True, False), ("c", "z", False, True)]
    assert comparison.notes == ("2 levels only in a", "1 level only in b")
    assert not any(map(differs, comparison.levels))


def test_a_level_that_is_there_twice_meets_in_order() -> None:
    a = run_of(row(1, "x", rounds=1), row(2, "x", rounds=2))
    b = run_of(row(1, "x", rounds=3), name="b")
    first, second = compare(a, b).levels
    assert first.a is not None
    assert first.b is not None
    assert (first.a.rounds, first.b.rounds) == (1, 3)
    assert second.a is not None
    assert (second.a.rounds, second.b) == (2, None)


def test_what_makes_runs_hard_to_compare_is_noted() -> None:
    a = replace(run_of(row(1, "x")), settings={"upstream_rules": True})
    b = replace(
        run_of(row(1, "x", "pending"), name="b", seed=2, sandbox="unsafe"),
        settings={"upstream_rules": False},
        versions={"minigrid": "3.1.0"},
    )
    assert compare(a, b).differences == (
        "these differ: seed, flags and versions",
        "seed (other worlds): 1 in A, 2 in B",
        "flags (other rules): --upstream-rules in A, none in B",
        "versions: minigrid 3.2.0 in A, minigrid 3.1.0 in B",
        "unknown of both: commit, edited files, product, prompts, curriculum and models",
    )
    assert compare(a, b).notes == (
        "generated code of b ran without the sandbox",
        "1 level of b not finished",
    )


@pytest.mark.parametrize("changed", ["outcome", "rounds", "coder_calls", "steps", "tokens"])
def test_a_difference_in_anything_but_time_counts(changed: str) -> None:
    one = replace(row(1, "x"), seconds=99.0)
    new: dict[str, Any] = {"outcome": "fail", "tokens": Usage(1, 1, 91, 10)}
    other = replace(row(1, "x"), **{"usage" if changed == "tokens" else changed: new.get(changed, 7)})
    (same,) = compare(run_of(one), run_of(row(1, "x"))).levels
    (level,) = compare(run_of(one), run_of(other)).levels
    assert (differs(same), differs(level)) == (False, True)


def test_sums_are_over_what_ended_in_both() -> None:
    a = run_of(row(1, "x"), row(2, "y", "fail"), row(3, "z"), row(4, "w"), row(5, "v"))
    b = run_of(
        row(1, "x"), row(2, "y"), row(3, "z", "running"), row(4, "w", "aborted"), row(5, "v", "pending"), name="b"
    )
    comparison = compare(a, b)
    assert comparison.notes == ("3 levels of b not finished",)
    pairs = pair_ended_levels(comparison)
    assert [(one.outcome, other.outcome) for one, other in pairs] == [("success", "success"), ("fail", "success")]
    sums = totals([one for one, _ in pairs])
    expected = {"solved": 1, "rounds": 2, "calls": 6, "tokens": 200, "reasoning": 0, "steps": 10, "seconds": 5.0}
    assert sums == expected
    unknown = totals([replace(pairs[0][0], steps=None, tokens=None), pairs[1][0]])
    assert (unknown["tokens"], unknown["steps"], unknown["calls"]) == (None, None, 6)


names = st.lists(st.tuples(st.sampled_from("cd"), st.sampled_from("xyz")), max_size=8)


@given(names, names)
def test_every_level_of_both_runs_appears_once(first: list[tuple[str, str]], second: list[tuple[str, str]]) -> None:
    a, b = (
        run_of(*(row(n, env_id, category=category) for n, (category, env_id) in enumerate(those, 1)), name=name)
        for name, those in (("a", first), ("b", second))
    )
    levels = compare(a, b).levels
    assert [level.a.number for level in levels if level.a] == list(range(1, len(first) + 1))
    assert sorted(level.b.number or 0 for level in levels if level.b) == list(range(1, len(second) + 1))
    assert all(level.a or level.b for level in levels)
    turned = {(level.category, level.env_id, level.b, level.a) for level in compare(b, a).levels}
    assert turned == {(level.category, level.env_id, level.a, level.b) for level in levels}


def test_the_published_run_is_what_was_published() -> None:
    run = baseline.read_published()
    outcomes = [level.outcome for level in run.levels]
    assert (len(outcomes), run.solved, outcomes.count("fail"), outcomes.count("aborted")) == (81, 76, 4, 1)
    assert len({level.env_id for level in run.levels}) == 80
    assert sum(level.planner_calls for level in run.levels) == 146
    assert sum(level.coder_calls for level in run.levels) == 225
    assert sum(level.attempts for level in run.levels) == 325
    assert sum(level.seconds or 0 for level in run.levels) / 60 == pytest.approx(252.5, abs=0.1)
    assert (run.usage.cost_usd, run.published, run.id) == (2.41, True, "published")


def test_nearly_all_published_levels_are_in_the_curriculum() -> None:
    ours = {(task.category, task.env_id) for task in load(ROOT / "merged_curriculum2.json").tasks()}
    published = {(level.category, level.env_id) for level in baseline.read_published().levels}
    assert len(published & ours) == 79


def test_compared_with_the_published_run_neither_tokens_nor_steps_are_made_up() -> None:
    ours = run_of(row(1, "MiniGrid-SimpleCrossingS9N1-v0", category="goal_navigation"))
    comparison = compare(ours, baseline.read_published())
    (met,) = [level for level in comparison.levels if level.a]
    assert met.b is not None
    assert (met.b.calls, met.b.tokens, met.b.steps, met.b.number) == (4, None, None, None)
    assert "80 levels only in published" in comparison.notes
    assert "unknown of B: versions" in comparison.differences
