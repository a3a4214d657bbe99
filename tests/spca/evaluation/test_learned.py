"""Which agent an evaluation freezes."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from spca.common.errors import SettingsError
from spca.contracts import AgentSource
from spca.errors import ResumeError
from spca.evaluation.eval_folder import EvaluationFolder, EvaluationSettings
from spca.evaluation.learned import read_learned
from spca.evaluation.seeds import Seeds
from spca.evaluation.selection import list_warnings
from spca.runs.recording.folder import RunFolder
from spca.runs.settings import Settings
from tests.support.spca.doubles import ROOT

INITIAL = (ROOT / "agent.py").read_text(encoding="utf-8")
CURRICULUM = '[{"category_name": "A", "skill": "s", "levels": [{"name": "l", "configs": ["MiniGrid-Empty-5x5-v0"]}]}]'


def saying(said: str) -> str:
    """The text of an agent."""
    return f"{INITIAL}# {said}\n"


def finished(category: str, outcome: str, agent_file: str) -> dict[str, Any]:
    return {"level": {"category": category}, "outcome": outcome, "agent_file": agent_file}


def run_in(runs: Path, *levels: tuple[str, str, str], planned: int = 3, **settings: object) -> RunFolder:
    """A run whose levels (category, outcome, what its agent says) are finished."""
    folder = RunFolder.create(runs, {"settings": settings}, CURRICULUM, AgentSource(INITIAL))
    summaries, agent = [], "agents/agent_v0.py"
    for number, (category, outcome, said) in enumerate(levels, 1):
        name = folder.save_version(number, AgentSource(saying(said)), None, solved=outcome == "success")
        agent = name if outcome == "success" else agent
        summaries.append(finished(category, outcome, name))
    folder.commit({"finished": summaries, "agent": agent, "category": "A", "trusted": None, "writers": []})
    folder.write_json("summary.json", {"finished": len(levels), "levels": planned})
    return folder


INITIAL_FILE = "agents/agent_v0.py"
WRITER = {"name": "go", "version": 1, "born": "x", "cases": [], "solved": 0, "failed": 0}
LEVELS = (("A", "success", "a1"), ("A", "fail", "a2"), ("B", "success", "b"))


def found(given: str | None, tmp_path: Path) -> Any:
    return read_learned(given, tmp_path / "runs", tmp_path, ROOT)


def test_the_latest_finished_run_is_taken(tmp_path: Path) -> None:
    folder = run_in(tmp_path / "runs", *LEVELS, rename_words=4)
    (tmp_path / "runs" / "zz").mkdir()
    unfinished = run_in(tmp_path / "runs", *LEVELS[:1])
    unfinished.path.rename(unfinished.path.with_name("zzz"))
    taken = found(None, tmp_path)
    assert (taken.source, taken.agents[""].text, taken.text) == (folder.run_id, saying("b"), CURRICULUM)
    assert (taken.settings, taken.categories) == ({"rename_words": 4}, ("A", "B"))
    assert found("zzz", tmp_path).agents[""].text == saying("a1")
    assert found(str(folder.path), tmp_path / "runs").source == folder.run_id


def test_a_run_that_has_levels_to_come_is_told(tmp_path: Path) -> None:
    folder = run_in(tmp_path / "runs")
    assert found(folder.run_id, tmp_path).warning == f"{folder.run_id} has learned 0 of 1 levels so far"
    run_in(tmp_path / "runs", *LEVELS[:1], planned=1)
    assert found(None, tmp_path).warning == ""


def test_the_seed_of_learning_is_not_unseen(tmp_path: Path) -> None:
    folder = run_in(tmp_path / "runs", *LEVELS, seed=7)
    taken = found(None, tmp_path)
    assert list_warnings(taken, None, (6, 7)) == [f"seed 7 is no unseen one: {folder.run_id} has learned on it"]
    assert list_warnings(taken, None, (6, 8)) == []


@pytest.mark.parametrize(
    ("learned_with", "words", "said"),
    [
        (None, None, ""),
        (3, 3, ""),
        (None, 3, "was learned with the true words: writers and actions that spell words out cannot succeed"),
        (4, 3, "was learned with --rename-words 4: writers"),
    ],
)
def test_other_words_than_those_of_learning_are_no_test_of_it(
    learned_with: int | None, words: int | None, said: str, tmp_path: Path
) -> None:
    run_in(tmp_path / "runs", *LEVELS, rename_words=learned_with)
    warnings = list_warnings(found(None, tmp_path), words, (1,))
    assert len(warnings) == bool(said)
    assert said in "".join(warnings)


def test_without_a_common_library_each_category_has_its_own(tmp_path: Path) -> None:
    run_in(tmp_path / "runs", *LEVELS, ("C", "fail", "c"), planned=4, carry_over=False)
    taken = found(None, tmp_path)
    agents = taken.agents
    assert taken.of_category == "A"  # the state's
    assert {category: agent.text for category, agent in agents.items()} == {
        "": saying("b"),
        "A": saying("a1"),
        "B": saying("b"),
        "C": INITIAL,
    }


def test_a_file_has_no_writers_and_the_usual_curriculum(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(INITIAL, encoding="utf-8")
    taken = found("mine.py", tmp_path)
    assert (taken.source, taken.agents[""].text, taken.writers, taken.settings) == ("mine.py", INITIAL, (), {})
    assert len(taken.text) > 1000


def test_a_file_must_hold_an_agent_that_may_run(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("import os\n", encoding="utf-8")
    with pytest.raises(SettingsError, match=r"^--agent .*mine\.py: "):
        found("mine.py", tmp_path)


@pytest.mark.parametrize(
    ("state", "said"),
    [
        ({"agent": "../../secret"}, "secret lies outside of the folder of its run"),
        ({"agent": "/etc/hostname"}, "hostname lies outside of the folder of its run"),
        ({"agent": 5}, "cannot be read: its state is not what a run has left"),
        ({"finished": [5]}, "its state is not"),
        ({"writers": [{"name": "go"}]}, "its state is not"),
        ({"writers": [WRITER | {"name": "../../../x"}]}, "lies outside"),
        ({"writers": [WRITER | {"cases": ["../secret"]}]}, "lies outside"),
        ({"writers": [WRITER | {"cases": [INITIAL_FILE]}]}, "cannot be read"),
    ],
)
def test_a_run_by_somebody_else_is_read_in_its_own_folder_only(
    state: dict[str, Any], said: str, tmp_path: Path
) -> None:
    folder = run_in(tmp_path / "runs", *LEVELS)
    (folder.path / "pddl/writers/go").mkdir(parents=True)
    for kind in ("py", "pddl"):
        (folder.path / f"pddl/writers/go/v001.{kind}").touch()
    (tmp_path / "secret").write_text("{}")
    folder.commit({**folder.state(), **state})
    with pytest.raises(ResumeError, match=said):
        found(folder.run_id, tmp_path)


def test_a_run_must_have_an_agent_that_may_run(tmp_path: Path) -> None:
    folder = run_in(tmp_path / "runs", *LEVELS)
    agent = folder.path / folder.state()["agent"]
    agent.write_text("import os\n" + INITIAL)
    with pytest.raises(SettingsError, match=r"agent_v3\.py: line 1: module os is not available"):
        found(folder.run_id, tmp_path)


def test_no_finished_run_says_how_to_learn_one(tmp_path: Path) -> None:
    run_in(tmp_path / "runs", *LEVELS[:1])
    with pytest.raises(ResumeError, match=r"no finished run in .*: learn one with python main\.py run"):
        found(None, tmp_path)


def test_a_folder_gives_back_what_was_frozen(tmp_path: Path) -> None:
    run_in(tmp_path / "runs", *LEVELS, carry_over=False)
    settings = EvaluationSettings("run", Seeds.read("1:2"), "none", Settings("", "", ""), ids="*", attempts=3)
    folder = EvaluationFolder.create(
        tmp_path / "runs", settings, found(None, tmp_path), {"versions": {}, "sandbox": "strict"}
    )
    again = EvaluationFolder.find(tmp_path / "runs", folder.id)
    assert again.settings == settings
    assert {category: agent.text for category, agent in again.agents().items()}["A"] == saying("a1")
    assert again.curriculum.read_text() == CURRICULUM
    assert (again.writers(), again.is_finished) == (((), "A"), False)
    (folder.path / "evaluation.json").write_text('{"settings": {"agent": 1}, "versions": {}, "sandbox": "strict"}')
    with pytest.raises(ResumeError, match="begun by another version"):
        EvaluationFolder.load(folder.path)


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("evaluation.json", {"seeds": "9:1"}, "evaluation.json: seeds: Value error, invalid seeds 9:1"),
        ("evaluation.json", {"attempts": "2"}, "evaluation.json: attempts: Input should be a valid integer"),
        ("frozen/agents.json", {"": 5}, "agents.json cannot be read: it is incomplete"),
        ("frozen/agents.json", {"": "import os"}, "agents.json cannot be used: line 1"),
        ("frozen/writers.json", {"writers": [5], "of_category": None}, "writers.json cannot be read"),
    ],
)
def test_a_folder_that_was_changed_is_named(tmp_path: Path, name: str, content: dict[str, Any], said: str) -> None:
    run_in(tmp_path / "runs", *LEVELS)
    settings, made_with = (
        EvaluationSettings("run", Seeds.read("1:2"), "none", Settings("", "", "")),
        {"versions": {}, "sandbox": "strict"},
    )
    folder = EvaluationFolder.create(tmp_path / "runs", settings, found(None, tmp_path), made_with)
    if name == "evaluation.json":
        content = dict(folder.record) | {"settings": settings.record() | content}
    (folder.path / name).write_text(json.dumps(content))
    with pytest.raises(ResumeError, match=re.escape(said)):
        (EvaluationFolder.load(folder.path), folder.agents(), folder.writers())
