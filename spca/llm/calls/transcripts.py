"""Transcripts: one readable JSON file for every call, with question, answer and cost.

``llm/0012-planner-fresh-3f2a9c1b-0.json`` is the twelfth call of a run. The name ends with the first digits of the
call's key and with the call's occurrence, which is the number of earlier calls with the same key. Texts are written as
lists of lines, so that people can read the file. A call is finished once its file is on the disk; a run that is resumed
takes the answer from the file.
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
from spca.common.files import MAX_RUN_FILE_BYTES, make_folder, read_text, write_atomic
from spca.errors import BadAnswerError, ResumeError
from spca.llm.calls.call_keys import call_key, effort, prompt_key, question
from spca.llm.calls.ledger import Place, Record
from spca.llm.catalogue.model_ref import ModelRef
from spca.llm.providers.base import Finish, Image, Request, Response, ToolCall, Turn, Usage

FOLDER: Final = "llm"
_NAME: Final = re.compile(r"[0-9]+-.+\.json")


@dataclass(frozen=True, slots=True)
class Call:
    """A request to a model, with the key of :func:`spca.llm.calls.call_keys.call_key`."""

    model: ModelRef
    request: Request
    key: str


@dataclass(frozen=True, slots=True)
class Answer:
    """How a call ended: with a response, or with the ``error`` of a provider that could not read the response."""

    response: Response | None
    error: str = ""

    def get(self) -> Response:
        """Return the response.

        Raises:
            BadAnswerError: the provider could not read a response.
        """
        if self.response is None:
            raise BadAnswerError(self.error)
        return self.response


@dataclass(frozen=True, slots=True)
class Transcript:
    """A finished call, as read from its file.

    Attributes:
        name: file name, relative to the run's folder.
        key: key of the call.
        prompt_key: key of the prompt alone, which does not depend on the model.
        occurrence: number of earlier calls with the same key.
        index: number of the level in the run, from 1; 0 outside of levels.
        request_number: number of the call's last record in the ledger; 0 if no request was sent.
        estimated: whether the token counts are estimated.
        latency_s: seconds that the answer took.
        turn: where in the run the call was made. Its ``number`` is always 0, because the file lacks the number; the
            right number follows from the order of the calls.
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
        """Number of the call in the run, from 1."""
        return int(self.name.removeprefix(f"{FOLDER}/").partition("-")[0])


class Transcripts:
    """The transcripts of a run.

    Args:
        folder: the run's folder; without a folder no transcript is kept.
        asked_anew: role -> ``n``: the first ``n`` transcripts of the run are not reused for calls of this role.

    Attributes:
        count: number of finished calls of the run, including those of earlier processes.
    """

    def __init__(self, folder: Path | None = None, asked_anew: Mapping[str, int] | None = None) -> None:
        self._asked_anew = asked_anew or {}
        self._folder = folder / FOLDER if folder else None
        self._earlier = read_all(self._folder) if self._folder else ()  # of levels that have not begun yet
        self.count = max((transcript.number for transcript in self._earlier), default=0)
        self._occurrences: Counter[str] = Counter()
        self._turns: Counter[Turn] = Counter()
        self._finished: dict[tuple[str, int], Transcript] = {}

    def begin_level(self, index: int) -> None:
        """Assign the following calls to a level; calls that an earlier process finished in this level are reused.

        Transcripts of earlier levels are not reused; they only advance the counts of occurrences and turns.

        Args:
            index: number of the level in the run, from 1.
        """
        self._finished = {}
        later = []
        for transcript in self._earlier:
            if transcript.index < index:
                seen = self._occurrences[transcript.key]
                self._occurrences[transcript.key] = max(seen, transcript.occurrence + 1)
                self._turns[transcript.turn] += 1
            elif transcript.index == index:
                last_asked_anew = self._asked_anew.get(transcript.turn.role, 0)
                if transcript.number > last_asked_anew:
                    self._finished[transcript.key, transcript.occurrence] = transcript
            else:
                later.append(transcript)
        self._earlier = tuple(later)

    def call(self, model: ModelRef, request: Request, place: Place) -> Call:
        """Return the next call of ``request``, and count its occurrence and its turn.

        Args:
            place: where in the run the call is made.
        """
        key = call_key(model, request)
        turn = Turn(place.category, place.level, place.seed, place.phase)
        occurrence = self._occurrences[key]
        number = self._turns[turn]
        self._occurrences[key] += 1
        self._turns[turn] += 1
        asked = replace(request, occurrence=occurrence, turn=replace(turn, number=number))
        return Call(model, asked, key)

    def find_finished(self, call: Call) -> Transcript | None:
        """Return the transcript of the same call in an earlier process of this run, None if the call is new."""
        return self._finished.get((call.key, call.request.occurrence))

    def find_by_request(self, number: int) -> Transcript | None:
        """Return the transcript of the answer to the request with this number, None if there is no transcript.

        Only transcripts of levels that have not begun yet are searched.
        """
        return next((transcript for transcript in self._earlier if transcript.request_number == number), None)

    def name(self, call: Call, place: Place) -> str:
        """Return the file name for the next finished call, relative to the run's folder; "" without a folder."""
        if self._folder is None:
            return ""
        occurrence = str(call.request.occurrence)
        parts = (place.phase, place.mode, call.key[:8], occurrence)
        label = "-".join(filter(None, parts))
        return f"{FOLDER}/{self.count + 1:04d}-{label}.json"

    def write(self, call: Call, record: Record, answer: Answer, source: str) -> None:
        """Write a finished call to the file ``record.transcript``; return when the file is on the disk."""
        if self._folder is None:
            return
        self.count += 1
        make_folder(self._folder)
        write_atomic(self._folder.parent / record.transcript, to_text(call, record, answer, source))


