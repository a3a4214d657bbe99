"""The event log and the summaries: counters, kills and interrupts."""

from __future__ import annotations

import json
import math
import os
import signal
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from metrics_logger import COUNTERS, DURATIONS, MetricsLogger, register_signal_handlers

LEVEL = {"level_name": "MiniGrid-Empty-5x5-v0", "lvl_group": "Empty", "category": "navigation", "seed": 1}


@pytest.fixture
def logger(tmp_path: Path) -> MetricsLogger:
    return MetricsLogger(tmp_path, "run-1")


def log_of(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]


def planner_call(mode: str, **more: object) -> tuple[str, dict[str, object]]:
    return "planner_call", {"mode": mode, "seconds": 1.5, "solve_s": 0.25, **more}


def finish(logger: MetricsLogger, index: int, outcome: str = "success") -> dict[str, Any]:
    logger.start_level(LEVEL | {"level_name": f"level-{index}"}, index)
    summary = logger.summary(outcome, "because")
    logger.write_summary(summary)
    logger.end_level(summary)
    return summary


def test_every_event_is_on_disk_at_once(logger: MetricsLogger, tmp_path: Path) -> None:
    logger.start_level(LEVEL, 1)
    logger("coder_syntax_repair", {"attempt": 1, "error": "ünïcode\nand lines"})
    start, repair = log_of(tmp_path)
    assert start["event"] == "level_start"
    assert {key: start[key] for key in LEVEL} == LEVEL
    assert (repair["run_id"], repair["level_index"], repair["error"]) == ("run-1", 1, "ünïcode\nand lines")


def test_half_a_surrogate_pair_in_an_event_is_written_as_an_escape(logger: MetricsLogger, tmp_path: Path) -> None:
    logger("planner_call", {"mode": "fresh", "seconds": 0.0, "solve_s": 0.0, "error": "no \ud800"})
    assert log_of(tmp_path)[-1]["error"] == "no \ud800"


def test_calls_count_by_mode_and_add_to_durations(logger: MetricsLogger, tmp_path: Path) -> None:
    logger.start_level(LEVEL, 1)
    for mode in ("fresh", "syntax", "syntax"):
        logger(*planner_call(mode))
    logger("coder_call", {"mode": "first", "seconds": 2.0})
    logger("counter_inc", {"name": "spca_rounds"})
    logger("duration", {"name": "sim_s", "seconds": 0.5})
    summary = logger.summary("success", "done", steps=7)
    assert tuple(summary["counters"]) == COUNTERS
    counted = {name: value for name, value in summary["counters"].items() if value}
    assert counted == {
        "planner_calls": 3,
        "planner_fresh": 1,
        "planner_syntax": 2,
        "coder_calls": 1,
        "coder_first": 1,
        "spca_rounds": 1,
    }
    assert tuple(summary["durations"]) == DURATIONS
    assert summary["durations"]["plan_s"] == {"count": 3, "sum": 4.5, "max": 1.5}
    assert summary["durations"]["solve_s"] == {"count": 3, "sum": 0.75, "max": 0.25}
    assert summary["durations"]["sim_s"] == {"count": 1, "sum": 0.5, "max": 0.5}
    assert (summary["level"], summary["steps"], summary["run_id"], summary["index"]) == (LEVEL, 7, "run-1", 1)
    assert [e["value"] for e in log_of(tmp_path) if e.get("name") == "planner_calls"] == [1, 2, 3]


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(
        st.sampled_from([("planner", m) for m in ("fresh", "reuse", "replan", "syntax")])
        | st.sampled_from([("coder", m) for m in ("first", "semantic", "syntax")])
    )
)
def test_calls_are_the_sum_of_their_modes(logger: MetricsLogger, calls: list[tuple[str, str]]) -> None:
    logger.start_level(LEVEL, 1)
    for kind, mode in calls:
        logger(f"{kind}_call", {"mode": mode, "seconds": 0.0, "solve_s": 0.0})
    counters = logger.summary("fail", "x")["counters"]
    for kind in ("planner", "coder"):
        modes = [n for name, n in counters.items() if name.startswith(f"{kind}_") and name != f"{kind}_calls"]
        assert counters[f"{kind}_calls"] == sum(modes) == sum(each == kind for each, _ in calls)


def test_a_new_level_starts_from_zero(logger: MetricsLogger) -> None:
    logger.start_level(LEVEL, 1)
    logger(*planner_call("fresh"))
    logger.start_level(LEVEL, 2)
    assert not any(logger.counters.values())
    assert logger.summary("fail", "x")["durations"]["plan_s"]["count"] == 0


