"""Films of failures: every attempt and the witness, re-simulated when the page is made."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, zip_longest
from typing import Final

from spca.act.frame import WorldMaker
from spca.common.errors import SPCAError
from spca.common.text import strip_folders
from spca.common.web.films import GridFilm
from spca.evaluation.alike import Alike
from spca.evaluation.summary import Failure
from spca.evaluation.trajectories import make_trajectory
from spca.report.replay.minigrid_films import film_of
from spca.report.replay.resimulation import replay_attempts

MAX_FILMS: Final = 400
"""Films of a page, which are some 600 bytes each."""


@dataclass(frozen=True, slots=True)
class Shown:
    """What the player has of an attempt, or of the witness.

    Attributes:
        film: index into the films of the failure, None if there is nothing to be seen.
        is_equal: whether the re-simulation equals the recording.
        check: the same in words.
    """

    film: int | None
    is_equal: bool
    check: str


@dataclass(frozen=True, slots=True)
class Footage:
    """The films of a failure; ``shown`` are its attempts in order, then the witness if there is one."""

    mission: str
    films: tuple[GridFilm, ...]
    shown: tuple[Shown, ...]


def film_failures(groups: Sequence[Alike], make_world: WorldMaker, *, upstream_rules: bool) -> dict[str, Footage]:
    """Return films by name of the episode: of as many failures as a page may hold, evenly from all groups."""
    footage: dict[str, Footage] = {}
    left = MAX_FILMS
    # The first failure of each group, then the second of each, and so on.
    rounds = zip_longest(*(group.failures for group in groups))
    for failure in filter(None, chain.from_iterable(rounds)):
        made = _film_failure(failure, make_world, upstream_rules)
        left -= len(made.films)
        if left < 0:
            break
        footage[failure.played.episode.name] = made
    return footage


def _film_failure(failure: Failure, make_world: WorldMaker, upstream_rules: bool) -> Footage:
    witness = failure.judged.verdict.witness if failure.judged else ()
    try:
        trajectory = make_trajectory(failure.played, make_world, upstream_rules=upstream_rules)
    except (SPCAError, ValueError) as error:
        return Footage(
            "", (), (Shown(None, False, strip_folders(str(error))),) * (failure.played.attempts + bool(witness))
        )
    if witness:
        trajectory["attempts"].append({"start": [], "steps": list(witness)})
    mission, replayed = replay_attempts(make_world, trajectory, upstream_rules=upstream_rules)

    # Attempts that did the same have the same frames.
    distinct = {id(each.frames): each.frames for each in replayed if each.frames}
    numbers = {key: number for number, key in enumerate(distinct)}
    shown = [Shown(numbers.get(id(each.frames)), each.check.result == "equal", each.check.message) for each in replayed]
    if witness:  # its last state is not recorded: it is to solve the episode
        frames = replayed[-1].frames
        solves = bool(frames) and frames[-1].reward > 0
        words = f"the re-simulation {'solves' if solves else 'does not solve'} the episode"
        shown[-1] = Shown(shown[-1].film, solves, words)
    return Footage(mission, tuple(map(film_of, distinct.values())), tuple(shown))
