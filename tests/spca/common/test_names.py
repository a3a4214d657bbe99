"""Names that a user may have meant."""

from __future__ import annotations

from spca.common.names import find_nearest


def test_case_does_not_matter_to_the_nearest() -> None:
    names = ["BabyAI-GoToDoor-v0", "MiniGrid-Empty-5x5-v0"]
    assert find_nearest("babyai-gotodoor-v0", names)[0] == "BabyAI-GoToDoor-v0"
    assert find_nearest("x", ["Empty"]) == ()
