"""Two efforts of a model are two models wherever a run names one."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.fakes.reference_server import Line, ReferenceServer
from tests.support.commands import curriculum, main_py, read
from tests.support.spca.served import book, calls, imbalance, model_flags, results

pytestmark = pytest.mark.timeout(900)

MODEL = "openai/gpt-6.1-sol"


class Runs:
    """Runs of one small level with the large planner and the coder of one model, which share a cache."""

    def __init__(self, home: Path) -> None:
        self.home, self.folder, self._known = home, home / "runs", set[Path]()
        chosen = curriculum(home / "c.json", navigation=("MiniGrid-Empty-5x5-v0",))
        self.where = ("--curriculum", chosen, "--runs", self.folder, "--workspace", home / "workspace")

    def learn(self, *flags: object, **environ: str) -> Path:
        done = main_py(self.home, *self.where, "--quiet", *flags, **environ)
        assert (done.returncode, done.stderr) == (0, "")
        (new,) = {path.parent for path in self.folder.glob("*/run.json")} - self._known
        self._known.add(new)
        return new


def efforts(asked: Sequence[Line]) -> list[str | None]:
    return [line.effort for line in asked]


@pytest.mark.long
def test_an_effort_is_asked_for_booked_and_told_apart(tmp_path: Path) -> None:
    runs = Runs(tmp_path)
    with ReferenceServer() as server:
        to_server = (*model_flags((MODEL,) * 3), "--base-url", server.base_url, "--cache")
        high = runs.learn(*to_server, "--planner-effort", "high", SPCA_CODER_EFFORT="low")
        assert efforts(server.asked) == ["high", "low"]
        first = len(server.asked)
        less = runs.learn(*to_server, "--planner-effort", "low", "--coder-effort", "low")
        assert efforts(server.asked[first:]) == ["low"], "the coder is served from the cache, the planner asked"
        assert imbalance(high, server.asked[:first]) == imbalance(less, server.asked[first:]) == []
    models = {"planner": f"{MODEL}@high", "planner_small": MODEL, "coder": f"{MODEL}@low"}
    assert read(high / "run.json")["models"] == models
    assert [record["model"] for record in book(high)] == [f"{MODEL}@high", f"{MODEL}@low"]
    told = [json.loads(path.read_text(encoding="utf-8")) for path in sorted((high / "llm").glob("[0-9]*.json"))]
    assert [(each["model"], each["effort"]) for each in told] == [(f"{MODEL}@high", "high"), (f"{MODEL}@low", "low")]
    assert calls(high) == calls(less)
    replayed = runs.learn("--planner-model", f"replay/{high}")
    assert (calls(replayed), results(replayed)) == (calls(high), results(high))
    compared = ("report", "--compare", less.name, high.name, "--no-page", "--runs", runs.folder)
    shown = main_py(tmp_path, *compared).stdout
    for each in (f"{MODEL}@low (planner, coder)", f"{MODEL}@high (planner)", f"{MODEL}@low (coder)"):
        assert each in " ".join(shown.split())


def test_an_effort_that_a_model_lacks_costs_nothing(tmp_path: Path) -> None:
    runs = Runs(tmp_path)
    with ReferenceServer() as server:
        flags = (*runs.where, "--base-url", server.base_url, "--coder-effort", "none")
        done = main_py(tmp_path, *flags)
        assert (done.returncode, done.stdout, server.lines) == (2, "", [])
    assert done.stderr == (
        f"error: {MODEL} does not take the effort none: choose one of low, medium, high, xhigh, max, or leave it out\n"
    )
    assert not runs.folder.exists()
