"""The hostile navigator does all its harm, and nobody falls over it."""

from __future__ import annotations

from collections import Counter

from robot_bridge.contracts import ModelReply, NavigationDecision, Tool, VelocityTarget
from robot_bridge.decisions.memory.exploration_memory import ExplorationMemory
from robot_bridge.decisions.safety_executor import SafetyExecutor
from robot_bridge.decisions.tools import TOOL_NAMES, MoveToward, NavigateToGoal, Refusal, read
from robot_bridge.errors import ModelFailure
from tests.support.robot_bridge.hostile_navigator import HostileNavigator
from tests.support.robot_bridge.looking import scan, view


def replies(seed: int, count: int = 400) -> list[ModelReply | None]:
    navigator, found = HostileNavigator(seed), list[ModelReply | None]()
    for _ in range(count):
        try:
            found.append(navigator.ask("", "", None, TOOL_NAMES, 8.0))
        except ModelFailure:
            found.append(None)
    return found


def test_the_same_seed_does_the_same_harm() -> None:
    assert repr(replies(3)) == repr(replies(3)) != repr(replies(4))


def test_every_kind_of_harm_is_done() -> None:
    found = replies(0)
    answers = [each for each in found if each is not None]
    first = [NavigationDecision(*each.calls[0]) for each in answers if each.calls]
    read_ones = [read(decision) for decision in first]
    refused = [each.reason for each in read_ones if isinstance(each, Refusal)]
    assert None in found
    assert any(not each.calls for each in answers)
    assert any(len(each.calls) > 1 for each in answers)
    assert any(each.latency_s and each.latency_s > 8 for each in answers)
    assert any(each.latency_s and each.latency_s < 8 for each in answers)
    assert any("unknown tool" in reason for reason in refused)
    assert any("missing" in reason for reason in refused)
    assert any("no parameter of it" in reason for reason in refused)
    assert any("\x1b" in str(decision.parameters.get("label")) for decision in first)
    assert any(isinstance(each, MoveToward) and each.duration_s == 8 for each in read_ones)
    assert any(isinstance(each, NavigateToGoal) and each.x is not None for each in read_ones)
    assert {decision.tool_name for decision in first} >= set(Tool)
    repeated = max(Counter(repr(each) for each in answers).values())
    assert repeated > 10
    assert len(refused) < len(first) / 3, "what is only refused proves nothing"


def test_the_executor_survives_it_and_much_of_it_moves() -> None:
    executor, memory, state = SafetyExecutor(lambda: 7.0), ExplorationMemory(), view(scan(5.0))
    moving = 0
    for answer in replies(1):
        for name, parameters in answer.calls[:1] if answer else ():
            decision = NavigationDecision(name, parameters, answer.text if answer else "", 7.0)
            result = executor.execute_decision(decision, state, memory)
            moving += isinstance(result.target, VelocityTarget)
            assert result.reason.isprintable()
    assert moving > 50


def test_its_descriptions_are_injections() -> None:
    assert "IGNORE ALL PREVIOUS INSTRUCTIONS" in HostileNavigator(0).describe("", b"", 8.0).text
