"""Failures of the same kind, so that a reader sees each kind once."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from spca.common.command import program
from spca.common.installation import where_runs_lie
from spca.evaluation.summary import Failure
from spca.sense.perception import star_details


@dataclass(frozen=True, slots=True)
class Alike:
    """Failures with the same status, proof and reason, at least one, in the order of their episodes."""

    failures: tuple[Failure, ...]

    @property
    def example(self) -> Failure:
        return self.failures[0]

    @property
    def ids(self) -> Mapping[str, tuple[Failure, ...]]:
        """Return the failures of each id, those of the most frequent id first."""
        return dict(_group_by_name((each.played.env_id, each) for each in self.failures))

    @property
    def title(self) -> str:
        """``missing_method: the library lacks fly``, with the nearest writer's words if several had no plan."""
        failure, reason, _ = _kind(self.example)
        return f"{failure}: {reason}".removesuffix(": ")


def alike(failures: Iterable[Failure]) -> tuple[Alike, ...]:
    """Return the groups of failures, the largest first; numbers and colours make no difference."""
    groups = _group_by_name((star_details("\n".join(_kind(each))), each) for each in failures)
    return tuple(Alike(group) for _, group in groups)


def replay(each: Failure, folder: Path, where: str | None = None) -> str:
    """Return the command that shows what failed again, as it is to be typed.

    Args:
        folder: of the evaluation.
        where: the option that says where it lies; None for the one that fits wherever the command is typed.
    """
    command = f"{program()} replay {folder.name} {shlex.quote(each.played.episode.name)}"
    first = " --attempt 1.1" if each.played.attempts > 1 else ""  # without it, the last one is shown
    if where is None:
        where = where_runs_lie(folder.parent)
    return f"{command}{first}{where}"


def _kind(each: Failure) -> tuple[str, str, str]:
    return each.played.failure, each.played.reason.partition("\n")[0], each.proof


def _group_by_name(items: Iterable[tuple[str, Failure]]) -> list[tuple[str, tuple[Failure, ...]]]:
    """Return the failures of each name, the largest group first."""
    found: dict[str, list[Failure]] = {}
    for name, failure in items:
        found.setdefault(name, []).append(failure)
    largest_first = sorted(found.items(), key=lambda item: -len(item[1]))
    return [(name, tuple(group)) for name, group in largest_first]
