"""Invented words: as many as true ones, the same everywhere, and nothing else is touched."""

from __future__ import annotations

import json
import re
from contextlib import closing
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from minigridenv import MiniGridEnv
from spca.contracts import LevelInfo, PlanStep, Status
from spca.runs import curriculum
from spca.sense.map_text import end_state
from spca.sense.mission_words import mission_words
from spca.sense.object_names import advice, fault_of, words_told
from spca.sense.perception import VOCABULARY
from spca.sense.renaming import RENAMED, TRUE_WORDS, Renaming, _make_pools, find_meaning
from tests.support.bodies.grid import agent_state, planner_state, words_of
from tests.support.spca.doubles import AGENT, LEVEL, ROOT, plan_of

SEEDS = st.integers(0, 10**6)
TEXTS = st.lists(st.sampled_from([*RENAMED, "Key", "gray", "s", "es", "_", " ", "(", "ing", "A", "2"])).map("".join)
SEEN = ("MiniGrid-KeyCorridorS3R2-v0", "BabyAI-PutNextLocal-v0", "MiniGrid-LavaGapS6-v0", "BabyAI-UnlockToUnlock-v0")


def names(text: str) -> set[str]:
    return set(re.findall("[a-z]+", text.lower()))


def restored(text: str) -> str:
    """The text with what each invented word stands for."""
    return re.sub("[a-z]+?(?=s?(?![a-z]))", lambda word: find_meaning(word[0]), text)


def test_the_pools_are_apart_and_hold_no_word_that_is_used_otherwise() -> None:
    by_word = _make_pools(RENAMED)
    pools = [word for pool in by_word.values() for word in pool]
    assert len(set(pools)) == len(pools)
    assert min(map(len, by_word.values())) > 90
    folders = (ROOT / "spca" / "prompts", ROOT / "spca" / "bodies" / "grid" / "prompts")
    files = [path for folder in folders for path in folder.iterdir() if path.is_file()]
    english = names("".join(path.read_text(encoding="utf-8") for path in files))
    skills = names("".join(f"{task.level} {task.skill}" for task in tasks()))
    used = english | skills | {word for cell in VOCABULARY for word in cell.split()}
    assert used.isdisjoint(pools)
    assert used.isdisjoint(f"{word}s" for word in pools)


def tasks() -> tuple[curriculum.Task, ...]:
    return curriculum.load(ROOT / "merged_curriculum2.json").tasks()


@given(SEEDS)
def test_each_word_has_another_one_that_stands_for_it_alone(seed: int) -> None:
    invented = [Renaming(seed).text(word) for word in RENAMED]
    assert len(set(invented)) == len(RENAMED)
    assert [find_meaning(word) for word in invented] == list(RENAMED)


@given(SEEDS)
def test_the_vocabulary_is_as_large_as_the_true_one(seed: int) -> None:
    words = Renaming(seed).vocabulary
    assert len(set(words)) == len(VOCABULARY)
    assert [" ".join(map(find_meaning, word.split())) for word in words] == list(VOCABULARY)


@given(TEXTS, SEEDS)
def test_renaming_twice_changes_nothing_more(text: str, seed: int) -> None:
    once = Renaming(seed).text(text)
    assert Renaming(seed).text(once) == once
    assert TRUE_WORDS.text(text) == text


def test_whole_words_are_replaced_and_nothing_within_words() -> None:
    renaming = Renaming(3)
    door, key, red, grey, box = map(renaming.text, ("door", "key", "red", "grey", "box"))
    for text, wanted in {
        "open the red door": f"open the {red} {door}",
        "two doors, three boxes.": f"two {door}s, three {box}s.",
        "the gray key": f"the {grey} {key}",
        "door_red_left key_2 unlock_door": f"{door}_{red}_left {key}_2 unlock_{door}",
        "GoToRedBoxes DoorKey": f"GoTo{red.title()}{box.title()}s {door.title()}{key.title()}",
        "Boxed monkeys reddened the keyboard of the indoor ballet": None,
        "the goal square, walls and floors": None,
    }.items():
        assert renaming.text(text) == (text if wanted is None else wanted)


