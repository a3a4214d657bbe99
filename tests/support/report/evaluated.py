"""A finished evaluation of two episodes, whose texts try to be markup."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

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


def evaluated(runs: Path) -> EvaluationFolder:
    """The folder of such an evaluation, without its results."""
    settings = EvaluationSettings(
        HOSTILE, Seeds.read("7:9"), "reference/planner", Settings("", "", ""), attempts=2, versus="bot"
    )
    learned = Learned("run", {"": AgentSource("x")}, "[]", Curriculum("run", ()), ())
    made_with = {"versions": {}, "git_commit": None, "sandbox": "strict", "unplayable": {"X-v0": HOSTILE}}
    return EvaluationFolder.create(runs, settings, learned, made_with)
