"""A body that is no grid plays whole runs through the real commands, and no text for a model speaks of a grid."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import resources
from pathlib import Path
from typing import Any, Final

import pytest

from tests.support.commands import command, environment, events, level_summaries, only_run, read, timeless, wait_for
from tests.support.machine import vending_faults
from tests.support.processes import Process
from tests.support.report.pages import read_pieces
from tests.support.spca.doubles import ROOT
from tests.support.tiers import long

pytestmark = pytest.mark.timeout(300)

EXAMPLE: Final = ROOT / "examples" / "vending"
MODEL: Final = "vending-faults/a"
DRINKS: Final = ("tea", "juice", "cocoa", "water", "milk")

OF_THE_GRID: Final = (
    *("key", "door", "colour", "color", "north", "east", "south", "west", "grid", "cell", "wall", "lava", "walk"),
    *("ball", "box", "toggle", "7x7", "full_grid", "hand_empty", "carrying", "a1", "map", "cells", "keys", "doors"),
)
"""Words that no text for a model of another body may have."""

FAULTS: Final = (
    "parse_error: domain",
    "action 'pull_lever' is the name of one of the agent's primitive methods",
    "Found invalid expression: mug",
    "the answer holds no JSON object",
    "syntax error at line 1",
    "serve_drink must take (self, drink), not (self, drink, mug)",
    "module os is not available",
    "self.credit is read-only",
    "pull_lever is a primitive and must stay as it is",
    "status: runtime_error",
    "status: stuck",
    "status: goal_not_reached",
    "status: reward_failed",
    "Regression: the rewritten sell_drink breaks a level that was solved before",
    "the coder sent the plan back: no step buys the drink",
    '"status": "goal_not_reached"',
    '"how": "refused"',
    '"how": "failed"',
    '"rejected": "buy_these: it does not follow when the snapshot speaks of other drinks',
)
"""What models are told in the run, one fault each."""

VARIANTS: Final = {
    "usual": (),
    "renamed": ("--rename-words", 3),
    "bare": ("--bare-prompt", "--no-compile", "--no-reuse"),
}


@dataclass(frozen=True, slots=True)
class Lab:
    """A folder outside the checkout with the curriculum of the machine."""

    home: Path

    def name_plugins(self) -> tuple[object, ...]:
        return ("--plugin", "vending", "--plugin", vending_faults.__file__)

    def list_flags(self, name: str) -> tuple[object, ...]:
        """Return the flags of a new run whose folders have a name."""
        models = ("--planner-model", MODEL, "--coder-model", MODEL, "--max-calls", 400)
        folders = ("--runs", self.home / name, "--workspace", self.home / f"{name}-workspace")
        return (*self.name_plugins(), "--curriculum", self.home / "machine.json", *models, *folders, "--quiet")

    def learn(self, name: str) -> Path:
        """Return the run of a variant, which is finished once for all tests."""
        runs = self.home / name
        if not runs.exists():
            self.call(*self.list_flags(name), *VARIANTS[name])
        return only_run(runs)

    def call(self, *arguments: object) -> str:
        """Run a command to its end; return its output."""
        done = subprocess.run(
            command(*arguments), cwd=self.home, env=self.environ, capture_output=True, text=True, check=False
        )
        assert (done.returncode, done.stderr) == (0, ""), done.stderr
        return done.stdout

    @property
    def environ(self) -> dict[str, str]:
        path = os.pathsep.join(filter(None, (str(EXAMPLE), os.environ.get("PYTHONPATH"))))
        return environment(PYTHONPATH=path)


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Lab:
    home = tmp_path_factory.mktemp("machine")
    (home / "machine.json").write_text(json.dumps(vending_faults.CURRICULUM), encoding="utf-8")
    return Lab(home)


@pytest.fixture(scope="module", params=["usual", long("renamed"), long("bare")])
def variant(lab: Lab, request: pytest.FixtureRequest) -> tuple[str, Path]:
    """A finished run of each variant, with the variant's name."""
    return request.param, lab.learn(request.param)


@pytest.fixture(scope="module")
def usual(lab: Lab) -> Path:
    """The finished run without further flags."""
    return lab.learn("usual")


def list_texts(run: Path) -> Iterator[tuple[str, str]]:
    """Yield the file and the text of each message to a model; the model's own answers are left out."""
    for file in sorted(run.glob("llm/*.json")):
        messages: Sequence[Mapping[str, Any]] = read(file)["messages"]
        for message in messages:
            if message["role"] != "assistant":
                text = message["text"]
                yield file.name, text if isinstance(text, str) else "\n".join(text)


