"""One request and its answer over HTTP, the same way whichever SDK speaks.

The SDKs differ in what they do with an answer that is not a success: some keep its headers, some do not, all of
their exceptions hold the request and its key. So the answer is judged before they see it, in a response hook of the
HTTP client under them: it is read within the time allowed, a refusal becomes a
:class:`~spca.llm.providers.failures.Reply`, and only a success whose body is a JSON object goes on to the SDK.
"""

from __future__ import annotations

import json
import logging
import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, TypeVar

from spca.common.redaction import error_chain, redact_error, without_keys
from spca.errors import BadAnswerError, ProviderConfigError, ProviderError, TransientError, UnknownModelError
from spca.llm.providers.addresses import is_providers_own
from spca.llm.providers.base import LISTING_TIMEOUT_S, TIMEOUT_S, Listed, Request, Response
from spca.llm.providers.conversation import sendable
from spca.llm.providers.counts import absurd
from spca.llm.providers.failures import Reply, Service, meaning, words
from spca.llm.providers.secrets import quoted

_LOG: Final = logging.getLogger(__name__)

T = TypeVar("T")

MAX_BODY: Final = 32 * 1024 * 1024
"""Bytes of an answer that are read at most; the longest answers of models are about a megabyte."""

CONNECT_S: Final = 15.0
"""Seconds for a connection to be made: models think long, but a server that is there opens its door at once."""

_OFFLINE: Final = "is this machine online? (a proxy is named in HTTPS_PROXY)"
_LISTED: Final = 5
_ANSWERS: Final = ("choices", "output", "candidates", "message", "content", "data", "models")


class _RefusedError(Exception):
    def __init__(self, reply: Reply) -> None:
        super().__init__(reply.status)
        self.reply = reply


class _BrokenError(Exception):
    """The answer did not come whole, or is not what the protocol says."""


def client_settings(library: Any, *, is_open: bool = False) -> dict[str, Any]:
    """Arguments for a client of ``library``, httpx or httpx2: hooks, no redirects, a new connection each time.

    The time allowed for a request is its read timeout, counted from the first byte sent to the last one read: a
    server that sends a byte now and then cannot hold the caller for ever. A redirect would carry the key to another
    place. A connection kept open may be closed by the server in the very moment it is used again, and a request that
    is lost so may have been paid for. ``is_open``: no proxy of the environment is used.
    """

    class Watched(library.SyncByteStream):  # type: ignore[misc]  # its base is known at run time only
        def __init__(self, stream: Any, deadline: float) -> None:
            self._stream = stream
            self._deadline = deadline

        def __iter__(self) -> Iterator[bytes]:
            size = 0
            for chunk in self._stream:
                size += len(chunk)
                if size > MAX_BODY:
                    raise _BrokenError("the answer is longer than any model's")
                if time.monotonic() > self._deadline:
                    raise _BrokenError("the answer did not end in the time allowed")
                yield chunk

        def close(self) -> None:
            self._stream.close()

    def start(request: Any) -> None:
        request.headers["accept-encoding"] = "identity"  # so that the length read is the length there is
        allowed = request.extensions["timeout"]
        allowed["connect"] = min(CONNECT_S, allowed["connect"] or CONNECT_S)
        request.extensions["spca_deadline"] = time.monotonic() + (allowed["read"] or TIMEOUT_S)

    def judge(response: Any) -> None:
        if response.headers.get("content-encoding", "identity").lower() not in ("", "identity"):
            raise _BrokenError("the answer is compressed, although that was not asked for")
        response.stream = Watched(response.stream, response.request.extensions["spca_deadline"])
        response.read()
        body = _parsed(response.content)
        if not response.is_success:
            raise _RefusedError(Reply(response.status_code, response.headers, body or response.text))
        if not isinstance(body, dict):
            raise _BrokenError("the answer is not the JSON object it should be")
        if body.get("error") and not any(key in body for key in _ANSWERS):
            raise _RefusedError(Reply(_status_within(body["error"]), response.headers, body))
        if fault := absurd(body):
            raise _BrokenError(fault)
        response.headers["content-type"] = "application/json"  # some servers forget; an SDK believes them

    return {
        "event_hooks": {"request": [start], "response": [judge]},
        "follow_redirects": False,
        "trust_env": not is_open,
        "limits": library.Limits(max_keepalive_connections=0),
    }


def exchange(
    service: Service,
    request: Request,
    send: Callable[[], T],
    read: Callable[[T], Response],
    list_models: Callable[[], Sequence[str]] | None = None,
) -> Response:
    """Send once, read the answer, and raise only errors of our own.

    What an SDK raised is their cause, with keys taken out of its texts.

    Args:
        service: what errors say of the model.
        request: what was asked.
        send: makes the one request, by a client made with :func:`client_settings`.
        read: makes a response of what ``send`` returned.
        list_models: asks the server for the names it knows; called only when it does not know the model.
    """
    try:
        response = _attempt(service, request, lambda: _without_keys(read(send())))
    except UnknownModelError as error:
        names = ", ".join(quoted(name) for name in _listed(list_models)) if list_models else ""
        if not names:
            raise
        raise UnknownModelError(f"{error}; the server has {names}") from error
    return replace(response, text=sendable(response.text))


