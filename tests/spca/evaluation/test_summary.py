"""Figures of an evaluation."""

from __future__ import annotations

import json
import warnings
from itertools import chain, combinations
from typing import Any

import gymnasium
import minigrid  # noqa: F401  (it registers its ids)
import pytest

from spca.common.statistics import Rate, ratio_of_sums
from spca.evaluation.episodes import BotPlayed, Episode, Judged, Played, Trial
from spca.evaluation.playing.babyai_bot import UNSUPPORTED
from spca.evaluation.proof.certifying import Solvability, Verdict
from spca.evaluation.summary import SAME_WORLDS, Results
from spca.runs import curriculum
from tests.support.spca.doubles import ROOT


def played(env_id: str, seed: int, *statuses: str, steps: int = 4, outside: bool = False) -> Played:
    episode = Episode(0, env_id, seed, env_id[0], "skill", "level", outside)
    return Played(episode, tuple(Trial("w/v001", status, "", (), ((2,) * steps,)) for status in statuses))


A = [played("A1", 1, "success"), played("A1", 2, "stuck", "success"), played("A2", 1, "success", steps=6)]
B = [played("B1", 1, "stuck"), played("B1", 2, "no_plan")]
OUT = [played("C1", 1, "success", outside=True)]
UNSOLVABLE = Judged("B1", 1, Verdict(Solvability.UNSOLVABLE, "relaxation"))
SOLVABLE = Judged("B1", 2, Verdict(Solvability.SOLVABLE, "found", (2, 2)))


def test_shares_by_id_and_category_with_what_cannot_be_solved_left_out() -> None:
    found = Results((*A, *B, *OUT), (UNSOLVABLE, SOLVABLE))
    assert [(row.name, row.pass1, row.solved, row.unsolvable) for row in found.inside.categories] == [
        ("A", Rate(2, 3), Rate(3, 3), 0),
        ("B", Rate(0, 1), Rate(0, 1), 1),
    ]
    assert [row.name for row in found.inside.ids] == ["A1", "A2", "B1"]
    assert found.inside.pooled.pass1 == Rate(2, 4)
    assert found.inside.pooled.steps == 10
    assert found.inside.interval is not None
    assert found.inside.interval.value == pytest.approx(0.5)
    assert found.outside.pooled.pass1 == Rate(1, 1)


def test_every_failure_has_its_proof() -> None:
    found = Results((*A, *B), (UNSOLVABLE, SOLVABLE))
    assert [(each.played.episode.name, each.proof) for each in found.failed] == [
        ("A1:2", "undecided"),
        ("B1:1", "unsolvable"),
        ("B1:2", "solvable"),
    ]
    data = json.loads(json.dumps(found.to_dict()))
    assert data["failed"][2]["witness"] == [2, 2]
    assert data["failures"] == {"stuck": 2, "no_plan": 1}
    assert data["planners"] == {"writers": 5}


@pytest.mark.parametrize(
    ("lost", "bot", "who"),
    [
        (played("B1", 1, "stuck", "success"), (), "attempt 2"),
        (played("B1", 1, "stuck"), (BotPlayed("B1", 1, True, 5),), "the bot"),
    ],
)
def test_a_certificate_that_somebody_refuted_leaves_nothing_out(
    lost: Played, bot: tuple[BotPlayed, ...], who: str
) -> None:
    found = Results((lost,), (UNSOLVABLE,), bot)
    assert (found.inside.pooled.pass1, found.inside.pooled.unsolvable) == (Rate(0, 1), 0)
    (failure,) = found.failed
    assert (failure.proof, failure.refuted_by) == ("refuted", who)
    assert found.to_dict()["failed"][0]["refuted_by"] == who


@pytest.mark.parametrize("model", ["openai/4", "llamacpp/v2"])
def test_a_model_with_a_number_for_a_name_is_no_writer(model: str) -> None:
    episode = Episode(0, "A1", 1, "a", "s", "l")
    assert Results((Played(episode, (Trial(model, "success"),)),)).planners == {model: 1}


def test_pairs_with_the_bot() -> None:
    bots = [
        BotPlayed("A1", 1, True, 8),
        BotPlayed("A1", 2, True, 9),
        BotPlayed("A2", 1, False, 3, "hung"),
        BotPlayed("B1", 1, False, 5, "lost"),
        BotPlayed("B1", 2, False, 0, UNSUPPORTED),
    ]
    bots.append(BotPlayed("C1", 1, True, 2))
    found = Results((*A, *B, *OUT), (UNSOLVABLE, SOLVABLE), tuple(bots))
    versus, outside = found.versus, found.versus_outside
    assert versus is not None
    assert outside is not None
    assert (outside.pooled.both, outside.pooled.ratio) == (1, 2.0)
    row = versus.pooled
    assert (row.both, row.ours_only, row.bots_only, row.neither) == (1, 1, 1, 0)
    assert (row.our_steps, row.bots_steps, row.ratio) == (4, 8, 0.5)
    assert (versus.unsupported, versus.reasons) == (1, {"hung": 1})
    assert Results((*A, *B)).versus is None


def test_nothing_played_has_no_interval() -> None:
    found = Results(())
    assert found.inside.interval is None
    assert found.inside.pooled.pass1 == Rate(0, 0)


def test_ids_of_the_same_worlds_are_drawn_together() -> None:
    first, second = "BabyAI-KeyCorridor-v0", "BabyAI-KeyCorridorS6R3-v0"
    pair = [played(name, seed, "success" if seed else "stuck") for name in (first, second) for seed in (0, 1)]
    found = Results((*pair, played("A1", 1, "success"), played("A1", 2, "success")))
    assert found.inside.interval == ratio_of_sums([(2, 4), (2, 2)])
    assert [row.name for row in found.inside.ids] == [first, second, "A1"]


@pytest.mark.long
def test_those_are_the_ids_that_give_the_same_worlds() -> None:
    """Of two ids that begin alike under the first seed, all seeds are compared."""
    tasks = curriculum.load(ROOT / "merged_curriculum2.json").tasks()
    begun: dict[object, list[str]] = {}
    for task in tasks:
        begun.setdefault(_beginning(task.env_id, 1000), []).append(task.env_id)
    same = set()
    for first, second in chain.from_iterable(combinations(ids, 2) for ids in begun.values()):
        alike = [_beginning(first, seed) == _beginning(second, seed) for seed in range(1001, 1021)]
        same |= {frozenset((first, second))} if sum(alike) > len(alike) / 2 else set()
    assert same == set(map(frozenset, SAME_WORLDS.items()))


def _beginning(env_id: str, seed: int) -> tuple[object, ...]:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "(?s).*is out of date", DeprecationWarning)
        env: Any = gymnasium.make(env_id, disable_env_checker=True).unwrapped
    env.reset(seed=seed)
    return env.mission, env.grid.encode().tobytes(), tuple(env.agent_pos), env.agent_dir
