"""One readable file for every call: what was asked, what came back, and at what price.

``llm/0012-planner-fresh-3f2a9c1b-0.json`` is the run's twelfth call; the name ends with the beginning of its key and
with its occurrence, the number of earlier calls with that key. Texts are lists of lines, so that they can be read as
they are. A call is finished once its file is there, fsynced: a run that goes on takes its answer from the file.
"""

from __future__ import annotations

import base64
import json
import os
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from decimal import Decimal
from pathlib import Path
from typing import Any, Final

from spca.common.encoding import json_text
from spca.common.errors import FileError
from spca.common.files import LARGEST, make_folder, read_text, write_atomic
from spca.errors import BadAnswerError, ResumeError
from spca.llm.calls.call_keys import call_key, effort, prompt_key, question
from spca.llm.calls.ledger import Place, Record
from spca.llm.catalogue.model_ref import ModelRef
from spca.llm.providers.base import Finish, Image, Request, Response, ToolCall, Turn, Usage

FOLDER: Final = "llm"
_NAME: Final = re.compile(r"[0-9]+-.+\.json")


@dataclass(frozen=True, slots=True)
class Call:
    """A question as it is asked now, and its key."""

    model: ModelRef
    request: Request
    key: str


@dataclass(frozen=True, slots=True)
class Answer:
    """How a call ended: a response, or the words of the provider that could not read one."""

    response: Response | None
    error: str = ""

    def get(self) -> Response:
        """The response.

        Raises:
            BadAnswerError: there was none that could be read.
        """
        if self.response is None:
            raise BadAnswerError(self.error)
        return self.response


@dataclass(frozen=True, slots=True)
class Transcript:
    """A finished call as its file has it; ``request_number`` is that of its last ledger record, 0 without one.

    The number of ``turn`` is 0: which turn of its role in its level a call was is seen from the calls before it.
    """

    name: str
    key: str
    prompt_key: str
    occurrence: int
    index: int
    request_number: int
    estimated: bool
    latency_s: float
    answer: Answer
    turn: Turn

    @property
    def number(self) -> int:
        """Place among the run's calls, from 1."""
        return int(self.name.removeprefix(f"{FOLDER}/").partition("-")[0])


class Transcripts:
    """The files of a run; without a folder nothing is kept.

    Args:
        asked_anew: roles that are not served what the first so many calls of the run were answered.

    Attributes:
        count: calls of the run that were finished, by any of its processes.
    """

    def __init__(self, folder: Path | None = None, asked_anew: Mapping[str, int] | None = None) -> None:
        self._asked_anew = asked_anew or {}
        self._folder = folder / FOLDER if folder else None
        self._found = read_all(self._folder) if self._folder else ()
        self.count = max((t.number for t in self._found), default=0)
        self._seen: Counter[str] = Counter()
        self._turns: Counter[Turn] = Counter()
        self._finished: dict[tuple[str, int], Transcript] = {}

    def begin_level(self, index: int) -> None:
        """From now on calls belong to this level: those that an earlier process finished in it are served again."""
        for earlier in (t for t in self._found if t.index < index):
            self._seen[earlier.key] = max(self._seen[earlier.key], earlier.occurrence + 1)
            self._turns[earlier.turn] += 1

        self._finished = {}
        for kept in self._found:
            if kept.index == index and kept.number > self._asked_anew.get(kept.turn.role, 0):
                self._finished[kept.key, kept.occurrence] = kept

        self._found = tuple(t for t in self._found if t.index > index)

    def call(self, model: ModelRef, request: Request, place: Place) -> Call:
        """Return the next occurrence of a question, which is asked at that place."""
        key = call_key(model, request)
        turn = Turn(place.category, place.level, place.seed, place.phase)
        occurrence = self._seen[key]
        number = self._turns[turn]
        self._seen[key] += 1
        self._turns[turn] += 1
        asked = replace(request, occurrence=occurrence, turn=replace(turn, number=number))
        return Call(model, asked, key)

    def finished(self, call: Call) -> Transcript | None:
        """Return what an earlier process of this run was answered."""
        return self._finished.get((call.key, call.request.occurrence))

    def of_request(self, number: int) -> Transcript | None:
        """Return the transcript whose answer came with that request."""
        return next((t for t in self._found if t.request_number == number), None)

    def name(self, call: Call, place: Place) -> str:
        """Return the file of the call to be finished next, relative to the run's folder; "" where nothing is kept."""
        if self._folder is None:
            return ""
        parts = (place.phase, place.mode, call.key[:8], str(call.request.occurrence))
        label = "-".join(filter(None, parts))
        return f"{FOLDER}/{self.count + 1:04d}-{label}.json"

    def write(self, call: Call, record: Record, answer: Answer, source: str) -> None:
        """Keep a finished call under ``record.transcript``; returns when it is on the disk."""
        if self._folder is None:
            return
        self.count += 1
        make_folder(self._folder)
        write_atomic(self._folder.parent / record.transcript, to_text(call, record, answer, source))


