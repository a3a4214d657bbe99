"""What a person at the side of a robot is asked, and what becomes of the answers."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from robot_bridge.agent.rigs import OperatorEffects, OperatorJudge, twin_rig
from robot_bridge.contracts import EffectResult
from robot_bridge.errors import SetupError


class Operator:
    """Answers in order, and remembers the questions."""

    def __init__(self, *answers: str) -> None:
        self.questions: list[str] = []
        self._answers: Iterator[str] = iter(answers)

    def __call__(self, question: str) -> str:
        self.questions.append(question)
        return next(self._answers)


def test_what_is_picked_up_is_in_hand_until_it_is_dropped() -> None:
    operator = Operator("blue key", "no", "yes", "Red Ball")
    effects = OperatorEffects(operator)
    assert effects.pick_up() == EffectResult(True, "", "key", "blue", "")
    assert not effects.pick_up().success
    assert len(operator.questions) == 1, "a full hand needs no question"
    assert not effects.drop().success
    assert effects.drop() == EffectResult(True, "", "key", "blue", "")
    assert not effects.drop().success
    assert effects.pick_up().kind == "ball"


@pytest.mark.parametrize("answer", ["", "nothing", "red door", "key", "open red door", "\x1b[2J", "a b c d"])
def test_what_cannot_be_taken_is_not_in_hand(answer: str) -> None:
    effects = OperatorEffects(Operator(answer))
    assert not effects.pick_up().success
    assert not effects.drop().success


def test_doors_and_boxes_become_what_the_operator_sees() -> None:
    effects = OperatorEffects(Operator("open red door", "nothing", "green key", "ajar red door"))
    assert effects.toggle() == EffectResult(True, "", "door", "red", "open")
    assert effects.toggle() == EffectResult(True)
    assert effects.toggle() == EffectResult(True, "", "key", "green", "")
    assert not effects.toggle().success


def test_the_operator_judges_when_the_agent_is_done() -> None:
    operator = Operator("yes")
    judge = OperatorJudge("go to the red ball", lambda mission: operator(mission) == "yes")
    judge.step(2)
    assert (judge.over, operator.questions) == (False, [])
    judge.step(6)
    assert (judge.over, judge.solved, judge.reward) == (True, True, 1.0)
    assert operator.questions == ["go to the red ball"]


def test_a_level_that_does_not_exist_is_the_user_s_mistake() -> None:
    with pytest.raises(SetupError, match="MiniGrid-Empty-5x5-v0"):
        twin_rig("MiniGrid-Emty-5x5-v0", 1)
