"""What a command leaves in its folder."""

from __future__ import annotations

import errno
from contextlib import ExitStack
from pathlib import Path

import pytest

from robot_bridge.cli.options import OutputOptions
from robot_bridge.cli.outputs import LOG, open_journals, open_log
from robot_bridge.config import RobotConfig
from robot_bridge.ros.log.bag import BagWriter


def test_a_log_that_ends_early_is_told_when_the_command_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with open_log(tmp_path, RobotConfig()) as log:
        log.record_note(1.0, "release", {})
        monkeypatch.setattr(BagWriter, "write", full)
        log.record_note(2.0, "release", {})
        assert capsys.readouterr().err == ""
    assert capsys.readouterr().err == f"error: the log {tmp_path / LOG} ends here: No space left on device\n"


def test_of_a_whole_log_nothing_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with open_log(tmp_path, RobotConfig()) as log:
        log.record_note(1.0, "release", {})
    assert capsys.readouterr().err == ""
    assert (tmp_path / LOG / "metadata.yaml").is_file()


def test_time_is_told_from_the_start(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with ExitStack() as stack:
        _, narrator = open_journals(OutputOptions(), RobotConfig(), tmp_path, 1377.0, None, stack)
        narrator.record_note(1378.5, "news", {})
    assert capsys.readouterr().out.startswith("  0:01.5  ")
