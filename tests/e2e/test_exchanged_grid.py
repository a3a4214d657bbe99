"""The grid with every name, word and primitive exchanged is learned as the grid is: nothing compares its names.

Both runs are those of the real command with the embedded model; see :mod:`tests.support.machine.exchanged_grid`.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spca.bodies.grid.body import GRID
from tests.support.commands import level_summaries, main_py, only_run, read
from tests.support.machine import exchanged_grid
from tests.support.machine.exchanged_grid import (
    NEW_CODES,
    NEW_WORDS,
    OLD_WORDS,
    PLANE,
    PRIMITIVES,
    WORDS,
    change_back,
    exchange,
)
from tests.support.spca.doubles import ROOT

pytestmark = pytest.mark.timeout(300)

LEVELS: Final = {
    "first": ["MiniGrid-Empty-8x8-v0", "MiniGrid-FourRooms-v0"],
    "second": ["MiniGrid-DoorKey-6x6-v0", "MiniGrid-Unlock-v0", "BabyAI-OpenDoorColor-v0"],
    "third": ["MiniGrid-LavaGapS6-v0"],
    "fourth": ["BabyAI-GoToRedBall-v0", "BabyAI-Pickup-v0", "BabyAI-KeyInBox-v0"],
    "fifth": ["BabyAI-PutNextLocal-v0"],
}
TEXTS_IN_WORDS: Final = {"agent", "goal"}
"""Words of the grid that the loop's own texts have too: the agent, and ``:goal`` of PDDL."""
COUNTED: Final = ("outcome", "counters", "steps", "steps_total", "failed_by", "failed_rounds", "corrections", "writers")


@dataclass(frozen=True, slots=True)
class Learned:
    """A finished run in the words of the grid, and one in the others."""

    grid: Path
    plane: Path


@pytest.fixture(scope="module")
def learned(tmp_path_factory: pytest.TempPathFactory) -> Learned:
    home = tmp_path_factory.mktemp("exchanged")
    categories = [
        {"category_name": name, "skill": "learn it", "levels": [{"name": "all", "configs": ids}]}
        for name, ids in LEVELS.items()
    ]
    (home / "grid.json").write_text(json.dumps(categories), encoding="utf-8")
    (home / "plane.json").write_text(json.dumps({"world": "plane", "categories": categories}), encoding="utf-8")
    models = ("--planner-model", "translated/planner", "--coder-model", "translated/coder", "--max-calls", 99)
    flags = {"grid": (), "plane": ("--plugin", exchanged_grid.__file__, *models)}
    for name, more in flags.items():
        where = ("--runs", home / name, "--workspace", home / f"{name}-workspace", "--quiet")
        done = main_py(home, "--curriculum", home / f"{name}.json", *where, *more)
        assert (done.returncode, done.stderr) == (0, "")
    return Learned(only_run(home / "grid"), only_run(home / "plane"))


def exchange_values(value: Any) -> Any:
    """Return a nested value with all texts exchanged."""
    if isinstance(value, str):
        return exchange(value)
    if isinstance(value, dict):
        return {exchange(name): exchange_values(inner) for name, inner in value.items()}
    return [exchange_values(inner) for inner in value] if isinstance(value, list) else value


def read_texts(run: Path) -> list[tuple[str, str, str]]:
    """Return phase, role and text of each message and answer, changed back, without what differs by its nature.

    The initial agent of the other body has fewer lines, and its primitives are listed in another order. The list of
    methods is cut after those that share words with the plan, and prose says "pick up" where a primitive is "pick_up".
    """
    texts = []
    for file in sorted(run.glob("llm/*.json")):
        transcript = read(file)
        said = [*transcript["messages"], {"role": "answer", "text": transcript["answer"]["text"]}]
        for message in said:
            lines = message["text"] if isinstance(message["text"], list) else message["text"].split("\n")
            text = change_back("\n".join(lines))
            for order in (PRIMITIVES, tuple(map(change_back, PLANE.interface.primitives))):
                text = text.replace(", ".join(order), "(primitives)")
            text = re.sub(r"\d+-\d+(?=[,)])", "(lines)", text)
            text = re.sub(r"<agent_methods>.*?</agent_methods>", "", text, flags=re.DOTALL)
            texts.append((transcript["phase"], message["role"], text))
    return texts


def test_every_word_is_exchanged_one_to_one() -> None:
    assert len(OLD_WORDS) == len(NEW_WORDS) == len(WORDS)
    assert not OLD_WORDS.keys() & NEW_WORDS.keys()
    assert sorted(NEW_CODES) == list(range(7))
    assert all(old != new for old, new in enumerate(NEW_CODES))
    assert not set(PLANE.interface.reserved_names) & set(GRID.interface.reserved_names) - {
        "mission",
        "previous_actions",
    }
    assert PLANE.name != GRID.name


@given(st.lists(st.sampled_from([*WORDS, *WORDS[:5], "Key", "RED", "boxes", " ", "_", "\n", "walks", "1"])))
def test_an_exchange_is_undone(parts: list[str]) -> None:
    text = "".join(parts)
    assert change_back(exchange(text)) == text


@pytest.mark.parametrize("file", sorted((ROOT / "spca" / "bodies" / "grid" / "prompts").glob("*.jinja")))
def test_no_prompt_of_the_other_body_has_a_word_of_the_grid(file: Path) -> None:
    text = PLANE.prompts[file.stem]
    found = set(re.findall(r"[a-z_]+", text.replace(":goal", "").replace("class Agent", "").lower())) & set(WORDS)
    assert found == set()
    assert change_back(text) == file.read_text(encoding="utf-8")


def test_all_levels_end_alike(learned: Learned) -> None:
    grid = level_summaries(learned.grid)
    plane = level_summaries(learned.plane)
    assert len(grid) == 10
    for ours, theirs in zip(grid, plane, strict=True):
        assert exchange_values({name: ours[name] for name in COUNTED}) == {name: theirs[name] for name in COUNTED}
    assert {summary["outcome"] for summary in grid} == {"success"}


def test_all_trajectories_are_alike(learned: Learned) -> None:
    files = sorted(learned.grid.glob("trajectories/*.json"))
    assert len(files) == 10
    for file in files:
        ours = read(file)
        theirs = read(learned.plane / "trajectories" / file.name)
        assert [NEW_CODES[code] for code in ours["primitives"]] == theirs["primitives"]
        assert exchange(ours["snapshot"]["mission"]) == theirs["snapshot"]["mission"]
        plans = [[exchange_values(attempt["plan"]) for attempt in each["attempts"]] for each in (ours, theirs)]
        assert plans[0] == plans[1]


def test_all_questions_and_answers_are_alike(learned: Learned) -> None:
    grid = read_texts(learned.grid)
    plane = read_texts(learned.plane)
    assert len(grid) > 30
    assert grid == plane


def test_no_text_of_the_other_run_has_a_word_of_the_grid(learned: Learned) -> None:
    pattern = re.compile(rf"(?<![A-Za-z])(?:{'|'.join(WORDS)})(?:e?s)?(?![A-Za-z])", re.IGNORECASE)
    found: set[str] = set()
    for file in learned.plane.glob("llm/*.json"):
        for message in read(file)["messages"]:
            text = message["text"]
            found.update(map(str.lower, pattern.findall(text if isinstance(text, str) else "\n".join(text))))
    assert found == TEXTS_IN_WORDS