def test_an_unknown_counter_is_a_mistake(logger: MetricsLogger) -> None:
    with pytest.raises(ValueError, match="unknown counter 'planner_magic'"):
        logger(*planner_call("magic"))
    with pytest.raises(ValueError, match="no level is in progress"):
        logger.summary("fail", "x")


def test_a_summary_has_its_name_and_no_leftovers(logger: MetricsLogger, tmp_path: Path) -> None:
    assert finish(logger, 1)["level_name"] == "level-1"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["metrics.jsonl", "summaries"]
    assert [p.name for p in (tmp_path / "summaries").iterdir()] == ["summary_navigation_level-1_run-1.json"]


@pytest.mark.parametrize("torn", ["", '{"event": "counter_inc", "name": "spca', '{"event": "level_summary"}', "\x00"])
def test_a_log_is_made_whole_after_a_kill(tmp_path: Path, torn: str) -> None:
    first = MetricsLogger(tmp_path, "run-1")
    done = [finish(first, 1), finish(first, 2, "fail")]
    first.start_level(LEVEL, 3)
    before = (tmp_path / "metrics.jsonl").read_bytes()
    with (tmp_path / "metrics.jsonl").open("a") as log:
        log.write(torn)
    second = MetricsLogger(tmp_path, "run-1")
    second.repair(done)
    assert (tmp_path / "metrics.jsonl").read_bytes() == before
    finish(second, 3)
    assert [e["index"] for e in log_of(tmp_path) if e["event"] == "level_summary"] == [1, 2, 3]


def test_a_level_that_was_committed_but_not_logged_is_logged(tmp_path: Path) -> None:
    first = MetricsLogger(tmp_path, "run-1")
    done = [finish(first, 1)]
    first.start_level(LEVEL, 2)
    done.append(first.summary("success", "killed right after the commit"))
    second = MetricsLogger(tmp_path, "run-1")
    second.repair(done)
    last = log_of(tmp_path)[-1]
    assert (last["event"], last["index"], last["level_index"]) == ("level_summary", 2, 2)


def test_a_level_that_is_played_again_is_logged_again(tmp_path: Path) -> None:
    first = MetricsLogger(tmp_path, "run-1")
    finish(first, 1, "fail")
    finish(first, 2, "fail")
    first.start_level(LEVEL, 1)
    again = first.summary("success", "killed right after the commit")
    second = MetricsLogger(tmp_path, "run-1")
    second.repair([again])
    logged = [(e["index"], e["outcome"]) for e in log_of(tmp_path) if e["event"] == "level_summary"]
    assert logged == [(1, "fail"), (2, "fail"), (1, "success")]


def test_a_level_that_was_cut_off_counts_its_episodes(tmp_path: Path) -> None:
    first = MetricsLogger(tmp_path, "run-1")
    done = [finish(first, 1)]
    for number in (1, 2, 3):
        process = MetricsLogger(tmp_path, "run-1")
        process.repair(done)
        process.start_level(LEVEL, 2)
        assert process.episodes == number
    finish(process, 3)
    process.start_level(LEVEL, 4)
    assert process.episodes == 1


def test_an_aborted_level_does_not_count_as_finished(tmp_path: Path) -> None:
    first = MetricsLogger(tmp_path, "run-1")
    first.start_level(LEVEL, 1)
    first.abort("interrupted")
    summary = finish(first, 1)
    second = MetricsLogger(tmp_path, "run-1")
    second.repair([summary])
    logged = [e["outcome"] for e in log_of(tmp_path) if e["event"] == "level_summary"]
    assert logged == ["aborted", "success"]


@pytest.mark.usefixtures("termination_fails_the_test")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_interrupts_and_the_level_is_aborted_when_the_logger_is_left(tmp_path: Path, number: int) -> None:
    requests: list[str] = []

    def interrupted() -> None:
        with MetricsLogger(tmp_path, "run-1", lambda _index: {"requests": len(requests)}) as log:
            undo = register_signal_handlers(log)
            try:
                log.start_level(LEVEL, 1)
                log(*planner_call("fresh"))
                os.kill(os.getpid(), number)
            finally:
                undo()
                assert not list(tmp_path.glob("summaries/summary_*.json"))
                requests.append("the one in flight, which its desk enters on the way out")

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    (path,) = tmp_path.glob("summaries/summary_*.json")
    summary = json.loads(path.read_text())
    assert summary["usage"] == {"requests": 1}
    assert summary["outcome"] == "aborted"
    assert summary["reason"] == f"interrupted by {signal.Signals(number).name}"
    assert summary["counters"]["planner_fresh"] == 1
    assert log_of(tmp_path)[-1]["outcome"] == "aborted"


