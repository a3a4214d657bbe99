"""Seeds, categories and ids as a user writes them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from spca.common.errors import SettingsError
from spca.evaluation.episodes import Episode
from spca.evaluation.eval_folder import EvaluationSettings
from spca.evaluation.outside import find_outside, matches_id
from spca.evaluation.seeds import Seeds
from spca.evaluation.selection import select_episodes
from spca.evaluation.settings_resolution import name_taught
from spca.runs.curriculum import Task
from spca.runs.settings import Settings

TASKS = (Task(0, "Going", "go", "first", "B-v0"), Task(1, "Opening", "open", "second", "A-v0"))
KNOWN = ("A-v0", "B-v0", "C-v0")


def select(
    tasks: Sequence[Task] = TASKS, known: Sequence[str] = KNOWN, seeds: Sequence[int] = (1,), **chosen: Any
) -> tuple[Episode, ...]:
    settings = EvaluationSettings("run", Seeds("", tuple(seeds)), "none", Settings("", "", ""), **chosen)
    return select_episodes(settings, tasks, find_outside(known, [task.env_id for task in TASKS]).tasks)


@pytest.mark.parametrize(
    ("text", "expected"),
    [("7", (7,)), ("3:6", (3, 4, 5)), ("5:7,0,6", (0, 5, 6)), (" 1 , 1:2", (1,))],
)
def test_seeds(text: str, expected: tuple[int, ...]) -> None:
    assert Seeds.read(text).values == expected


@pytest.mark.parametrize("text", ["", "9:3", "3:3", "-1", "1:2:3", "a", "1,,2", "\u0663", "0:300000", "5000000000"])
def test_bad_seeds_are_one_line(text: str) -> None:
    with pytest.raises(ValueError, match=r"^invalid seeds") as caught:
        Seeds.read(text)
    assert "\n" not in str(caught.value)


def test_episodes_come_in_the_order_of_the_curriculum_then_by_seed() -> None:
    found = select(seeds=(1, 2))
    assert [each.name for each in found] == ["B-v0:1", "B-v0:2", "A-v0:1", "A-v0:2", "C-v0:1", "C-v0:2"]
    assert [each.index for each in found] == list(range(6))
    assert [each.outside for each in found] == [False] * 4 + [True] * 2


def test_categories_and_ids_choose() -> None:
    assert {e.env_id for e in select(categories="going,outside")} == {"B-v0", "C-v0"}
    assert {e.env_id for e in select(ids="[ab]-*")} == {"A-v0", "B-v0"}


def test_a_category_may_have_a_comma_in_its_name() -> None:
    tasks = (replace(TASKS[0], category="Going, far"), *TASKS[1:])
    for names in ("going, far", "opening,going, far"):
        assert "B-v0" in {each.env_id for each in select(tasks, categories=names)}
    assert name_taught(("Going, far",), tasks, outside=True) == "Going, far,outside"


@pytest.mark.parametrize(("ids", "expected"), [(None, True), ("*wfc*", True), ("*Unlock*", False)])
def test_a_glob_is_about_ids_that_cannot_be_played_too(ids: str | None, *, expected: bool) -> None:
    assert matches_id("MiniGrid-WFC-MazeSimple-v0", ids) is expected


@pytest.mark.parametrize(
    ("categories", "outside", "expected"),
    [
        (("Opening",), False, "Opening"),
        (("Opening",), True, "Opening,outside"),
        (("Going", "Opening"), False, None),
        ((), True, None),
    ],
)
def test_what_a_run_has_not_learned_is_left_out(
    categories: tuple[str, ...], outside: bool, expected: str | None
) -> None:
    assert name_taught(categories, TASKS, outside=outside) == expected


@pytest.mark.parametrize(
    ("choice", "said"),
    [
        ({"ids": "D-v0"}, "no id matches --only 'D-v0'; did you mean"),
        ({"ids": "*playground*"}, "no episode is selected: MiniGrid-Playground-v0 cannot be played: it has no mission"),
        ({"categories": "opning"}, "no category 'opning'; did you mean Opening"),
        ({"categories": "x\x1b"}, r"no category 'x\\x1b'; there are Going, Opening"),
    ],
)
def test_nothing_selected_names_the_fix(choice: dict[str, Any], said: str) -> None:
    with pytest.raises(SettingsError, match=said.replace("*", r"\*")):
        select(known=(), **choice)


def test_too_many_episodes_are_refused() -> None:
    with pytest.raises(SettingsError, match="400,000 episodes are selected: at most 200,000"):
        select(known=(), seeds=range(200_000))


def test_tasks_that_differ_in_their_seed_only_are_one() -> None:
    first = TASKS[0]
    larger = replace(first, kwargs={"size": 7})
    tasks = [first, replace(first, seed=3), larger, replace(larger, seed=3)]
    episodes = select(tasks, (), seeds=(1, 2))
    assert [(each.kwargs, each.seed) for each in episodes] == [({}, 1), ({}, 2), ({"size": 7}, 1), ({"size": 7}, 2)]
