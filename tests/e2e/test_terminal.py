"""What a user sees while a run goes on: in a terminal, and in a file."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest
from rich.cells import cell_len

from main import main
from tests.fakes.reference_server import ReferenceServer
from tests.fakes.serving import Asked, Reply
from tests.support.commands import command, curriculum, environment, only_run
from tests.support.processes import Process
from tests.support.spca.served import CHAT, cost_of, model_flags
from tests.support.terminals import Terminal
from tests.support.waiting import PATIENCE, becomes

pytestmark = pytest.mark.timeout(900)

ENV_ID = "MiniGrid-Empty-Random-5x5-v0"
KEY = {"OPENAI_API_KEY": "not-a-real-key"}
NAVIGATION = "navigation                            calls steps     USD   time  solved   spent"


class SlowServer(ReferenceServer):
    """Answers once the user was told for whom the run waits: planner, then coder."""

    def __init__(self, told: Callable[[str], object]) -> None:
        super().__init__()
        self._told = told

    def reply_to(self, asked: Asked) -> Reply:
        reply = super().reply_to(asked)
        if asked.method == "POST":
            who = "planner" if len(self.asked) == 1 else "coder"
            assert becomes(lambda: self._told(who))
        return reply


@pytest.fixture
def short(tmp_path: Path) -> tuple[object, ...]:
    """Flags for one small level, a call of the planner and one of the coder."""
    chosen = curriculum(tmp_path / "c.json", navigation=(ENV_ID,))
    return ("--curriculum", chosen, "--runs", tmp_path / "runs", "--workspace", tmp_path / "w", *model_flags(CHAT))


def words(lines: list[str]) -> str:
    """The lines as one, with single spaces."""
    return " ".join(" ".join(lines).split())


@pytest.mark.long
def test_a_terminal_says_who_is_waited_for_and_what_was_spent(short: tuple[object, ...], tmp_path: Path) -> None:
    terminal = Terminal(80)

    def told(who: str) -> bool:
        return bool(re.search(rf"1/1 [^:]+: {ENV_ID} round 1 {who} openai/gpt-5\.2 [1-9]\d*s", words(terminal.lines)))

    with SlowServer(told) as server:
        asked = command(*short, "--base-url", server.base_url)
        assert terminal.run(asked, tmp_path, environment(**KEY)) == 0, terminal.lines
    lines = terminal.lines
    assert all(cell_len(line) <= 80 or " " not in line for line in lines), "only a path may be longer"
    spent = [float(found) for found in re.findall(r"\d calls?, [\d,]+ tokens[^,]*, ([\d.]+) USD", words(lines))]
    assert all(one <= other for one, other in pairwise(spent))
    assert 0 < spent[0]
    (at,) = [number for number, line in enumerate(lines) if line.startswith("solved 1 ")]
    assert NAVIGATION in lines
    assert float(lines[at].split()[-1]) >= spent[-1]
    assert not any(ENV_ID in line for line in lines[at + 1 :]), "the live line was taken down"


@pytest.mark.long  # tests/spca/runs/test_display.py has the lines
def test_a_file_is_told_of_each_long_wait_and_a_resumed_run_of_all_sums(
    short: tuple[object, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "printed"
    monkeypatch.setattr("spca.runs.screen.display._LONG", 0.4)
    monkeypatch.setattr("spca.runs.screen.display._LOOK", 0.05)
    for name, value in environment(**KEY).items():
        monkeypatch.setenv(name, value)

    def printed(*arguments: object) -> tuple[int, list[str]]:
        with file.open("w") as out, monkeypatch.context() as patch:
            patch.setattr(sys, "stdout", out)
            code = main([str(argument) for argument in arguments])
        text = file.read_text()
        assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f]", text)
        lines = text.splitlines()
        (head,) = [number for number, line in enumerate(lines) if line.startswith("navigation  ")][:1]
        return code, lines[head - 1 :]

    with SlowServer(lambda who: f"  {who} " in file.read_text()) as server:
        code, lines = printed(*short, "--base-url", server.base_url, "--max-calls", "1")
        assert code == 3
        assert re.fullmatch(rf"  \d:\d\d 1 {ENV_ID}  round 1  planner openai/gpt-5\.2", the_one("planner", lines))
        resume = ("--resume", only_run(tmp_path / "runs").name, "--runs", tmp_path / "runs", "--max-calls", "9")
        code, lines = printed(*resume)
        assert code == 0
    first, both = (f"{sum(map(cost_of, asked)):.4f}" for asked in (server.asked[:1], server.asked))
    assert lines[0].startswith("resuming: 0 of 1 levels are finished, 0 of them solved; so far 1,")
    assert lines[0].endswith(f" {first} USD")
    coder = rf"  \d:\d\d 1 {ENV_ID}  round 1  coder openai/gpt-5\.2  1 call, 1,\d{{3}} tokens[^,]*, {first} USD"
    assert re.fullmatch(coder, the_one("coder", lines))
    row = next(line for line in lines if line.startswith("solved 1 ") and ENV_ID in line)
    assert row.endswith(f" 1/1  {both}")


def the_one(who: str, lines: list[str]) -> str:
    """The line that says who is waited for."""
    (line,) = [line for line in lines if f"  {who} " in line]
    return line


def test_a_run_whose_output_nobody_reads_any_more_says_how_to_go_on(tmp_path: Path) -> None:
    chosen = curriculum(tmp_path / "c.json", navigation=(ENV_ID,))
    where = ("--curriculum", chosen, "--runs", tmp_path / "runs", "--workspace", tmp_path / "w")
    reader, writer = os.pipe()
    os.close(reader)
    options = {"cwd": tmp_path, "env": environment(), "stdout": writer, "stderr": subprocess.PIPE}
    with Process(command(*where), **options) as process:
        os.close(writer)
        _, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    run = only_run(tmp_path / "runs").name
    assert err.startswith(f"interrupted, since nobody reads the output; go on with: python main.py --resume {run} ")
    assert err.count("\n") == 1
