"""A run's folder that is followed while it is written."""

from __future__ import annotations

import gzip
import json
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import minigridenv
from spca.common.files import lock_folder
from spca.contracts import Status
from spca.errors import ReportError
from spca.report.live import live_run
from spca.report.live.live_run import LiveRun
from spca.runs.recording.folder import LOCK
from tests.support.report.making import WRITTEN, Writing
from tests.support.waiting import becomes


def opened(path: Path, rest_s: float = 0.0) -> LiveRun:
    return LiveRun(path, minigridenv.MiniGridEnv, rest_s=rest_s)


def refreshed(live: LiveRun) -> bool:
    """Refresh, waiting until the rest after the last reading is over."""
    return becomes(live.refresh)


def stays(live: LiveRun) -> bool:
    """Whether there is nothing to refresh, for a while."""
    return not becomes(live.refresh, seconds=0.05)


def value(piece: bytes | None) -> Any:
    assert piece is not None
    return json.loads(gzip.decompress(piece))["value"]


def outcomes(live: LiveRun) -> list[str]:
    return [row["outcome"] for row in value(live.view.report)["runs"][0]["levels"]]


def warnings_of(live: LiveRun) -> tuple[str, ...]:
    return live.view.run.warnings


def test_a_folder_that_is_no_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ReportError):
        opened(tmp_path)


def test_the_report_is_that_of_the_run(finished_run: Path) -> None:
    report = value(opened(finished_run).view.report)
    assert [run["id"] for run in report["runs"]] == [finished_run.name]
    assert report["title"] == finished_run.name


def test_every_step_of_a_run_is_seen(tmp_path: Path) -> None:
    run = Writing(tmp_path)
    with lock_folder(run.path, "run", LOCK):
        live = opened(run.path)
        assert live.view.run.state == "running"
        assert outcomes(live) == ["pending"] * 3
        steps: list[tuple[Callable[[], None], list[str]]] = [
            (run.begin, ["running", "pending", "pending"]),
            (run.plan, ["running", "pending", "pending"]),
            (run.code, ["running", "pending", "pending"]),
            (run.act, ["running", "pending", "pending"]),
            (run.finish, ["success", "pending", "pending"]),
            (run.fail, ["success", "fail", "pending"]),
            (run.solve, ["success", "fail", "success"]),
        ]
        versions = []
        for step, expected in steps:
            step()
            assert refreshed(live), step
            assert outcomes(live) == expected
            versions.append(live.view.version)
        assert versions == sorted(set(versions))
        run.end()
        assert refreshed(live)
        assert live.view.run.state == "running"
    assert refreshed(live)
    assert live.view.run.state == "finished"
    assert stays(live)


def test_a_run_that_is_killed_is_seen_to_have_stopped(tmp_path: Path) -> None:
    run = Writing(tmp_path)
    with lock_folder(run.path, "run", LOCK):
        run.begin()
        run.plan()
        live = opened(run.path)
        run.kill()
    assert refreshed(live)
    assert live.view.run.state == "stopped"
    assert outcomes(live)[0] == "aborted"


def test_nothing_is_read_while_nothing_changes(finished_run: Path) -> None:
    live = opened(finished_run)
    before = live.view.run
    assert stays(live)
    assert live.view.run is before


@pytest.mark.long
def test_changes_that_come_fast_are_read_together(tmp_path: Path) -> None:
    run = Writing(tmp_path)
    live = opened(run.path, rest_s=0.4)
    started, readings = time.monotonic(), 0
    run.begin()
    for _ in range(60):
        run.plan()
        readings += live.refresh()
        time.sleep(0.01)
    elapsed = time.monotonic() - started
    assert 1 <= readings <= 1 + elapsed / 0.4


