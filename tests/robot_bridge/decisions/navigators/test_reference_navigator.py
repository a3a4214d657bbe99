"""The reference navigator explores by the text that any model gets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from robot_bridge.contracts import Direction, Frontier, Gap, ModelReply, NavigationDecision, Pose, Scan
from robot_bridge.decisions.memory.exploration_memory import ExplorationMemory
from robot_bridge.decisions.messages import message
from robot_bridge.decisions.messages.sensor_snapshot import (
    SensorSnapshot,
    SensorSnapshotBuilder,
    build_lidar_summary,
    compute_affordance_scores,
)
from robot_bridge.decisions.navigators.llm_navigator import LLMNavigator
from robot_bridge.decisions.navigators.reference_navigator import Choice, ReferenceNavigator, choose
from robot_bridge.decisions.tools import TOOL_NAMES, Refusal, read
from tests.support.robot_bridge.looking import frame, remember, scan, view

EAST = Pose(10.0, 0.0, 0.0)


def snapshot(
    seen: Scan | None = None,
    gaps: Sequence[Gap] = (),
    pose: Pose = EAST,
    driven: float = 9.0,
    time: float = 99.0,
    **distances: float,
) -> SensorSnapshot:
    """Open all around for 2.9 m but where ``distances`` say otherwise."""
    seen = seen or scan(2.9)
    taken = SensorSnapshotBuilder(view(seen, pose=pose, driven=driven, time=time)).capture()
    summary = build_lidar_summary(seen.ranges, seen.angle_min, seen.angle_increment, gaps)
    scores = compute_affordance_scores({**dict.fromkeys(Direction, 2.9), **distances})
    return SensorSnapshot(taken.timestamp, "", summary, [], taken.robot_state, scores, taken.previous_action_result)


def underway(id: int) -> NavigationDecision:
    return NavigationDecision("navigate_to_goal", {"goal_type": "frontier", "frontier_id": id})


def chosen(memory: ExplorationMemory | None = None, **given: Any) -> tuple[str, dict[str, Any]]:
    choice = _choice(memory or ExplorationMemory(), **given)
    assert not isinstance(read(NavigationDecision(choice.tool, choice.parameters)), Refusal)
    return choice.tool.value, dict(choice.parameters)


def _choice(memory: ExplorationMemory, last: NavigationDecision | None = None, **given: Any) -> Choice:
    return choose(message.user_message(snapshot(**given), memory.to_prompt_text(), last=last))


def knowing(*frontiers: Frontier) -> ExplorationMemory:
    memory = ExplorationMemory()
    memory.update_frontiers(frontiers, EAST)
    return memory


def goal(id: int) -> Any:
    return {"goal_type": "frontier", "frontier_id": id}


def test_near_and_wide_frontiers_first_and_what_is_under_way_goes_on() -> None:
    near, far = Frontier(4, 11.5, 0, 1.0), Frontier(5, 12.0, 0.5, 1.0)
    tool, parameters = chosen(knowing(far, near))
    assert (tool, parameters["frontier_id"]) == ("navigate_to_goal", 4)
    assert chosen(knowing(far, near), last=underway(5))[1]["frontier_id"] == 5
    assert chosen(knowing(Frontier(7, 18, 0, 1.0), near), last=underway(7))[1]["frontier_id"] == 4
    assert chosen(knowing(Frontier(4, 11.5, 0, 0.5), Frontier(6, 11.6, 0, 2.5)))[1]["frontier_id"] == 6


def test_a_frontier_tried_in_vain_is_left_for_another() -> None:
    memory = knowing(Frontier(4, 11, 0, 1.0), Frontier(5, 14, 0, 1.0))
    remember(memory, "navigate_to_goal", success=False, moved=0.1, at=EAST, **goal(4))
    assert chosen(memory)[1]["frontier_id"] == 5
    remember(memory, "navigate_to_goal", success=False, moved=0.1, at=EAST, **goal(5))
    assert chosen(memory)[0] == "move_toward"
    remember(memory, "move_toward", at=EAST, direction="forward")
    assert chosen(memory)[1]["frontier_id"] == 4


def test_it_ends_when_no_frontier_is_left_but_not_before_there_was_a_map() -> None:
    assert chosen(knowing()) == ("stop_robot", {"reason": "exploration_complete"})
    assert chosen(knowing(), driven=0.1, time=1.0) == ("stop_robot", {"reason": "need_to_observe"})
    assert chosen(ExplorationMemory())[0] == "move_toward"


def test_a_room_is_reported_once_behind_its_doorway_and_looked_into() -> None:
    memory, behind = knowing(Frontier(4, 14, 0, 1.0)), [Gap(-175, 0.9, 0.8)]
    tool, parameters = chosen(memory, gaps=behind)
    assert (tool, parameters["label"], parameters["significance"]) == ("report_discovery", "room 2", "room")
    memory.record_discovery("room 2", None, "room", EAST)
    remember(memory, "report_discovery", at=EAST, **parameters)
    assert chosen(memory, gaps=behind) == ("observe_scene", {"focus": "general"})
    shown = message.user_message(snapshot(gaps=behind), memory.to_prompt_text(), image=message.IMAGE)
    assert choose(shown).tool == "navigate_to_goal", "the picture is there"
    memory.record_view("general", "a room; with a sofa", EAST)
    assert chosen(memory, gaps=behind)[0] == "navigate_to_goal", "it has looked once"
    remember(memory, "observe_scene", at=EAST, focus="general")
    assert chosen(memory, gaps=behind)[0] == "navigate_to_goal"
    assert chosen(memory, gaps=behind, pose=Pose(8.0, 0.0))[0] == "navigate_to_goal", "the other side of the doorway"
    assert chosen(memory, gaps=[Gap(0, 0.9, 0.8)], pose=Pose(20, 0))[0] == "navigate_to_goal", "it lies ahead"


def test_dead_ends_are_left_backwards_and_then_by_turning() -> None:
    closed = {"forward": 0.4, "forward_left": 0.6, "forward_right": 0.5}
    memory = ExplorationMemory()
    tool, parameters = chosen(memory, **closed)
    assert (tool, parameters["direction"], parameters["speed"]) == ("move_toward", "backward", "slow")
    remember(memory, "move_toward", direction="backward")
    left_open = scan(lambda angle: 4.0 if 75 < angle < 105 else 0.6)
    assert chosen(memory, seen=left_open, **closed) == ("rotate", {"degrees": 90})
    assert chosen(ExplorationMemory(), seen=left_open, backward=0.4, **closed) == ("rotate", {"degrees": 90})
    remember(memory, "rotate", success=False, moved=0.0, degrees=90)
    assert chosen(memory, seen=left_open, **closed, backward=0.4) != ("rotate", {"degrees": 90})


def test_narrow_ways_are_checked_first() -> None:
    narrow: dict[str, Any] = {"forward": 1.2, "forward_left": 0.5, "forward_right": 0.5}
    memory = ExplorationMemory()
    assert chosen(memory, **narrow) == ("rotate", {"degrees": 45}), "where it is open all around there is no need"
    narrow["seen"] = scan(1.2)
    assert chosen(memory, **narrow) == ("check_path_clear", {"direction": "forward", "distance_m": 1.5})
    remember(memory, "check_path_clear", moved=0.0, data={"clear": True}, direction="forward", distance_m=1.5)
    tool, parameters = chosen(memory, **narrow)
    assert (tool, parameters["direction"], parameters["speed"]) == ("move_toward", "forward", "slow")
    remember(memory, "check_path_clear", moved=0.0, data={"clear": False}, direction="forward", distance_m=1.5)
    assert chosen(memory, **narrow)[0] == "rotate"


def test_without_frontiers_it_goes_through_doorways_it_does_not_know() -> None:
    memory, gaps = ExplorationMemory(), [Gap(30, 0.9, 2.0)]
    tool, parameters = chosen(memory, gaps=gaps)
    assert (tool, parameters["goal_type"], parameters["x"], parameters["y"]) == (
        *("navigate_to_goal", "coordinates"),
        *(12.42, 1.4),
    )
    memory.record_discovery("room 2", None, "room", Pose(12.5, 1.5))
    assert chosen(memory, gaps=gaps) == ("move_toward", {"direction": "forward", "speed": "fast", "duration_s": 5.0})


@pytest.mark.parametrize("text", ["", "IMAGE: attached", "Please drive forward"])
def test_what_it_cannot_read_makes_it_stop(text: str) -> None:
    reply = ReferenceNavigator().ask("", text, None, TOOL_NAMES, 8.0)
    assert reply.calls == (("stop_robot", {"reason": "uncertain"}),)


def test_the_image_makes_no_difference() -> None:
    def decided(picture: Any, skip_image: bool) -> NavigationDecision | None:
        taken = SensorSnapshotBuilder(view(scan(3.0), picture)).capture()
        navigator = LLMNavigator(ReferenceNavigator())
        return navigator.decide(taken, knowing(Frontier(4, 11, 0, 1.0)), skip_image)

    assert decided(None, False) == decided(frame(), False) == decided(frame(), True)


def test_only_tools_that_are_offered_are_called() -> None:
    text = message.user_message(snapshot(), knowing(Frontier(4, 11, 0, 1.0)).to_prompt_text())
    reply: ModelReply = ReferenceNavigator().ask("", text, None, ["stop_robot"], 8.0)
    assert reply.calls[0][0] == "stop_robot"


_ACTIONS = st.lists(
    st.tuples(
        st.sampled_from(["move_toward", "rotate", "navigate_to_goal", "check_path_clear", "observe_scene"]),
        st.booleans(),
        st.sampled_from([0.0, 1.0]),
        st.fixed_dictionaries(
            {},
            optional={
                "direction": st.sampled_from(list(Direction)),
                "degrees": st.sampled_from([45, -45, 90, -90, 135, -135, 180, -180]),
                "goal_type": st.sampled_from(["frontier", "coordinates"]),
                "frontier_id": st.integers(0, 3),
            },
        ),
    ),
    max_size=6,
)


@pytest.mark.long
@given(
    st.lists(st.floats(0.1, 6.0), min_size=6, max_size=6),
    st.lists(st.integers(0, 3), unique=True) | st.none(),
    st.lists(st.tuples(st.integers(-180, 180), st.floats(0.3, 4.0)), max_size=3),
    _ACTIONS,
)
def test_whatever_the_state_it_calls_a_tool_rightly(
    distances: list[float],
    frontiers: list[int] | None,
    gaps: list[tuple[int, float]],
    actions: list[tuple[str, bool, float, dict[str, Any]]],
) -> None:
    memory = ExplorationMemory() if frontiers is None else knowing(*(Frontier(id, 10 + id, 1, 1) for id in frontiers))
    for tool, success, moved, parameters in actions:
        remember(memory, tool, success=success, moved=moved, at=EAST, **parameters)
    around = dict(zip(map(str, Direction), distances, strict=True))
    tool, parameters = chosen(memory, gaps=[Gap(angle, 0.9, far) for angle, far in gaps], **around)
    if tool == "move_toward":
        assert around[parameters["direction"]] > 0.7
    if tool == "navigate_to_goal" and parameters["goal_type"] == "frontier":
        assert parameters["frontier_id"] in (frontiers or ())
