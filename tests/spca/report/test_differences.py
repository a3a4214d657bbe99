"""What differs between two runs before their first step, in words."""

from __future__ import annotations

from dataclasses import replace

import pytest

from spca.report.compare import compare
from spca.report.differences import describe_differences
from spca.report.read import baseline
from spca.report.read.model import Run, Usage

HASHES = {"product": "aa" * 32, "prompts": "bb" * 32, "curriculum": "cc" * 32}
MODELS = {"planner": "openai/big", "planner_small": "openai/small", "coder": "openai/big"}
SETTINGS = {
    "planner_model": "openai/big",
    "seed": 1,
    "compile": True,
    "upstream_rules": False,
    "rename_words": None,
    "workspace": "/here",
    "quiet": False,
}
RUN = Run(
    id="one",
    folder="",
    state="finished",
    settings=SETTINGS,
    models=MODELS,
    versions={"spca": "0.1.0", "minigrid": "3.2.0"},
    git_commit="1234567890abcdef",
    sandbox="strict",
    seed=1,
    started=0.0,
    ended=1.0,
    usage=Usage(),
    categories=(),
    levels=(),
    git_dirty=False,
    hashes=HASHES,
)


def test_runs_of_one_system_do_not_differ() -> None:
    elsewhere = replace(RUN, id="two", settings={**SETTINGS, "workspace": "/there", "quiet": True})
    assert describe_differences(RUN, elsewhere) == (
        "nothing differs: the same commit, edited files, product, prompts, curriculum, models, seed, flags "
        "and versions",
    )


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"git_commit": "f" * 40}, "commit: 1234567890ab in A, ffffffffffff in B"),
        ({"git_dirty": True}, "edited files (since the commit): none in A, some in B"),
        (
            {"hashes": HASHES | {"product": "dd" * 32}},
            "product (source files that decide behaviour): aaaaaaaaaaaa in A, dddddddddddd in B",
        ),
        ({"hashes": HASHES | {"prompts": "dd" * 32}}, "prompts (templates): bbbbbbbbbbbb in A, dddddddddddd in B"),
        ({"hashes": HASHES | {"curriculum": "dd" * 32}}, "curriculum (levels): cccccccccccc in A, dddddddddddd in B"),
        ({"models": MODELS | {"coder": "openai/big@low"}}, "models: coder openai/big in A, coder openai/big@low in B"),
        ({"seed": 2}, "seed (other worlds): 1 in A, 2 in B"),
        ({"settings": SETTINGS | {"compile": False}}, "flags: none in A, --no-compile in B"),
        ({"settings": SETTINGS | {"rename_words": 7}}, "flags: none in A, --rename-words 7 in B"),
        (
            {"settings": SETTINGS | {"upstream_rules": True}},
            "flags (other rules): none in A, --upstream-rules in B",
        ),
        ({"versions": {"spca": "0.1.0"}}, "versions: minigrid 3.2.0 in A, minigrid missing in B"),
    ],
)
def test_one_difference_is_one_line(change: dict[str, object], told: str) -> None:
    changed = replace(RUN, **change)  # type: ignore[arg-type]
    assert describe_differences(RUN, changed) == (f"nothing differs but the {told}",)


def test_several_differences_are_named_first_and_then_told() -> None:
    changed = replace(RUN, seed=2, git_dirty=True)
    assert describe_differences(RUN, changed) == (
        "these differ: edited files and seed",
        "edited files (since the commit): none in A, some in B",
        "seed (other worlds): 1 in A, 2 in B",
    )


def test_what_an_old_run_does_not_tell_is_unknown_and_no_difference() -> None:
    old = replace(RUN, git_dirty=None, hashes={})
    assert describe_differences(old, RUN) == (
        "of what is known, nothing differs: the same commit, models, seed, flags and versions",
        "unknown of A: edited files, product, prompts and curriculum",
    )
    assert describe_differences(RUN, replace(old, seed=3))[0] == (
        "of what is known, nothing differs but the seed (other worlds): 1 in A, 3 in B"
    )


def test_a_setting_that_one_run_does_not_know_is_no_difference() -> None:
    fewer = {name: value for name, value in SETTINGS.items() if name != "compile"}
    without = replace(RUN, settings={**SETTINGS, "compile": False})
    assert describe_differences(without, replace(RUN, settings=fewer))[0].startswith("nothing differs: the same")


def test_a_run_that_went_on_with_another_source_says_so() -> None:
    later = replace(RUN, continuations=("the run went on with another source: commit unknown",))
    assert describe_differences(RUN, later)[-1] == "B: the run went on with another source: commit unknown"


def test_the_published_run_differs_in_what_is_known_of_it() -> None:
    assert compare(RUN, baseline.read_published()).differences == (
        "these differ: models and flags",
        "models: coder openai/big, planner openai/big, planner small openai/small in A, "
        "coder codex-mini-latest, planner o3, planner small o4-mini in B",
        "flags (other rules): none in A, --upstream-rules in B",
        "unknown of B: commit, edited files, product, prompts, curriculum and versions",
    )
