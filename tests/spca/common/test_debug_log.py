"""The log of ``--debug``: what is in it, where it goes, and that there is none otherwise."""

from __future__ import annotations

import io
import logging
import pickle
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
from rich.console import Console

import explorer.cli
import main
import robot_bridge.cli
import run_eval
from spca.common.command import ExitHandler
from spca.common.debug_log import (
    DEBUG_VARIABLE,
    LOG_NAME,
    WorkerLog,
    hold_debug_log,
    log_to_folder,
    start_debug_log,
    worker_log,
)
from spca.common.environment import load_env
from spca.common.errors import SettingsError

KEY = "a-key-that-nobody-may-read"
OURS = logging.getLogger("spca.part")
LIBRARY = logging.getLogger("httpx")


@pytest.fixture
def debug_log() -> Iterator[None]:
    with hold_debug_log():
        start_debug_log()
        yield


def test_without_the_flag_nobody_logs_anything() -> None:
    program = """if True:
        import logging
        from spca.common.command import ExitHandler
        with ExitHandler():
            logging.getLogger("spca.part").error("ours")
            logging.getLogger("httpx").error("a library's")
    """
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("", "")


@pytest.mark.parametrize("way", ["flag", "variable"])
def test_with_the_flag_or_the_variable_it_goes_to_standard_error(
    way: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    if way == "variable":
        monkeypatch.setenv(DEBUG_VARIABLE, "1")
    with ExitHandler():
        if way == "flag":
            start_debug_log()
        OURS.debug("waits for %s s", 5)
    OURS.error("the program is over")
    told = capsys.readouterr().err
    assert told.count("\n") == 1
    assert told.endswith("waits for 5 s\n")
    assert " DEBUG spca.part[" in told


def test_a_file_of_variables_may_ask_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("PYTHON_DOTENV_DISABLED")
    monkeypatch.setenv(DEBUG_VARIABLE, "")
    monkeypatch.delenv(DEBUG_VARIABLE)  # as it was is what it becomes again
    (tmp_path / ".env").write_text(f"{DEBUG_VARIABLE}=1\n")
    with ExitHandler():
        load_env(tmp_path / ".env")
        OURS.debug("reads a file")
    assert "reads a file\n" in capsys.readouterr().err


PROGRAMS = [
    (main.main, "--resume nowhere", "no run 'nowhere'"),
    (main.main, "list --only nothing", "nothing"),
    (main.main, "evaluate --resume nowhere", "no evaluation 'nowhere'"),
    (main.main, "ablations --resume nowhere", "nowhere"),
    (main.main, "report nowhere", "nowhere"),
    (main.main, "query nowhere SELECT", "nowhere"),
    (run_eval.main, "--model random --task-dir nowhere --benchmark directory", "nowhere"),
    (run_eval.main, "draw nowhere", "nowhere"),
    (explorer.cli.main, "run nowhere", "nowhere"),
    (robot_bridge.cli.main, "replay nowhere", "nowhere"),
]


@pytest.mark.parametrize(("program", "line", "said"), PROGRAMS, ids=[line for _, line, _ in PROGRAMS])
def test_every_program_shows_the_traceback_of_an_error_that_is_one_line_otherwise(
    program: object,
    line: str,
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert callable(program)
    assert program(line.split()) == 2
    usual = capsys.readouterr()
    assert "Traceback" not in usual.err
    assert said in usual.err
    assert program([*line.split(), "--debug"]) == 2
    told = capsys.readouterr()
    assert told.err.endswith(usual.err)
    assert "    Traceback (most recent call last):\n" in told.err
    assert told.out == usual.out


def fail() -> None:
    try:
        raise ValueError(f"Illegal header value b'Bearer {KEY}'\nof a\x1b[2J request")
    except ValueError as error:
        raise SettingsError("the server is down") from error


@pytest.mark.usefixtures("debug_log")
def test_keys_are_taken_out_of_records_and_of_causes(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with ExitHandler(), log_to_folder(tmp_path):
        OURS.warning("the key %s is refused", KEY)
        fail()
    for told in (capsys.readouterr().err, (tmp_path / LOG_NAME).read_text()):
        assert KEY not in told
        assert "the key [hidden] is refused\n" in told
        assert told.count("Illegal header value b'Bearer [hidden]'\n    of a␛[2J request") == 1
        assert "The above exception was the direct cause" in told


@pytest.mark.usefixtures("debug_log")
def test_a_text_of_a_model_cannot_pass_for_a_record(capsys: pytest.CaptureFixture[str]) -> None:
    OURS.info("it answers %s", "a\n2026-01-01 INFO spca: b\x1b[2J")
    (line,) = capsys.readouterr().err.splitlines()
    assert line.endswith("it answers a 2026-01-01 INFO spca: b␛[2J")


@pytest.mark.usefixtures("debug_log")
def test_libraries_tell_warnings_only(capsys: pytest.CaptureFixture[str]) -> None:
    """What they log otherwise holds headers and whole prompts."""
    before = LIBRARY.level
    LIBRARY.setLevel(logging.DEBUG)
    try:
        LIBRARY.info("request headers ...")
        LIBRARY.warning("retrying")
    finally:
        LIBRARY.setLevel(before)
    (line,) = capsys.readouterr().err.splitlines()
    assert line.endswith("retrying")


@pytest.mark.usefixtures("debug_log")
def test_the_file_of_a_folder_has_what_came_before_it_and_the_errors(tmp_path: Path) -> None:
    def fail_within() -> None:
        with log_to_folder(tmp_path):
            OURS.debug("within")
            fail()

    OURS.debug("early")
    with pytest.raises(SettingsError):
        fail_within()
    OURS.debug("afterwards")
    told = (tmp_path / LOG_NAME).read_text()
    assert [word in told for word in ("early", "within", "afterwards")] == [True, True, False]
    assert told.count("SettingsError: the server is down") == 1
    other = tmp_path / "other"
    other.mkdir()
    with log_to_folder(other):
        OURS.debug("a second folder")
    assert (other / LOG_NAME).read_text().count("\n") == 1


def test_without_a_log_a_folder_stays_as_it_is(tmp_path: Path) -> None:
    with log_to_folder(tmp_path):
        OURS.error("nobody is told")
    assert not list(tmp_path.iterdir())
    assert not OURS.isEnabledFor(logging.INFO)


@pytest.mark.usefixtures("debug_log")
def test_a_log_that_cannot_be_begun_is_one_line(tmp_path: Path) -> None:
    (tmp_path / LOG_NAME).mkdir()
    with pytest.raises(SettingsError, match=r"cannot write .*debug\.log: Is a directory"), log_to_folder(tmp_path):
        pytest.fail("it is open")


@pytest.mark.usefixtures("debug_log")
def test_a_full_disk_under_the_log_stops_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / LOG_NAME).symlink_to("/dev/full")
    with ExitHandler() as ending, log_to_folder(tmp_path):
        OURS.info("a record")
    assert ending.code == 0
    assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.usefixtures("debug_log")
def test_beside_a_live_display_records_stand_above_it(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = SimpleNamespace(text=io.StringIO())
    terminal.text.isatty = lambda: True
    monkeypatch.setattr(sys, "stderr", terminal.text)
    console = Console(file=terminal.text, force_terminal=True, width=200, legacy_windows=False)
    with console.status("solving"):
        OURS.debug("a worker was killed")
    shown = terminal.text.getvalue()
    assert "a worker was killed\n" in shown
    assert shown.index("a worker was killed") < shown.rindex("solving")


@pytest.mark.usefixtures("debug_log")
def test_records_leave_a_display_alone_where_standard_error_is_a_file(monkeypatch: pytest.MonkeyPatch) -> None:
    written, terminal = io.StringIO(), io.StringIO()
    monkeypatch.setattr(sys, "stderr", written)
    with Console(file=terminal, force_terminal=True, width=200).status("solving"):
        OURS.debug("a worker was killed")
    assert written.getvalue().endswith("a worker was killed\n")
    assert "killed" not in terminal.getvalue()


def test_a_worker_logs_into_the_file_of_its_host(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert worker_log() == WorkerLog()
    with hold_debug_log():
        start_debug_log()
        with log_to_folder(tmp_path):
            sent = pickle.loads(pickle.dumps(worker_log()))  # noqa: S301  # our own
    with sent.open_log():
        OURS.debug("played an episode")
    assert "played an episode\n" in (tmp_path / LOG_NAME).read_text()
    assert capsys.readouterr().err == ""
