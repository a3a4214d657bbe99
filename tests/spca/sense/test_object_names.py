"""Names of objects: what prompts allow is never refused, what stands for nothing is, with a better name."""

from __future__ import annotations

import json
from contextlib import closing
from dataclasses import replace
from functools import lru_cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from minigridenv import MiniGridEnv
from plannerLLM import PlannerLLM
from spca.contracts import Snapshot
from spca.errors import ProviderConfigError
from spca.plan import pddl
from spca.reference import planner
from spca.reference.vocabulary import AGENT
from spca.runs import curriculum
from spca.sense.object_names import advice, fault_of, words_told
from spca.sense.perception import COLOURS, VOCABULARY
from tests.support.spca.call_requests import ref
from tests.support.spca.doubles import (
    LEVEL,
    ROOT,
    SNAPSHOT,
    Events,
    ScriptedProvider,
    planner_client,
    shared_solver,
)

TASKS = curriculum.load(ROOT / "merged_curriculum2.json").tasks()
NOTHING: frozenset[str] = frozenset()
SIDES = ("left", "right", "front", "behind")
FORMS = st.builds(
    "_".join,
    st.tuples(
        st.sampled_from(("key", "ball", "box", "door", "object", "thing", "switch", "gate", "block", "teleporter")),
        st.sampled_from((*COLOURS, "any")),
        st.lists(st.one_of(st.sampled_from((*SIDES, "here")), st.integers(2, 20).map(str)), max_size=2),
    ).map(lambda parts: [parts[0], parts[1], *parts[2]]),
)


@given(FORMS)
def test_a_name_of_the_form_is_never_refused(name: str) -> None:
    assert fault_of(name, NOTHING) == ""


@pytest.mark.parametrize("word", [w for w in VOCABULARY if not w.startswith(("unseen", "agent"))])
def test_what_a_map_shows_may_be_called_by_its_word(word: str) -> None:
    assert fault_of("_".join(word.split(" ")[:2]), NOTHING) == ""


@pytest.mark.parametrize(
    "name",
    [
        "a1",
        "agent1",
        "goal",
        "goal_green",
        "goal_1",
        "goal1",
        "lava2",
        "target",
        "target_2",
        "key_other",
        "key_red_here",
        "door_any_left",
    ],
)
def test_names_that_worked_before_still_do(name: str) -> None:
    assert fault_of(name, NOTHING) == ""


@pytest.mark.parametrize(
    ("name", "fault", "better"),
    [
        ("yellow_key", "the kind comes first", "key_yellow"),
        ("blue_door", "the kind comes first", "door_blue"),
        ("any_key", "the kind comes first", "key_any"),
        ("red_ball_2", "the kind comes first", "ball_red_2"),
        ("the_grey_box", "the kind comes first", "box_grey"),
        ("locked_door", "the kind comes first", "door_any"),
        ("target_box", "the kind comes first", "box_any"),
        ("orange_key", "the kind comes first", "key_any"),
        ("key", "it names no colour", "key_any"),
        ("key1", "it names no colour", "key_any"),
        ("key_2", "it names no colour", "key_any_2"),
        ("ball_left", "it names no colour", "ball_any_left"),
        ("door_locked", "it names no colour", "door_any"),
        ("key_gray", "'gray' is no colour that is known here", "key_grey"),
        ("door_golden", "'golden' is no colour that is known here", "door_any"),
        ("lamp_red", "there is no kind of thing called 'lamp'", None),
        ("room_1", "there is no kind of thing called 'room'", None),
    ],
)
def test_what_stands_for_nothing_is_refused_with_what_to_write(name: str, fault: str, better: str | None) -> None:
    assert fault_of(name, NOTHING).startswith(fault)
    told = advice(name, NOTHING)
    assert told == f"write {better}" if better else told.startswith("names are kind_colour, such as")
    assert better is None or fault_of(better, NOTHING) == ""


def test_kinds_and_colours_of_other_worlds_are_those_that_mission_or_map_name() -> None:
    strange = replace(
        SNAPSHOT,
        mission="take the orange key to the lamp",
        shown={**SNAPSHOT.shown, "known_objects": {"crate teal": [[0, 0]]}},
    )
    told = words_told(strange, LEVEL)
    assert not any(fault_of(name, told) for name in ("key_orange", "lamp_any", "crate_teal", "lamp1", "key_teal_2"))
    assert advice("orange_key", told) == "write key_orange"
    assert fault_of("door_locked", words_told(replace(SNAPSHOT, mission="open the locked door"), LEVEL))


@given(
    st.from_regex(r"[a-z][a-z0-9_]{0,30}", fullmatch=True), st.frozensets(st.from_regex(r"[a-z]{1,8}", fullmatch=True))
)
def test_any_name_is_read(name: str, told: frozenset[str]) -> None:
    if fault_of(name, told):
        assert advice(name, told)


@lru_cache(maxsize=1)
def reference_objects() -> dict[str, tuple[Snapshot, list[str]]]:
    """What is seen at first, and the objects that the reference planner names, by environment."""
    named = {}
    for task in TASKS:
        with closing(MiniGridEnv(task.env_id, 1)) as world:
            snapshot = world.sense()
        model = ScriptedProvider(ProviderConfigError("enough"))
        asked = PlannerLLM(ref("x/m"), ref("x/m"), shared_solver(), Events(), planner_client(model))
        with pytest.raises(ProviderConfigError):
            asked.plan(snapshot, task.info(), "(none yet)")
        written = json.loads(planner.answer(model.requests[0].messages))
        objects = pddl.NameMap.from_pddl(written["domain"], written["problem"]).objects
        named[task.env_id] = snapshot, [name for name in objects if name != AGENT]
    return named


def test_no_object_of_the_reference_model_is_refused_on_any_level() -> None:
    named = reference_objects()
    assert len(named) == 150
    for snapshot, names in named.values():
        told = words_told(snapshot, LEVEL)
        assert not any(fault_of(name, told) for name in names)
