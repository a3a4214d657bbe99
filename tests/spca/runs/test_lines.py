"""Lines that fit: what is waited for, and results in aligned columns."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from spca.llm.calls.ledger import sums
from spca.runs.curriculum import Task
from spca.runs.lines import Columns, Moment, duration, elapsed, figures, folded, shortened, troubles

PAID: dict[str, Any] = sums([]) | {"requests": 41, "input_tokens": 300_000, "output_tokens": 12_345, "cost_usd": 1.25}
LONGEST = "MiniGrid-Dynamic-Obstacles-Random-6x6-v0"
"""Of the curriculum that comes with the project."""
NAMES = st.text(st.sampled_from("aZ09-_ :[]水田\x1b\n"), min_size=1, max_size=60)


def task(env_id: str = "MiniGrid-DoorKey-16x16-v0", level: str = "Door Key", category: str = "unlock_door") -> Task:
    return Task(0, category, "skill", level, env_id)


def moment(**more: Any) -> Moment:
    values: dict[str, Any] = {
        "task": task(),
        "number": 12,
        "total": 150,
        "round": 2,
        "who": "planner",
        "model": "openai/gpt-6.1-sol",
    }
    values |= {"waited": 83.4, "solved": 10, "failed": 1, "elapsed": 754.0, "usage": PAID}
    return Moment(**values | more)


@pytest.mark.parametrize(
    ("room", "line"),
    [
        (
            198,
            "12:34  10 solved, 1 failed  unlock_door  12/150 Door Key: MiniGrid-DoorKey-16x16-v0  round 2"
            "  planner openai/gpt-6.1-sol 83s  41 calls, 312,345 tokens, 1.2500 USD",
        ),
        (
            118,
            "10/11 solved  12/150 MiniGrid-DoorKey-16x16-v0  round 2  planner openai/gpt-6.1-sol 83s"
            "  41 calls, 312k tokens, $1.25",
        ),
        (78, "12/150 MiniGrid-DoorKey-16x16-v0  planner gpt-6.1-sol 83s  41 calls 312k $1.25"),
        (58, "12 MiniGrid-DoorKey-16x16-v0  planner 83s  41 calls $1.25"),
        (38, "MiniGrid-DoorKey-16x16-v0  planner 83s"),
    ],
)
def test_the_live_line_says_what_there_is_room_for(room: int, line: str) -> None:
    assert moment().live(room) == line


@pytest.mark.parametrize("who", ["planner", "coder", "solver", "checks", "world"])
def test_eighty_columns_are_enough_for_the_longest_name(who: str) -> None:
    model = "anthropic/claude-opus-5-5@xhigh" if who in ("planner", "coder") else ""
    line = moment(task=task(LONGEST), who=who, model=model, waited=12_345.0).live(78)
    number = "12/150" if len(who) < 6 else "12"
    assert line == f"{number} {LONGEST}  {who} 3:25:45  41 calls $1.25"


def test_the_rest_is_shortened_before_the_name() -> None:
    long = task("MiniGrid-" + "x" * 55)
    assert moment(task=long).live(78).startswith(f"{long.env_id}")
    cut = moment(task=long).live(60)
    assert (cut[:9], cut[-14:], cell_len(cut)) == ("MiniGrid-", "x  planner 83s", 60)


def test_a_wait_outside_of_rounds_and_models_is_said_plainly() -> None:
    line = moment(round=0, who="world", model="", waited=0.2, usage=sums([])).live(78)
    assert line == "10 solved, 1 failed  12/150 Door Key: MiniGrid-DoorKey-16x16-v0  world 0s"


def test_a_file_is_told_when_it_began() -> None:
    assert moment(elapsed=900.0).logged(80) == (
        " 13:36  12 MiniGrid-DoorKey-16x16-v0  planner gpt-6.1-sol  41 calls 312k $1.25"
    )


@given(NAMES, NAMES, NAMES, st.integers(40, 250), st.integers(0, 10**9), st.booleans())
def test_every_line_fits_and_is_one(env_id: str, level: str, model: str, room: int, tokens: int, paid: bool) -> None:
    usage = PAID | {"input_tokens": tokens, "cost_usd": tokens / 1e6 * paid}
    this = task(env_id, level, level)
    now = moment(task=this, model=f"openai/{model}", usage=usage)
    columns = Columns.of([this, task()], room, paid=paid)
    row = columns.row("failed", 2, this, figures(summary(usage), 5000.0, "1/2", usage))
    for line in (now.live(room), now.logged(room), columns.heading(level), row):
        assert cell_len(line) <= room
        assert line.isprintable()


def summary(usage: dict[str, Any] = PAID) -> dict[str, Any]:
    counters = {"spca_rounds": 2, "planner_calls": 3, "coder_calls": 12}
    return {"counters": counters, "usage": usage, "steps": 123}


def shown(width: int, *, paid: bool) -> list[str]:
    tasks = [task(), task(LONGEST)] * 75
    columns = Columns.of(tasks, width, paid=paid)
    rows = [columns.row("solved", 9, tasks[0], figures(summary(), 83.2, "8/9", PAID))]
    rows += [columns.row("failed", 110, tasks[1], figures(summary(), 783.2, "109/110", PAID))]
    return [columns.heading("unlock_door"), *rows]


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
        "failed 110 MiniGrid-Dynam…-Random-6x6-v0",
    ]


def test_a_wide_terminal_shows_all() -> None:
    heading, row, _ = shown(200, paid=True)
    assert heading.split()[1:] == ["rounds", "calls", "steps", "tokens", "USD", "time", "solved", "spent"]
    assert " ".join(row.split()) == (
        "solved 9 Door Key: MiniGrid-DoorKey-16x16-v0 2 15 123 312k 1.2500 83.2s 8/9 1.2500"
    )


@pytest.mark.parametrize(
    ("text", "room", "expected"),
    [
        *(("abcdef", 6, "abcdef"), ("abcdef", 5, "ab…ef"), ("abcdef", 4, "a…ef"), ("abcdef", 3, "ab…")),
        *(("abcdef", 1, "…"), ("abcdef", 0, ""), ("水田水田", 8, "水田水田"), ("水田水田", 6, "水…田"), ("", 0, "")),
    ],
)
def test_the_ends_of_a_name_stay(text: str, room: int, expected: str) -> None:
    assert shortened(text, room) == expected


@given(NAMES, st.integers(0, 70))
def test_a_shortened_text_fits(text: str, room: int) -> None:
    assert cell_len(shortened(text, room)) <= max(room, 0)


@given(st.lists(st.text(st.sampled_from("ab水"), max_size=9)), st.integers(1, 30))
def test_folding_parts_text_between_words_only(words: list[str], room: int) -> None:
    lines = folded(" ".join(words), room)
    assert " ".join(lines) == " ".join(words)
    assert all(cell_len(line) <= room or " " not in line for line in lines)


@pytest.mark.parametrize(
    ("seconds", "clock", "brief"),
    [
        (0.04, "0:00", "0.0s"),
        (99.94, "1:39", "99.9s"),
        (99.96, "1:39", "1:39"),
        (3599.9, "59:59", "59:59"),
        (3600, "1:00:00", "1h00m"),
        (359_999, "99:59:59", "99h59m"),
    ],
)
def test_times(seconds: float, clock: str, brief: str) -> None:
    assert (elapsed(seconds), duration(seconds)) == (clock, brief)


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
    assert troubles({"planner_syntax": pddl, "coder_syntax": code, "plan_objections": 0}, ended) == words


def test_plans_that_the_coder_refused_are_told() -> None:
    assert troubles({"plan_objections": 1}, ["stuck"]) == "1 refused plan, 1 failed attempt: stuck"
    assert troubles({"writer_rejected": 1, "writer_accepted": 0}, []) == "1 rejected writer"
