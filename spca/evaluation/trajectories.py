"""Conversion of an evaluation's episodes into trajectories for re-simulation, in the format of a run's trajectories."""

from __future__ import annotations

from contextlib import closing
from typing import Any

from spca.act.frame import WorldMaker
from spca.errors import ReportError
from spca.evaluation.episodes import Played, Trial
from spca.report.replay.resimulation import ENV_ID


def make_trajectory(played: Played, make_world: WorldMaker, *, upstream_rules: bool) -> dict[str, Any]:
    """Return the trajectory of an episode, with one attempt for each trial, in the format of a run's trajectory.

    Raises:
        ReportError: the environment is not an environment of MiniGrid.
        WorldError: the world cannot be built.
    """
    if not ENV_ID.fullmatch(played.env_id):
        raise ReportError(f"{played.env_id!a:.80} is not an environment of MiniGrid")
    # An evaluation does not record the hash of the first state, because id and seed determine the first state. The
    # re-simulation therefore checks the last state only.
    with closing(make_world(played.env_id, played.seed, upstream_rules=upstream_rules)) as world:
        start_hash = world.checkpoint().state_hash
    attempts = [_make_attempt(number, trial, start_hash) for number, trial in enumerate(played.trials, 1)]
    return {"env_id": played.env_id, "seed": played.seed, "attempts": attempts}


def _make_attempt(number: int, trial: Trial, start_hash: str) -> dict[str, Any]:
    """Return one attempt of a trajectory; each step is [primitive, position in the plan, -1].

    The last number stands for the line of code, which is unknown.
    """
    plan = []
    for call in trial.plan:
        action, _, arguments = call.partition("(")
        plan.append({"action": action, "args": arguments.removesuffix(")").split(", ")})

    steps = []
    for position, codes in enumerate(trial.acted):
        steps += [[code, position, -1] for code in codes]
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
