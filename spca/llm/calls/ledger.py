"""The ledger: one record for every request that was sent to a model, its intent written before it leaves.

``calls.jsonl`` holds one finished record a line. The record of the request that is under way lies alone in
``state/call_in_flight.json``; if the process dies, it is there for the next one to enter into the ledger as "unknown".
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


class Outcome(StrEnum):
    """How a request ended."""

    ANSWERED = "answered"
    REJECTED = "rejected"  # the server refused it, or was never reached: not billed
    LOST = "lost"  # it may have been worked on: a timeout, a broken connection
    UNKNOWN = "unknown"  # the process died or was interrupted while it was in flight


@dataclass(frozen=True, slots=True)
class Place:
    """Where in a run a call is made: level (counted from 1) and round of the loop; None outside of levels."""

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
    """One request: where it was made, for which call (``key``), as which ``attempt`` at it, and how it ended.

    ``started`` is in seconds since the epoch; ``asked_tokens`` an estimate of the prompt's size, which caps count where
    nothing better is known; ``cost`` in USD, None when unknown; ``estimated``: the server told no
    tokens, so they are estimated. ``transcript`` names the file that holds question and answer; ``differs``: the answer
    was recorded for another prompt.
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
    outcome: Outcome = Outcome.UNKNOWN
    status: int | None = None
    error: str = ""
    transcript: str = ""
    asked_tokens: int = 0
    differs: bool = False

    @property
    def tokens(self) -> int | None:
        """Input and output; None when the provider did not tell."""
        if self.usage.input_tokens is None or self.usage.output_tokens is None:
            return None
        return self.usage.input_tokens + self.usage.output_tokens

    def to_dict(self) -> dict[str, Any]:
        """Flat, for one line of JSON."""
        sent = {name: getattr(self, name) for name in _SENT}
        sent["model"] = str(self.model)
        ended = {name: getattr(self, name) for name in _ENDED}
        ended["cost"] = None if self.cost is None else float(self.cost)
        flat = {"number": self.number, **asdict(self.place), **sent, **asdict(self.usage), **ended}
        return flat | ({"differs": True} if self.differs else {})

    @classmethod
    def from_dict(cls, flat: Mapping[str, Any]) -> Record:
        """The inverse of :meth:`to_dict`."""
        place = Place(**{name: flat[name] for name in _PLACE})
        usage = Usage(**{name: flat[name] for name in _USAGE if name in flat})  # older runs lack cache writes
        values = {name: flat[name] for name in ("number", *_SENT, *_ENDED)}
        values["model"] = ModelRef.parse(flat["model"])
        values["cost"] = None if flat["cost"] is None else Decimal(str(flat["cost"]))
        values["outcome"] = Outcome(flat["outcome"])
        return cls(place=place, usage=usage, differs=flat.get("differs", False), **values)


_PLACE: Final = tuple(field.name for field in fields(Place))
_SENT: Final = ("attempt", "model", "form", "key", "started", "asked_tokens", "latency_s")
_ENDED: Final = ("estimated", "cost", "outcome", "status", "error", "transcript")
_USAGE: Final = tuple(field.name for field in fields(Usage))


class Ledger:
    """The records of a run, kept in its folder; without a folder in memory only.

    Args:
        recover: given an in-flight record that a dead process left, returns how it ended if that can be known.
    """

    def __init__(self, folder: Path | None = None, recover: Callable[[Record], Record] = lambda record: record) -> None:
        self._folder = folder
        self.records: list[Record] = []
        if folder is not None:
            self.records = _read(folder / BOOK)
            self._settle(folder / IN_FLIGHT, recover)

    def begin(self, record: Record) -> None:
        """Write the intent to send a request."""
        if self._folder is not None:
            write_line(self._folder / IN_FLIGHT, _line(record), os.O_TRUNC)

    def end(self, record: Record) -> None:
        """Enter how the request that was begun has ended."""
        self.records.append(record)
        if self._folder is not None:
            write_line(self._folder / BOOK, _line(record))
            (self._folder / IN_FLIGHT).unlink(missing_ok=True)

    @property
    def next_number(self) -> int:
        return len(self.records) + 1

    def _settle(self, path: Path, recover: Callable[[Record], Record]) -> None:
        """Enter the request that a dead process had in flight, unless it died between entering and tidying up."""
        try:
            record = Record.from_dict(json.loads(path.read_text(encoding="utf-8")))
        except FileNotFoundError:
            return
        except OSError as error:
            raise ResumeError(f"{path} cannot be read: {error.strerror}") from error
        except (ValueError, KeyError, TypeError, AttributeError):
            # Torn: it died while it wrote the intent, so nothing was sent.
            _LOG.info("%s is torn: nothing was sent", path)
            path.unlink()
            return
        if record.number >= self.next_number:  # later where the file system lost the end of the ledger
            self.end(replace(recover(record), number=self.next_number))
        path.unlink(missing_ok=True)


def sums(records: Iterable[Record]) -> dict[str, Any]:
    """Requests by outcome, tokens and USD.

    ``estimated`` counts requests whose tokens the server did not tell, ``cost_unknown`` those without a price,
    ``differing`` those whose answer was recorded for another prompt.

    A request that was lost or whose fate is unknown may have been billed, so its cost is unknown unless its model is
    free.
    """
    total: dict[str, Any] = {"requests": 0, **{outcome.value: 0 for outcome in Outcome}}
    total |= dict.fromkeys(_USAGE, 0)
    total |= {"latency_s": 0.0, "estimated": 0, "cost_unknown": 0, "differing": 0}
    spent = Decimal(0)
    for record in records:
        total["requests"] += 1
        total[record.outcome.value] += 1
        total["latency_s"] += record.latency_s
        for name in _USAGE:
            total[name] += getattr(record.usage, name) or 0
        total["estimated"] += record.estimated
        total["cost_unknown"] += record.cost is None
        total["differing"] += record.differs
        spent += record.cost or 0
    return total | {"latency_s": round(total["latency_s"], 3), "cost_usd": float(spent)}


def measure_usage(request: Request, response: Response) -> tuple[Usage, bool]:
    """Return the tokens of an answered request, and whether one of the counts is estimated."""
    usage = response.usage
    if usage.input_tokens is not None and usage.output_tokens is not None:
        return usage, False
    sent = usage.input_tokens
    said = usage.output_tokens
    if sent is None:
        sent = estimate_prompt(request)
    if said is None:
        arguments = sum(len(str(call.arguments)) for call in response.tool_calls)
        said = estimate_tokens(len(response.text) + arguments)
    return replace(usage, input_tokens=sent, output_tokens=said), True


def estimate_prompt(request: Request) -> int:
    """Return an estimate of the size of a prompt; pictures, schemas and tools do not count."""
    return estimate_tokens(sum(len(message.text) for message in request.messages))


def estimate_tokens(characters: int) -> int:
    """Return more tokens than a text of that length usually has.

    PDDL, Python and English hold 3.5 to 4.5 characters a token.
    """
    return -(-characters // 3)


def _line(record: Record) -> str:
    return json_text(record.to_dict())


def _read(path: Path) -> list[Record]:
    """The records of a ledger; a torn last line is cut off."""
    lines = whole_lines(path)
    try:
        return [Record.from_dict(json.loads(line)) for line in lines]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ResumeError(f"{path} cannot be read: {error}") from error
