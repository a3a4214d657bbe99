"""How a level failed, in a line of words and as a kind of failure (pure)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final

from spca.common.text import format_count
from spca.contracts import Status
from spca.report.read.lenient import text
from spca.report.read.model import Blame
from spca.report.read.spans import Work
from spca.runs.results import Culprit
from spca.sense.perception import star_details

_ENDED: Final[Mapping[str, str]] = {
    Status.STUCK: "got stuck",
    Status.REWARD_FAILED: "ended the episode without success",
    Status.SYNTAX_ERROR: "could not be loaded",
}
_NO_PLAN: Final = "no_plan"
_NO_CODE: Final = "no_code"
_OLD_CODE: Final = "old_code"
_SENT_BACK: Final = "sent_back"
"""How a round ends in which nothing runs; code is old that was tried before, or that fails where a level was solved."""
_KINDS: Final = {
    "": ("", "without an attempt", ""),
    _NO_PLAN: ("", "without a plan", "no plan"),
    _NO_CODE: ("the coder had no usable code", "without usable code", "no usable code"),
    _OLD_CODE: ("the coder gave the same code again", "in which the coder gave the same code again", ""),
    _SENT_BACK: (
        "the coder sent the plan back",
        "in which the coder sent the plan back",
        "the coder sent the plan back",
    ),
}
"""In words: after an attempt of the same round, of a round, of all rounds of a level."""


def describe_failure(summary: Mapping[str, Any], works: Sequence[Work], blame: Blame | None) -> tuple[str, str]:
    """Return headline and group of a level that failed, as in :class:`~spca.report.read.model.LevelRow`.

    The headline is the last attempt that ran, how it ended and where, and what came after it; the group is the same for
    failures of one kind: the status, and the method to blame or the reason without details.

    Args:
        summary: of the level.
        works: of its :class:`~spca.report.read.spans.History`.
        blame: that of the last attempt, None where nothing ran.
    """
    kinds, said = _follow(works)
    rest, *later = kinds
    reason = _first_line(text(summary.get("reason")))
    if text(summary.get("failed_by")) == Culprit.WORLD:
        return reason, f"{Culprit.WORLD}: {star_details(reason)}"
    counts = Counter(later)
    if blame is None:
        group = f"{kinds[-1] or 'failed'}: {star_details(reason)}"
        if not later or any(work.kind == "simulation_runs" for work in works):
            return reason, group
        never = _KINDS[later[0]][2] if len(counts) == 1 else ""
        rounds_without = f"{never or 'no attempt'} in {format_count(len(later), 'round')}"
        return f"{rounds_without}: {said or reason}", group

    details = blame.method or star_details(_first_line(blame.message))
    group = f"{blame.status}: {details}"
    rounds = []
    for kind, number in counts.items():
        how_it_ended = _KINDS[kind][1]
        rounds.append(f"{format_count(number, 'round')} {how_it_ended}")
    then = " and ".join(rounds) or _KINDS[rest][0]
    headline = _describe_end(blame)
    if then:
        headline = f"{headline}; then {then}"
    return headline, group


def _follow(works: Sequence[Work]) -> tuple[list[str], str]:
    """Return how each round ended since the last attempt, the attempt's own first, and the last thing said in them."""
    kinds = [""]
    said = ""
    for work, event, *_ in works:
        if work == "simulation_runs":
            kinds = [""]
            said = ""
        elif work == "spca_rounds":
            kinds.append("")
        elif work == "planner_call":
            kinds[-1] = "" if event.get("ok") is True else _NO_PLAN
        elif work == "coder_call" and event.get("objection"):
            kinds[-1] = _SENT_BACK
        elif work == "coder_call":
            kinds[-1] = _OLD_CODE if event.get("ok") is True else _NO_CODE
        complaint = text(event.get("objection")) or text(event.get("error"))
        said = _first_line(complaint) or said
    return kinds, said


def _describe_end(blame: Blame) -> str:
    """Return an attempt with how it ended and where: ``attempt 1.2 got stuck in put_near (line 212)``."""
    attempt = f"attempt {blame.round}.{blame.attempt}"
    if blame.status == Status.GOAL_NOT_REACHED:
        return f"{attempt}: goal not reached"

    place = blame.method
    if blame.line:
        line = f"line {blame.line}"
        place = f"{place} ({line})" if place else line
    ended = blame.why if blame.why.startswith("raised ") else _ENDED.get(blame.status)
    if not ended:
        return f"{attempt}: {place or 'the code'} {blame.why}"
    return f"{attempt} {ended} in {place}" if place else f"{attempt} {ended}"


def _first_line(words: str) -> str:
    return words.partition("\n")[0]
