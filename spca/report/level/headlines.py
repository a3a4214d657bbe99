"""Headline and group of a failed level: a line about the failure, and the kind of failure (no input or output)."""

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

_VERBS: Final[Mapping[str, str]] = {
    Status.STUCK: "got stuck",
    Status.REWARD_FAILED: "ended the episode without success",
    Status.SYNTAX_ERROR: "could not be loaded",
}
_NO_PLAN: Final = "no_plan"
_NO_CODE: Final = "no_code"
_OLD_CODE: Final = "old_code"
_SENT_BACK: Final = "sent_back"
"""``_NO_PLAN``, ``_NO_CODE``, ``_OLD_CODE`` and ``_SENT_BACK`` are the kinds of rounds without an attempt.

Old code is code that was tried before, or code that fails on a level that was solved before.
"""
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
"""Three descriptions of each kind of round without an attempt, by kind.

The first description says what happened in a round after its attempt. The second describes a round. The third describes
a level whose rounds are all of this kind.
"""


def describe_failure(summary: Mapping[str, Any], works: Sequence[Work], blame: Blame | None) -> tuple[str, str]:
    """Return headline and group of a failed level, as in :class:`~spca.report.read.model.LevelRow`.

    The headline says how and where the last attempt ended, and how later rounds ended.

    The group is the status of the last attempt and the method to blame. If no method is to blame, the reason replaces
    the method, with ``*`` for numbers and colours.

    Args:
        summary: the level's summary.
        works: pieces of work in the level's :class:`~spca.report.read.spans.History`.
        blame: blame of the last attempt; None if no attempt was made.
    """
    kinds, last_complaint = _classify_rounds(works)
    kind_after_attempt, *later_kinds = kinds
    reason = _first_line(text(summary.get("reason")))
    if text(summary.get("failed_by")) == Culprit.WORLD:
        return reason, f"{Culprit.WORLD}: {star_details(reason)}"
    counts = Counter(later_kinds)
    if blame is None:
        group = f"{kinds[-1] or 'failed'}: {star_details(reason)}"
        has_attempt = any(work.kind == "simulation_runs" for work in works)
        if has_attempt or not later_kinds:
            return reason, group
        common_words = _KINDS[later_kinds[0]][2] if len(counts) == 1 else ""
        rounds_words = f"{common_words or 'no attempt'} in {format_count(len(later_kinds), 'round')}"
        return f"{rounds_words}: {last_complaint or reason}", group

    details = blame.method or star_details(_first_line(blame.message))
    group = f"{blame.status}: {details}"
    rounds = []
    for kind, number in counts.items():
        description = _KINDS[kind][1]
        rounds.append(f"{format_count(number, 'round')} {description}")
    aftermath = " and ".join(rounds) or _KINDS[kind_after_attempt][0]
    headline = _describe_end(blame)
    if aftermath:
        headline = f"{headline}; then {aftermath}"
    return headline, group


def _classify_rounds(works: Sequence[Work]) -> tuple[list[str], str]:
    """Return the kinds of rounds since the last attempt (keys of :data:`_KINDS`), and the last complaint in these
    rounds.

    The first kind is about the round of the last attempt, from the attempt to the end of the round. If no attempt was
    made, the first kind is about the time before round 1.

    A complaint is the first line of a coder's objection or of an error; "" stands for no complaint.
    """
    kinds = [""]
    last_complaint = ""
    for work, event, *_ in works:
        if work == "simulation_runs":
            kinds = [""]
            last_complaint = ""
        elif work == "spca_rounds":
            kinds.append("")
        elif work == "planner_call":
            kinds[-1] = "" if event.get("ok") is True else _NO_PLAN
        elif work == "coder_call" and event.get("objection"):
            kinds[-1] = _SENT_BACK
        elif work == "coder_call":
            kinds[-1] = _OLD_CODE if event.get("ok") is True else _NO_CODE
        complaint = text(event.get("objection")) or text(event.get("error"))
        last_complaint = _first_line(complaint) or last_complaint
    return kinds, last_complaint


def _describe_end(blame: Blame) -> str:
    """Return how and where an attempt ended, such as ``attempt 1.2 got stuck in put_near (line 212)``."""
    attempt = f"attempt {blame.round}.{blame.attempt}"
    if blame.status == Status.GOAL_NOT_REACHED:
        return f"{attempt}: goal not reached"

    place = blame.method
    if blame.line:
        line = f"line {blame.line}"
        place = f"{place} ({line})" if place else line
    verb = blame.why if blame.why.startswith("raised ") else _VERBS.get(blame.status)
    if not verb:
        return f"{attempt}: {place or 'the code'} {blame.why}"
    if not place:
        return f"{attempt} {verb}"
    return f"{attempt} {verb} in {place}"


def _first_line(words: str) -> str:
    return words.partition("\n")[0]