def find_words(words: Sequence[str], text: str) -> set[str]:
    """Return the words that stand in a text, whole and in any case."""
    return {found.lower() for found in re.findall(rf"(?<!\w)(?:{'|'.join(words)})(?!\w)", text, re.IGNORECASE)}


def test_words_are_found_whole_and_in_any_case() -> None:
    assert find_words(OF_THE_GRID, "the Key, a1 and <map>; keyboard, walked, boxes") == {"key", "a1", "map"}


def test_a_run_with_every_fault_solves_its_levels(variant: tuple[str, Path]) -> None:
    name, run = variant
    summary = read(run / "summary.json")
    assert (summary["solved"], summary["levels"]) == (18, 18)
    told = "\n".join(text for _file, text in list_texts(run))
    of_writers = ('"how"', '"rejected"')
    expected = [fault for fault in FAULTS if name != "bare" or not fault.startswith(of_writers)]
    assert [fault for fault in expected if fault not in told] == []


def test_no_text_for_a_model_speaks_of_a_grid(variant: tuple[str, Path]) -> None:
    texts = list(list_texts(variant[1]))
    assert len(texts) > 90
    found = {(file, *sorted(words)) for file, text in texts if (words := find_words(OF_THE_GRID, text))}
    assert found == set()


def test_the_plain_parts_of_prompts_do_not_speak_of_a_grid() -> None:
    files = [file for file in resources.files("spca.prompts").iterdir() if file.name.endswith(".jinja")]
    assert len(files) > 15
    assert {file.name: words for file in files if (words := find_words(OF_THE_GRID, file.read_text("utf-8")))} == {}


def test_writers_are_accepted_extended_and_refused(usual: Path) -> None:
    decisions = [event for event in events(usual) if event["event"] == "writer"]
    assert [event["label"] for event in decisions] == [
        "buy_drinks/v001",
        "",
        "buy_drinks/v002",
        "buy_first/v001",
        "",
    ]
    planned = [event["writer"] for event in events(usual) if event["event"] == "compiled_plan" and not event["miss"]]
    assert planned == ["buy_drinks/v001", "buy_drinks/v001", "buy_drinks/v002", "buy_first/v001"]


def test_no_renamed_word_is_shown(lab: Lab) -> None:
    texts = list(list_texts(lab.learn("renamed")))
    assert [file for file, text in texts if find_words(DRINKS, text)] == []


def test_the_run_is_told_in_tables_and_answers_queries(lab: Lab, usual: Path) -> None:
    plugins = (*lab.name_plugins(), "--runs", usual.parent)
    assert "half_missions" in lab.call("report", usual.name, "--no-page", *plugins)

    sql = "SELECT category, count(*) AS n, sum(steps_total) FROM levels GROUP BY category ORDER BY category"
    answer = lab.call("query", usual.name, sql, "--format", "json", *plugins)
    assert {row["category"]: row["n"] for row in json.loads(answer)}["half_missions"] == 3


def test_the_page_of_the_run_has_its_code(lab: Lab, usual: Path) -> None:
    lab.call("report", usual.name, *lab.name_plugins(), "--runs", usual.parent)
    pieces = read_pieces((usual / "report.html").read_text(encoding="utf-8"))
    assert "serve_drink" in json.dumps(pieces)


@pytest.mark.parametrize("level", [4, long(10), long(17)])
def test_a_level_is_replayed(lab: Lab, usual: Path, level: int) -> None:
    shown = lab.call("replay", usual.name, level, *lab.name_plugins(), "--runs", usual.parent)
    assert "re-simulation equals the recording" in shown
    assert "labels: [" in shown


@pytest.mark.long
def test_a_killed_run_goes_on_as_if_it_had_not_been(lab: Lab, usual: Path) -> None:
    runs = lab.home / "killed"
    arguments: tuple[object, ...] = lab.list_flags("killed")

    def has_begun(number: int) -> bool:
        logs = runs.glob("*/metrics.jsonl")
        return sum(path.read_bytes().count(b'"event": "level_start"') for path in logs) >= number

    for last in (2, 9, 16):
        with Process(
            command(*arguments), cwd=lab.home, env=lab.environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        ) as process:
            wait_for(partial(has_begun, last))
            os.killpg(process.pid, signal.SIGKILL)
        arguments = ("--resume", only_run(runs).name, "--runs", runs, *lab.name_plugins(), "--quiet")
    lab.call(*arguments)
    run = only_run(runs)
    assert [timeless(each) for each in level_summaries(run)] == [timeless(each) for each in level_summaries(usual)]
    assert len(list(run.glob("llm/*.json"))) == len(list(usual.glob("llm/*.json")))
