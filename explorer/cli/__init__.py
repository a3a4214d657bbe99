"""``python -m explorer COMMAND``: one module per command, imported when it is called."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module

from explorer.cli.parser import parse
from spca.common.command import EXIT_USER_ERROR, Ending, complain, print_no_more
from spca.common.debug_log import log_error
from spca.common.errors import SPCAError


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command.

    Args:
        argv: arguments; None takes those of the process.

    Returns:
        The exit code: 0 done, 1 the answer is no, 2 a mistake of the user, 130 interrupted.
    """
    for stream in (sys.stdout, sys.stderr):  # names of scenes are untrusted
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    code = 0
    with Ending() as ending:
        settings = parse(argv)
        try:
            code = import_module(f"explorer.cli.{settings.command}").run(settings)
            print(end="", flush=True)
        except BrokenPipeError:  # the reader of our output has left; files are complete
            print_no_more()
        except (SPCAError, OSError) as error:
            log_error(error)
            complain(f"error: {error}")
            return getattr(error, "exit_code", EXIT_USER_ERROR)
    return ending.code or code
