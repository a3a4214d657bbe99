"""Episodes as trajectories: in a world with one life, a trial begins where the last one ended."""

from __future__ import annotations

from contextlib import closing

import pytest

from spca.contracts import LevelSpec
from spca.errors import ReportError
from spca.evaluation.episodes import Episode, Played, Trial
from spca.evaluation.trajectories import make_trajectory
from spca.report.replay.resimulation import resimulate
from tests.support.bodies.plugin_world import ENV_ID, MISSION, make_corridor

STRIDE, RETREAT, JUMP = 0, 1, 2


def play(world: str, *plans: tuple[int, ...]) -> Played:
    """Return an episode whose trials execute these primitives, in the way of the world."""
    one_life = world == "corridor-life"
    episode = Episode(0, ENV_ID, 5, "walking", "walk", "Walk", mission=MISSION, world=world)
    trials = []
    before: tuple[int, ...] = ()
    for codes in plans:
        with closing(make_corridor(episode.spec, episode.seed)) as played:
            for code in (*before, *codes):
                played.step(code)
            end_hash = played.checkpoint().state_hash
        trials.append(Trial("walk/v001", "stuck", "", ("walk(corridor)",), (codes,), (), end_hash))
        before = (*before, *codes) if one_life else ()
    return Played(episode, tuple(trials), one_life=one_life)


@pytest.mark.parametrize("world", ["corridor", "corridor-life"])
def test_every_trial_is_seen_again_as_it_was(world: str) -> None:
    played = play(world, (STRIDE, STRIDE), (RETREAT,), (STRIDE, JUMP))
    trajectory = make_trajectory(played, make_corridor, upstream_rules=False)
    checks = [check.result for _, check in resimulate(make_corridor, trajectory).attempts]
    assert checks == ["equal"] * 3
    starts = [attempt["start"] for attempt in trajectory["attempts"]]
    expected = [[], [STRIDE, STRIDE], [STRIDE, STRIDE, RETREAT]] if played.one_life else [[], [], []]
    assert starts == expected


def test_an_id_that_is_none_is_refused() -> None:
    played = Played(Episode(0, "a b", 5, "walking", "walk", "Walk"), (Trial("", "no_plan"),))
    with pytest.raises(ReportError, match="is not the id of an environment"):
        make_trajectory(played, make_corridor, upstream_rules=False)


def test_a_level_has_its_world() -> None:
    spec = LevelSpec.from_record(make_trajectory(play("corridor", (STRIDE,)), make_corridor, upstream_rules=False))
    assert (spec.world, spec.mission) == ("corridor", MISSION)
