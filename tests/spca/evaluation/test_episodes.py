"""Values of a frozen evaluation survive their JSON."""

from __future__ import annotations

import json
from dataclasses import fields, replace

import pytest

from spca.contracts import LevelSpec
from spca.evaluation.episodes import NO_PLAN, BotPlayed, Episode, Judged, Played, Trial
from spca.evaluation.proof.certifying import Solvability, Verdict

EPISODE = Episode(3, "BabyAI-GoToObj-v0", 1003, "Go To", "navigate", "GoToObj")
LOST = Trial("reference/planner", "stuck", "no new state", ("go_to(a1)", "look(a1)"), ((2,), (2, 1)), ("x",), "ab")
WON = Trial("go/v001", "success", "", ("go_to(a1)",), ((2, 0),), (), "cd")


@pytest.mark.parametrize("trials", [(WON,), (LOST, WON), (LOST, LOST), (Trial("", NO_PLAN, "nobody had a plan"),)])
def test_a_line_is_read_back(trials: tuple[Trial, ...]) -> None:
    played = Played(EPISODE, trials, 0.25)
    assert Played.from_dict(json.loads(json.dumps(played.to_dict()))) == played


def test_all_plans_of_one_life_are_one_attempt() -> None:
    played = Played(EPISODE, (LOST, WON), 0.25, one_life=True)
    assert (played.pass1, played.solved, played.steps, played.failure, played.reason) == (True, True, 5, "", "")
    lost = replace(played, trials=(LOST, replace(LOST, reason="stuck again")))
    assert (lost.pass1, lost.failure, lost.reason) == (False, "stuck", "stuck again")
    assert Played.from_dict(json.loads(json.dumps(played.to_dict()))) == played
    assert "one_life" not in Played(EPISODE, (LOST,)).to_dict()


@pytest.mark.parametrize(
    "line",
    [
        Judged("A-v0", 3, Verdict(Solvability.SOLVABLE, "found", witness=(2, 0)), 1.5),
        Judged("A-v0", 3, Verdict(Solvability.UNSOLVABLE, "closed", map=("###", "#>#"))),
        BotPlayed("A-v0", 3, False, 12, "hung", 0.5),
    ],
)
def test_what_is_known_from_elsewhere_is_read_back_whole(line: Judged | BotPlayed) -> None:
    data = json.loads(json.dumps(line.to_dict()))
    assert list(data)[-1] == "seconds"
    assert type(line).from_dict(data) == line
    verdict = {field.name for field in fields(Verdict)}
    assert not isinstance(line, Judged) or verdict <= data.keys()


def test_only_the_first_try_counts_for_pass_at_1() -> None:
    played = Played(EPISODE, (LOST, WON))
    assert (played.pass1, played.solved, played.attempts, played.steps) == (False, True, 2, 3)
    assert (played.failure, played.reason) == ("stuck", "no new state")
    line = played.to_dict()
    assert (line["pass1"], line["solved"], line["steps"], line["failure"]) == (False, True, 3, "stuck")
    assert list(line)[-1] == "seconds"


def test_a_line_without_a_try_is_refused() -> None:
    with pytest.raises(ValueError, match="without a trial"):
        Played.from_dict({**Played(EPISODE, (WON,)).to_dict(), "trials": []})


def test_an_episode_with_arguments_survives_its_line() -> None:
    episode = replace(EPISODE, kwargs={"size": 7})
    assert episode.name == f"{LevelSpec(EPISODE.env_id, {'size': 7}).name}:1003"
    assert Episode.from_dict(json.loads(json.dumps(episode.to_dict()))) == episode
    assert "kwargs" not in EPISODE.to_dict()
