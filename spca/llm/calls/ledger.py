"""The ledger: one record for every request to a model, written to disk before the request is sent.

``calls.jsonl`` holds one finished record a line. ``state/call_in_flight.json`` holds the record of the request that is
under way. If the process dies, the next process enters the record in flight into the ledger as "unknown".
"""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, fields, replace
from decimal import Decimal
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

from spca.common.encoding import json_text
from spca.common.files import whole_lines, write_line
from spca.errors import ResumeError
from spca.llm.catalogue.model_ref import ModelRef
from spca.llm.providers.base import Request, Response, Usage

_LOG: Final = logging.getLogger(__name__)

BOOK: Final = "calls.jsonl"
IN_FLIGHT: Final = "state/call_in_flight.json"


class RequestOutcome(StrEnum):
    """How a request ended."""

    ANSWERED = "answered"
    REJECTED = "rejected"  # the server refused the request or was never reached: not billed
    LOST = "lost"  # a timeout or a broken connection: the server may have worked on the request and may bill it
    UNKNOWN = "unknown"  # the process died or was interrupted while the request was in flight


@dataclass(frozen=True, slots=True)
class Place:
    """Where in a run a call is made.

    Attributes:
        index: number of the level in the run, from 1; None outside of levels.
        round: round of the loop in the level; None outside of levels.
        phase: role that asks, such as "planner".
        mode: purpose of the call.
    """

    run: str = ""
    index: int | None = None
    category: str = ""
    level: str = ""
    seed: int | None = None
    round: int | None = None
    phase: str = ""
    mode: str = ""


@dataclass(frozen=True, slots=True)
class Record:
    """One request to a model.

    Attributes:
        number: number of the request in the run, from 1.
        attempt: number of the request among the requests of its call, from 1.
        form: requested form of a structured answer, "" for free text.
        key: key of the call.
        started: seconds since the epoch.
        estimated: whether ``usage`` is an estimate, because the server reported no token counts.
        cost: USD; None if unknown.
        status: HTTP status of a failure; None without a status.
        transcript: name of the file that holds question and answer.
        asked_tokens: estimated size of the prompt, which caps count if ``usage`` is unknown.
        differs: whether the answer was recorded for another prompt.
    """

    number: int
    place: Place
    attempt: int
    model: ModelRef
    form: str
    key: str
    started: float
    latency_s: float = 0.0
    usage: Usage = Usage()
    estimated: bool = False
    cost: Decimal | None = None
    outcome: RequestOutcome = RequestOutcome.UNKNOWN
    status: int | None = None
    error: str = ""
    transcript: str = ""
    asked_tokens: int = 0
    differs: bool = False

    @property
    def tokens(self) -> int | None:
        """Tokens of input and output together; None if the provider reported no counts."""
        if self.usage.input_tokens is None or self.usage.output_tokens is None:
            return None
        return self.usage.input_tokens + self.usage.output_tokens

    def to_dict(self) -> dict[str, Any]:
        """Return the record as a flat mapping of JSON values."""
        sent = {name: getattr(self, name) for name in _SENT}
        sent["model"] = str(self.model)
        ended = {name: getattr(self, name) for name in _ENDED}
        ended["cost"] = None if self.cost is None else float(self.cost)
        flat = {"number": self.number, **asdict(self.place), **sent, **asdict(self.usage), **ended}
        if self.differs:
            flat["differs"] = True
        return flat

    @classmethod
    def from_dict(cls, flat: Mapping[str, Any]) -> Record:
        """Return the record that :meth:`to_dict` has turned into ``flat``."""
        place = Place(**{name: flat[name] for name in _PLACE})
        usage = Usage(**{name: flat[name] for name in _USAGE if name in flat})  # older runs lack cache writes
        values = {name: flat[name] for name in ("number", *_SENT, *_ENDED)}
        values["model"] = ModelRef.parse(flat["model"])
        values["cost"] = None if flat["cost"] is None else Decimal(str(flat["cost"]))
        values["outcome"] = RequestOutcome(flat["outcome"])
        return cls(place=place, usage=usage, differs=flat.get("differs", False), **values)


_PLACE: Final = tuple(field.name for field in fields(Place))
_SENT: Final = ("attempt", "model", "form", "key", "started", "asked_tokens", "latency_s")
_ENDED: Final = ("estimated", "cost", "outcome", "status", "error", "transcript")
_USAGE: Final = tuple(field.name for field in fields(Usage))


