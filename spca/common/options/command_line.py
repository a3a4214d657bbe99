"""From ``argv`` to the command that it names, with its options as one frozen value.

A command is a function with one parameter, a frozen dataclass of options; ``Parameter(parse=False)`` marks what its
program hands to it. Options that were not given are None (False for flags, () for lists).

Why cyclopts: of the libraries that make typed values of a command line it starts quickest (70 ms against 125 ms for
tyro and 150 ms for pydantic-settings), imports commands on use, names what may have been meant, and can be kept to one
line an error. pydantic-settings shows tracebacks for wrong values, tyro and cyclopts draw boxes unless told otherwise.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from types import MappingProxyType
from typing import Annotated, Any, Final

from cyclopts import App, Group, Parameter
from cyclopts.exceptions import (
    CoercionError,
    CycloptsError,
    MissingArgumentError,
    UnusedCliTokensError,
    ValidationError,
)

from spca.common.command import EXIT_FINISHED, complain
from spca.common.debug_log import DEBUG_VARIABLE, start_debug_log
from spca.common.errors import UsageError
from spca.common.options.help_layout import HelpLayout
from spca.common.text import one_line

NO_OLD_NAMES: Final[Mapping[str, str]] = MappingProxyType({})
_OTHER: Final = Group("Other", sort_key=(True, sys.maxsize))
_DEBUG_HELP: Final = f"log what it waits for, repeats and decides, and tracebacks ({DEBUG_VARIABLE}=1)"


def make_app(name: str, description: str, *, version: str = "", epilogue: str = "") -> App:
    """Return a program without commands; ``app.command`` and ``app.default`` add them.

    Args:
        name: how a user calls it.
        version: what ``--version`` prints; "" for no such flag.
        epilogue: text below its help.
    """
    app = App(
        name=name,
        help=description,
        version=version,
        version_flags=("--version",) if version else (),
        help_epilogue=epilogue or None,
        help_format="plaintext",
        help_formatter=HelpLayout(),
        group_parameters=Group("Options", sort_key=(False, -1)),
        default_parameter=Parameter(show_default=False, negative=(), negative_iterable=(), allow_repeating=True),
        exit_on_error=False,
        print_error=False,
        result_action="return_value",
    )
    for flag in ("--help", *app.version_flags):
        app[flag].group = _OTHER
    app["--help"].help = "show this and exit"
    if version:
        app["--version"].help = "show the version and exit"
    return app


def run_app(app: App, argv: Sequence[str] | None, old_names: Mapping[str, str] = NO_OLD_NAMES, **handed: object) -> int:
    """Carry out the command that ``argv`` names; return its exit code.

    Args:
        argv: None takes the arguments of the process.
        old_names: former flags and those of today; a former one is taken, and its user is told once.
        handed: values for the parameters of commands that are not parsed, by name.

    Raises:
        UsageError: no command, a word that is no option or command, or a value that cannot be meant.
    """

    @app.meta.default
    def carry_out(
        *words: Annotated[str, Parameter(show=False, allow_leading_hyphen=True)],
        debug: Annotated[bool, Parameter(group=_OTHER, help=_DEBUG_HELP)] = False,
    ) -> Any:
        if debug:
            start_debug_log()
        if not words and app.default_command is None:
            raise UsageError(f"No command is given. {_list_commands(app)} --help lists all options")
        command, bound, unparsed = app.parse_args(words)
        given = {name: handed[name] for name in unparsed if name in handed}  # others are fields of options
        return command(*bound.args, **bound.kwargs, **given)

    app.meta.suppress_keyboard_interrupt = False  # ExitHandler says that the program was interrupted
    words = sys.argv[1:] if argv is None else argv
    if any(flag in words for flag in app.help_flags):
        from rich.console import Console

        app.console = Console(soft_wrap=True)  # examples stay one line each
    try:
        code = app.meta(replace_old_names(words, old_names))
    except CycloptsError as error:
        raise UsageError(f"{_describe_error(error)} --help lists all options") from error
    return code if isinstance(code, int) else EXIT_FINISHED  # --help and --version return nothing


def replace_old_names(words: Sequence[str], old_names: Mapping[str, str]) -> list[str]:
    """Return the words of a command line with today's flags in place of former ones; print a note for each."""
    replaced = []
    told = set()
    for word in words:
        flag, equals, value = word.partition("=")
        if flag in old_names and flag not in told:
            told.add(flag)
            complain(f"note: {flag} is called {old_names[flag]} now")
        replaced.append(f"{old_names.get(flag, flag)}{equals}{value}")
    return replaced


def _describe_error(error: CycloptsError) -> str:
    """Return what is wrong with a command line, and what may have been meant, as sentences in one line."""
    if surplus := _find_surplus(error):
        return _describe_surplus(one_line(surplus), error.app)
    if isinstance(error, CoercionError) and error.msg and error.token:
        return f"{one_line(error.token.keyword or '')} {one_line(str(error.msg))}.".lstrip()
    if isinstance(error, ValidationError):
        return f"{one_line(str(error))}."
    return one_line(str(error))


def _find_surplus(error: CycloptsError) -> str:
    """Return the word that is too much, "" if none is; it matters more than a required option that is missing."""
    word = error.unused_tokens[0] if error.unused_tokens else ""
    is_lone = isinstance(error, MissingArgumentError) and not word.startswith("-")
    return word if is_lone or isinstance(error, UnusedCliTokensError) else ""


def _describe_surplus(word: str, app: App | None) -> str:
    """Return what is wrong with a word that stands where a command may stand."""
    commands = _command_names(app)
    if app is None or not commands:
        return f'Unexpected argument "{word}".'
    if word in commands:
        return f"{word} comes before its options."
    near = get_close_matches(word.casefold(), commands, 1)
    hint = f' Did you mean "{near[0]}"?' if near else ""
    return f'Unknown command "{word}".{hint} {_list_commands(app)}'


def _list_commands(app: App) -> str:
    return f"Available commands: {', '.join(_command_names(app))}."


def _command_names(app: App | None) -> list[str]:
    return [] if app is None else [name for name in app if not name.startswith("-")]
