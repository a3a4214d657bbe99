"""How the program ends."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Sequence
from subprocess import PIPE, Popen, run

import pytest

import explorer.cli
import gridworld.evaluation.cli
import main
import robot_bridge.cli
import spca.__main__
from spca.common.command import (
    COMMAND_VARIABLE,
    EXIT_FINISHED,
    EXIT_INTERRUPTED,
    EXIT_USER_ERROR,
    PROGRAM_VARIABLE,
    ExitHandler,
)
from spca.common.errors import BudgetReached, SettingsError, UnusableModelError
from spca.errors import ProviderDownError, ReplayMissError, UnknownModelError

GO_ON = "python main.py --resume r1"


def ended(error: BaseException | None, go_on: str = GO_ON) -> int:
    with ExitHandler() as ending:
        ending.go_on = go_on
        if error is not None:
            raise error
    return ending.code


@pytest.mark.parametrize(
    ("error", "code", "told"),
    [
        (KeyboardInterrupt(), EXIT_INTERRUPTED, f"interrupted; go on with: {GO_ON}"),
        (SettingsError("no space"), EXIT_USER_ERROR, f"error: no space; go on with: {GO_ON}"),
        (ProviderDownError("x: busy"), EXIT_USER_ERROR, f"error: x: busy; go on with: {GO_ON}"),
        (UnknownModelError("no model"), EXIT_USER_ERROR, "error: no model"),
        (ReplayMissError("never asked"), EXIT_USER_ERROR, "error: never asked"),
        (
            BudgetReached("budget: 3 requests were sent (--max-calls 3)", "--max-calls"),
            3,
            f"stopped: budget: 3 requests were sent (--max-calls 3); go on with: {GO_ON} --max-calls MORE",
        ),
        (
            UnusableModelError("x/y has not written usable code", "--coder-model", "coder"),
            3,
            f"stopped: x/y has not written usable code; go on with: {GO_ON} --coder-model OTHER",
        ),
        (
            UnusableModelError("x/y has not written usable code", "", "coder"),
            3,
            f"stopped: x/y has not written usable code; go on with: {GO_ON}",
        ),
    ],
)
def test_a_stop_is_one_line_a_code_and_how_to_go_on(
    error: BaseException, code: int, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ended(error) == code
    assert capsys.readouterr().err.splitlines() == [told]


@pytest.mark.usefixtures("termination_fails_the_test")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_to_end_does_what_ctrl_c_does(number: signal.Signals, capsys: pytest.CaptureFixture[str]) -> None:
    before = signal.getsignal(number)
    with ExitHandler() as ending:
        ending.go_on = GO_ON
        signal.raise_signal(number)
        pytest.fail("it goes on")
    assert (ending.code, capsys.readouterr().err) == (EXIT_INTERRUPTED, f"interrupted; go on with: {GO_ON}\n")
    assert signal.getsignal(number) is before


def test_what_nohup_ignores_stays_ignored() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with ExitHandler() as ending:
            signal.raise_signal(signal.SIGHUP)
        assert ending.code == EXIT_FINISHED
    finally:
        signal.signal(signal.SIGHUP, before)


@pytest.mark.parametrize(
    ("go_on", "code", "told"),
    [
        ("", EXIT_FINISHED, ""),
        (GO_ON, EXIT_INTERRUPTED, f"interrupted, since nobody reads the output; go on with: {GO_ON}\n"),
    ],
)
def test_output_that_nobody_reads(go_on: str, code: int, told: str) -> None:
    program = f"""if True:
        import sys
        from spca.common.command import ExitHandler
        with ExitHandler() as ending:
            ending.go_on = {go_on!r}
            for number in range(100_000):
                print(number)
        sys.exit(ending.code)
    """
    with Popen([sys.executable, "-c", program], stdout=PIPE, stderr=PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == told
    assert process.returncode == code


def test_characters_that_the_output_lacks_end_nothing() -> None:
    program = """if True:
        from spca.common.command import ExitHandler
        with ExitHandler():
            print("d\\xf6r \\u2026")
    """
    environment = {**os.environ, "PYTHONIOENCODING": "latin-1"}
    done = run([sys.executable, "-c", program], capture_output=True, env=environment, check=False)
    assert (done.stdout, done.stderr) == (b"d\xf6r \\u2026\n", b"")


def test_output_that_there_is_no_space_for() -> None:
    program = f"""if True:
        import sys
        from spca.common.command import ExitHandler
        with ExitHandler() as ending:
            ending.go_on = {GO_ON!r}
            print("a level", flush=True)
        sys.exit(ending.code)
    """
    with open("/dev/full", "w", encoding="utf-8") as full:
        done = run([sys.executable, "-c", program], stdout=full, stderr=PIPE, text=True, check=False)
    assert (done.returncode, done.stderr) == (EXIT_USER_ERROR, f"error: No space left on device; go on with: {GO_ON}\n")


def test_before_there_is_a_run_nothing_can_go_on(capsys: pytest.CaptureFixture[str]) -> None:
    assert ended(SettingsError("no such flag"), "") == EXIT_USER_ERROR
    assert capsys.readouterr().err == "error: no such flag\n"


def test_a_finished_run_says_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    assert ended(None) == EXIT_FINISHED
    assert capsys.readouterr().err == ""


def test_a_defect_of_ours_is_not_hidden() -> None:
    with pytest.raises(ZeroDivisionError):
        ended(ZeroDivisionError())


@pytest.mark.parametrize(
    ("program", "words", "meant"),
    [
        (explorer.cli.main, "rnu scenes", '"run"'),
        (explorer.cli.main, "run scenes --worker 2", "--workers"),
        (robot_bridge.cli.main, "explroe", '"explore"'),
        (robot_bridge.cli.main, "explore --modle openai/x", "--model"),
        (gridworld.evaluation.cli.main, "--modle bfs", "--model instead of --modle"),
        (gridworld.evaluation.cli.main, "--model bfs --benchmark tirs", '"tiers"'),
        (gridworld.evaluation.cli.main, "leaderbord", '"leaderboard"'),
        (main.main, "evalute", '"evaluate"'),
        (main.main, "--planner-modle openai/x", "--planner-model"),
        (main.main, "evaluate --attemps 2", "--attempts"),
        (main.main, "ablations --setings full", "--settings"),
        (main.main, "models --jsn", "--json"),
        (main.main, "report --no-pge", "--no-page"),
        (spca.__main__.main, "gridwrold", '"gridworld"'),
    ],
)
def test_every_program_names_what_was_meant(
    program: Callable[[Sequence[str]], int],
    words: str,
    meant: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for variable in (PROGRAM_VARIABLE, COMMAND_VARIABLE):  # which the command spca sets
        monkeypatch.setenv(variable, "")
        monkeypatch.delenv(variable)
    assert program(words.split()) == EXIT_USER_ERROR
    said = capsys.readouterr()
    assert said.out == ""
    (line,) = said.err.splitlines()
    assert line.startswith("error: ")
    assert f"Did you mean {meant}?" in line
    assert line.endswith(" --help lists all options")
