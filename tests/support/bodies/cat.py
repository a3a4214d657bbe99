"""A body that has nothing in common with the grid's."""

from __future__ import annotations

from typing import Any

import numpy as np

from spca.body import Body, Budgets, Primitive, StateAttribute, StateKind
from spca.contracts import AgentView

CAT = Body(
    name="cat",
    primitives=(Primitive("purr", "Purr."), Primitive("scratch", "Scratch what is near.")),
    state=(
        StateAttribute("hunger", StateKind.VALUE, "how hungry the cat is, from 0 to 9.", is_progress=False),
        StateAttribute("room", StateKind.WORDS, "the room in words."),
        StateAttribute("smells", StateKind.NUMBERS, "how strong each smell is."),
    ),
    words=("nothing", "mouse"),
    budgets=Budgets(patience=5),
)


def see(hunger: Any = 3, room: tuple[int, ...] = (0, 1), smells: tuple[float, ...] = (0.5,)) -> AgentView:
    """What a cat sees."""
    return AgentView(("catch the mouse", hunger, np.array(room, np.uint8), np.array(smells)), CAT.words)