def test_an_aborted_level_tells_what_it_has_used(tmp_path: Path) -> None:
    with MetricsLogger(tmp_path, "run-3", lambda index: {"requests": 10 * index}) as log:
        log.start_level(LEVEL, 2)
        log.abort("budget: enough")
    (path,) = tmp_path.glob("summaries/summary_*.json")
    summary = json.loads(path.read_text())
    assert (summary["outcome"], summary["reason"], summary["usage"]) == ("aborted", "budget: enough", {"requests": 20})


def test_what_a_call_took_is_in_its_event(logger: MetricsLogger, tmp_path: Path) -> None:
    logger.start_level(LEVEL, 1)
    logger(*planner_call("fresh", cost=None, requests=2, transcript="llm/1.json"))
    event = log_of(tmp_path)[-1]
    assert (event["event"], event["cost"], event["requests"], event["transcript"]) == (
        "planner_call",
        None,
        2,
        "llm/1.json",
    )


def test_every_line_is_strict_json(logger: MetricsLogger, tmp_path: Path) -> None:
    logger.start_level(LEVEL, 1)
    logger("planned", {"seconds": math.nan})
    summary = logger.summary("failed", "no plan", cost=math.inf)
    path = logger.write_summary(summary)
    logger.end_level(summary)
    for text in (*(tmp_path / "metrics.jsonl").read_text().splitlines(), path.read_text()):
        json.loads(text, parse_constant=pytest.fail)


def test_between_levels_there_is_nothing_to_abort(logger: MetricsLogger, tmp_path: Path) -> None:
    finish(logger, 1)
    with pytest.raises(KeyboardInterrupt):
        logger.interrupt("SIGINT")
    assert [e["outcome"] for e in log_of(tmp_path) if e["event"] == "level_summary"] == ["success"]


def test_an_interrupt_waits_for_what_must_not_be_torn_apart(logger: MetricsLogger, tmp_path: Path) -> None:
    def finish_while_interrupted() -> None:
        with logger.delay_interrupts():
            logger.start_level(LEVEL, 1)
            os.kill(os.getpid(), signal.SIGINT)
            summary = logger.summary("success", "done")
            logger.write_summary(summary)
            logger.end_level(summary)

    undo = register_signal_handlers(logger)
    try:
        with pytest.raises(KeyboardInterrupt):
            finish_while_interrupted()
    finally:
        undo()
    assert [e["outcome"] for e in log_of(tmp_path) if e["event"] == "level_summary"] == ["success"]


def test_handlers_are_put_back(logger: MetricsLogger) -> None:
    before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    register_signal_handlers(logger)()
    assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)] == before


def test_an_error_in_a_held_block_is_not_hidden(logger: MetricsLogger) -> None:
    with pytest.raises(ZeroDivisionError), logger.delay_interrupts():
        raise ZeroDivisionError
    with suppress(KeyboardInterrupt):
        logger.interrupt("SIGINT")
        pytest.fail("the block is over: an interrupt must not wait any more")


def test_a_level_that_an_error_ended_is_summed_up_as_aborted(tmp_path: Path) -> None:
    def run() -> None:
        with MetricsLogger(tmp_path, "run-2") as log:
            log.start_level(LEVEL, 1)
            raise ValueError("the model is down")

    with pytest.raises(ValueError, match="the model is down"):
        run()
    last = log_of(tmp_path)[-1]
    assert (last["event"], last["outcome"], last["reason"]) == ("level_summary", "aborted", "the model is down")


def test_a_foreign_line_in_the_log_does_no_harm(tmp_path: Path) -> None:
    (tmp_path / "metrics.jsonl").write_text("junk\n[1]\n")
    with MetricsLogger(tmp_path, "run-3") as log:
        log.repair([{"index": 1, "outcome": "success"}])
    lines = (tmp_path / "metrics.jsonl").read_text().splitlines()
    assert lines[:2] == ["junk", "[1]"]
    assert json.loads(lines[2])["event"] == "level_summary"


def test_an_interrupt_that_generated_code_swallowed_ends_the_run_all_the_same(tmp_path: Path) -> None:
    def finish() -> None:
        with MetricsLogger(tmp_path, "run-4") as log:
            log.start_level(LEVEL, 1)
            with suppress(KeyboardInterrupt):
                log.interrupt("SIGINT")
            with log.delay_interrupts():
                log.end_level(log.summary("success", "never reached"))

    with pytest.raises(KeyboardInterrupt):
        finish()
    ends = [(e["outcome"], e["reason"]) for e in log_of(tmp_path) if e["event"] == "level_summary"]
    assert ends == [("aborted", "interrupted by SIGINT")]
