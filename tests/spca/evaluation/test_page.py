"""The page of an evaluation: all that was found, as data; nothing of the machine, films within their limit."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from minigridenv import MiniGridEnv
from spca.act.frame import ReplayedWorld
from spca.contracts import LevelSpec
from spca.evaluation.eval_folder import EvaluationFolder
from spca.evaluation.page import filming
from spca.evaluation.page.rendering import render_page
from spca.evaluation.summary import Results
from tests.support.report.evaluated import HOSTILE, RESULTS, evaluated, fail_really
from tests.support.report.pages import read_pieces


def pieces_of(results: Results, folder: EvaluationFolder, target: Path | None = None) -> dict[str, Any]:
    page = render_page(results, folder, MiniGridEnv, target or folder.path / "report.html")
    return read_pieces(page)


def test_the_page_holds_all_figures_and_nothing_of_them_is_markup(tmp_path: Path) -> None:
    folder = evaluated(tmp_path)
    html = render_page(RESULTS, folder, MiniGridEnv, folder.path / "report.html")
    assert "alert(1)" not in html
    pieces = read_pieces(html)
    report = pieces["report"]
    assert json.loads(json.dumps(RESULTS.to_dict()["curriculum"])) == report["curriculum"]
    (failed,) = report["failed"]
    assert (failed["number"], failed["proof"], failed["witness"]) == (1, "solvable", [2, 0])
    assert failed["group"] == f"stuck: {HOSTILE} (solvable)"
    assert pieces["failures/0"][0]["trials"][0]["plan"] == [HOSTILE]
    assert report["unplayable"] == {"X-v0": HOSTILE}


def test_no_path_of_the_machine_is_told(tmp_path: Path) -> None:
    folder = evaluated(tmp_path, str(tmp_path / "mine.py"), f"replay/{tmp_path}")
    (won, lost) = RESULTS.played
    stuck = replace(lost, trials=(replace(lost.trials[0], reason=f"{tmp_path}/a.py is gone", planner=str(tmp_path)),))
    told = json.dumps(pieces_of(Results((won, stuck)), folder))
    assert str(tmp_path) not in told
    assert f"replay {folder.id} BabyAI-GoTo-v0:8" in told


def test_the_folder_of_runs_is_told_where_it_lies_below(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = evaluated(tmp_path / "my runs")
    monkeypatch.chdir(tmp_path)
    (failed,) = pieces_of(RESULTS, folder)["report"]["failed"]
    assert failed["command"] == f"python main.py replay {folder.id} BabyAI-GoTo-v0:8 --runs 'my runs'"


def test_it_links_the_page_of_its_run_or_says_how_to_make_it(tmp_path: Path) -> None:
    folder = evaluated(tmp_path, "20260101-000000-abcd")
    run = tmp_path / "20260101-000000-abcd"

    def linked(target: Path | None = None) -> tuple[str | None, str | None]:
        report = pieces_of(Results(RESULTS.played[:1]), folder, target)["report"]
        return report["run_page"], report["run_command"]

    assert linked() == (None, None)
    run.mkdir()
    assert linked() == (None, f"python main.py report {run.name}")
    (run / "report.html").touch()
    assert linked() == (f"../{run.name}/report.html", None)
    assert linked(tmp_path / "elsewhere.html") == (None, None)


def test_it_names_the_coder_of_the_run_where_it_is_known(tmp_path: Path) -> None:
    folder = evaluated(tmp_path)
    assert pieces_of(RESULTS, folder)["report"]["coder"] is None
    known = replace(folder, record={**folder.record, "coder_model": "openai/gpt"})
    assert pieces_of(RESULTS, known)["report"]["coder"] == "openai/gpt"


def test_times_are_those_recorded(tmp_path: Path) -> None:
    folder = evaluated(tmp_path)
    folder.finish(RESULTS.to_dict())
    report = pieces_of(RESULTS, EvaluationFolder.load(folder.path))["report"]
    assert 0 <= report["ended"] - report["began"] < 60
    assert pieces_of(RESULTS, folder)["report"]["ended"] is None


def test_calls_of_a_model_are_summed_or_unknown(tmp_path: Path) -> None:
    assert pieces_of(RESULTS, evaluated(tmp_path))["report"]["usage"]["requests"] == 0
    folder = evaluated(tmp_path, planner_model=HOSTILE)
    assert pieces_of(RESULTS, folder)["report"]["usage"] is None
    lines = [{"cost": 0.25, "outcome": "answered"}, {"cost": None, "outcome": "failed"}]
    (folder.path / "calls.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    usage = pieces_of(RESULTS, folder)["report"]["usage"]
    assert (usage["requests"], usage["cost_usd"], usage["cost_unknown"]) == (2, 0.25, 1)
    (folder.path / "calls.jsonl").write_text("{")
    assert pieces_of(RESULTS, folder)["report"]["usage"] is None


def test_attempts_and_witness_of_a_failure_are_filmed_and_checked(tmp_path: Path) -> None:
    pieces = pieces_of(fail_really(), evaluated(tmp_path))
    footage = pieces["failures/0"][0]["footage"]
    assert footage["mission"] == "get to the green goal square"
    assert [len(film["agent"]) for film, _ in footage["attempts"]] == [6, 2, 6]
    (last, _), checks = footage["attempts"][2], [check for _, check in footage["attempts"]]
    assert [check["result"] for check in checks] == ["equal"] * 3
    assert checks[0]["message"].startswith("re-simulation equals the recording")
    assert checks[2]["message"] == "the re-simulation solves the episode"
    assert last["reward"][-1] > 0
    ((unplanned, _),) = pieces["failures/0"][1]["footage"]["attempts"]
    assert len(unplanned["agent"]) == 1


def test_what_differs_from_the_recording_is_told(tmp_path: Path) -> None:
    results = fail_really()
    stuck = results.played[1]
    (judged, *_) = results.judged
    other = replace(stuck, trials=(replace(stuck.trials[0], end_hash="0" * 64),))
    useless = replace(judged, verdict=replace(judged.verdict, witness=(0,)))
    footage = pieces_of(Results((other,), (useless,)), evaluated(tmp_path))["failures/0"][0]["footage"]
    checks = [check for _, check in footage["attempts"]]
    assert [check["result"] for check in checks] == ["different", "different"]
    assert "the state after its last step differs" in checks[0]["message"]
    assert "does not solve" in checks[1]["message"]


def test_the_module_of_an_id_has_to_be_a_loaded_plugin(tmp_path: Path) -> None:
    def build_nothing(level: LevelSpec, seed: int, /, *, upstream_rules: bool = False) -> ReplayedWorld:
        raise AssertionError(level, seed, upstream_rules)

    stuck = fail_really().played[1]
    foreign = replace(stuck, episode=replace(stuck.episode, env_id="os:Empty-v0"))
    folder = evaluated(tmp_path)
    page = render_page(Results((foreign,)), folder, build_nothing, folder.path / "report.html")
    footage = read_pieces(page)["failures/0"][0]["footage"]
    reason = {"result": "different", "message": "'os:Empty-v0': the module os is not loaded: give --plugin os"}
    assert footage["attempts"] == [[None, reason]] * stuck.attempts


def test_films_are_shared_out_evenly_among_groups(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(filming, "MAX_FILMS", 3)
    _, stuck, unplanned = fail_really().played
    many = [replace(unplanned, episode=replace(unplanned.episode, seed=seed)) for seed in range(10, 15)]
    alone = replace(stuck, trials=stuck.trials[:1])
    pieces = pieces_of(Results((*many, alone)), evaluated(tmp_path))
    filmed = [number for number, failure in enumerate(pieces["failures/0"], 1) if failure["footage"]]
    assert filmed == [1, 2, 6]


def test_worlds_are_built_by_the_rules_of_the_evaluation(tmp_path: Path) -> None:
    rules = []

    def build(level: LevelSpec, seed: int, /, *, upstream_rules: bool = False) -> ReplayedWorld:
        rules.append(upstream_rules)
        return MiniGridEnv(level, seed, upstream_rules=upstream_rules)

    folder = evaluated(tmp_path)
    folder = replace(folder, settings=replace(folder.settings, upstream_rules=True))
    render_page(fail_really(), folder, build, folder.path / "report.html")
    assert set(rules) == {True}


def test_failures_are_numbered_by_kind(tmp_path: Path) -> None:
    _, stuck, unplanned = fail_really().played
    seeds = [replace(each, episode=replace(each.episode, seed=seed)) for seed, each in enumerate((unplanned,) * 2, 10)]
    report = pieces_of(Results((seeds[0], stuck, seeds[1])), evaluated(tmp_path))["report"]
    assert [(each["number"], each["failure"]) for each in report["failed"]] == [
        (1, "no_plan"),
        (2, "no_plan"),
        (3, "stuck"),
    ]
