"""What the bfs and greedy models ask for."""

from __future__ import annotations

import pytest

from gridworld.actions import Action
from gridworld.errors import SearchLimitError
from gridworld.library import task_files
from gridworld.rules.episode import Episode
from gridworld.rules.layout import Layout
from gridworld.rules.transition import transition
from gridworld.search.planning import greedy_action
from gridworld.search.solver import solve
from gridworld.task_spec import TaskSpecification
from tests.support.gridworld.drawn import drawn

LOCKED = """
    #######
    #A.k#.#
    #...dG#
    #######
"""


def greedy_episode(spec: TaskSpecification) -> Episode:
    episode = Episode(Layout(spec))
    while not episode.over:
        episode.step(greedy_action(episode.layout, episode.state))
    return episode


def test_shortest_solutions_lead_on_from_any_state() -> None:
    layout = Layout(drawn(LOCKED))
    whole = solve(layout).actions
    astray = transition(layout, layout.start(), Action.TURN_LEFT)
    assert whole == solve(layout, start=layout.start()).actions
    assert len(solve(layout, start=astray).actions) <= len(whole) + 1
    assert solve(Layout(drawn(LOCKED.replace("A.k#.", "A..#k")))).actions == ()
    with pytest.raises(SearchLimitError):
        solve(layout, limit=1)


def test_greedy_is_optimal_in_mazes_and_stops_at_locked_doors() -> None:
    for path in task_files("gridworld/tasks/tier1"):
        spec = TaskSpecification.from_json(path)
        episode = greedy_episode(spec)
        assert episode.goal_reached
        assert episode.step_count == len(solve(Layout(spec)).actions)
    locked = greedy_episode(drawn(LOCKED))
    assert locked.truncated
    assert locked.state.position == (3, 2)


@pytest.mark.parametrize(
    ("rows", "goal"),
    [
        ("#######\n#Ah.G.#\n#.....#\n#######", {"target": [4, 1]}),
        ("#######\n#A.k.k#\n#.s...#\n#######", {"type": "collect_all", "target_ids": ["k0", "s0"]}),
        ("#######\n#.A...#\n#.b.x.#\n#######", {"type": "push_block_to", "target_ids": ["b0"]}),
        ("#######\n#A.h..#\n#.....#\n#######", {"type": "survive_steps"}),
        ("#######\n#A.G.k#\n#.....#\n#######", {"target": [3, 1], "auxiliary_conditions": ["carrying:k0"]}),
    ],
)
def test_greedy_reaches_goals_of_every_type_where_nothing_is_locked(rows: str, goal: dict[str, object]) -> None:
    assert greedy_episode(drawn(rows, goal=goal)).goal_reached


def test_greedy_waits_where_there_is_no_way() -> None:
    layout = Layout(drawn("#####\n#A#G#\n#.###\n#####"))
    assert greedy_action(layout, layout.start()) is Action.DONE
