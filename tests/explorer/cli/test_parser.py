"""What can be said on the command line, and what is said of what cannot."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import pytest

from explorer.cli import main
from explorer.cli.parser import KNOBS, Settings, parse
from explorer.generating.knobs import Knobs


@pytest.mark.parametrize("command", ["", "play", "run", "report", "show", "generate", "certify"])
def test_help_says_what_there_is(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main([*command.split(), "--help"])
    assert ended.value.code == 0
    assert "usage: python -m explorer" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("text", "hops"), [("3", (3,)), ("1-4", (1, 2, 3, 4)), ("2,4", (2, 4)), ("1-2,2-3", (1, 2, 3)), ("6", (6,))]
)
def test_hops_are_numbers_ranges_and_lists(text: str, hops: tuple[int, ...]) -> None:
    assert parse(["generate", "--hops", text]).hops == hops


@pytest.mark.parametrize(
    "line",
    [
        "", "nothing", "generate --hops 7", "generate --hops 4-2", "generate --hops 0", "generate --hops x",
        "generate --hops 1-", "generate --count 0", "generate --count 1e3", "generate --seed -1", "play --port 70000",
        "play a b", "certify", "show", "generate --worker 2",
        "run", "run x --resume --overwrite", "run x --max-steps 0",
    ],
)  # fmt: skip
def test_a_mistake_is_one_line_and_exit_code_2(line: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(line.split())
    said = capsys.readouterr()
    assert ended.value.code == 2
    assert said.out == ""
    assert said.err.startswith("error: ")
    assert said.err.count("\n") == 1


@pytest.mark.parametrize("command", ["show", "play"])
def test_a_scene_that_is_not_there_is_one_line(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([command, str(tmp_path / "no\x1b[31mwhere")]) == 2
    said = capsys.readouterr().err
    assert said.startswith("error: ")
    assert said.count("\n") == 1
    assert "\x1b" not in said


def test_the_knobs_are_those_of_the_generator() -> None:
    known = {each.name: each.default for each in fields(Knobs)}
    assert {**{name: default for name, (_, default) in KNOBS.items()}, "shape": "", "hops": 0} == known


def test_what_is_left_out_is_the_default() -> None:
    assert parse(["play"]) == Settings("play", fresh=True)
    assert parse(["play", "--seed", "3"]) == Settings("play", seed=3)
    assert parse(["report"]) == Settings("report")
    assert parse(["generate", "--spare", "0"]) == Settings("generate", knobs={"spare": 0})