@pytest.mark.parametrize("seed", [0, 7])
def test_what_is_shown_of_a_world_is_the_same_but_for_the_words(seed: int) -> None:
    renaming = Renaming(seed)
    for env_id in SEEN:
        with closing(MiniGridEnv(env_id, 5)) as plain, closing(MiniGridEnv(env_id, 5, renaming=renaming)) as renamed:
            for code in (1, 2, 2, 0, 2):
                plain.step(code)
                renamed.step(code)
            shown, true = (json.dumps(planner_state(world.sense())) for world in (renamed, plain))
            assert names(shown).isdisjoint(RENAMED)
            assert restored(shown) == true
            assert planner_state(renamed.sense())["map"] == planner_state(plain.sense())["map"]
            assert renamed.checkpoint() == plain.checkpoint()


def test_a_coder_is_told_the_words_of_the_mission() -> None:
    renaming = Renaming(1)
    red, blue, ball, box = map(renaming.text, ("red", "blue", "ball", "box"))
    mission = renaming.text("put the red ball on your left next to the blue box, then go to a ball")
    told = mission_words(mission, (f"{ball}_{red}_left", f"{box}_{blue}", f"{ball}_any"))
    assert told == {
        f"{ball}_{red}_left": f"the {red} {ball} on your left",
        f"{box}_{blue}": f"the {blue} {box}",
        f"{ball}_any": f"a {ball}",
    }
    with closing(MiniGridEnv(SEEN[0], 1, renaming=renaming)) as world:
        assert names(json.dumps(agent_state(world.sense(), "", [f"{ball}_any"]))).isdisjoint(RENAMED)


def test_names_of_objects_are_judged_alike() -> None:
    renaming = Renaming(2)
    with closing(MiniGridEnv(SEEN[0], 1)) as plain, closing(MiniGridEnv(SEEN[0], 1, renaming=renaming)) as renamed:
        told = [words_told(world.sense(), LEVEL) for world in (plain, renamed)]
    for name in ("key_blue", "door_any", "red_key", "ball", "key_2", "widget_red", "door_locked", "object_green"):
        invented = renaming.text(name)
        assert bool(fault_of(name, told[0])) == bool(fault_of(invented, told[1])), name
        assert renaming.text(advice(name, told[0])) == advice(invented, told[1], renaming.text)


def test_the_end_of_an_attempt_is_told_in_the_same_words() -> None:
    with closing(MiniGridEnv(SEEN[0], 1, renaming=Renaming(4))) as world:
        outcome = world.run_sim(plan_of(), AGENT)
    assert outcome.status is Status.GOAL_NOT_REACHED
    assert names("\n".join(end_state(outcome.shown))).isdisjoint(RENAMED)


def test_generated_code_reads_the_invented_words_only() -> None:
    renaming = Renaming(6)
    method = """
    def look(self, agent):
        yield self.pick_up()
        print(self.mission, "|", self.inventory, "|", *sorted(set(self.full_grid.ravel().tolist())))
        print(*sorted(set(self.current_observation.ravel().tolist())))
"""
    agent = replace(AGENT, text=AGENT.text + method)
    with closing(MiniGridEnv("MiniGrid-PutNear-8x8-N3-v0", 3, renaming=renaming)) as world:
        snapshot, cells = world.sense(), words_of(world)
        printed = world.run_sim(plan_of(PlanStep("look", ("a1",))), agent).printed
    assert snapshot.mission in printed
    assert names(printed).isdisjoint(RENAMED)
    assert {word for row in cells for cell in row for word in cell.split()} <= names(printed)


def test_what_is_carried_is_told_in_the_same_words() -> None:
    renaming = Renaming(6)
    with closing(MiniGridEnv("BabyAI-PutNextS5N2Carrying-v0", 1, renaming=renaming)) as world:
        assert world.inventory
        assert world.sense().shown["inventory"] == renaming.text(world.inventory) != world.inventory


def test_the_words_of_a_level_are_renamed() -> None:
    renaming = Renaming(9)
    for task in tasks():
        level = renaming.level(task.info())
        assert names(f"{level.category} {level.skill} {level.level}".replace("_", " ")).isdisjoint(RENAMED)
    door, key = renaming.text("door"), renaming.text("key")
    told = renaming.level(LevelInfo("unlock_door", "Find the matching key and unlock a door", "Door Key"))
    assert told == LevelInfo(
        f"unlock_{door}", f"Find the matching {key} and unlock a {door}", f"{door.title()} {key.title()}"
    )
