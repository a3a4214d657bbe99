"""Films of failures: every attempt and the witness, re-simulated when the page is made."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, zip_longest
from typing import Final

from spca.act.frame import WorldMaker
from spca.common.errors import SPCAError
from spca.evaluation.alike import Alike
from spca.evaluation.summary import Failure
from spca.evaluation.trajectories import make_trajectory
from spca.report.read.model import Check
from spca.report.replay.resimulation import Resimulated, resimulate

MAX_FILMS: Final = 400
"""Films of a page, which are some 600 bytes each."""


def film_failures(groups: Sequence[Alike], make_world: WorldMaker, *, upstream_rules: bool) -> dict[str, Resimulated]:
    """Return the attempts, and then the witness, of as many failures as a page may hold, evenly from all groups.

    The keys are names of episodes.
    """
    footage: dict[str, Resimulated] = {}
    left = MAX_FILMS
    # The first failure of each group, then the second of each, and so on.
    rounds = zip_longest(*(group.failures for group in groups))
    for failure in filter(None, chain.from_iterable(rounds)):
        made = _film_failure(failure, make_world, upstream_rules)
        left -= len(made.attempts)
        if left < 0:
            break
        footage[failure.played.episode.name] = made
    return footage


def _film_failure(failure: Failure, make_world: WorldMaker, upstream_rules: bool) -> Resimulated:
    witness = failure.judged.verdict.witness if failure.judged else ()
    try:
        trajectory = make_trajectory(failure.played, make_world, upstream_rules=upstream_rules)
    except (SPCAError, ValueError) as error:
        nothing = (None, Check("different", str(error)))
        return Resimulated("", (nothing,) * (failure.played.attempts + bool(witness)))
    if not witness:
        return resimulate(make_world, trajectory, upstream_rules=upstream_rules)

    trajectory["attempts"].append({"start": [], "steps": list(witness)})
    seen = resimulate(make_world, trajectory, upstream_rules=upstream_rules)
    *attempts, (film, _) = seen.attempts
    # The last state of a witness is not recorded: it is to solve the episode.
    solves = film is not None and film.reward[-1] > 0
    words = f"the re-simulation {'solves' if solves else 'does not solve'} the episode"
    return Resimulated(seen.mission, (*attempts, (film, Check("equal" if solves else "different", words))))
