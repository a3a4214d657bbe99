"""Groups of failures of the same kind, so that a reader sees each kind once."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from spca.common.command import program
from spca.common.installation import where_runs_lie
from spca.evaluation.summary import Failure
from spca.plugins.loaded import format_plugin_flags
from spca.sense.perception import star_details


@dataclass(frozen=True, slots=True)
class Alike:
    """A non-empty group of failures with the same status, proof and reason, in the order of their episodes.

    Reasons count as the same if they differ only in numbers and colours.
    """

    failures: tuple[Failure, ...]

    @property
    def example(self) -> Failure:
        return self.failures[0]

    @property
    def ids(self) -> Mapping[str, tuple[Failure, ...]]:
        """The failures by environment id, the id with the most failures first."""
        return dict(_group_by_name((each.played.env_id, each) for each in self.failures))

    @property
    def title(self) -> str:
        """Status and first line of the reason, such as ``missing_method: the library lacks fly``.

        If several writers had no plan, the first line tells why the most promising writer had none.
        """
        status, reason, _ = _kind(self.example)
        return f"{status}: {reason}".removesuffix(": ")


def group_failures(failures: Iterable[Failure]) -> tuple[Alike, ...]:
    """Return the groups of failures, the largest group first.

    Failures whose reasons differ only in numbers and colours belong to one group.
    """
    groups = _group_by_name((star_details("\n".join(_kind(each))), each) for each in failures)
    return tuple(Alike(group) for _, group in groups)


def replay(each: Failure, folder: Path, where: str | None = None) -> str:
    """Return the shell command that replays the failed first attempt of an episode.

    Args:
        folder: the evaluation's folder.
        where: text of the option ``--runs`` in the command; None for a text that works in every working folder.
    """
    episode = shlex.quote(each.played.episode.name)
    command = f"{program()} replay {folder.name} {episode}"
    # Without the option, ``replay`` shows the last attempt.
    has_later_ones = each.played.attempts > 1 and not each.played.one_life
    attempt = " --attempt 1.1" if has_later_ones else ""
    if where is None:
        where = f"{where_runs_lie(folder.parent)}{format_plugin_flags()}"
    return f"{command}{attempt}{where}"


def _kind(failure: Failure) -> tuple[str, str, str]:
    """Return the status, the first line of the reason, and the proof of a failure."""
    reason, _, _ = failure.played.reason.partition("\n")
    return failure.played.failure, reason, failure.proof


def _group_by_name(items: Iterable[tuple[str, Failure]]) -> list[tuple[str, tuple[Failure, ...]]]:
    """Group pairs (name, failure) by name, and return pairs (name, failures), the largest group first."""
    groups: dict[str, list[Failure]] = {}
    for name, failure in items:
        groups.setdefault(name, []).append(failure)
    largest_first = sorted(groups.items(), key=lambda item: -len(item[1]))
    return [(name, tuple(group)) for name, group in largest_first]
