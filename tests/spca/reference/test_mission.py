"""The mission grammar: round trips, and every sentence that the installed minigrid says."""

from __future__ import annotations

import contextlib
import io
from typing import Any

import gymnasium
import minigrid  # noqa: F401 - registers the ids
import pytest
from hypothesis import given
from hypothesis import strategies as st
from minigrid.envs.babyai.core import verifier

from spca.reference.mission import (
    After,
    And,
    Before,
    Clause,
    Description,
    GetKey,
    GoTo,
    GoToMatch,
    Instruction,
    MissionError,
    NoTask,
    Open,
    PickUp,
    Place,
    PutNear,
    PutNextTo,
    ReachGoal,
    Stages,
    Unlock,
    Way,
    parse,
    stages,
    surface,
)
from tests.support.reference.mission_strategies import CLAUSES, instructions

WORLDS = sorted(
    name for name in gymnasium.registry if name.startswith(("MiniGrid-", "BabyAI-")) and "-WFC-" not in name
)
SEEDS = range(1, 4)


@given(instructions(CLAUSES))
def test_what_is_written_is_read_back(instruction: Instruction) -> None:
    assert parse(surface(instruction)) == instruction


@given(instructions(CLAUSES), st.sampled_from(["{}.", "  {} ", "{}"]), st.booleans())
def test_case_spaces_and_a_full_stop_do_not_matter(instruction: Instruction, form: str, upper: bool) -> None:
    text = form.format(surface(instruction).replace(" ", "  "))
    assert parse(text.upper() if upper else text) == instruction


@given(instructions(CLAUSES))
def test_stages_hold_every_clause_and_follow_the_order(instruction: Instruction) -> None:
    def order(tree: Instruction) -> list[Clause]:
        match tree:
            case Before(first, later) | After(later, first):
                return [*order(first), *order(later)]
            case And(clauses):
                return list(clauses)
            case NoTask():
                return []
            case clause:
                return [clause]

    assert [clause for stage in stages(instruction) for clause in stage] == order(instruction)


@given(
    st.text(max_size=80)
    | st.lists(st.sampled_from(["go to", "the", "red", "ball", "and", ", then", "door"])).map(" ".join)
)
def test_other_text_is_refused_by_name_or_read(text: str) -> None:
    with contextlib.suppress(MissionError):
        assert parse(surface(parse(text))) == parse(text)


RED, BLUE = Description("door", "red"), Description("door", "blue")
GOAL = (ReachGoal(),)


@pytest.mark.parametrize(
    ("mission", "expected"),
    [
        ("", ()),
        ("reach the goal", (GOAL,)),
        ("get to the green goal square", (GOAL,)),
        ("find the opening and get to the green goal square", ((ReachGoal(Way.OPENING),),)),
        ("avoid the lava and get to the green goal square", ((ReachGoal(Way.LAVA),),)),
        ("traverse the rooms to get to the goal", ((ReachGoal(Way.ROOMS),),)),
        ("use the key to open the door and then get to the goal", ((Unlock(Description("door")),), GOAL)),
        (
            "get the red key from the blue room, unlock the red door and go to the goal",
            ((GetKey(Description("key", "red"), "blue"),), (Unlock(RED), ReachGoal())),
        ),
        ("open the red door then the blue door", ((Open(RED),), (Open(BLUE),))),
        ("go to the red door and the blue door", ((GoTo(RED), GoTo(BLUE)),)),
        ("go to the matching object at the end of the hallway", ((GoToMatch(),),)),
        (
            "put the grey box near the gray key",
            ((PutNear(Description("box", "grey"), Description("key", "grey")),),),
        ),
        *(
            (f"{verb} a green ball", ((PickUp(Description("ball", "green", definite=False)),),))
            for verb in ("get", "go get", "fetch", "go fetch", "you must fetch")
        ),
        ("open the red door after you open the blue door after you go to a key",
         ((GoTo(Description("key", definite=False)),), (Open(BLUE),), (Open(RED),))),
        ("open the red door, then open the blue door after you go to the key",
         ((Open(RED),), (GoTo(Description("key")),), (Open(BLUE),))),
    ],
)  # fmt: skip
def test_phrases(mission: str, expected: Stages) -> None:
    assert stages(parse(mission)) == expected


@pytest.mark.parametrize(
    ("mission", "complaint"),
    [
        ("fly to the moon", "fly to the moon"),
        ("go to the red doors", "go to the red doors"),
        ("go to the red door and sing", "sing"),
        ("go to the red door quickly", "quickly"),
        ("go to the red door, then", ", then"),
        ("pick up the door", "door"),
        ("put the door next to the ball", "door"),
        ("open the ball", "ball"),
        ("unlock the box", "box"),
        ("get the ball from the red room", "ball"),
        ("the ball", "the ball"),
    ],
)
def test_a_mission_outside_the_grammar_is_named(mission: str, complaint: str) -> None:
    with pytest.raises(MissionError, match=complaint):
        parse(mission)


def _observe(world: str) -> list[tuple[str, Any]]:
    """Missions of a world over some seeds, with BabyAI's own tree of the instruction."""
    with contextlib.redirect_stdout(io.StringIO()):
        environment = gymnasium.make(world, disable_env_checker=True)
        found = []
        for seed in SEEDS:
            observation, _ = environment.reset(seed=seed)
            tree = getattr(environment.unwrapped, "instrs", None)
            found.append((observation["mission"], tree and _expected(tree)))
        environment.close()
    return found


def _expected(tree: Any) -> Instruction:
    """BabyAI's verifier objects as our tree."""
    verbs: dict[type, Any] = {verifier.GoToInstr: GoTo, verifier.PickupInstr: PickUp, verifier.OpenInstr: Open}
    if type(tree) in verbs:
        clause: Instruction = verbs[type(tree)](_described(tree.desc))
        return clause
    if isinstance(tree, verifier.PutNextInstr):
        return PutNextTo(_described(tree.desc_move), _described(tree.desc_fixed))
    a: Any = _expected(tree.instr_a)
    b: Any = _expected(tree.instr_b)
    if isinstance(tree, verifier.AndInstr):
        return And((a, b))
    return Before(a, b) if isinstance(tree, verifier.BeforeInstr) else After(a, b)


def _described(desc: Any) -> Description:
    place = Place(desc.loc) if desc.loc else None
    return Description(desc.type or "object", desc.color, place, definite=len(desc.obj_set) == 1)


@pytest.mark.filterwarnings("ignore:.*out of date:DeprecationWarning")
@pytest.mark.parametrize("family", ["MiniGrid", "BabyAI"])
def test_every_registered_mission_is_read(family: str) -> None:
    worlds = [world for world in WORLDS if world.startswith(family)]
    assert len(worlds) > 70
    for world in worlds:
        for mission, expected in _observe(world):
            read = parse(mission)
            if expected is not None:
                assert read == expected, f"{world}: {mission}"
                assert surface(read) == mission
            assert bool(stages(read)) == bool(mission), f"{world}: {mission}"


def test_a_long_mission_is_quoted_in_part() -> None:
    with pytest.raises(MissionError, match="cannot read 'aaa") as caught:
        parse("a" * 100_000)
    assert len(str(caught.value)) < 500
