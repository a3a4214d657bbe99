"""Flags that take a part of learning away, and words that are renamed, seen in what models are asked."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import pytest

from spca.sense.renaming import RENAMED, Renaming
from tests.support.commands import curriculum, level_summaries, main_py, only_run, read
from tests.support.spca.scenes import DOOR_KEY, EMPTY, FETCH, OPEN, TO_GOAL, WALK, method, plan
from tests.support.spca.served import book
from tests.support.spca.student import knowing, studying

LARGER, RANDOM = "MiniGrid-Empty-6x6-v0", "MiniGrid-Empty-Random-5x5-v0"
FIRST = ((1, "planner", "fresh"), (1, "coder", "first"))
LORE = ("One hand", "Picking up needs an empty hand")
DOORS = ("BabyAI-OpenRedDoor-v0", "BabyAI-OpenDoor-v0", "MiniGrid-DoorKey-5x5-v0", "BabyAI-OpenDoorColor-v0")


def where(home: Path, **levels: Sequence[str]) -> tuple[object, ...]:
    chosen = curriculum(home / "curriculum.json", **levels)
    return ("--curriculum", chosen, "--runs", home / "runs", "--workspace", home / "workspace")


def run_of(home: Path, *flags: object) -> Path:
    done = main_py(home, *flags)
    assert done.returncode == 0, done.stderr
    return only_run(home / "runs")


def calls(run: Path) -> list[tuple[int, str, str]]:
    """Level, phase and mode of every request."""
    return [(record["index"], record["phase"], record["mode"]) for record in book(run)]


def asked(run: Path) -> str:
    return "\n".join(path.read_text(encoding="utf-8") for path in (run / "llm").glob("[0-9]*.json"))


@pytest.mark.long
def test_in_full_pddl_is_shown_and_the_agent_is_carried_over(tmp_path: Path) -> None:
    run = run_of(tmp_path, *where(tmp_path, first=[EMPTY, RANDOM], second=[LARGER]), "--no-compile")
    assert calls(run) == [*FIRST, (2, "planner", "reuse"), (3, "planner", "fresh")]
    assert "<trusted_pddl>" in asked(run)
    assert any(words in asked(run) for words in LORE)


@pytest.mark.long
def test_without_reuse_curriculum_and_lore(tmp_path: Path) -> None:
    flags = ("--no-compile", "--no-reuse", "--no-curriculum", "--bare-prompt")
    model = f"human/{tmp_path / 'desk'}"
    with studying(tmp_path / "desk"):
        levels = where(tmp_path, first=[EMPTY, RANDOM], second=[LARGER])
        run = run_of(tmp_path, *levels, "--planner-model", model, "--coder-model", model, *flags)
    assert calls(run) == [*FIRST, (2, "planner", "fresh"), (3, "planner", "fresh"), (3, "coder", "first")]
    assert "<trusted_pddl>" not in asked(run)
    assert [level["library"]["actions"] for level in level_summaries(run)] == [1, 1, 1]
    for text in (asked(run), (run / "prompt_log.md").read_text(encoding="utf-8")):
        assert "Example, from another world" in text
        assert "Example of the form" in text
        assert not any(words in text for words in LORE)


@pytest.mark.long
def test_the_embedded_model_plans_for_what_was_learned_with_bare_prompts(tmp_path: Path) -> None:
    model = f"human/{tmp_path / 'desk'}"
    with studying(tmp_path / "desk"):
        levels = where(tmp_path, first=[EMPTY])
        run = run_of(tmp_path, *levels, "--planner-model", model, "--coder-model", model, "--bare-prompt")
    played = main_py(tmp_path, "evaluate", "--runs", run.parent, "--seeds", "1000:1001", "--workers", "1")
    assert played.returncode == 0, played.stderr


@pytest.mark.long
@pytest.mark.parametrize("flags", [(), ("--no-regression-check",)])
def test_without_the_regression_check_a_rewrite_is_kept_that_breaks_what_was_solved(
    tmp_path: Path, flags: tuple[str, ...]
) -> None:
    """The coder writes what solves the level at hand, and what solves both once it is told of the other one."""
    behind_door = (*FETCH, *OPEN, *WALK)
    choice = f"yield from {behind_door} if any('door' in word for word in self.full_grid.ravel()) else {TO_GOAL}"

    def answer(role: str, question: str) -> str:
        if role == "planner":
            return plan("go")
        if "Regression" in question:
            return method("go", then=choice)
        return method("go", *(TO_GOAL if "<error>" in question else behind_door))

    desk = tmp_path / "desk"
    model = f"human/{desk}"
    with studying(desk, answer):
        levels = where(tmp_path, here=[DOOR_KEY, EMPTY])
        run = run_of(tmp_path, *levels, "--planner-model", model, "--coder-model", model, *flags)
    assert [level["outcome"] for level in level_summaries(run)] == ["success", "success"]
    coder = [call for call in calls(run) if call[1] == "coder"]
    assert coder == [(1, "coder", "first"), *[(2, "coder", "semantic")] * (1 if flags else 2)]
    assert ("Regression: the rewritten go breaks" in asked(run)) == (not flags)


@pytest.mark.long  # tests/spca/sense has the renaming, tests/spca/prompts its words
def test_a_renamed_run_shows_no_true_word_and_is_learned_all_the_same(tmp_path: Path) -> None:
    questions: list[str] = []
    knows = knowing(Renaming(5))

    def answer(role: str, question: str) -> str:
        questions.append(question)
        return knows(role, question)

    desk = tmp_path / "desk"
    model = f"human/{desk}"
    with studying(desk, answer):
        flags = ("--planner-model", model, "--coder-model", model, "--rename-words", "5", "--max-calls", "3")
        stopped = main_py(tmp_path, *where(tmp_path, doors=DOORS), *flags)
        run = only_run(tmp_path / "runs")
        done = main_py(tmp_path, "--resume", run.name, "--runs", run.parent, "--max-calls", "9")
    assert (stopped.returncode, done.returncode) == (3, 0), done.stderr
    levels = level_summaries(run)
    assert [level["outcome"] for level in levels] == ["success"] * len(DOORS)
    assert [level["counters"]["planner_compiled"] for level in levels] == [0, 1, 0, 1]
    words = set(re.findall("[a-z]+", "\n".join(questions).lower()))
    assert words.isdisjoint(RENAMED)
    assert Renaming(5).text("door") in words


@pytest.mark.long  # tests/spca/evaluation/ablations has the study without its runs
def test_one_command_compares_settings_and_goes_on_where_it_was(tmp_path: Path) -> None:
    levels = where(tmp_path, here=[EMPTY, RANDOM])[:4]
    flags = ("--settings", "full,no-compile", "--seeds", "1000:1003", "--workers", "1", "--quiet")
    done = main_py(tmp_path, "ablations", *levels, *flags)
    assert (done.returncode, done.stderr) == (0, "")
    (study,) = (tmp_path / "runs").iterdir()
    table = read(study / "ablations.json")["rows"]
    assert [(row["name"], row["solved"]["good"], row["pass1"]["total"]) for row in table] == [
        ("full", 2, 6),
        ("no-compile", 2, 6),
    ]
    assert [row["planner_calls"] for row in table] == [1, 2]
    assert [row["compiled"] for row in table] == [1, 0]
    assert all(row["pass1"]["good"] == 6 for row in table)
    again = main_py(tmp_path, "ablations", "--resume", study.name, "--runs", tmp_path / "runs")
    assert again.stdout == done.stdout[done.stdout.index("setting ") :]
