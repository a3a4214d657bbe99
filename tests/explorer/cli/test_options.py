"""What can be said on the command line, and what is said of what cannot."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path
from typing import get_type_hints

import pytest
from cyclopts import Parameter

from explorer.cli import build_app, main
from explorer.cli.options import (
    GenerateOptions,
    JobOptions,
    PlayOptions,
    ReportOptions,
    RunOptions,
    read_hops,
)
from explorer.generating.knobs import Knobs


def parse(line: str) -> tuple[object, ...]:
    """Return what the command of a line is called with."""
    _, bound, _ = build_app().parse_args(line.split())
    bound.apply_defaults()
    return tuple(bound.arguments.values())


@pytest.mark.parametrize("command", ["", "play", "run", "report", "show", "generate", "certify", "release"])
def test_help_says_what_there_is(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*command.split(), "--help"]) == 0
    told = capsys.readouterr().out
    assert told.startswith(f"Usage: python -m explorer {command}")
    assert ("examples:" in told) == (not command)


@pytest.mark.parametrize(
    ("text", "hops"), [("3", (3,)), ("1-4", (1, 2, 3, 4)), ("2,4", (2, 4)), ("1-2,2-3", (1, 2, 3)), ("6", (6,))]
)
def test_hops_are_numbers_ranges_and_lists(text: str, hops: tuple[int, ...]) -> None:
    assert read_hops(text) == hops


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
    assert main(line.split()) == 2
    said = capsys.readouterr()
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


def test_a_file_that_cannot_be_reached_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["play", "--output", str(tmp_path / ("long" * 1000))]) == 2
    said = capsys.readouterr().err
    assert said.startswith("error: [Errno 36] File name too long: ")
    assert said.count("\n") == 1


@pytest.mark.parametrize("options", [PlayOptions, RunOptions, GenerateOptions, JobOptions, Knobs])
def test_help_tells_the_defaults(options: type[PlayOptions]) -> None:
    for field in fields(options):
        hint = get_type_hints(options, include_extras=True)[field.name]
        help_text = getattr(hint, "__metadata__", (Parameter(),))[-1].help or ""
        told = re.findall(r"\(default (\d+)\)", help_text)
        assert told in ([], [str(field.default)])


def test_what_is_left_out_is_the_default() -> None:
    assert parse("play") == (None, PlayOptions())
    assert parse("play --seed 3") == (None, PlayOptions(seed=3))
    assert parse("play test:12 --no-browser") == (Path("test:12"), PlayOptions(no_browser=True))
    assert parse("report") == ((), ReportOptions())
    assert parse("run a b --resume") == ((Path("a"), Path("b")), RunOptions(jobs=JobOptions(resume=True)))
    assert parse("generate --spare 0 --shape join") == (GenerateOptions(knobs=Knobs(spare=0, shape="join")),)
    assert parse("generate --hops 1-3 --hops 2,4") == (GenerateOptions(hops=(2, 4)),)
