"""Episodes of an evaluation as trajectories of a run, which can be re-simulated."""

from __future__ import annotations

from contextlib import closing
from typing import Any

from spca.act.frame import WorldMaker
from spca.errors import ReportError
from spca.evaluation.episodes import Played, Trial
from spca.report.replay.resimulation import ENV_ID


def make_trajectory(played: Played, make_world: WorldMaker, *, upstream_rules: bool) -> dict[str, Any]:
    """Return the trials of an episode as a run's trajectory has them.

    Raises:
        ReportError: its environment is none of MiniGrid.
        WorldError: its world cannot be built.
    """
    if not ENV_ID.fullmatch(played.env_id):
        raise ReportError(f"{played.env_id!a:.80} is not an environment of MiniGrid")
    # Id and seed determine the first state, so that it is not recorded. It is the last one that is checked.
    with closing(make_world(played.env_id, played.seed, upstream_rules=upstream_rules)) as world:
        start_hash = world.checkpoint().state_hash
    attempts = [_make_attempt(number, trial, start_hash) for number, trial in enumerate(played.trials, 1)]
    return {"env_id": played.env_id, "seed": played.seed, "attempts": attempts}


def _make_attempt(number: int, trial: Trial, start_hash: str) -> dict[str, Any]:
    plan = []
    for call in trial.plan:
        action, _, args = call.partition("(")
        plan.append({"action": action, "args": args.removesuffix(")").split(", ")})

    steps = [[code, position, -1] for position, codes in enumerate(trial.acted) for code in codes]
    return {
        "round": 1,
        "attempt": number,
        "start": [],
        "start_hash": start_hash,
        "end_hash": trial.end_hash or start_hash,
        "plan": plan,
        "status": trial.status,
        "message": trial.reason,
        "steps": steps,
    }
