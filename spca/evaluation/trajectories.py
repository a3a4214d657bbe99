"""Conversion of an evaluation's episodes into trajectories for re-simulation, in the format of a run's trajectories."""

from __future__ import annotations

from contextlib import closing
from typing import Any

from spca.act.frame import WorldMaker
from spca.errors import ReportError
from spca.evaluation.episodes import Played, Trial
from spca.report.replay.resimulation import require_env_id


def make_trajectory(played: Played, make_world: WorldMaker, *, upstream_rules: bool) -> dict[str, Any]:
    """Return the trajectory of an episode, with one attempt for each trial, in the format of a run's trajectory.

    Raises:
        ReportError: the id is no id of an environment, or it names a module that is not loaded.
        WorldError: the world cannot be built.
    """
    episode = played.episode
    try:
        require_env_id(episode.env_id, episode.world)
    except ValueError as error:
        raise ReportError(str(error)) from error
    # An evaluation does not record the hash of the first state, because id and seed determine the first state. The
    # re-simulation therefore checks the last state only.
    with closing(make_world(episode.spec, played.seed, upstream_rules=upstream_rules)) as world:
        start_hash = world.checkpoint().state_hash
    attempts: list[dict[str, Any]] = []
    before: list[int] = []  # primitives between the reset and the trial
    for number, trial in enumerate(played.trials, 1):
        attempts.append(_make_attempt(number, trial, start_hash, before))
        if played.one_life:
            before = [*before, *trial.primitives]
            start_hash = trial.end_hash or start_hash
    place = {"env_id": episode.env_id, "seed": played.seed, **episode.spec.describe_extras()}
    return {**place, "attempts": attempts}


def _make_attempt(number: int, trial: Trial, start_hash: str, before: list[int]) -> dict[str, Any]:
    """Return one attempt of a trajectory; each step is [primitive, position in the plan, -1].

    The last number stands for the line of code, which is unknown.

    Args:
        before: primitives between the reset of the world and the attempt.
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
        "start": before,
        "start_hash": start_hash,
        "end_hash": trial.end_hash or start_hash,
        "plan": plan,
        "status": trial.status,
        "message": trial.reason,
        "steps": steps,
    }
