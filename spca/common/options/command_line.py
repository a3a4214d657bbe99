"""Parse a command line, and run the named command with its options as one frozen dataclass.

A command is a function with a parameter for its options, a frozen dataclass. Parameters marked by
``Parameter(parse=False)`` are passed by the program. Options that are not given are None (False for flags, () for
lists).

Why cyclopts: among the libraries that parse command lines into typed values, cyclopts starts fastest (70 ms; tyro takes
125 ms, pydantic-settings 150 ms). Cyclopts also imports commands on first use, suggests similar names, and can report
an error in one line. In contrast, pydantic-settings shows tracebacks for wrong values.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches
from types import MappingProxyType
from typing import Annotated, Any, Final, TypeAlias

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
"""Empty table of former flags, for programs without any."""
_OTHER: Final = Group("Other", sort_key=(True, sys.maxsize))
_DEBUG_HELP: Final = f"log what it waits for, repeats and decides, and tracebacks ({DEBUG_VARIABLE}=1)"

_PLUGIN_HELP: Final = "a module of yours that adds worlds, models, engines (may be repeated; SPCA_PLUGINS)"
_PLUGIN: Final = Parameter(name="--plugin", group=_OTHER, help=_PLUGIN_HELP, metavar="MODULE|FILE")
_Words: TypeAlias = Annotated[str, Parameter(show=False, allow_leading_hyphen=True)]
_Debug: TypeAlias = Annotated[bool, Parameter(group=_OTHER, help=_DEBUG_HELP)]
_Plugins: TypeAlias = Annotated[tuple[str, ...], _PLUGIN]


def make_app(name: str, description: str, *, version: str = "", epilogue: str = "") -> App:
    """Return a program without commands; use ``app.command`` and ``app.default`` to add commands.

    Args:
        name: the words with which a user calls the program.
        description: first paragraph of ``--help``.
        version: output of ``--version``; "" for a program without this flag.
        epilogue: last paragraph of ``--help``.
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


def run_app(
    app: App,
    argv: Sequence[str] | None,
    old_names: Mapping[str, str] = NO_OLD_NAMES,
    *,
    load_plugins: Callable[[Sequence[str]], None] | None = None,
    **handed: object,
) -> int:
    """Run the command that ``argv`` names; return the exit code of the command.

    Args:
        argv: arguments of the command line; None for the arguments of the process.
        old_names: former flag -> present flag; a former flag is accepted with a note.
        load_plugins: loads the plugins that ``--plugin`` names, before the command runs; None for a program without
            plugins.
        handed: name -> value of the parameters that commands mark by ``Parameter(parse=False)``.

    Raises:
        UsageError: the command is missing, a word is no option or command, or a value is invalid.
    """

    def start_command(words: Sequence[str], plugins: Sequence[str], *, debug: bool) -> Any:
        if debug:
            start_debug_log()
        if not words and app.default_command is None:
            raise UsageError(f"No command is given. {_list_commands(app)} --help lists all options")
        command, bound, unparsed = app.parse_args(words)
        # ``unparsed`` also names fields of option classes, which are not passed.
        passed = {name: handed[name] for name in unparsed if name in handed}
        if load_plugins is not None:
            load_plugins(plugins)
        return command(*bound.args, **bound.kwargs, **passed)

    def run_command(*words: _Words, debug: _Debug = False) -> Any:
        return start_command(words, (), debug=debug)

    def run_command_with_plugins(*words: _Words, plugin: _Plugins = (), debug: _Debug = False) -> Any:
        return start_command(words, plugin, debug=debug)

    app.meta.default(run_command if load_plugins is None else run_command_with_plugins)
    app.meta.suppress_keyboard_interrupt = False  # ExitHandler reports the interruption
    words = sys.argv[1:] if argv is None else argv
    if any(flag in words for flag in app.help_flags):
        from rich.console import Console

        app.console = Console(soft_wrap=True)  # so that each example stays on one line
    try:
        code = app.meta(replace_old_names(words, old_names))
    except CycloptsError as error:
        raise UsageError(f"{_describe_error(error)} --help lists all options") from error
    return code if isinstance(code, int) else EXIT_FINISHED  # --help and --version return nothing


def replace_old_names(words: Sequence[str], old_names: Mapping[str, str]) -> list[str]:
    """Return the words of a command line with present flags in place of former flags; print a note for each."""
    present_words = []
    noted = set()
    for word in words:
        flag, equals, value = word.partition("=")
        if flag in old_names and flag not in noted:
            noted.add(flag)
            complain(f"note: {flag} is called {old_names[flag]} now")
        present_words.append(f"{old_names.get(flag, flag)}{equals}{value}")
    return present_words


def _describe_error(error: CycloptsError) -> str:
    """Return an error of the command line in words, in one line, with a suggestion if there is one."""
    if surplus := _find_surplus_word(error):
        return _describe_surplus(one_line(surplus), error.app)
    if isinstance(error, CoercionError) and error.msg and error.token:
        flag = error.token.keyword or ""
        return f"{one_line(flag)} {one_line(str(error.msg))}.".lstrip()
    if isinstance(error, ValidationError):
        return f"{one_line(str(error))}."
    return one_line(str(error))


def _find_surplus_word(error: CycloptsError) -> str:
    """Return the first word of the command line that fits nowhere; "" if ``error`` has another cause.

    If a required option is missing, too, the surplus word is still returned, because it is the likelier mistake.
    """
    word = error.unused_tokens[0] if error.unused_tokens else ""
    is_beside_missing_option = isinstance(error, MissingArgumentError) and not word.startswith("-")
    is_surplus = isinstance(error, UnusedCliTokensError) or is_beside_missing_option
    return word if is_surplus else ""


def _describe_surplus(word: str, app: App | None) -> str:
    """Return an error message on a surplus word, with a similar command or the list of commands."""
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
