"""A model over a provider: what is asked, what it costs, what it comes to where it fails."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from robot_bridge.cli import main
from robot_bridge.cli.models import AccountedModel, account_calls, resolve_models
from robot_bridge.cli.options import ModelOptions, RobotOptions
from robot_bridge.contracts import Tool
from robot_bridge.decisions.navigators.llm_navigator import SYSTEM_PROMPT
from robot_bridge.decisions.tools import TOOL_DEFINITIONS
from robot_bridge.errors import ModelEnded, ModelFailure
from robot_bridge.exploration.endings import Ending
from spca.llm.calls.desk import CallDesk
from spca.llm.providers.base import Usage
from spca.llm.providers.offline import human
from tests.fakes.faults import FaultServer, answering, busy, calling
from tests.fakes.openai_wire import CHAT, RESPONSES
from tests.support import forked
from tests.support.commands import environment
from tests.support.spca.student import studying

ROTATE = {"degrees": 90}
JPEG = b"\xff\xd8picture\xff\xd9"
NAMES = tuple(tool.value for tool in Tool)


@pytest.fixture
def server() -> Iterator[FaultServer]:
    with FaultServer(CHAT) as server:
        server.reply = calling(CHAT, "rotate", ROTATE)
        yield server


@pytest.fixture
def made(server: FaultServer, tmp_path: Path) -> tuple[AccountedModel, CallDesk]:
    options = ModelOptions(model="openai/gpt-4o-mini", base_url=server.base_url, max_calls=3)
    model, desk = account_calls(resolve_models(options, RobotOptions()), options, 1, tmp_path)
    assert model is not None
    assert desk is not None
    return model, desk


def without_words(tool: Mapping[str, Any]) -> dict[str, Any]:
    """A tool's definition without descriptions of its parameters, "or null" written in one way."""
    function = dict(tool["function"])
    parameters = dict(function.pop("parameters"))
    kept = {name: _property(each) for name, each in parameters.pop("properties").items()}
    parameters.pop("description", None)
    return function | parameters | {"properties": kept, "required": sorted(parameters["required"])}


def _property(schema: Mapping[str, Any]) -> dict[str, Any]:
    if "anyOf" in schema:
        return {"type": [each["type"] for each in schema["anyOf"]]}
    return {key: value for key, value in schema.items() if key != "description"}


def test_the_request_is_the_one_of_the_plan(server: FaultServer, made: tuple[AccountedModel, CallDesk]) -> None:
    reply = made[0].ask(SYSTEM_PROMPT, "What now?", JPEG, NAMES, 8.0)
    assert reply.calls == (("rotate", ROTATE),)
    body = server.posted[-1].body
    assert [without_words(tool) for tool in body["tools"]] == [without_words(tool) for tool in TOOL_DEFINITIONS]
    assert (body["tool_choice"], body["model"]) == ("required", "gpt-4o-mini")
    system, user = body["messages"]
    assert system == {"role": "system", "content": SYSTEM_PROMPT}
    assert user["content"][1]["image_url"]["detail"] == "low"


@pytest.mark.parametrize(("model", "effort"), [("gpt-6-luna", "none"), ("gpt-6.1-sol", "low"), ("gpt-4o-mini", None)])
def test_a_model_reasons_as_little_as_it_can(model: str, effort: str | None, tmp_path: Path) -> None:
    dialect = CHAT if effort is None else RESPONSES
    with FaultServer(dialect) as server:
        server.reply = calling(dialect, "rotate", ROTATE)
        options = ModelOptions(model=f"openai/{model}", base_url=server.base_url, max_calls=3)
        made, _ = account_calls(resolve_models(options, RobotOptions()), options, 1, tmp_path)
        assert made is not None
        assert made.ask(SYSTEM_PROMPT, "What now?", JPEG, NAMES, 8.0).calls == (("rotate", ROTATE),)
        (asked,) = server.posted
        heard = dialect.heard(asked)
        assert (asked.path, heard.model, heard.effort, heard.choice) == (dialect.endpoint, model, effort, "required")
        assert list(heard.tools) == list(NAMES)
        assert [image.data for message in heard.messages for image in message.images] == [JPEG]
        assert (heard.max_output_tokens or 0) >= 4000, "there is room for reasoning"


