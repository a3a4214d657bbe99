"""What a command line of ``python -m robot_bridge`` says."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from robot_bridge.cli.commands import make_robot_app


def parse_options(words: Sequence[str]) -> Any:
    """Return the options of the command that ``words`` name."""
    _, bound, _ = make_robot_app().parse_args(words)
    bound.apply_defaults()
    return bound.arguments["options"]
