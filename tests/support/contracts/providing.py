"""A provider before a scripted server, and asking it: one request each time, and no key in what is raised."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, ClassVar, Final
from urllib.request import getproxies_environment

import pytest
from pydantic import BaseModel

from spca.errors import ProviderError
from spca.llm.providers.base import Form, Message, ModelInfo, Provider, Request, RequestOptions, Response, Target, Tool
from tests.fakes.answers import Dialect, Heard
from tests.fakes.faults import FaultServer
from tests.support.waiting import becomes

KEY: Final = "the-key-that-nobody-may-see-4711"
"""Has no form that a key is known by: only its variable gives it away."""

MESSAGES: Final = (
    Message("system", "Be brief."),
    Message("user", "Where is the door?"),
    Message("assistant", "East."),
    Message("user", "Say hello."),
)
LIMITS: Final = RequestOptions(timeout_s=20.0)
IMPATIENT: Final = RequestOptions(timeout_s=0.4)


PIXELS: Final = bytes(range(256)) * 3
ARGUMENTS: Final = {"place": "door", "steps": 3}


class Step(BaseModel):
    """A form of answer with a nested part, used as a schema and as the parameters of a tool."""

    place: str
    steps: int


class Route(BaseModel):
    """A form of answer that refers to another."""

    name: str
    path: list[Step]
    note: str | None = None


GO_TO: Final = Tool("go_to", "Go to a place.", Step)
LOOK: Final = Tool("look", "Look around.", Step)


def request_of(*messages: Message, **more: Any) -> Request:
    """A request to the model "m"."""
    return Request("m", messages or MESSAGES, **({"limits": LIMITS} | more))


class Asking:
    """A provider that is watched: ``sent`` counts the requests that its server has received."""

    def __init__(self, provider: Provider, sent: Callable[[], int]) -> None:
        self.provider = provider
        self._sent = sent

    def ask(self, *messages: Message, **more: Any) -> Response:
        """Ask, and see that there was exactly one request."""
        before = self._sent()
        response = self.provider.complete(request_of(*messages, **more))
        assert self._sent() - before == 1
        return response

    def fails(self, *messages: Message, sent: int = 1, **more: Any) -> ProviderError:
        """Ask, see that it fails after ``sent`` requests with one line that holds no key, and hand out the error."""
        before = self._sent()
        with pytest.raises(ProviderError) as caught:
            self.provider.complete(request_of(*messages, **more))
        becomes(lambda: self._sent() - before >= sent)  # one that the client gave up may be noticed later
        assert self._sent() - before == sent
        error = caught.value
        assert str(error).isprintable()
        assert 0 < len(str(error)) < 1000
        assert KEY not in exposed(error)
        return error

    def fails_in_time(self) -> ProviderError:
        """Like :meth:`fails`, with little time for the answer."""
        return self.fails(limits=IMPATIENT)


def chain(error: BaseException | None) -> Iterator[BaseException]:
    """An exception and all that can be reached from it."""
    seen: list[BaseException] = []
    pending = [error]
    while pending:
        each = pending.pop()
        if each is not None and each not in seen:
            seen.append(each)
            pending += [each.__cause__, each.__context__]
    return iter(seen)


def exposed(error: BaseException) -> str:
    """All that a log of an exception and its causes shows: words, arguments, notes, and the lines of every frame."""
    told = []
    for each in chain(error):
        told += [str(each), repr(each), repr(each.args), repr(getattr(each, "__notes__", ()))]
        told += traceback.format_exception(each)
    return "\n".join(told)


def frames_of(error: BaseException) -> list[traceback.FrameSummary]:
    """The frames of an exception and of its causes."""
    return [frame for each in chain(error) for frame in traceback.extract_tb(each.__traceback__)]


def in_form(form: Form) -> dict[str, Any]:
    """The arguments of a request for JSON."""
    return {"schema": Route, "form": form}


def say(text: str) -> tuple[Message, ...]:
    """The conversation with another last message."""
    return (*MESSAGES[:-1], replace(MESSAGES[-1], text=text))


class ProviderBench:
    """A provider before a scripted server.

    ``provider_class`` is its class, ``key`` the variable of its key, ``info`` what is known of its models. Of the
    protocol, ``chooses`` tells whether it has a tool choice, ``counts`` whether it counts cached and reasoning tokens,
    ``media`` whether it tells the type of a picture; ``limit`` is that on the answer which it is told where none is
    set, because it wants one.
    """

    provider_class: ClassVar[type[Any]]
    dialect: ClassVar[Dialect]
    key: ClassVar[str]
    info: ClassVar[ModelInfo] = ModelInfo()
    chooses: ClassVar[bool] = True
    counts: ClassVar[bool] = True
    media: ClassVar[bool] = True
    limit: ClassVar[int | None] = None

    @pytest.fixture(scope="class", autouse=True)
    @classmethod
    def a_key(cls) -> Iterator[None]:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv(cls.key, KEY)
            for name in getproxies_environment():  # a client loads the system's certificates anew for each of them
                patch.delenv(f"{name}_proxy", raising=False)
                patch.delenv(f"{name}_proxy".upper(), raising=False)
            yield

    @pytest.fixture(scope="class")
    @classmethod
    def running(cls) -> Iterator[tuple[FaultServer, Provider]]:
        """One server and one provider for the tests of a class, since clients are slow to make."""
        with FaultServer(cls.dialect) as server:
            yield server, cls.provider(server.base_url)

    @pytest.fixture
    def server(self, running: tuple[FaultServer, Provider]) -> FaultServer:
        running[0].reset()
        return running[0]

    @pytest.fixture
    def model(self, server: FaultServer, running: tuple[FaultServer, Provider]) -> Asking:
        return Asking(running[1], lambda: len(server.posted))

    @classmethod
    def provider(cls, base_url: str) -> Provider:
        provider: Provider = cls.provider_class(Target("m", base_url, cls.info))
        return provider

    def heard(self, server: FaultServer) -> Heard:
        """The newest request."""
        return self.dialect.heard(server.posted[-1])
