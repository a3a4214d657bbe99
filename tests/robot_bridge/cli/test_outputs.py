"""What a command leaves in its folder."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest

from robot_bridge.cli.outputs import LOG, log_in
from robot_bridge.config import RobotConfig
from robot_bridge.ros.log.bag import BagWriter


def test_a_log_that_ends_early_is_told_when_the_command_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with log_in(tmp_path, RobotConfig()) as log:
        log.noted(1.0, "release", {})
        monkeypatch.setattr(BagWriter, "write", full)
        log.noted(2.0, "release", {})
        assert capsys.readouterr().err == ""
    assert capsys.readouterr().err == f"error: the log {tmp_path / LOG} ends here: No space left on device\n"


def test_of_a_whole_log_nothing_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with log_in(tmp_path, RobotConfig()) as log:
        log.noted(1.0, "release", {})
    assert capsys.readouterr().err == ""
    assert (tmp_path / LOG / "metadata.yaml").is_file()
