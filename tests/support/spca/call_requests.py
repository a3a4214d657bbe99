"""Questions, desks and folders that the tests of calls share."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hypothesis import strategies as st
from pydantic import BaseModel

from spca.llm.calls.desk import Answered, CallDesk
from spca.llm.catalogue.catalogue import Catalogue
from spca.llm.catalogue.model_ref import ModelRef
from spca.llm.catalogue.model_table import ModelTable
from spca.llm.catalogue.servers import Servers
from spca.llm.providers.base import Image, Message, Provider, Request, Response, Usage

ref = ModelRef.parse
"""A model by its name."""

PAID = "paid/model"
TABLE = ModelTable({"free/*": {"input": 0, "output": 0}, PAID: {"input": 2, "cached": 0.5, "output": 8}})
CATALOGUE = Catalogue(TABLE)
"""``paid/model`` costs 2 USD a million input tokens (0.5 cached) and 8 USD a million output tokens."""

USAGE = Usage(1000, 100, 400, 60)
"""What costs 0.0022 USD with ``paid/model``."""


class Form(BaseModel):
    """What a structured answer has to look like."""

    value: int


class Other(BaseModel):
    """Another form."""

    value: str


def request(*texts: str, **more: Any) -> Request:
    """A conversation of user messages."""
    return Request("model", tuple(Message("user", text) for text in texts or ("?",)), **more)


class Answers:
    """A provider that answers each question by what a function makes of its last text; keeps what it was asked."""

    def __init__(self, make: Callable[[str], Response | BaseException] = lambda text: Response(f"re: {text}", USAGE)):
        self._make = make
        self.asked: list[str] = []
        self.requests: list[Request] = []

    def complete(self, asked: Request) -> Response:
        self.requests.append(asked)
        self.asked.append(asked.messages[-1].text)
        answer = self._make(self.asked[-1])
        if isinstance(answer, BaseException):
            raise answer
        return answer


def provider_for(
    model: str, *, servers: Servers | None = None, table: ModelTable | None = None
) -> tuple[Provider, str]:
    """The provider of a model, and what the provider calls it."""
    return Catalogue(table, servers).provider(ref(model)), ref(model).name


class Desk:
    """A desk for one model, which notes how long it waited and what it told; a new one goes on with the folder."""

    def __init__(self, folder: Path | None = None, model: str = PAID, **more: Any) -> None:
        self.waited: list[float] = []
        self.notes: list[str] = []
        self.model = model
        given: dict[str, Any] = {
            "catalogue": CATALOGUE,
            "notify": self.notes.append,
            "sleep": self.waited.append,
        } | more
        self.desk = CallDesk(folder, "run-1", **given)

    def level(self, index: int = 1) -> Desk:
        """The same desk, in that level."""
        self.desk.begin_level(index, "doors", f"Level-{index}", 7)
        return self

    def ask(self, provider: Provider, question: Request | str = "?", model: str = "") -> Answered:
        asked = request(question) if isinstance(question, str) else question
        return self.desk.ask(provider, ref(model or self.model), asked, phase="planner", mode="fresh")

    @property
    def outcomes(self) -> list[str]:
        """What became of each request."""
        return [record.outcome.value for record in self.desk.ledger.records]


def book(folder: Path) -> list[dict[str, Any]]:
    """The lines of a run's book."""
    return [json.loads(line) for line in (folder / "calls.jsonl").read_text(encoding="utf-8").split("\n")[:-1]]


def transcripts(folder: Path) -> list[Path]:
    """A run's transcript files in order."""
    return sorted((folder / "llm").iterdir())


_HARD = '\n\r\x85\u2028\x00\x1b"\\{}<\ud83d\ude00\U0001f600é a'
any_text = st.text(st.sampled_from(_HARD) | st.characters(exclude_categories=()), max_size=12)
"""Line ends of every kind, lone surrogates and control characters included."""

images = st.builds(Image, st.sampled_from(["image/png", "image/jpeg"]), st.binary(max_size=8))
messages = st.builds(
    Message, st.sampled_from(["system", "user", "assistant"]), any_text, st.lists(images, max_size=2).map(tuple)
)
usages = st.sampled_from([Usage(), Usage(0, 0), Usage(1000, 100, 400, 60, 200), Usage(7, None), Usage(10**7, 3, 0)])
