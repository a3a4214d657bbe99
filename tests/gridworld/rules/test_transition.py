"""The transition function, rule by rule; the naive simulator checks their combinations."""

from __future__ import annotations

import pytest

from gridworld.actions import Action
from gridworld.rules.layout import Layout, State
from gridworld.rules.tilings import HEX
from gridworld.rules.transition import achieved, transition
from gridworld.task_spec import TaskSpecification
from tests.support.gridworld.drawn import drawn

L, R, F, P, D, T, W = Action
REACHING_A_KEY = {"type": "collect_all", "target_ids": ["k0"]}


def after(spec: TaskSpecification, *actions: Action) -> State:
    layout = Layout(spec)
    state = layout.start()
    for action in actions:
        state = transition(layout, state, action)
    return state


def test_turning_and_walking() -> None:
    spec = drawn("#####\n#A.G#\n#####")
    assert [after(spec, *turns).heading for turns in ([L], [R], [R, R], [L, L, L, L])] == [3, 1, 2, 0]
    assert after(spec, F).position == (2, 1)
    assert after(spec, R, F).position == (1, 1)
    assert after(spec, W) == after(spec)


def test_hexagonal_walking() -> None:
    layout = Layout(drawn("######\n#A...#\n#...G#\n######"), HEX)
    state = layout.start()
    for action in (R, F, L, F, F):
        state = transition(layout, state, action)
    assert (state.position, state.heading) == (layout.goal_square, 0) == ((4, 2), 0)


def test_a_key_is_taken_from_ahead_or_from_below() -> None:
    spec = drawn("######\n#Akk.#\n######", keys="red blue", goal=REACHING_A_KEY)
    assert after(spec, P).carrying == "k0"
    assert after(spec, F, P).carrying == "k0"
    assert after(spec, F, F, P).carrying == "k1"
    full = after(spec, P, F, P)
    assert (full.carrying, full.collected, full.key_cells) == ("k0", frozenset({"k0"}), (None, (3, 1)))


def test_a_key_is_dropped_on_a_free_cell_only() -> None:
    spec = drawn("######\n#Aks.#\n#h...#\n######", goal=REACHING_A_KEY)
    assert after(spec, P, D).key_cells == ((2, 1),)
    assert after(spec, P, F, D).carrying == "k0"
    assert after(spec, P, R, D).carrying == "k0"
    assert after(spec, P, L, D).carrying == "k0"
    dropped = after(spec, P, D)
    assert (dropped.carrying, dropped.collected) == (None, frozenset({"k0"}))


@pytest.mark.parametrize(("consumed", "left"), [(True, None), (False, "k0")])
def test_a_door_opens_with_the_key_of_its_colour(consumed: bool, left: str | None) -> None:
    spec = drawn("#######\n#Ak.dG#\n#######", rules={"key_consumption": consumed})
    assert after(spec, F, F, T).open_doors == frozenset()
    assert after(spec, F, F, F).position == (3, 1)
    opened = after(spec, P, F, F, T)
    assert (opened.open_doors, opened.carrying, opened.position) == (frozenset({"d0"}), left, (3, 1))
    assert after(spec, P, F, F, T, T) == opened
    assert after(spec, P, F, F, T, F, F).position == (5, 1)
    wrong = drawn("######\n#Ak.d#\n#...G#\n#..k.#\n######", keys="blue red")
    assert after(wrong, P, F, F, T).carrying == "k0"


def test_a_toggle_switch_flips_under_the_agent_only() -> None:
    spec = drawn("######\n#AsgG#\n######")
    layout = Layout(spec)
    assert after(spec, T) == after(spec)
    assert after(spec, F, F).position == (2, 1)
    on = after(spec, F, T)
    assert layout.open_gates(on.active_switches) == {"g0"}
    assert after(spec, F, T, T) == after(spec, F)
    assert after(spec, F, T, F, F).position == (4, 1)


def test_a_one_shot_switch_stays() -> None:
    spec = drawn("######\n#AsgG#\n######", rules={"switch_type": "one_shot"})
    assert after(spec, F, T, T).active_switches == {"s0"}
    own = drawn("######\n#AsgG#\n######", rules={"switch_type": "one_shot"}, more={"s0": {"switch_type": "toggle"}})
    assert after(own, F, T, T).active_switches == frozenset()
    on = drawn("######\n#AsgG#\n######", more={"s0": {"switch_type": "one_shot", "initial_state": "on"}})
    assert after(on, F, T).active_switches == {"s0"}