def to_text(call: Call, record: Record, answer: Answer, source: str) -> str:
    """Return the text of a transcript file; ``source`` is "model" or "cache"."""
    return json_text(_to_json(call, record, answer, source), indent=1) + "\n"


def _to_json(call: Call, record: Record, answer: Answer, source: str) -> dict[str, Any]:
    """Return the fields of a transcript file in the order of the file; texts are lists of lines."""
    request = call.request
    asked = question(request)
    for fields, message in zip(asked["messages"], request.messages, strict=True):
        fields["text"] = _lines(message.text)
        if message.images:
            fields["images"] = [_image(image) for image in message.images]
    usage = answer.response.usage if answer.response else Usage()
    return {
        "model": str(call.model),
        **effort(request),
        **asdict(record.place),
        "key": call.key,
        "prompt_key": prompt_key(request),
        "occurrence": request.occurrence,
        "source": source,
        "request": record.number,
        "form": record.form,
        "messages": asked.pop("messages"),
        "answer": _answer_json(answer),
        "error": answer.error,
        "usage": asdict(usage),
        "estimated": record.estimated,
        "cost": None if record.cost is None else float(record.cost),
        "latency_s": record.latency_s,
        **asked,
    }


def unsent(call: Call, place: Place, name: str) -> Record:
    """Return the record of a call for which no request was sent; this record is not entered into a ledger."""
    form = call.request.form.value if call.request.schema else ""
    return Record(0, place, 0, call.model, form, call.key, 0.0, cost=Decimal(0), transcript=name)


def read_all(folder: Path) -> tuple[Transcript, ...]:
    """Return the finished calls in a folder of transcripts, in order.

    If a call has two transcripts, return only the newer one.

    Raises:
        ResumeError: a file cannot be read.
    """
    newest: dict[tuple[str, int], Transcript] = {}
    # os.path.isdir returns False for a path that is too long, where Path.is_dir raises an error.
    candidates = folder.glob("*.json") if os.path.isdir(folder) else ()
    paths = [path for path in candidates if _NAME.fullmatch(path.name)]
    for transcript in sorted(map(_read, paths), key=lambda transcript: transcript.number):
        call = (transcript.key, transcript.occurrence)
        newest.pop(call, None)  # so that the newer transcript takes the later place in the order
        newest[call] = transcript
    return tuple(newest.values())


def read_answer(content: Mapping[str, Any]) -> Answer:
    """Return the answer in a transcript file's JSON.

    Raises:
        KeyError, TypeError, ValueError: the JSON is no transcript.
    """
    fields = content["answer"]
    if fields is None:
        return Answer(None, str(content["error"]))
    calls = []
    for call in fields["tool_calls"]:
        calls.append(ToolCall(str(call["name"]), dict(call["arguments"])))
    text = "\n".join(fields["text"])
    usage = Usage(**content["usage"])
    return Answer(Response(text, usage, Finish(fields["finish"]), tuple(calls)))


def _read(path: Path) -> Transcript:
    """Return the transcript in a file; raise ResumeError if the file cannot be read."""
    try:
        return read_transcript(f"{FOLDER}/{path.name}", read_text(path, MAX_RUN_FILE_BYTES))
    except FileError as error:
        raise ResumeError(str(error)) from error
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise ResumeError(f"{path} cannot be read: {type(error).__name__}: {error}") from error


def read_transcript(name: str, text: str) -> Transcript:
    """Return the call in the text of a transcript file.

    Raises:
        KeyError, TypeError, ValueError, RecursionError: the text is no transcript.
    """
    content = json.loads(text)
    turn = Turn(str(content["category"]), str(content["level"]), content["seed"], str(content["phase"]))
    return Transcript(
        name=name,
        key=str(content["key"]),
        prompt_key=str(content["prompt_key"]),
        occurrence=int(content["occurrence"]),
        index=int(content["index"] or 0),
        request_number=int(content["request"]),
        estimated=bool(content["estimated"]),
        latency_s=float(content["latency_s"]),
        answer=read_answer(content),
        turn=turn,
    )


def _answer_json(answer: Answer) -> dict[str, Any] | None:
    """Return the fields of a response for a transcript file, None without a response."""
    response = answer.response
    if response is None:
        return None
    calls = [{"name": call.name, "arguments": dict(call.arguments)} for call in response.tool_calls]
    return {"text": _lines(response.text), "finish": response.finish.value, "tool_calls": calls}


def _lines(text: str) -> list[str]:
    return text.split("\n")


def _image(image: Image) -> dict[str, str]:
    fields = {"media_type": image.media_type, "base64": base64.b64encode(image.data).decode()}
    if image.detail:
        fields["detail"] = image.detail
    return fields
