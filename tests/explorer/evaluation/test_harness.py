"""Evaluations: the same results however they are carried out, and nothing finished is lost."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from explorer.errors import EpisodeError, SceneError
from explorer.evaluation.harness import Evaluation, EvaluationOptions
from explorer.evaluation.results import Episode, read_episodes
from explorer.scene import Pose
from tests.support.explorer.played import ENTRIES, GOES_ROUND, WINS, walk
from tests.support.processes import Process
from tests.support.tiers import long
from tests.support.waiting import PATIENCE, becomes

ROOT = Path(__file__).resolve().parents[3]
SCENES = [walk("one"), walk("two", codes=GOES_ROUND), walk("three")]


def run(output: Path, agent: str = "solver", scenes: Any = SCENES, **how: Any) -> tuple[Episode, ...]:
    return Evaluation(scenes, agent, output, EvaluationOptions(**how), ENTRIES).run()


def test_results_are_written_in_the_order_of_the_scenes(tmp_path: Path) -> None:
    output, shown = tmp_path / "new" / "r.jsonl", []
    evaluation = Evaluation(SCENES, "solver", output, EvaluationOptions(seed=3), ENTRIES)
    episodes = evaluation.run(lambda *counts: shown.append(counts))
    assert shown == [(0, 3, 0), (1, 3, 1), (2, 3, 1), (3, 3, 2)]
    assert [(each.scene, each.solved, each.certificate_refuted) for each in episodes] == [
        ("one", True, False),
        ("two", False, True),
        ("three", True, False),
    ]
    assert tuple(read_episodes(output)) == episodes
    told = json.loads((tmp_path / "new" / "r.run.json").read_text())
    assert told["settings"] == {"agent": "solver", "seed": 3, "max_steps": None}
    assert [task["task_id"] for task in told["tasks"]] == ["one", "two", "three"]
    assert told["rates"][-1]["tsr"]["good"] == 2
    assert {"git_commit", "git_dirty"} <= set(told)
    assert len(told["hashes"]["product"]) == 64
    assert sorted(path.name for path in output.parent.iterdir()) == ["r.jsonl", "r.run.json"]


@pytest.mark.long
def test_results_do_not_depend_on_the_number_of_processes(tmp_path: Path) -> None:
    one = run(tmp_path / "one.jsonl", "random", seed=5)
    assert run(tmp_path / "two.jsonl", "random", seed=5, workers=2) == one
    assert (tmp_path / "one.jsonl").read_bytes() == (tmp_path / "two.jsonl").read_bytes()
    other = run(tmp_path / "other.jsonl", "random", seed=6)
    assert [each.codes for each in other] != [each.codes for each in one]


def test_an_output_is_neither_overwritten_nor_mixed_unasked(tmp_path: Path) -> None:
    output = tmp_path / "r.jsonl"
    first = run(output)
    fewer = SCENES[:1]
    for scenes in (SCENES, fewer):
        with pytest.raises(EpisodeError, match=r"r\.jsonl: exists; choose another --output, or add --overwrite"):
            run(output, scenes=scenes)
    assert run(output, resume=True) == first
    for agent, scenes, seed in (("solver", SCENES, 1), ("random", SCENES, 0), ("solver", fewer, 0)):
        with pytest.raises(EpisodeError, match="belongs to another evaluation"):
            run(output, agent, scenes, resume=True, seed=seed)
    assert run(output, "random", overwrite=True)[0].model == "random"


@pytest.mark.long
@pytest.mark.parametrize("once", [long(True), False])
def test_a_scene_that_kills_its_process_is_begun_once_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, once: bool
) -> None:
    if once:
        monkeypatch.setenv("DIES_ONCE", str(tmp_path / "died"))
    scenes = [walk("one"), walk("deadly"), walk("three")]
    episodes = run(tmp_path / "r.jsonl", "deadly", scenes=scenes, workers=2)
    assert [each.solved for each in episodes] == [True, once, True]
    assert episodes[1].error == ("" if once else "its worker process ended with code -9, 2 times")
    assert (episodes[1].hops, episodes[1].scene) == (2, "deadly")


@pytest.mark.long
def test_a_killed_evaluation_goes_on_where_it_was(tmp_path: Path) -> None:
    output = tmp_path / "r.jsonl"
    command = [sys.executable, "-m", "tests.support.explorer.played", str(output), "2"]
    journal = tmp_path / "r.jsonl.partial.jsonl"
    environment = {**os.environ, "STALLS": "1"}
    with Process(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        assert becomes(lambda: journal.exists() and journal.read_bytes().count(b"\n") == 3)
        os.kill(running.pid, signal.SIGKILL)
        running.wait(timeout=PATIENCE)
    journal.write_bytes(journal.read_bytes() + b'{"index": 2, "re')
    scenes = [walk(name) for name in ("one", "two", "stalls")]
    with pytest.raises(EpisodeError, match="an evaluation was interrupted or still runs here; add --resume to go on"):
        run(output, "deadly", scenes=scenes)
    with pytest.raises(EpisodeError, match="cannot go on: seed was 0, now 1"):
        run(output, "deadly", scenes=scenes, resume=True, seed=1)
    with pytest.raises(EpisodeError, match="cannot go on: task 'two' has changed"):
        run(output, "deadly", scenes=[scenes[0], walk("two", lava=True), scenes[2]], resume=True)
    shown: list[Any] = []
    evaluation = Evaluation(scenes, "deadly", output, EvaluationOptions(resume=True), ENTRIES)
    assert [each.codes for each in evaluation.run(lambda *counts: shown.append(counts))] == [WINS] * 3
    assert shown == [(2, 3, 2), (3, 3, 3)]
    assert not journal.exists()


def test_what_cannot_be_played_is_named_and_leaves_nothing(tmp_path: Path) -> None:
    for scenes, words in (
        ([], "no scenes"),
        ([walk("one"), walk("one")], r"called 'one' \(scenes/one and scenes/one\): rename"),
    ):
        with pytest.raises(EpisodeError, match=words):
            run(tmp_path / "r.jsonl", scenes=scenes)
    good = walk("two")
    buried = replace(good, scene=replace(good.scene, spawn=Pose((0, 0, 0))))
    changed = replace(good, scene=replace(good.scene, inventory={"lever": 1}))
    for bad, words in (
        (buried, "the body cannot stand at the spawn"),
        (changed, "certificate: it belongs to another scene"),
    ):
        with pytest.raises(SceneError, match=rf"^scenes/two: {words}"):
            run(tmp_path / "r.jsonl", scenes=[walk("one"), bad])
    with pytest.raises(EpisodeError, match=rf"^{tmp_path}: is not a regular file; --output names a file"):
        run(tmp_path, overwrite=True)
    with pytest.raises(EpisodeError, match="unknown agent 'nobody'"):
        run(tmp_path / "r.jsonl", "nobody")
    with pytest.raises(EpisodeError, match="there is none"):
        run(tmp_path / "r.jsonl", scenes=[walk(certified=False)], workers=2)
    assert list(tmp_path.iterdir()) == []


def test_an_evaluation_that_fails_later_keeps_what_is_finished(tmp_path: Path) -> None:
    scenes = [walk("one"), walk("two", certified=False)]
    evaluation = Evaluation(scenes, "solver", tmp_path / "r.jsonl", EvaluationOptions(), ENTRIES)
    with pytest.raises(EpisodeError, match="there is none"):
        evaluation.run()
    assert evaluation.finished == 1
    assert (tmp_path / "r.jsonl.partial.jsonl").exists()
