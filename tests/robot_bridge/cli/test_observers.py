"""A second model that describes what the first one looks at: its calls, its caps, and that nothing ends with it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from robot_bridge.cli import main
from robot_bridge.cli.models import AccountedModel, account_calls, resolve_models
from robot_bridge.cli.options import ModelOptions, RobotOptions
from robot_bridge.contracts import Tool
from robot_bridge.errors import BudgetSpent, ModelEnded, ModelFailure, SetupError
from robot_bridge.exploration.asker import LockstepLink
from robot_bridge.exploration.endings import Ending, Summary
from robot_bridge.exploration.explorer import Explorer
from spca.common.errors import SettingsError
from spca.llm.calls.desk import CallDesk
from tests.fakes.faults import FaultServer, answering, busy, calling
from tests.fakes.openai_wire import CHAT
from tests.robot_bridge.exploration.test_observing import filming, line
from tests.support.robot_bridge.command_line import parse_options
from tests.support.robot_bridge.kinematic import rig
from tests.support.robot_bridge.scripted import LOOK, SHADOW
from tests.support.spca.call_requests import ref

JPEG = b"\xff\xd8picture\xff\xd9"
NAMES = tuple(tool.value for tool in Tool)
LIMIT_S = 8.0
KEY = "the-key-of-the-lab-4711"


@pytest.fixture
def deciding() -> Iterator[FaultServer]:
    with FaultServer(CHAT) as server:
        server.reply = calling(CHAT, *LOOK)
        yield server


@pytest.fixture
def describing(monkeypatch: pytest.MonkeyPatch) -> Iterator[FaultServer]:
    monkeypatch.setenv("LAB_KEY", KEY)
    with FaultServer(CHAT) as server:
        server.reply = answering(CHAT, "a red ball")
        yield server


@pytest.fixture
def options(deciding: FaultServer, describing: FaultServer) -> ModelOptions:
    """A small model navigates, one on another server describes."""
    return ModelOptions(
        model="openai/small",
        observe_model="lab/large@high",
        base_url=deciding.base_url,
        servers=(f"lab={describing.base_url},LAB_KEY",),
        max_calls=6,
    )


def made(options: ModelOptions, folder: Path) -> tuple[AccountedModel, CallDesk]:
    folder.mkdir(exist_ok=True)
    model, desk = account_calls(resolve_models(options, RobotOptions()), options, 1, folder)
    assert model is not None
    assert desk is not None
    return model, desk


def explored(options: ModelOptions, folder: Path) -> tuple[Summary, CallDesk, AccountedModel]:
    """Some seconds in a room, with a camera; answers take the time that they state."""
    model, desk = made(options, folder)
    controller, robot, _ = rig(SHADOW, room=4.0)
    filming(robot)
    host = Explorer(controller, model, LockstepLink(controller.clock))
    return host.run(0.2), desk, model


def test_each_is_asked_at_its_server_with_its_key_and_effort(
    deciding: FaultServer, describing: FaultServer, options: ModelOptions, tmp_path: Path
) -> None:
    model, desk = made(options, tmp_path / "run")
    assert model.ask("s", "u", JPEG, NAMES, LIMIT_S).calls == (LOOK,)
    assert model.describe("What is there?", JPEG, LIMIT_S).text == "a red ball"
    (decision,), (description,) = deciding.posted, describing.posted
    assert (decision.body["model"], description.body["model"]) == ("small", "large")
    assert (decision.body.get("reasoning_effort"), description.body["reasoning_effort"]) == (None, "high")
    assert description.body["messages"][0]["content"][1]["image_url"]["detail"] == "high"
    assert description.headers["authorization"] == f"Bearer {KEY}"
    assert KEY not in str(decision.headers)
    assert [(str(each.model), each.place.phase) for each in desk.ledger.records] == [
        ("openai/small", "navigate"),
        ("lab/large@high", "observe"),
    ]
    written = "".join(path.read_text() for path in (tmp_path / "run").rglob("*") if path.is_file())
    assert "lab/large@high" in written
    assert KEY not in written


def test_both_spend_from_one_budget(options: ModelOptions, tmp_path: Path) -> None:
    model, _ = made(replace(options, max_calls=3), tmp_path)
    model.ask("s", "1", None, NAMES, LIMIT_S)
    model.describe("2", JPEG, LIMIT_S)
    model.ask("s", "3", None, NAMES, LIMIT_S)
    with pytest.raises(BudgetSpent, match="3 requests were sent"):
        model.describe("4", JPEG, LIMIT_S)
    with pytest.raises(BudgetSpent):
        model.ask("s", "5", None, NAMES, LIMIT_S)


def test_one_that_ends_is_asked_no_more_and_ends_nothing_else(
    describing: FaultServer, options: ModelOptions, tmp_path: Path
) -> None:
    describing.reply = CHAT.refused(401, "no such key", "invalid_api_key")
    model, _ = made(options, tmp_path)
    for _ in range(3):
        with pytest.raises(ModelFailure, match=r"refused the key.*LAB_KEY") as caught:
            model.describe("What?", JPEG, LIMIT_S)
        assert not isinstance(caught.value, ModelEnded)
    assert (len(describing.posted), model.ended) == (1, "")
    assert "LAB_KEY" in model.unseeing
    assert model.ask("s", "u", None, NAMES, LIMIT_S).calls == (LOOK,)


def test_one_that_is_gone_is_named_with_its_own_flag(
    describing: FaultServer, options: ModelOptions, tmp_path: Path
) -> None:
    describing.reply = CHAT.refused(404, "no such model", "model_not_found")
    model, _ = made(options, tmp_path)
    with pytest.raises(ModelFailure, match="name another one with --observe-model"):
        model.describe("What?", JPEG, LIMIT_S)


def test_one_that_fails_is_asked_again(describing: FaultServer, options: ModelOptions, tmp_path: Path) -> None:
    describing.reply = busy(CHAT, {})
    model, _ = made(options, tmp_path)
    for _ in range(2):
        with pytest.raises(ModelFailure):
            model.describe("What?", JPEG, LIMIT_S)
    assert len(describing.posted) == 2


def test_without_one_the_navigator_describes(deciding: FaultServer, options: ModelOptions, tmp_path: Path) -> None:
    model, _ = made(replace(options, observe_model=None), tmp_path)
    deciding.reply = answering(CHAT, "a door")
    assert model.describe("What?", JPEG, LIMIT_S).text == "a door"
    assert deciding.posted[-1].body["model"] == "small"


@pytest.mark.long
def test_descriptions_reach_the_navigator(deciding: FaultServer, options: ModelOptions, tmp_path: Path) -> None:
    summary, desk, _ = explored(options, tmp_path)
    assert summary.ended == Ending.BUDGET
    phases = [each.place.phase for each in desk.ledger.records]
    assert phases == ["navigate", "observe"] * 3
    told = deciding.posted[1].body["messages"][1]["content"]
    text = told if isinstance(told, str) else told[0]["text"]
    assert 'description: "a red ball"' in line(text, "PREVIOUS ACTION: ")


@pytest.mark.long
def test_an_exploration_outlives_it(
    deciding: FaultServer, describing: FaultServer, options: ModelOptions, tmp_path: Path
) -> None:
    describing.reply = CHAT.refused(401, "no such key", "invalid_api_key")
    summary, _, model = explored(replace(options, max_calls=200), tmp_path)
    assert (summary.ended, len(describing.posted)) == (Ending.TIME, 1)
    assert len(deciding.posted) > 2
    assert model.unseeing


def test_its_answers_are_replayed_with_the_time_that_they_took(options: ModelOptions, tmp_path: Path) -> None:
    model, desk = made(options, tmp_path / "first")
    model.describe("What?", JPEG, LIMIT_S)
    again, _ = made(ModelOptions(model=f"replay/{tmp_path / 'first'}"), tmp_path / "again")
    seen = again.describe("What?", JPEG, LIMIT_S)
    assert (seen.text, seen.latency_s) == ("a red ball", desk.ledger.records[0].latency_s)


@pytest.mark.long
def test_a_run_with_it_is_replayed(options: ModelOptions, tmp_path: Path) -> None:
    first, _, _ = explored(options, tmp_path / "first")
    replayed = ModelOptions(model=f"replay/{tmp_path / 'first'}", max_calls=6)
    for name, again in (("one", replayed), ("two", replace(replayed, observe_model=replayed.model))):
        second, books, model = explored(again, tmp_path / name)
        assert (model.unseeing, second.calls, second.descriptions) == ("", first.calls, first.descriptions)
        assert [each.place.phase for each in books.ledger.records] == ["navigate", "observe"] * 3


def test_prices_come_from_a_table_of_the_users(options: ModelOptions, tmp_path: Path) -> None:
    with pytest.raises(SetupError, match=r"the price of openai/small is unknown, .* give --max-calls N"):
        resolve_models(replace(options, max_calls=None), RobotOptions())
    table = tmp_path / "mine.json"
    table.write_text(json.dumps({"models": {"openai/small": {"input": 1e6, "output": 0}}}))
    priced = replace(options, max_calls=None, model_table=str(table))
    with pytest.raises(SetupError, match=r"the price of lab/large@high is unknown"):
        resolve_models(priced, RobotOptions())
    table.write_text(json.dumps({"models": {"*/*": {"input": 1e6, "output": 0, "least_effort": "minimal"}}}))
    _, desk = made(replace(priced, max_cost=20.0, observe_model="lab/large"), tmp_path / "run")
    assert desk.catalogue.price(ref("lab/large")) is not None
    model, desk = made(replace(priced, max_cost=20.0, observe_model="lab/large"), tmp_path / "again")
    model.describe("What?", JPEG, LIMIT_S)
    assert desk.ledger.records[0].cost == 11
    with pytest.raises(SettingsError, match=r"--model-table .*absent\.json"):
        resolve_models(replace(options, model_table="absent.json"), RobotOptions())


def test_an_effort_is_a_part_of_the_name() -> None:
    flags = ("--model", "openai/gpt-6-luna", "--effort", "low", "--observe-model", "lab/m", "--observe-effort", "max")
    options = parse_options(("explore", *flags)).models.name_efforts()
    assert (options.model, options.observe_model) == ("openai/gpt-6-luna@low", "lab/m@max")


@pytest.mark.parametrize(
    ("flags", "told"),
    [
        (
            ("--effort", "low"),
            "--effort low: reference/navigator reasons as it does: leave --effort out",
        ),
        (("--model", "openai/x", "--observe-effort", "low"), "--observe-effort low: give the model that is to reason"),
        (("--model", "openai/x", "--effort", "much"), "--effort much: an effort is one of none, minimal, low"),
        (("--model", "openai/x@low", "--effort", "high"), "--effort high contradicts openai/x@low"),
        (("--model", "replay/x", "--effort", "high"), "--effort high: replay/x reasons as it does"),
    ],
)
def test_an_effort_that_cannot_be_meant_is_told(
    flags: tuple[str, ...], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code = main(("explore", *flags))
    said = capsys.readouterr().err
    assert (code, said.count("\n"), told in said) == (2, 1, True), said


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--model", "none", "--observe-model", "openai/x"), "--model none never looks"),
        (("--observe-model", "lab/x"), "unknown model 'lab/x'"),
        (("--observe-model", "none"), "unknown model 'none'"),
        (("--observe-model", "openai/gpt-6.1-sol"), "OPENAI_API_KEY"),
        (("--observe-model", "google/gemini-3.5-flash-lite@max"), "does not take the effort max: choose one of"),
        (("--observe-model", "openai/"), "'openai/' lacks the name of a model"),
        (("--server", "openai=http://localhost:1/v1"), "--server openai: openai/... are models already"),
        (("--server", "lab=nonsense"), "--server lab: an address looks like"),
        (("--model", "human/desk", "--robot", "ros2"), "human/desk: a person answers too late for a real robot"),
    ],
)
def test_a_mistake_is_told_before_the_robot_moves(
    arguments: tuple[str, ...],
    told: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(("explore", *arguments)) == 2
    said = capsys.readouterr()
    assert (said.out, said.err.count("\n"), told in said.err) == ("", 1, True), said.err
    assert not list(tmp_path.iterdir())


def test_one_that_was_shut_down_is_refused_before_the_robot_moves(
    deciding: FaultServer, describing: FaultServer, options: ModelOptions
) -> None:
    deciding.models, describing.models = ("small",), ("large",)
    describing.ends = {"large": "2026-01-01"}
    with pytest.raises(SetupError, match=r"lab/large@high was shut down.*with --model or --observe-model"):
        resolve_models(options, RobotOptions())


def test_a_summary_says_who_described(
    deciding: FaultServer, describing: FaultServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    where = ("--no-camera", "--minutes", "0.05", "--world", "MiniGrid-Empty-6x6-v0", "--output", str(tmp_path / "run"))
    models = ("--model", "openai/small", "--observe-model", "lab/large", "--base-url", deciding.base_url)
    servers = ("--server", f"lab={describing.base_url}", "--max-calls", "4")
    main(("explore", *where, *models, *servers))
    said = capsys.readouterr().out
    assert "openai/small explores" in said
    assert " asked of lab/large, " in said
    assert "lab/large describes what it looks at" in said
    kept = json.loads((tmp_path / "run" / "summary.json").read_text())["settings"]
    assert (kept["model"], kept["observe_model"]) == ("openai/small", "lab/large")
    assert parse_options(("explore", *models, *servers)).models.servers == tuple(kept["servers"])