def test_a_folder_that_is_gone_leaves_what_it_held_and_may_come_back(tmp_path: Path) -> None:
    run = Writing(tmp_path)
    run.solve()
    live = opened(run.path)
    aside = tmp_path / "aside"
    run.path.rename(aside)
    assert refreshed(live)
    assert (live.view.run.state, live.view.run.solved) == ("stopped", 1)
    assert ["cannot be read any more" in warning for warning in warnings_of(live)] == [True]
    assert stays(live)
    aside.rename(run.path)
    assert refreshed(live)
    assert not warnings_of(live)
    shutil.rmtree(run.path)
    assert refreshed(live)
    assert ["cannot be read any more" in warning for warning in warnings_of(live)] == [True]


def test_what_is_broken_is_warned_of_and_does_not_end_it(tmp_path: Path) -> None:
    run = Writing(tmp_path)
    run.solve()
    live = opened(run.path)
    damages = {"state/state.json": b"{", "calls.jsonl": b"\xff\x00\n[]", "run.json": b"[[[["}
    for name, data in damages.items():
        (run.path / name).write_bytes(data)
        assert refreshed(live)
        assert any(name in warning for warning in warnings_of(live)), name
        assert live.view.run.solved == 1


def test_levels_are_shown_from_their_beginning_to_their_end(tmp_path: Path) -> None:
    run = Writing(tmp_path)
    with lock_folder(run.path, "run", LOCK):
        live = opened(run.path)
        assert [live.level(number) for number in (0, 1, 4)] == [None] * 3
        for step, rounds in ((run.begin, 0), (run.plan, 1), (run.code, 1), (run.act, 1)):
            step()
            assert refreshed(live)
            shown = value(live.level(1))
            assert (shown["number"], shown["outcome"], len(shown["rounds"])) == (1, "running", rounds)
        run.finish()
        assert refreshed(live)
        shown = value(live.level(1))
    assert shown["outcome"] == "success"
    (attempt,) = [turn["attempt"] for turn in shown["rounds"][0]["tries"]]
    assert attempt["agent"] in shown["texts"]
    assert attempt["check"]["result"] == "different"  # the writers of this test make up their hashes


def test_origins_are_right_while_the_run_goes_on(tmp_path: Path) -> None:
    run = Writing(tmp_path)
    with lock_folder(run.path, "run", LOCK):
        live = opened(run.path)
        run.solve()
        assert refreshed(live)
        run.begin()
        run.plan()
        run.act(Status.STUCK, line=WRITTEN.text.count("\n"))
        run.finish()
        assert refreshed(live)
        (told,) = value(live.view.report)["runs"]
        shown = value(live.level(2))
    blame = shown["blame"]
    assert (blame["method"], blame["written"]["level"], blame["written"]["attempt"]) == ("go", 1, "1.1")
    assert blame["written"] in shown["texts"][blame["agent"]]["methods"]
    assert blame["written"]["call"].endswith("coder-first-00000000-0.json")
    row = told["levels"][1]
    assert (row["headline"].split(" (")[0], row["group"]) == ("attempt 1.1 got stuck in go", "stuck: go")
    assert [(method["name"], method["level"], method["failed"]) for method in told["methods"]] == [("go", 1, 1)]


def test_a_level_is_built_once_for_each_of_its_versions(mixed_run: Path) -> None:
    live = opened(mixed_run)
    first = live.level(1)
    assert first is not None
    assert live.level(1) is first
    live.level(2)
    assert live.level(1) is first


def test_episodes_of_a_real_run_are_re_simulated(mixed_run: Path) -> None:
    live = opened(mixed_run)
    for number in (1, 2, 3):
        shown = value(live.level(number))
        attempts = [turn["attempt"] for r in shown["rounds"] for turn in r["tries"] if turn["attempt"]]
        assert {attempt["check"]["result"] for attempt in attempts} == {"equal"}
        assert shown["mission"]


def test_only_the_latest_pieces_are_kept(finished_run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live_run, "_MAX_CACHED", 2)
    live = opened(finished_run)
    first = live.level(1)
    for number in (2, 1, 3):
        assert live.level(number)
    assert list(live._levels) == [1, 3]
    assert live.level(1) == first
