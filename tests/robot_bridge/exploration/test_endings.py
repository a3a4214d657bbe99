"""How explorations end: one table of words, exit codes and sentences."""

from __future__ import annotations

import json

import pytest

from robot_bridge.exploration.endings import Closing, Ending


def test_words_and_exit_codes_are_those_that_scripts_read() -> None:
    assert {ending.value: ending.exit_code for ending in Ending} == {
        "explored": 0,
        "stopped": 0,
        "sensor unusable": 1,
        "no model": 1,
        "failed": 1,
        "budget": 3,
        "gave up": 4,
        "not home": 5,
        "time": 6,
        "interrupted": 130,
    }
    assert len({ending.sentence for ending in Ending}) == len(Ending)


def test_an_ending_is_its_word_wherever_it_is_written() -> None:
    assert Ending("gave up") is Ending.GAVE_UP
    assert f"{Ending.NOT_HOME}" == "not home"
    assert json.dumps({"ended": Ending.TIME}) == '{"ended": "time"}'


@pytest.mark.parametrize("model", [Ending.BUDGET, Ending.NO_MODEL])
def test_what_was_wrong_with_the_model_is_told_unless_the_robot_needs_somebody(model: Ending) -> None:
    for ending in Ending:
        yields = ending in {Ending.EXPLORED, Ending.GAVE_UP, Ending.TIME}
        closing = Closing(lambda: (model, "why"))
        closing.end(ending)
        assert closing.ended is (model if yields else ending)
        healthy = Closing(lambda: None)
        healthy.end(ending)
        assert healthy.ended is ending
