"""Runs with problem writers over real MiniGrid worlds: stopped, killed and repeated, they end the same."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from spca.common.errors import BudgetReached
from spca.runs.recording.folder import RunFolder
from spca.writers.library import WriterLibrary
from tests.support.spca.starting import Learned


class Compiled(Learned):
    """Three levels of one family: the first gives its writer; that plans the others, whose door has to be coded for."""

    ids = ("BabyAI-GoToLocal-v0", "BabyAI-GoToDoor-v0", "BabyAI-GoToRedBall-v0")

    def kept(self) -> dict[str, str]:
        """What the run has learned, by file."""
        path = self.folder.path
        files = (each for name in ("agents", "pddl", "trajectories") for each in (path / name).rglob("*"))
        return {str(each.relative_to(path)): each.read_text() for each in files if each.is_file()}

    def counters(self, level: int) -> Mapping[str, int]:
        counters: Mapping[str, int] = self.folder.read_finished()[level]["counters"]
        return counters


def test_the_worker_of_the_writers_ends_with_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    close, closed = WriterLibrary.close, list[WriterLibrary]()

    def noted(library: WriterLibrary) -> None:
        closed.append(library)
        close(library)

    monkeypatch.setattr(WriterLibrary, "close", noted)
    with pytest.raises(BudgetReached):
        Compiled(tmp_path, max_calls=1).learn()
    assert len(closed) == 1


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Compiled:
    return Compiled(tmp_path_factory.mktemp("compiled")).learn()


def test_one_answer_plans_for_the_levels_to_come(whole: Compiled) -> None:
    assert [call["event"] for call in whole.calls] == ["planner_call", "coder_call", "coder_call"]
    assert [record["round"] for record in whole.book] == [1, 1, 0]
    assert (whole.counters(0)["writer_accepted"], whole.counters(0)["planner_compiled"]) == (1, 0)
    assert [whole.counters(n)["planner_compiled"] for n in (1, 2)] == [1, 1]
    assert [summary["outcome"] for summary in whole.folder.read_finished()] == ["success"] * 3
    (writer,) = whole.folder.state()["writers"]
    assert (writer["born"], writer["solved"], writer["failed"]) == (f"a/{Compiled.ids[0]}", 2, 0)
    assert len({name for name in whole.kept() if name.startswith("pddl/writers/")}) == 3


@pytest.mark.long
def test_a_cap_that_is_reached_in_round_0_loses_nothing(whole: Compiled, tmp_path: Path) -> None:
    stopped = Compiled(tmp_path, max_calls=2)
    with pytest.raises(BudgetReached, match="--max-calls 2"):
        stopped.learn()
    assert len(stopped.folder.read_finished()) == 1
    again = Compiled(tmp_path, max_calls=99, resume=stopped.folder.run_id).learn()
    assert again.results() == whole.results()
    assert again.kept() == whole.kept()
    assert len(again.book) == len(whole.book)


@pytest.mark.parametrize("level", [2, *(pytest.param(level, marks=pytest.mark.long) for level in (1, 3))])
def test_a_run_that_is_killed_before_a_commit_ends_the_same(
    whole: Compiled, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, level: int
) -> None:
    commit = RunFolder.commit

    def killed(self: RunFolder, state: Mapping[str, Any]) -> None:
        if state["levels"] == level:
            raise KeyboardInterrupt
        commit(self, state)

    run = Compiled(tmp_path)
    monkeypatch.setattr(RunFolder, "commit", killed)
    with pytest.raises(KeyboardInterrupt):
        run.learn()
    monkeypatch.undo()
    again = Compiled(tmp_path, resume=run.folder.run_id).learn()
    assert again.results() == whole.results()
    assert again.kept() == whole.kept()
    assert again.folder.state()["writers"] == whole.folder.state()["writers"]
    assert len(again.book) == len(whole.book)


@pytest.mark.long
def test_a_recorded_run_is_repeated_call_by_call(whole: Compiled, tmp_path: Path) -> None:
    recorded = f"replay/{whole.folder.path}"
    names = dict.fromkeys(("planner_model", "planner_small_model", "coder_model"), recorded)
    again = Compiled(tmp_path, **names).learn()
    assert again.results() == whole.results()
    assert again.kept() == whole.kept()
    assert [record["round"] for record in again.book] == [1, 1, 0]


@pytest.mark.long
def test_without_compiled_planning_every_level_is_asked_for(tmp_path: Path) -> None:
    run = Compiled(tmp_path, compile=False).learn()
    assert [call["event"] for call in run.calls].count("planner_call") == 3
    assert run.folder.state()["writers"] == []
    assert not (run.folder.path / "pddl/writers").exists()
    questions = (json.dumps(run.folder.read_json(f"llm/{name}")["messages"]) for name in run.transcripts)
    assert not any("make_problem" in text or "writers>" in text for text in questions)
