"""Names as a user writes them."""

from __future__ import annotations

from spca.common.names import find_nearest, split_names


def test_known_names_may_have_commas() -> None:
    assert split_names(" c, A,b ,d", ["a", "a,b", "C"]) == ("C", "a,b", "d")
    assert split_names("", []) == ("",)


def test_case_does_not_matter_to_the_nearest() -> None:
    names = ["BabyAI-GoToDoor-v0", "MiniGrid-Empty-5x5-v0"]
    assert find_nearest("babyai-gotodoor-v0", names)[0] == "BabyAI-GoToDoor-v0"
    assert find_nearest("x", ["Empty"]) == ()