def test_a_hold_switch_follows_what_stands_on_it() -> None:
    rules = {"switch_type": "hold"}
    agent = drawn("######\n#AsgG#\n######", rules=rules, more={"s0": {"initial_state": "on"}})
    assert after(agent).active_switches == frozenset()
    assert after(agent, F).active_switches == {"s0"}
    assert after(agent, F, T).active_switches == {"s0"}
    assert after(agent, F, F).position == (3, 1)
    assert after(agent, F, F).active_switches == frozenset(), "the gate closes on the agent, who may go on"
    assert after(agent, F, F, F).position == (4, 1)
    block = drawn("#######\n#Absg.#\n#....G#\n#######", rules=rules)
    assert after(block, F).active_switches == {"s0"}
    assert after(block, F).block_cells == ((3, 1),)
    portal = drawn("#######\n#At#us#\n#..#.G#\n#######", rules=rules)
    assert after(portal, F).position == (4, 1)
    assert after(portal, F, F).active_switches == {"s0"}


@pytest.mark.parametrize("behind", ["#", "k", "b", "h", "d", "g", "t", "u", "G"])
def test_a_block_needs_room_behind_it(behind: str) -> None:
    others = {"t": ".u.", "u": "t..", "G": "..."}.get(behind, "G..")
    spec = drawn(f"######\n#Ab{behind}.#\n#k{others}#\n######", goal=REACHING_A_KEY if behind in "tu" else None)
    assert after(spec, F) == after(spec)


def test_blocks_are_pushed_one_at_a_time() -> None:
    spec = drawn("######\n#Ab.G#\n######")
    assert after(spec, F).position == (2, 1)
    assert after(spec, F).block_cells == ((3, 1),)
    assert after(spec, F, F) == after(spec, F), "the goal square is no room for a block"
    assert after(drawn("######\n#Ab.G#\n######", more={"b0": {"pushable": False}}), F).position == (1, 1)
    assert after(spec, T) == after(spec)


def test_teleporters() -> None:
    both = drawn("#######\n#At#uG#\n#######")
    there = after(both, F)
    assert (there.position, there.heading, there.cooling) == ((4, 1), 0, "t0_b")
    assert after(both, F, W).cooling == ""
    assert after(both, F, F, L, L, F).position == (2, 1), "back through the other end"
    oneway = drawn("#######\n#At#uG#\n#######", more={"t0": {"bidirectional": False}})
    assert after(oneway, F, F, L, L, F).position == (4, 1)


def test_hazards_are_deadly() -> None:
    spec = drawn("#####\n#AhG#\n#####")
    assert after(spec, F).dead
    assert not achieved(Layout(spec), after(spec, F))


def test_goals_and_conditions() -> None:
    collect = drawn("#######\n#Aksg.#\n#######", goal={"type": "collect_all", "target_ids": ["k0", "g0"]})
    assert not achieved(Layout(collect), after(collect, P))
    assert achieved(Layout(collect), after(collect, P, F, F, T))
    push = drawn("######\n#Abx.#\n######", goal={"type": "push_block_to", "target_ids": ["b0"]})
    assert achieved(Layout(push), after(push, F))
    assert not achieved(Layout(push), after(push, F, F))
    wanted = {"auxiliary_conditions": ["carrying:k0", "not active:s0"], "type": "reach_position", "target": [4, 1]}
    aided = drawn("######\n#AksG#\n######", goal=wanted)
    assert achieved(Layout(aided), after(aided, P, F, F, F))
    assert not achieved(Layout(aided), after(aided, F, F, F))
    assert not achieved(Layout(aided), after(aided, P, F, F, T, F))


def test_touching_reveals() -> None:
    hidden = {"hidden_mechanisms": ["d0", "s0", "h0"]}
    spec = drawn("######\n#Ad.G#\n#s...#\n#h.k.#\n######", rules=hidden)
    assert after(spec, W).touched == frozenset()
    assert after(spec, F).touched == {"d0"}
    assert after(spec, R).touched == frozenset()
    assert after(spec, R, P).touched == {"s0"}
    assert after(spec, R, F, L, L).touched == {"s0"}
