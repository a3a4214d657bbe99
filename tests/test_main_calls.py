"""The calls of runs over real MiniGrid worlds: in the books, repeated from a recording, never asked twice."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from main import MAX_SPA_ROUNDS, Run
from minigridenv import MiniGridEnv
from spca.common.errors import BudgetReached
from spca.common.files import make_folder
from spca.llm.calls.packed import PACKED, pack
from spca.prompts import Wording
from spca.runs import cli
from spca.runs.curriculum import Task
from spca.runs.display import Display
from spca.runs.folder import RunFolder
from tests.support.spca.doubles import AGENT
from tests.support.spca.scenes import DOOR_KEY, EMPTY
from tests.support.spca.starting import prepared


class Learned:
    """A run over a few levels, on the reference model unless told otherwise, in this process."""

    ids = (EMPTY, DOOR_KEY)

    def __init__(self, root: Path, **given: object) -> None:
        chosen = cli.settings_from({"workspace": "w", "quiet": True, **given}, {}, root, root)
        info = {"settings": asdict(chosen), "sandbox": "strict"}
        runs = root / "runs"
        self._resumed = RunFolder(runs / str(given["resume"])) if "resume" in given else None
        self.folder = self._resumed or RunFolder.create(runs, info, "[]", AGENT)
        self._tasks = [Task(n, "a", "b", "c", env_id) for n, env_id in enumerate(self.ids)]
        self._settings = chosen
        make_folder(root / "w")

    def learn(self) -> Learned:
        run = prepared(self._settings, self.folder, self._tasks)
        Run(run, MiniGridEnv, Display(self._tasks, quiet=True)).learn()
        return self

    @property
    def book(self) -> list[dict[str, Any]]:
        """The records of all requests."""
        lines = (self.folder.path / "calls.jsonl").read_text(encoding="utf-8").splitlines()
        return [json.loads(line) for line in lines]

    @property
    def transcripts(self) -> list[str]:
        return sorted(path.name for path in (self.folder.path / "llm").iterdir())

    @property
    def calls(self) -> list[dict[str, Any]]:
        """The events of all calls."""
        lines = (self.folder.path / "metrics.jsonl").read_text(encoding="utf-8").splitlines()
        return [e for e in map(json.loads, lines) if e["event"] in ("planner_call", "coder_call")]

    def results(self) -> dict[str, Any]:
        """What two equal runs have in common."""
        summary = self.folder.read_json("summary.json")
        return {key: value for key, value in summary.items() if key not in ("run_id", "usage")}


@pytest.fixture(scope="module")
def learned(tmp_path_factory: pytest.TempPathFactory) -> Learned:
    return Learned(tmp_path_factory.mktemp("learned")).learn()


def test_every_request_of_a_run_is_in_the_books_with_its_place(learned: Learned) -> None:
    run = learned.folder.run_id
    assert [record["number"] for record in learned.book] == list(range(1, len(learned.book) + 1))
    for record in learned.book:
        assert (record["run"], record["category"], record["seed"]) == (run, "a", 1)
        assert record["level"] == Learned.ids[record["index"] - 1]
        assert record["round"] in range(1, MAX_SPA_ROUNDS + 1)
        assert (record["outcome"], record["cost"], record["attempt"]) == ("answered", 0.0, 1)
        assert record["model"] == f"reference/{record['phase']}"
        assert (learned.folder.path / record["transcript"]).is_file()
    assert [(c["mode"], c["transcript"], c["requests"], c["source"]) for c in learned.calls] == [
        (record["mode"], record["transcript"], 1, "model") for record in learned.book
    ]
    usage = learned.folder.read_json("summary.json")["usage"]
    counters = learned.folder.read_json("summary.json")["counters"]
    assert usage["requests"] == usage["answered"] == len(learned.book)
    assert usage["requests"] == counters["planner_calls"] + counters["coder_calls"]
    assert usage["categories"].keys() == {"a"}
    assert learned.folder.info()["usage"] == usage


def test_a_packed_run_ends_the_same_with_other_prompts(
    learned: Learned, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The prompts that differ are counted, those of a process that was stopped included."""
    (tmp_path / PACKED).write_bytes(pack([learned.folder.read_json(f"llm/{name}") for name in learned.transcripts]))
    recorded = dict.fromkeys(("planner_model", "planner_small_model", "coder_model"), f"replay/{tmp_path}")
    stopped = Learned(tmp_path, **recorded, max_calls=3)
    render = Wording.render

    def brief(self: Wording, name: str, /, **given: object) -> str:
        return render(self, name, **given) + "\nBe brief." * name.startswith("planner")

    monkeypatch.setattr(Wording, "render", brief)
    with pytest.raises(BudgetReached):
        stopped.learn()
    again = Learned(tmp_path, **recorded, resume=stopped.folder.run_id).learn()
    assert again.results() == learned.results()
    differing = [record["phase"] for record in again.book if record.get("differs")]
    assert 0 < len(differing) < len(again.book) == len(learned.book)
    assert set(differing) == {"planner"}
    assert again.folder.info()["usage"]["differing"] == len(differing)


def test_a_run_stopped_by_its_budget_goes_on_without_asking_twice(learned: Learned, tmp_path: Path) -> None:
    stopped = Learned(tmp_path, max_calls=3)
    with pytest.raises(BudgetReached, match="--max-calls 3"):
        stopped.learn()
    assert len(stopped.book) == 3
    aborted = [read for read in map(json.loads, _texts(stopped.folder)) if read["outcome"] == "aborted"]
    assert [summary["reason"] for summary in aborted] == ["budget: 3 requests were sent (--max-calls 3)"]
    assert sum(summary["usage"]["requests"] for summary in map(json.loads, _texts(stopped.folder))) == 3
    assert stopped.folder.info()["usage"]["requests"] == 3
    whole = Learned(tmp_path, max_calls=99, resume=stopped.folder.run_id).learn()
    assert whole.results() == learned.results()
    assert whole.transcripts == learned.transcripts
    assert len(whole.book) == len(learned.book)
    assert "resumed" in {call["source"] for call in whole.calls}


def _texts(folder: RunFolder) -> list[str]:
    return [path.read_text(encoding="utf-8") for path in folder.path.glob("summaries/summary_*.json")]
