"""Films of failed episodes, re-simulated while the page is made: every attempt, then the witness if there is one.

A witness is a sequence of primitives that solves the episode.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, zip_longest
from typing import Final

from spca.act.frame import WorldMaker
from spca.common.errors import SPCAError
from spca.evaluation.failure_groups import Alike
from spca.evaluation.summary import Failure
from spca.evaluation.trajectories import make_trajectory
from spca.report.read.model import Check
from spca.report.replay.resimulation import Resimulated, resimulate

MAX_FILMS: Final = 400
"""Largest number of films on a page; a film takes about 600 bytes."""
MAX_FRAMES: Final = 500_000
"""Largest number of frames of all films on a page; an episode of MiniGrid has some hundreds."""


def film_failures(groups: Sequence[Alike], make_world: WorldMaker, *, upstream_rules: bool) -> dict[str, Resimulated]:
    """Return films of failed episodes, by name of the episode.

    An episode has a film for each attempt. If a witness shows that the episode can be solved, a film of the witness
    follows. At most :data:`MAX_FILMS` films with :data:`MAX_FRAMES` frames are made, spread evenly over the groups. The
    films of a world without a grid are text, because pictures would take too much room.
    """
    films: dict[str, Resimulated] = {}
    films_left = MAX_FILMS
    frames_left = MAX_FRAMES
    # Take the first failure of each group, then the second failure of each group, and so on.
    rounds = zip_longest(*(group.failures for group in groups))
    for failure in filter(None, chain.from_iterable(rounds)):
        film = _film_failure(failure, make_world, upstream_rules)
        films_left -= len(film.attempts)
        frames_left -= sum(len(episode.reward) for episode, _ in film.attempts if episode)
        if min(films_left, frames_left) < 0:
            break
        films[failure.played.episode.name] = film
    return films


def _film_failure(failure: Failure, make_world: WorldMaker, upstream_rules: bool) -> Resimulated:
    """Return films of all attempts of a failed episode, followed by a film of its witness if there is one."""
    witness = failure.judged.verdict.witness if failure.judged else ()
    try:
        trajectory = make_trajectory(failure.played, make_world, upstream_rules=upstream_rules)
    except (SPCAError, ValueError) as error:
        no_film = (None, Check("different", str(error)))
        count = failure.played.attempts + bool(witness)
        return Resimulated("", (no_film,) * count)
    if not witness:
        return resimulate(make_world, trajectory, upstream_rules=upstream_rules, max_pictures=0)

    trajectory["attempts"].append({"start": [], "steps": list(witness)})
    resimulated = resimulate(make_world, trajectory, upstream_rules=upstream_rules)
    *attempts, (film, _) = resimulated.attempts
    # A witness has no recorded last state to compare with. Its check is whether it solves the episode.
    if film is not None and film.reward[-1] > 0:
        check = Check("equal", "the re-simulation solves the episode")
    else:
        check = Check("different", "the re-simulation does not solve the episode")
    return Resimulated(resimulated.mission, (*attempts, (film, check)))
