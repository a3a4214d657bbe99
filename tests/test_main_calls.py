"""The calls of runs over real MiniGrid worlds: in the books, repeated from a recording, never asked twice."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from main import MAX_SPA_ROUNDS
from spca.common.errors import BudgetReached
from spca.llm.calls.packed import PACKED, pack
from spca.prompts import Wording
from spca.runs.recording.folder import RunFolder
from tests.support.spca.starting import Learned


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


@pytest.mark.long  # tests/e2e/test_examples.py replays a packed run
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


@pytest.mark.long
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
