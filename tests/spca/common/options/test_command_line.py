"""From argv to a command with typed options."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

import pytest
from cyclopts import App, Group, Parameter
from cyclopts.validators import mutually_exclusive

from spca.common.command import EXIT_FINISHED, EXIT_INTERRUPTED, EXIT_USER_ERROR, ExitHandler
from spca.common.options.command_line import make_app, run_app
from spca.common.options.values import amount, option_group, text_option, whole_number

CODE = 7
WAYS = option_group("Ways")
EITHER = Group(validator=mutually_exclusive)


def read_legs(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split(","))


@Parameter(name="*")
@dataclass(frozen=True, slots=True, kw_only=True)
class AgainOptions:
    resume: Annotated[bool, Parameter(group=EITHER, show=False)] = False
    overwrite: Annotated[bool, Parameter(group=EITHER, show=False)] = False


@Parameter(name="*")
@dataclass(frozen=True, slots=True, kw_only=True)
class ExploreOptions:
    out: Annotated[str | None, Parameter(metavar="FILE", help="where [bold]the map[/] goes")] = None
    way: Annotated[Literal["left", "right"] | None, Parameter(group=WAYS, help="which way")] = None
    turns: Annotated[int | None, whole_number(1, 9), Parameter(metavar="N", help="turns")] = None
    cost: Annotated[float | None, amount("USD", zero=True), Parameter(metavar="USD", help="cost")] = None
    log: Annotated[bool | None, Parameter(negative="--no-log", help="keep a log; its help has two lines")] = None
    servers: Annotated[tuple[str, ...], Parameter(name="--server", help="servers")] = ()
    legs: Annotated[tuple[int, ...], text_option(read_legs), Parameter(show=False)] = ()
    steps: Annotated[int, Parameter(parse=False)] = 0
    again: AgainOptions = AgainOptions()


@Parameter(name="*")
@dataclass(frozen=True, slots=True, kw_only=True)
class ActOptions:
    plan: Annotated[str, Parameter(help="the plan")]
    film: Annotated[bool, Parameter(help="make a film")] = False


class Program:
    """Two commands, which keep what they were given."""

    def __init__(self) -> None:
        self.options: object = None
        self.is_logged = False
        self.app: App = make_app("x", "Go somewhere.", version="x 1", epilogue="exit codes: 0 done")
        self.app.command(self.explore)
        self.app.command(self.act)

    def explore(
        self, options: ExploreOptions = ExploreOptions(), *, end: Annotated[ExitHandler, Parameter(parse=False)]
    ) -> int:
        """Explore."""
        assert isinstance(end, ExitHandler)
        self.options = options
        self.is_logged = logging.getLogger("spca").isEnabledFor(logging.DEBUG)
        return CODE

    def act(self, options: ActOptions) -> int:
        """Act."""
        self.options = options
        return CODE

    def run(self, words: str | Sequence[str]) -> int:
        with ExitHandler() as end:
            given = words.split() if isinstance(words, str) else words
            end.code = run_app(self.app, given, {"--output": "--out"}, end=end)
        return end.code


def complain(words: str | Sequence[str], capsys: pytest.CaptureFixture[str]) -> str:
    """Return the one line with which a command line is refused."""
    assert Program().run(words) == EXIT_USER_ERROR
    printed = capsys.readouterr()
    (line,) = printed.err.splitlines()
    assert printed.out == ""
    assert line.startswith("error: ")
    assert line.endswith(" --help lists all options")
    return line.removeprefix("error: ").removesuffix(" --help lists all options")


def test_options_are_one_frozen_value() -> None:
    program = Program()
    words = "explore --out=a --way left --turns 3 --cost .5 --no-log --server b --server c"
    assert program.run(words) == CODE
    assert program.options == ExploreOptions(out="a", way="left", turns=3, cost=0.5, log=False, servers=("b", "c"))


def test_options_that_are_not_given_are_none() -> None:
    program = Program()
    assert program.run("explore") == CODE
    assert program.options == ExploreOptions()


def test_the_last_of_a_repeated_option_counts() -> None:
    program = Program()
    assert program.run("explore --turns 3 --turns 4 --legs 5 --legs 6,7") == CODE
    assert program.options == ExploreOptions(turns=4, legs=(6, 7))


def test_a_former_name_is_taken_and_the_new_one_is_told_once(capsys: pytest.CaptureFixture[str]) -> None:
    program = Program()
    assert program.run("explore --output a --output=b") == CODE
    assert program.options == ExploreOptions(out="b")
    assert capsys.readouterr().err == "note: --output is called --out now\n"


@pytest.mark.parametrize("words", ["--help", "explore --help", "--version"])
def test_help_is_no_command(words: str, capsys: pytest.CaptureFixture[str]) -> None:
    program = Program()
    assert program.run(words) == EXIT_FINISHED
    assert program.options is None
    assert capsys.readouterr().err == ""


def test_help_shows_words_as_they_are(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "50")
    Program().run("explore --help")
    assert capsys.readouterr().out.split("\n\n")[:4] == [
        "Usage: x explore [OPTIONS]",
        "Explore.",
        "Options:\n"
        "  --out FILE       where [bold]the map[/] goes\n"
        "  --turns N        turns\n"
        "  --cost USD       cost\n"
        "  --log, --no-log  keep a log; its help has two\n"
        "                   lines\n"
        "  --server STR...  servers",
        "Ways:\n  --way CHOICE  which way (left, right)",
    ]


def test_help_breaks_lines_of_all_but_the_epilogue_and_has_no_two_that_are_empty(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    example = "  x explore --way left --turns 3 --cost .5 --no-log"
    with ExitHandler():
        run_app(make_app("x", "Go somewhere. " * 9, epilogue=f"examples:\n{example}"), ["--help"])
    told, _, epilogue = capsys.readouterr().out.rpartition("\n\n")
    assert epilogue == f"examples:\n{example}\n"
    assert max(map(len, told.splitlines())) <= 40
    assert "\n\n\n" not in told


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        ("", "No command is given. Available commands: explore, act."),
        ("explroe", 'Unknown command "explroe". Did you mean "explore"? Available commands: explore, act.'),
        ("elsewhere", 'Unknown command "elsewhere". Available commands: explore, act.'),
        ("explore --otu x", "Unknown option: --otu. Did you mean --out?"),
        ("explore --otu=x", "Unknown option: --otu. Did you mean --out?"),
        ("explore --way rigth", 'Invalid value "rigth" for --way. Choose from: "left", "right". Did you mean "right"?'),
        ("explore --resume --overwrite", "Mutually exclusive arguments: {--resume, --overwrite}."),
        ("explore here", 'Unexpected argument "here".'),
        ("explore --out", 'Command "explore" parameter --out requires an argument.'),
        ("explore --turns 2.5", "--turns '2.5' is not a whole number from 1 to 9."),
        ("explore --turns -1", "--turns '-1' is not a whole number from 1 to 9."),
        ("explore --cost nan", "--cost 'nan' is not a number of USD from 0."),
        ("act --plan p --out x", "Unknown option: --out."),
        ("act --plan p --fillm", "Unknown option: --fillm. Did you mean --film?"),
        ("act --paln p", 'Command "act" parameter --plan requires an argument. Did you mean --plan instead of --paln?'),
        ("act p", 'Unexpected argument "p".'),
        ("act --film", 'Command "act" parameter --plan requires an argument.'),
        (["explore", "--\x1b[2J\nerror: more"], "Unknown option: --␛[2J error: more."),
    ],
)
def test_a_mistake_is_one_line(words: str | Sequence[str], complaint: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert complain(words, capsys) == complaint


def test_an_interruption_reaches_the_ending(capsys: pytest.CaptureFixture[str]) -> None:
    def interrupt() -> int:
        raise KeyboardInterrupt

    app = make_app("x", "Go somewhere.")
    app.default(interrupt)
    with ExitHandler() as end:
        run_app(app, [])
    assert end.code == EXIT_INTERRUPTED
    assert capsys.readouterr().err == "interrupted\n"


@pytest.mark.parametrize("words", ["explore --debug", "--debug explore", "explore"])
def test_debug_starts_the_log(words: str) -> None:
    program = Program()
    assert program.run(words) == CODE
    assert program.is_logged == ("--debug" in words)
