"""The bench of answered prompts tells right answers from wrong ones, case by case."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.soak import prompts
from tests.support.prompts import adversarial, today
from tests.support.prompts.stage import judge, prompt
from tests.support.tiers import long

_ALWAYS = {"goal_traceback"}
_BY_NAME = {case.name: case for case in prompts.CASES}


@pytest.mark.long
@pytest.mark.parametrize("name", [name if name in _ALWAYS else long(name) for name in _BY_NAME])
def test_a_good_answer_is_right_and_a_bad_one_is_not(name: str) -> None:
    case = _BY_NAME[name]
    assert judge(case, case.good).result == "right"
    assert judge(case, case.bad).result in {"wrong", "rejected"}


def test_24_prompts_of_today_and_24_adversarial_ones() -> None:
    kinds = [[case.kind for case in cases] for cases in (today.CASES, adversarial.CASES)]
    assert len(_BY_NAME) == len(prompts.CASES) == 48
    assert [(kind.count("planner"), kind.count("coder")) for kind in kinds] == [(14, 10), (18, 6)]


@pytest.mark.long
def test_a_prompt_holds_the_whole_conversation_and_says_where_the_answer_goes() -> None:
    case = _BY_NAME["moving_syntax"]
    messages = prompt(case)
    shown = prompts.text(messages, "33-x")
    assert [message.role for message in messages] == ["system", "user", "assistant", "user"]
    assert all(message.text in shown for message in messages)
    assert "33-x.answer.md" in shown.splitlines()[-1]


def test_an_answer_is_read_from_its_file(tmp_path: Path) -> None:
    case = _BY_NAME["unseen_key"]
    assert isinstance(case.good, str)
    name = prompts.NAMES[prompts.CASES.index(case)]
    path = tmp_path / f"{name}.answer.md"
    path.write_text(f"```json\n{case.good}\n```\n", encoding="utf-8")
    rows = {row["case"]: row for row in prompts.judged(tmp_path)}
    assert rows.pop("unseen_key")["result"] == "right"
    assert {row["result"] for row in rows.values()} == {"not answered"}
    assert "unseen_key" in prompts.table(list(rows.values()) + prompts.judged(tmp_path))


def test_an_action_that_is_not_there_is_told_apart() -> None:
    case = _BY_NAME["unseen_key"]
    assert isinstance(case.good, str)
    verdict = judge(case, case.good.replace("pick_up_object", "snatch"))
    assert verdict.result == "needs coder"
    assert verdict.why == "snatch in [snatch(a1, key_green)]"


def test_what_cannot_be_read_is_rejected_with_the_systems_words() -> None:
    verdict = judge(_BY_NAME["unseen_key"], '{"domain": "(define", "problem": ""}')
    assert verdict.result == "rejected"
    assert "pddl_error" in verdict.why


@pytest.mark.parametrize(("is_wrong", "result"), [(True, "right"), (False, "wrong")])
def test_a_coder_who_sends_a_plan_back_is_right_where_the_plan_is_wrong(is_wrong: bool, result: str) -> None:
    case = _BY_NAME["code_two_balls"]
    assert judge(replace(case, wrong_plan=is_wrong), "PLAN: the second ball is green").result == result
