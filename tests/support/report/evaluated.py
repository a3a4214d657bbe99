"""Finished evaluations: one whose texts try to be markup, one whose failures really happened."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from functools import cache
from pathlib import Path

from minigridenv import MiniGridEnv
from spca.contracts import AgentSource
from spca.evaluation.episodes import BotPlayed, Episode, Judged, Played, Trial
from spca.evaluation.eval_folder import EvaluationFolder, EvaluationSettings
from spca.evaluation.learned import Learned
from spca.evaluation.proof.certifying import Solvability, Verdict
from spca.evaluation.seeds import Seeds
from spca.evaluation.summary import Results
from spca.runs.curriculum import Curriculum
from spca.runs.settings import Settings

HOSTILE = "</style><script>alert(1)</script>\u202e\x1b[31m&<b title='\">"
_INSIDE = Episode(0, "BabyAI-GoTo-v0", 7, "Going", "go", "GoTo")
WON = Played(_INSIDE, (Trial("go/v001", "success", "", ("go(a)",), ((2, 2),)),))
LOST = Played(replace(_INSIDE, seed=8, category=HOSTILE), (Trial(HOSTILE, "stuck", HOSTILE, (HOSTILE,)),))
_PROOF = Judged("BabyAI-GoTo-v0", 8, Verdict(Solvability.SOLVABLE, HOSTILE, (2, 0)))
_BOT = (BotPlayed("BabyAI-GoTo-v0", 7, True, 4), BotPlayed("BabyAI-GoTo-v0", 8, False, 1, HOSTILE))
RESULTS = Results((WON, LOST), (_PROOF,), _BOT)

AGENT = "class Agent:\n    def go(self, place):\n        yield 2\n"

_EMPTY = "MiniGrid-Empty-5x5-v0"
_WITNESS = (2, 2, 1, 2, 2)
_MAP = ("#####", "#sX.#", "#####")


@cache
def fail_really() -> Results:
    """Return an episode won, one stuck twice and solvable, one that nobody planned and nothing solves."""
    won = Played(Episode(0, _EMPTY, 1, "Going", "go", "Empty"), (_play(1, "success", (_WITNESS,)),))
    stuck = Episode(1, _EMPTY, 2, "Going", "go", "Empty")
    trials = (_play(2, "stuck", ((2, 2), (0, 1, 0))), _play(2, "stuck", ((2,),)))
    unplanned = Played(Episode(2, _EMPTY, 3, "Going", "go", "Empty"), (Trial("", "no_plan", "go/v001: no goal"),))
    judged = (
        Judged(_EMPTY, 2, Verdict(Solvability.SOLVABLE, "5 states of a search for a plan", _WITNESS)),
        Judged(_EMPTY, 3, Verdict(Solvability.UNSOLVABLE, "the goal cannot be reached", map=_MAP)),
    )
    return Results((won, Played(stuck, trials), unplanned), judged)


def _play(seed: int, status: str, acted: tuple[tuple[int, ...], ...]) -> Trial:
    with closing(MiniGridEnv(_EMPTY, seed)) as world:
        for code in (code for codes in acted for code in codes):
            world.step(code)
        end_hash = world.checkpoint().state_hash
    reason = "" if status == "success" else f"the same cycle of {len(acted)} states"
    return Trial("go/v001", status, reason, ("go(a1)", "fly(a1)"), acted, end_hash=end_hash)


def evaluated(runs: Path, agent: str = HOSTILE, planner_model: str = "reference/planner") -> EvaluationFolder:
    """The folder of such an evaluation, without its results."""
    settings = EvaluationSettings(
        agent, Seeds.read("7:9"), planner_model, Settings("", "", ""), attempts=2, versus="bot"
    )
    learned = Learned("run", {"": AgentSource(AGENT)}, "[]", Curriculum("run", ()), ())
    made_with = {"versions": {}, "git_commit": None, "sandbox": "strict", "unplayable": {"X-v0": HOSTILE}}
    return EvaluationFolder.create(runs, settings, learned, made_with)
