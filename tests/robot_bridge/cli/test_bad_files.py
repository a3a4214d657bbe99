"""What may stand under the name of a file or folder of a robot's command: one line, exit code 2."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from robot_bridge.cli import main

pytestmark = pytest.mark.timeout(60)

LONG = "n" * 300
PIPE = "it is a pipe or a device, not a file"


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("explore", "--config", "pipe"), f"pipe cannot be read: {PIPE}"),
        (("explore", "--config", "/dev/zero"), f"/dev/zero cannot be read: {PIPE}"),
        (("explore", "--config", "latin"), "latin cannot be read: it is not UTF-8 text (byte 2 is 0xe4)"),
        (("explore", "--config", "deep"), "deep is not YAML"),
        (("explore", "--memory", "pipe"), f"pipe cannot be read: {PIPE}"),
        (("explore", "--memory", "/dev/zero"), f"/dev/zero cannot be read: {PIPE}"),
        (("explore", "--output", LONG), "File name too long"),
        (("explore", "--model", "openai/gpt-4o-mini"), ".env cannot be read: it is not UTF-8 text"),
        (("act", "[f(a1)]", "--agent", "pipe"), f"--agent pipe cannot be read: {PIPE}"),
        (("act", "[f(a1)]", "--agent", LONG), "File name too long"),
        (("replay", "bag"), f"bag/a.mcap cannot be read: {PIPE}"),
        (("replay", "pipe"), "pipe is not a log"),
        (("replay", LONG), f"{LONG} is not there"),
        (("replay", "a\x1b[2Jb"), "a␛[2Jb is not there"),
    ],
)
def test_a_file_that_cannot_be_read(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: tuple[str, ...],
    told: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PYTHON_DOTENV_DISABLED")
    (tmp_path / "bag").mkdir()
    for name in ("pipe", "bag/a.mcap"):
        os.mkfifo(tmp_path / name)
    for name in ("latin", ".env"):
        (tmp_path / name).write_bytes(b"a=\xe4\n")
    (tmp_path / "deep").write_text("[" * 5000)
    before = sorted(tmp_path.rglob("*"))
    assert main(arguments) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert told in said.err
    assert said.err.count("\n") == 1
    assert sorted(tmp_path.rglob("*")) == before


def test_a_misspelled_key_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PYTHON_DOTENV_DISABLED")
    (tmp_path / ".env").write_text("openai_api_key=sk-0123456789\n")
    assert main(("explore", "--model", "openai/gpt-6-luna")) == 2
    said = f"error: {tmp_path}/.env, line 1: openai_api_key is read by nothing here: write OPENAI_API_KEY\n"
    assert capsys.readouterr() == ("", said)