ASKED_IN_A_THREAD = f"""
from robot_bridge.cli.models import resolve_models
from robot_bridge.cli.options import ModelOptions, RobotOptions
from spca.llm.providers.base import Message, Request
{forked.WATCH_IMPORTS}
options = ModelOptions(model="openai/gpt-4o-mini", base_url=sys.argv[1], max_calls=1, no_preflight=True)
crew = resolve_models(options, RobotOptions())
answers = []
asked = Request(crew.navigator.ref.name, (Message("user", "?"),))
ask = lambda: answers.append(crew.navigator.provider.complete(asked))
thread = threading.Thread(target=ask)
thread.start()
thread.join()
print([call.name for answer in answers for call in answer.tool_calls], imported)
"""


@pytest.mark.long
def test_the_thread_that_asks_imports_nothing(server: FaultServer, tmp_path: Path) -> None:
    """Imports would also hold up the control of the robot for seconds."""
    env = environment(OPENAI_API_KEY="not-a-real-key")
    done = forked.run_statements(ASKED_IN_A_THREAD, str(tmp_path), server.base_url, cwd=tmp_path, env=env)
    assert (done.stderr, done.stdout) == ("", "['rotate'] []\n")


def test_every_call_is_paid_for_and_kept(
    server: FaultServer, made: tuple[AccountedModel, CallDesk], tmp_path: Path
) -> None:
    model, desk = made
    model.ask("s", "u", None, NAMES, 8.0)
    (record,) = desk.ledger.records
    assert (record.usage.input_tokens, record.cost is not None and record.cost > 0) == (11, True)
    assert [path.name for path in (tmp_path / "llm").iterdir()] == [Path(record.transcript).name]
    assert server.posted[-1].body["messages"][1]["content"] == "u"


def test_a_failure_is_one_request(server: FaultServer, made: tuple[AccountedModel, CallDesk]) -> None:
    server.reply = busy(CHAT, {})
    with pytest.raises(ModelFailure):
        made[0].ask("s", "u", None, NAMES, 8.0)
    assert len(server.posted) == 1


def test_a_decision_that_reasoning_used_up_is_told(server: FaultServer, made: tuple[AccountedModel, CallDesk]) -> None:
    server.reply = answering(CHAT, "", usage=Usage(900, 4000, 0, 4000), ended="length")
    told = "reasoning used up the answer: 4000 of its 4000 tokens; take a model"
    with pytest.raises(ModelFailure, match=told):
        made[0].ask("s", "u", None, NAMES, 8.0)
    with pytest.raises(ModelFailure, match=told):
        made[0].describe("u", JPEG, 8.0)


def test_a_spent_budget_is_the_end(made: tuple[AccountedModel, CallDesk]) -> None:
    model, _ = made
    for number in range(3):
        model.ask("s", str(number), None, NAMES, 8.0)
    with pytest.raises(ModelEnded, match="3 requests were sent"):
        model.ask("s", "u", None, NAMES, 8.0)
    assert "3 requests were sent" in model.ended


@pytest.mark.long
def test_a_person_may_steer_the_simulated_robot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(human, "SETTLED_S", 0.05)
    call = {"tool": "stop_robot", "arguments": {"reason": "exploration_complete"}}
    arguments = ("--no-camera", "--quiet", "--output", tmp_path / "run", "--world", "MiniGrid-Empty-6x6-v0")
    with studying(tmp_path / "desk", lambda _role, _text: json.dumps(call)) as answered:
        code = main(["explore", "--model", f"human/{tmp_path / 'desk'}", *map(str, arguments)])
    assert code in (Ending.EXPLORED.exit_code, Ending.GAVE_UP.exit_code)
    assert 0 < len(answered) <= 2
    assert answered[0] == "0001-navigate.answer.md"
    assert "observe_scene" in (tmp_path / "desk/0001-navigate.prompt.md").read_text()


def test_a_scene_is_described_from_the_picture_alone(
    server: FaultServer, made: tuple[AccountedModel, CallDesk]
) -> None:
    server.reply = answering(CHAT, "a door")
    assert made[0].describe("What is there?", JPEG, 8.0).text == "a door"
    body = server.posted[-1].body
    assert not body.get("tools")
    assert body["messages"][0]["content"][1]["image_url"]["detail"] == "high"