def to_text(call: Call, record: Record, answer: Answer, source: str) -> str:
    """A transcript file; ``source`` is "model" or "cache"."""
    return json_text(_to_json(call, record, answer, source), indent=1) + "\n"


def _to_json(call: Call, record: Record, answer: Answer, source: str) -> dict[str, Any]:
    """Texts are lists of lines."""
    asked = question(call.request)
    images = [[_image(image) for image in m.images] for m in call.request.messages]
    for message, pictures in zip(asked["messages"], images, strict=True):
        message["text"] = _lines(message["text"])
        if pictures:
            message["images"] = pictures
    head = {"model": str(call.model), **effort(call.request), **asdict(record.place)}
    head |= {"key": call.key, "prompt_key": prompt_key(call.request)}
    head |= {"occurrence": call.request.occurrence, "source": source, "request": record.number, "form": record.form}
    cost = None if record.cost is None else float(record.cost)
    usage = answer.response.usage if answer.response else Usage()
    end = {"usage": asdict(usage), "estimated": record.estimated, "cost": cost, "latency_s": record.latency_s}
    said = {"messages": asked.pop("messages"), "answer": _answer_json(answer), "error": answer.error}
    return head | said | end | asked


def unsent(call: Call, place: Place, name: str) -> Record:
    """The record of a call that no request was sent for; it gets into no ledger."""
    form = call.request.form.value if call.request.schema else ""
    return Record(0, place, 0, call.model, form, call.key, 0.0, cost=Decimal(0), transcript=name)


def read_all(folder: Path) -> tuple[Transcript, ...]:
    """The finished calls in a folder of transcripts, in order; of two for the same call the newer one.

    Raises:
        ResumeError: a file cannot be read.
    """
    found: dict[tuple[str, int], Transcript] = {}
    names = folder.glob("*.json") if os.path.isdir(folder) else ()  # unlike Path, for names of any length
    paths = [path for path in names if _NAME.fullmatch(path.name)]
    for transcript in sorted(map(_read, paths), key=lambda transcript: transcript.number):
        found.pop((transcript.key, transcript.occurrence), None)
        found[transcript.key, transcript.occurrence] = transcript
    return tuple(found.values())


def read_answer(content: Mapping[str, Any]) -> Answer:
    """Return the answer in a transcript file's JSON.

    Raises:
        KeyError, TypeError, ValueError: it has not that form.
    """
    kept = content["answer"]
    if kept is None:
        return Answer(None, str(content["error"]))
    calls = tuple(ToolCall(str(call["name"]), dict(call["arguments"])) for call in kept["tool_calls"])
    text = "\n".join(kept["text"])
    usage = Usage(**content["usage"])
    return Answer(Response(text, usage, Finish(kept["finish"]), calls))


def _read(path: Path) -> Transcript:
    try:
        return read_transcript(f"{FOLDER}/{path.name}", read_text(path, LARGEST))
    except FileError as error:
        raise ResumeError(str(error)) from error
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise ResumeError(f"{path} cannot be read: {type(error).__name__}: {error}") from error


def read_transcript(name: str, text: str) -> Transcript:
    """Return the call in the text of a transcript file.

    Raises:
        KeyError, TypeError, ValueError, RecursionError: it is none.
    """
    content = json.loads(text)
    return Transcript(
        name,
        str(content["key"]),
        str(content["prompt_key"]),
        int(content["occurrence"]),
        int(content["index"] or 0),
        int(content["request"]),
        bool(content["estimated"]),
        float(content["latency_s"]),
        read_answer(content),
        Turn(str(content["category"]), str(content["level"]), content["seed"], str(content["phase"])),
    )


def _answer_json(answer: Answer) -> dict[str, Any] | None:
    response = answer.response
    if response is None:
        return None
    calls = [{"name": call.name, "arguments": dict(call.arguments)} for call in response.tool_calls]
    return {"text": _lines(response.text), "finish": response.finish.value, "tool_calls": calls}


def _lines(text: str) -> list[str]:
    return text.split("\n")


def _image(image: Image) -> dict[str, str]:
    kept = {"media_type": image.media_type, "base64": base64.b64encode(image.data).decode()}
    return kept | ({"detail": image.detail} if image.detail else {})