class Ledger:
    """The records of a run.

    Args:
        folder: the run's folder, where the records are kept; without a folder they are kept in memory only.
        recover: called with the in-flight record of a dead process; returns the record, completed if the end of the
            request is known.
    """

    def __init__(self, folder: Path | None = None, recover: Callable[[Record], Record] = lambda record: record) -> None:
        self._folder = folder
        self.records: list[Record] = []
        self._sums = UsageSums()
        self._sums_by_level: dict[int | None, UsageSums] = {}
        self._sums_by_category: dict[str, UsageSums] = {}
        if folder is not None:
            for record in _read(folder / BOOK):
                self._enter(record)
            self._settle(folder / IN_FLIGHT, recover)

    def begin(self, record: Record) -> None:
        """Write the intent to send a request, before the request is sent."""
        if self._folder is not None:
            write_line(self._folder / IN_FLIGHT, _line(record), os.O_TRUNC)

    def end(self, record: Record) -> None:
        """Append the finished record to the ledger, and remove the record in flight."""
        self._enter(record)
        if self._folder is not None:
            write_line(self._folder / BOOK, _line(record))
            (self._folder / IN_FLIGHT).unlink(missing_ok=True)

    def sums(self) -> dict[str, Any]:
        """Return the sums over all records, see :func:`sums`."""
        return self._sums.to_dict()

    def sums_of_level(self, index: int) -> dict[str, Any]:
        """Return the sums over the records of a level, see :func:`sums`; ``index`` counts from 1."""
        return self._sums_by_level.get(index, UsageSums()).to_dict()

    def sums_by_category(self) -> dict[str, dict[str, Any]]:
        """Return category -> sums over its records, see :func:`sums`, in the order of the first records."""
        return {name: category.to_dict() for name, category in self._sums_by_category.items()}

    def _enter(self, record: Record) -> None:
        """Add a record to the records and to the sums."""
        self.records.append(record)
        place = record.place
        self._sums.add(record)
        self._sums_by_level.setdefault(place.index, UsageSums()).add(record)
        self._sums_by_category.setdefault(place.category, UsageSums()).add(record)

    @property
    def next_number(self) -> int:
        return len(self.records) + 1

    def _settle(self, path: Path, recover: Callable[[Record], Record]) -> None:
        """Append the in-flight record of a dead process to the ledger, unless the record is in the ledger already.

        The record is in both files if the process died within :meth:`end`.
        """
        try:
            record = Record.from_dict(json.loads(path.read_text(encoding="utf-8")))
        except FileNotFoundError:
            return
        except OSError as error:
            raise ResumeError(f"{path} cannot be read: {error.strerror}") from error
        except (ValueError, KeyError, TypeError, AttributeError):
            # The process died while it wrote the intent, so the request was not sent.
            _LOG.info("%s is torn: nothing was sent", path)
            path.unlink()
            return
        # The number is greater than the next number if the file system has lost the end of the ledger.
        is_missing = record.number >= self.next_number
        if is_missing:
            self.end(replace(recover(record), number=self.next_number))
        path.unlink(missing_ok=True)


def sums(records: Iterable[Record]) -> dict[str, Any]:
    """Return the sums over records: requests by outcome, tokens by kind, seconds and USD.

    ``estimated`` counts requests with estimated tokens. ``cost_unknown`` counts requests whose cost is unknown.
    ``differing`` counts requests whose answer was recorded for another prompt.

    A lost or unknown request may have been billed, so its cost is unknown unless its model is free.
    """
    total = UsageSums()
    for record in records:
        total.add(record)
    return total.to_dict()


class UsageSums:
    """The sums of :func:`sums`, to which records are added one by one."""

    __slots__ = ("_spent", "_totals")

    def __init__(self) -> None:
        self._totals: dict[str, Any] = {"requests": 0, **{outcome.value: 0 for outcome in RequestOutcome}}
        self._totals |= dict.fromkeys(_USAGE, 0)
        self._totals |= {"latency_s": 0.0, "estimated": 0, "cost_unknown": 0, "differing": 0}
        self._spent = Decimal(0)

    def add(self, record: Record) -> None:
        """Add a record to the sums."""
        totals = self._totals
        totals["requests"] += 1
        totals[record.outcome.value] += 1
        totals["latency_s"] += record.latency_s
        for name in _USAGE:
            totals[name] += getattr(record.usage, name) or 0
        totals["estimated"] += record.estimated
        totals["cost_unknown"] += record.cost is None
        totals["differing"] += record.differs
        self._spent += record.cost or 0

    def to_dict(self) -> dict[str, Any]:
        """Return the sums, see :func:`sums`."""
        return self._totals | {"latency_s": round(self._totals["latency_s"], 3), "cost_usd": float(self._spent)}


def measure_usage(request: Request, response: Response) -> tuple[Usage, bool]:
    """Return the token counts of an answered request, and whether any of the counts is an estimate."""
    usage = response.usage
    if usage.input_tokens is not None and usage.output_tokens is not None:
        return usage, False
    input_tokens = usage.input_tokens
    output_tokens = usage.output_tokens
    if input_tokens is None:
        input_tokens = estimate_prompt(request)
    if output_tokens is None:
        argument_characters = sum(len(str(call.arguments)) for call in response.tool_calls)
        output_tokens = estimate_tokens(len(response.text) + argument_characters)
    return replace(usage, input_tokens=input_tokens, output_tokens=output_tokens), True


def estimate_prompt(request: Request) -> int:
    """Return an estimate of the tokens of a prompt, without its pictures, schema and tools."""
    return estimate_tokens(sum(len(message.text) for message in request.messages))


def estimate_tokens(characters: int) -> int:
    """Return an upper estimate of the tokens in a text: one token for 3 characters, rounded up.

    PDDL, Python and English usually have 3.5 to 4.5 characters a token.
    """
    return -(-characters // 3)  # ceiling of the quotient


def _line(record: Record) -> str:
    return json_text(record.to_dict())


def _read(path: Path) -> list[Record]:
    """Return the records of a ledger file; a torn last line is cut off the file."""
    lines = whole_lines(path)
    try:
        return [Record.from_dict(json.loads(line)) for line in lines]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ResumeError(f"{path} cannot be read: {error}") from error
