"""``play --terminal`` on a pseudo terminal, as over ssh."""

from __future__ import annotations

import os
import pty
import re
import select
import signal
import struct
import sys
import termios
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from fcntl import ioctl
from pathlib import Path

import pytest

from explorer.cli import main
from explorer.cli.options import PlayOptions
from explorer.cli.play import make_new_scene
from explorer.evaluation.results import read_episodes
from explorer.files import Loaded, save_scene
from explorer.play.session import Session
from tests.support.explorer.told import EMERALD, TEXT, told
from tests.support.processes import Process
from tests.support.spca.doubles import ROOT
from tests.support.tiers import few
from tests.support.waiting import PATIENCE

KEYS = "\x1b[A" * 4 + "\x1b[D" + "www" + "\t\r" + "sss" + "\x1b[C" + "wwwwww"
"""The way to the emerald: to the lever, tab to it, enter, back and through the door."""


class Shown:
    """What a program wrote to its terminal."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor, self.text = descriptor, ""

    def wait_for(self, words: str) -> None:
        while words not in self.text:
            assert select.select([self._descriptor], [], [], PATIENCE)[0], f"waited for {words!r} in {self.text!r}"
            self.read()

    def read(self) -> bool:
        """Read what there is; False at the end."""
        try:
            data = os.read(self._descriptor, 65536)
        except OSError:  # the other end is closed
            return False
        self.text += re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", data.decode(errors="replace"))
        return bool(data)


@contextmanager
def on_terminal(*arguments: object, cwd: Path) -> Iterator[tuple[Process, int, Shown]]:
    """The command on a terminal of 120 columns; keys are written to the descriptor."""
    ours, theirs = pty.openpty()
    ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
    line = [sys.executable, "-m", "explorer", *map(str, arguments)]
    environment = {**os.environ, "TERM": "xterm-256color", "PYTHONPATH": str(ROOT)}
    with Process(line, cwd=cwd, stdin=theirs, stdout=theirs, stderr=theirs, env=environment) as process:
        os.close(theirs)
        try:
            yield process, ours, Shown(ours)
        finally:
            with suppress(OSError):  # a test has closed it
                os.close(ours)


def test_keys_win_a_scene_and_the_episode_is_in_the_results(tmp_path: Path) -> None:
    save_scene(tmp_path / "emerald", told())
    with on_terminal("play", "emerald", "--terminal", "--output", "mine.jsonl", cwd=tmp_path) as (process, keys, shown):
        shown.wait_for(TEXT)
        os.write(keys, KEYS.encode())
        shown.wait_for("added to mine.jsonl")
        while shown.read():
            continue
        assert process.wait(PATIENCE) == 0
    assert "solved: 2 of 2 milestones in 20 steps" in shown.text
    (episode,) = read_episodes(tmp_path / "mine.jsonl")
    assert (episode.model, episode.solved, episode.codes) == ("human", True, EMERALD)
    assert Path(episode.source).name == "emerald"


@pytest.mark.long
def test_who_has_enough_is_recorded_too(tmp_path: Path) -> None:
    save_scene(tmp_path / "emerald", told())
    with on_terminal("play", "emerald", "--terminal", "--output", "mine.jsonl", cwd=tmp_path) as (process, keys, shown):
        shown.wait_for(TEXT)
        os.write(keys, b"whczzq")
        shown.wait_for("added to mine.jsonl")
        assert process.wait(PATIENCE) == 0
    assert "not solved: 0 of 2 milestones in 2 steps" in shown.text
    (episode,) = read_episodes(tmp_path / "mine.jsonl")
    assert (episode.ended, episode.solved) == ("done", False)


def test_without_a_terminal_it_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    save_scene(tmp_path / "emerald", told())
    assert main(["play", str(tmp_path / "emerald"), "--terminal", "--output", str(tmp_path / "mine.jsonl")]) == 2
    assert capsys.readouterr().err == "error: --terminal needs a terminal: run it in one, or play in the browser\n"
    assert not (tmp_path / "mine.jsonl").exists()


@pytest.mark.parametrize("number", few(1, [signal.SIGTERM, signal.SIGHUP, None]))
def test_an_episode_that_is_broken_off_is_in_the_results(tmp_path: Path, number: signal.Signals | None) -> None:
    save_scene(tmp_path / "emerald", told())
    with on_terminal("play", "emerald", "--terminal", "--output", "mine.jsonl", cwd=tmp_path) as (process, keys, shown):
        shown.wait_for(TEXT)
        os.write(keys, b"ww")
        shown.wait_for("step 2 of")
        if number is not None:
            process.send_signal(number)
            shown.wait_for("added to mine.jsonl")
        else:
            os.close(keys)  # the terminal is gone
        process.wait(PATIENCE)
    (episode,) = read_episodes(tmp_path / "mine.jsonl")
    assert (episode.steps, episode.ended) == (3, "done")


@pytest.mark.usefixtures("termination_fails_the_test")
def test_an_episode_in_the_browser_that_is_broken_off_is_in_the_results(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class EndedFromOutside(Session):
        def __init__(self, loaded: Loaded) -> None:
            super().__init__(loaded)
            self.ask({"do": "forward"})
            monkeypatch.setattr(self.finished, "wait", lambda: signal.raise_signal(signal.SIGTERM))

    monkeypatch.setattr("explorer.play.session.Session", EndedFromOutside)
    save_scene(tmp_path / "emerald", told())
    output = tmp_path / "mine.jsonl"
    assert main(["play", str(tmp_path / "emerald"), "--no-browser", "--output", str(output)]) == 0
    said = capsys.readouterr().out
    assert said.endswith(f"added to {output}\nlook at it: python -m explorer report {output}\n")
    (episode,) = read_episodes(output)
    assert (episode.steps, episode.ended) == (2, "done")


def test_who_leaves_at_once_has_not_played(tmp_path: Path) -> None:
    save_scene(tmp_path / "emerald", told())
    with on_terminal("play", "emerald", "--terminal", "--output", "mine.jsonl", cwd=tmp_path) as (process, keys, shown):
        shown.wait_for(TEXT)
        os.write(keys, b"q")
        shown.wait_for("nothing was recorded")
        assert process.wait(PATIENCE) == 130
    assert not (tmp_path / "mine.jsonl").exists()


def test_results_that_cannot_be_written_are_told_before_the_game(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    save_scene(tmp_path / "emerald", told())
    assert main(["play", str(tmp_path / "emerald"), "--no-browser", "--output", str(tmp_path)]) == 2
    assert capsys.readouterr().err == (f"error: {tmp_path}: cannot append an episode; choose another --output\n")


def test_a_new_scene_is_made_each_time(tmp_path: Path) -> None:
    for hops in (1, 1, 2):
        loaded = make_new_scene(tmp_path, PlayOptions(hops=hops))
        assert loaded.hops == hops
        assert loaded.certificate is not None
    assert {path.name for path in tmp_path.iterdir()} == {"seed_1_hops_1", "seed_2_hops_1", "seed_1_hops_2"}
    assert make_new_scene(tmp_path, PlayOptions(seed=1, hops=1)).source == str(tmp_path / "seed_1_hops_1")
