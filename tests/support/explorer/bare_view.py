"""The view of an agent that has seen nothing."""

from __future__ import annotations

from typing import Final

import numpy as np

from explorer.scene import Pose, StepResult
from explorer.view import View

BARE: Final = View(
    known=np.zeros((1, 1, 1), np.uint16),
    origin=(4, 1, 4),
    pose=Pose((4, 1, 4)),
    inventory={},
    held=None,
    things=(),
    recipes=(),
    step=0,
    max_steps=100,
    last=StepResult(True),
)
