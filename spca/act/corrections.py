"""Corrections of the simulator: missions that minigrid's verifier makes impossible.

``BabyAI-OpenDoorsOrderN2Debug-v0`` and ``N4Debug`` ask the agent to open two doors in order, and judge strictly. When
the first door is opened, ``BeforeInstr`` and ``AfterInstr`` (``minigrid.envs.babyai.core.verifier``) show the same
toggle to the second instruction, a strict ``OpenInstr``. The second instruction sees that a wrong door was opened, and
fails the episode. Therefore no agent can complete a mission of two doors in these levels.

With the correction, the second instruction is judged only from the next primitive on. Opening a wrong door still fails.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

STRICT_SEQUENCE: Final = "strict_sequence"
"""Name of the correction: minigrid also judges the second instruction by the primitive that completes the first one."""

_PARTS: Final = {"BeforeInstr": ("a_done", "b_done"), "AfterInstr": ("b_done", "a_done")}
"""Class of a sequence of two instructions -> its attributes for the states of the earlier and of the later instruction.
"""


def apply_corrections(simulator: Any, fired: Callable[[str], None]) -> None:
    """Correct the verifier of a BabyAI level that has just been reset; leave other simulators alone.

    Args:
        simulator: the unwrapped environment.
        fired: called with the name of the correction whenever minigrid itself would have judged differently.
    """
    instruction = getattr(simulator, "instrs", None)
    parts = _PARTS.get(type(instruction).__name__)
    if parts is not None:
        _judge_from_next_primitive(instruction, *parts, fired)


def remove_corrections(simulator: Any) -> None:
    """Restore minigrid's own verifier if it was corrected; :func:`apply_corrections` can correct it again."""
    instruction = getattr(simulator, "instrs", None)
    if type(instruction).__name__ in _PARTS:
        vars(instruction).pop("verify", None)


def _judge_from_next_primitive(sequence: Any, first: str, second: str, fired: Callable[[str], None]) -> None:
    upstream = sequence.verify

    def verify(action: int) -> Any:
        first_was_open = getattr(sequence, first) != "success"
        verdict = upstream(action)
        completes_first = first_was_open and getattr(sequence, first) == "success"
        if verdict == "failure" and completes_first:
            setattr(sequence, second, False)
            fired(STRICT_SEQUENCE)
            return "continue"
        return verdict

    sequence.verify = verify
