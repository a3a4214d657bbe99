"""What is said of a run and its levels, and results in columns."""

from __future__ import annotations

import io
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table

from spca.llm.calls.ledger import sums
from spca.runs.curriculum import Task
from spca.runs.screen.lines import LevelColumns, describe_troubles, format_duration, format_figures

PAID: dict[str, Any] = sums([]) | {"requests": 41, "input_tokens": 300_000, "output_tokens": 12_345, "cost_usd": 1.25}
LONGEST = "MiniGrid-Dynamic-Obstacles-Random-6x6-v0"
"""Of the curriculum that comes with the project."""
NAMES = st.text(st.sampled_from("aZ09-_ :[]水田\x1b\n"), min_size=1, max_size=60)


def task(env_id: str = "MiniGrid-DoorKey-16x16-v0", level: str = "Door Key", category: str = "unlock_door") -> Task:
    return Task(0, category, "skill", level, env_id)


def printed(row: Table, width: int) -> list[str]:
    console = Console(file=io.StringIO(), width=width, color_system=None)
    console.print(row)
    assert isinstance(console.file, io.StringIO)
    return [line.rstrip() for line in console.file.getvalue().splitlines()]


@given(NAMES, NAMES, st.integers(40, 250), st.integers(0, 10**9), st.booleans())
def test_every_line_fits_and_is_printable(env_id: str, level: str, width: int, tokens: int, paid: bool) -> None:
    usage = PAID | {"input_tokens": tokens, "cost_usd": tokens / 1e6 * paid}
    this = task(env_id, level, level)
    columns = LevelColumns.fit([this, task()], width, paid=paid)
    row = columns.make_row("failed", "red", 2, this, format_figures(summary(usage), 5000.0, "1/2", usage))
    for line in (*printed(columns.make_heading(level), width), *printed(row, width)):
        assert cell_len(line) <= width
        assert line.isprintable()


def summary(usage: dict[str, Any] = PAID) -> dict[str, Any]:
    counters = {"spca_rounds": 2, "planner_calls": 3, "coder_calls": 12}
    return {"counters": counters, "usage": usage, "steps": 123}


def shown(width: int, *, paid: bool) -> list[str]:
    tasks = [task(), task(LONGEST)] * 75
    columns = LevelColumns.fit(tasks, width, paid=paid)
    rows = [
        columns.make_heading("unlock_door"),
        columns.make_row("solved", "", 9, tasks[0], format_figures(summary(), 83.2, "8/9", PAID)),
        columns.make_row("failed", "", 110, tasks[1], format_figures(summary(), 783.2, "109/110", PAID)),
    ]
    return [line for row in rows for line in printed(row, width)]


def test_results_stand_in_columns_of_which_sums_and_time_go_last() -> None:
    assert shown(80, paid=False) == [
        "unlock_door                                         calls steps   time  solved",
        "solved   9 MiniGrid-DoorKey-16x16-v0                   15   123  83.2s     8/9",
        "failed 110 MiniGrid-Dynamic-Obstacles-Random-6x6-v0    15   123  13:03 109/110",
    ]
    assert shown(80, paid=True) == [
        "unlock_door                                         calls   time  solved   spent",
        "solved   9 MiniGrid-DoorKey-16x16-v0                   15  83.2s     8/9  1.2500",
        "failed 110 MiniGrid-Dynamic-Obstacles-Random-6x6-v0    15  13:03 109/110  1.2500",
    ]
    assert shown(60, paid=True)[1:] == [
        "solved   9 MiniGrid-DoorKey-16x16-v0                    8/9",
        "failed 110 MiniGrid-Dynamic-Obstacles-Random-6x6-v0 109/110",
    ]
    assert shown(40, paid=True)[1:] == [
        "solved   9 MiniGrid-DoorKey-16x16-v0",
        "failed 110",
        "MiniGrid-Dynamic-Obstacles-Random-6x6-v0",
    ]


def test_a_wide_terminal_shows_all() -> None:
    heading, row, _ = shown(200, paid=True)
    assert heading.split()[1:] == ["rounds", "calls", "steps", "tokens", "USD", "time", "solved", "spent"]
    assert " ".join(row.split()) == (
        "solved 9 Door Key: MiniGrid-DoorKey-16x16-v0 2 15 123 312,345 1.2500 83.2s 8/9 1.2500"
    )


@pytest.mark.parametrize(
    ("seconds", "brief"),
    [(0.04, "0.0s"), (99.94, "99.9s"), (99.96, "1:39"), (3599.9, "59:59"), (3600, "1:00:00"), (359_999, "99:59:59")],
)
def test_times(seconds: float, brief: str) -> None:
    assert format_duration(seconds) == brief


@pytest.mark.parametrize(
    ("pddl", "code", "ended", "words"),
    [
        (0, 0, [], ""),
        (2, 0, [], "2 PDDL repairs"),
        (1, 1, ["stuck"], "1 PDDL repair, 1 code repair, 1 failed attempt: stuck"),
        (0, 0, ["stuck", "stuck"], "2 failed attempts: stuck"),
        (0, 0, ["goal_not_reached", "stuck", "goal_not_reached"], "3 failed attempts: 2 goal_not_reached, stuck"),
    ],
)
def test_what_failed_on_the_way(pddl: int, code: int, ended: list[str], words: str) -> None:
    assert describe_troubles({"planner_syntax": pddl, "coder_syntax": code, "plan_objections": 0}, ended) == words


def test_plans_that_the_coder_refused_are_told() -> None:
    assert describe_troubles({"plan_objections": 1}, ["stuck"]) == "1 refused plan, 1 failed attempt: stuck"
    assert describe_troubles({"writer_rejected": 1, "writer_accepted": 0}, []) == "1 rejected writer"
