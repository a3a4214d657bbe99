"""The commands of ``python -m robot_bridge``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from robot_bridge.cli.commands import make_robot_app
from robot_bridge.errors import SetupError
from spca.common.command import ExitHandler
from spca.common.installation import how_to_get
from spca.common.options.command_line import run_app
from spca.plugins.named import load_named_plugins

_OUR_PACKAGES: Final = ("robot_bridge", "spca")


def main(argv: Sequence[str] | None = None) -> int:
    """Carry out the command that ``argv`` names and return its exit code; ``argv`` defaults to ``sys.argv``."""
    with ExitHandler() as ending:
        try:
            ending.code = run_app(make_robot_app(), argv, {"--out": "--output"}, load_plugins=load_named_plugins)
        except ModuleNotFoundError as error:
            if (error.name or "").partition(".")[0] in _OUR_PACKAGES:
                raise
            raise SetupError(f"{error.name} is missing: {how_to_get('robot')}") from error
    return ending.code
