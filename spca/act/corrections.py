"""Corrections of the simulator: missions that minigrid's verifier makes impossible.

``BabyAI-OpenDoorsOrderN2Debug-v0`` and ``N4Debug`` ask for two doors in order and judge strictly. When the first door
is opened, ``BeforeInstr`` and ``AfterInstr`` (``minigrid.envs.babyai.core.verifier``) hold the very same toggle against
the second, strict ``OpenInstr``, which sees the wrong door opened and fails the episode: every mission of two doors
there is lost whatever the agent does. The correction judges the second instruction from the next primitive on. Opening
a wrong door still fails.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

STRICT_SEQUENCE: Final = "strict_sequence"
"""The first instruction of a strict sequence was completed by a primitive that upstream holds against the second."""

_PARTS: Final = {"BeforeInstr": ("a_done", "b_done"), "AfterInstr": ("b_done", "a_done")}
"""Class of a sequence -> its flags of the instruction that comes first and of the one that comes second."""


def correct(simulator: Any, fired: Callable[[str], None]) -> None:
    """Correct the verifier of a BabyAI level that has just been reset; other simulators are left alone.

    Args:
        simulator: the unwrapped environment.
        fired: told the name of a correction whenever upstream would have judged otherwise.
    """
    instruction = getattr(simulator, "instrs", None)
    parts = _PARTS.get(type(instruction).__name__)
    if parts is not None:
        _judge_from_next_primitive(instruction, *parts, fired)


def remove_corrections(simulator: Any) -> None:
    """Take the correction off, if there is one; it can be put on again."""
    instruction = getattr(simulator, "instrs", None)
    if type(instruction).__name__ in _PARTS:
        vars(instruction).pop("verify", None)


def _judge_from_next_primitive(sequence: Any, first: str, second: str, fired: Callable[[str], None]) -> None:
    upstream = sequence.verify

    def verify(action: int) -> Any:
        begun = getattr(sequence, first) != "success"
        verdict = upstream(action)
        if verdict == "failure" and begun and getattr(sequence, first) == "success":
            setattr(sequence, second, False)
            fired(STRICT_SEQUENCE)
            return "continue"
        return verdict

    sequence.verify = verify