class ModelServer(ABC):
    """What the providers of servers share: an address and a list of models."""

    _service: Service

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._service.label!r} at {self._service.address!r})"

    @property
    def address(self) -> str:
        """Where the server is."""
        return self._service.address

    def load_sdk(self) -> None:
        """Import the SDK and make its client; see :class:`spca.llm.providers.base.Listing`."""
        self._inquired(self._load)

    def listed(self, timeout_s: float = LISTING_TIMEOUT_S) -> Sequence[Listed]:
        """Return the models of the server; see :class:`spca.llm.providers.base.Listing`."""
        return self._inquired(lambda: self._models(timeout_s))

    def _inquired(self, work: Callable[[], T]) -> T:
        """Ask the server for something else than an answer of its model, once."""
        outcome = _attempt(self._service, Request("", ()), work)
        if isinstance(outcome, Response):
            raise ProviderConfigError(f"{self._service.label}: the server declined ({quoted(outcome.text)})")
        return outcome

    @abstractmethod
    def _load(self) -> object:
        """Touch what the SDK imports late."""

    @abstractmethod
    def _models(self, timeout_s: float) -> Sequence[Listed]:
        """Ask for the list once."""

    def _list_models(self) -> Sequence[str]:
        return [model.name for model in self._models(LISTING_TIMEOUT_S)]


def _without_keys(response: Response) -> Response:
    """An answer may repeat the key that came with the question; it goes into files and further prompts."""
    calls = tuple(replace(call, arguments=_cleaned(call.arguments)) for call in response.tool_calls)
    return replace(response, text=without_keys(response.text), tool_calls=calls)


def _cleaned(value: Any) -> Any:
    """Parsed JSON whose texts hold no keys."""
    if isinstance(value, str):
        return without_keys(value)
    if isinstance(value, Mapping):
        return {without_keys(name): _cleaned(each) for name, each in value.items()}
    return [_cleaned(each) for each in value] if isinstance(value, list) else value


def _attempt(service: Service, request: Request, work: Callable[[], T]) -> T | Response:
    """Return what the work returned, or the response that a refusal is.

    Raises:
        ProviderError: what the work raised, translated.
    """
    try:
        return work()
    except ProviderError:
        raise
    except Exception as error:  # the boundary to libraries that raise whatever they meet
        redact_error(error)
        meant = _translated(error, service, request)
        if isinstance(meant, Response):
            return meant
        raise meant from error


def _translated(error: Exception, service: Service, request: Request) -> Response | ProviderError:
    """The meaning of what an SDK raised; the cause it knew is looked for along the chain."""
    chain = list(error_chain(error))
    for link in chain:
        if isinstance(link, _RefusedError):
            _LOG.debug("%s: the server answers %s: %s", service.label, link.reply.status, words(link.reply.body))
            return meaning(link.reply, service, request)
        if isinstance(link, _BrokenError):
            return TransientError(f"{service.label}: {link}", lost=True)
    if isinstance(error, ImportError):
        return ProviderConfigError(f"{service.label}: {error}: install what requirements.txt names")
    for link in chain:
        found = _of_transport(link, service)
        if found is not None:
            return found
    return BadAnswerError(f"{service.label}: the answer has an unknown form: {type(error).__name__}: {quoted(error)}")


def _of_transport(error: BaseException, service: Service) -> ProviderError | None:
    label, address = service.label, service.address
    said = quoted(error) if str(error) else type(error).__name__
    for name in ("httpx", "httpx2"):
        library: Any = sys.modules.get(name)
        if library is None:
            continue
        if isinstance(error, (library.InvalidURL, library.UnsupportedProtocol)):
            return ProviderConfigError(f"{label}: {address} is not an address of a server: {said}")
        if isinstance(error, (library.ConnectError, library.ConnectTimeout, library.PoolTimeout, library.ProxyError)):
            fix = _OFFLINE if is_providers_own(label.partition("/")[0], address) else service.if_absent
            return TransientError(f"{label}: no server at {address} ({said}): {fix}")
        if isinstance(error, library.TimeoutException):
            return TransientError(
                f"{label}: the server at {address} did not answer in time ({service.if_late})", lost=True
            )
        if isinstance(error, library.RequestError):
            return TransientError(f"{label}: the connection to {address} broke: {said}", lost=True)
    return None


def _listed(list_models: Callable[[], Sequence[str]]) -> Sequence[str]:
    try:
        return list_models()[:_LISTED]
    except Exception:  # names are a courtesy; the error they go with is already known
        return ()


def _parsed(content: bytes) -> Any:
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        return None


def _status_within(error: object) -> int:
    """The status that a gateway puts into the body of an answer it calls a success."""
    code = error.get("code") if isinstance(error, dict) else None
    return code if isinstance(code, int) and 400 <= code <= 599 else 500
