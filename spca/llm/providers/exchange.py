"""One request and its answer over HTTP, the same way whichever SDK speaks.

The SDKs differ in what they do with an answer that is not a success: some keep its headers, some do not, all of
their exceptions hold the request and its key. So the answer is judged before they see it, in a response hook of the
HTTP client under them: it is read within the time allowed, a refusal becomes a
:class:`~spca.llm.providers.failures.Reply`, and of a success the body, a JSON object, is kept as it came.
"""

from __future__ import annotations

import json
import logging
import sys
import time
import zlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, TypeVar

from spca.common.redaction import error_chain, redact_error, without_keys
from spca.errors import BadAnswerError, ProviderConfigError, ProviderError, TransientError, UnknownModelError
from spca.llm.providers.addresses import is_providers_own
from spca.llm.providers.answer_fields import Fields
from spca.llm.providers.base import LISTING_TIMEOUT_S, TIMEOUT_S, Listed, Request, Response
from spca.llm.providers.conversation import sendable
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
_TOO_LONG: Final = "the answer is longer than any model's"
_ENCODINGS: Final = ("gzip", "x-gzip", "deflate")
_ANY_HEADER: Final = 32 + zlib.MAX_WBITS
"""For zlib: of gzip or its own."""
_MAX_DIGITS: Final = 400
_ANSWERS: Final = ("choices", "output", "candidates", "message", "content", "data", "models")


class _RefusedError(Exception):
    def __init__(self, reply: Reply) -> None:
        super().__init__(reply.status)
        self.reply = reply


class _BrokenError(Exception):
    """The answer did not come whole, or is not what the protocol says."""


class Wire:
    """The body of what the server of a provider answered last, as it came; None before an answer that can be read.

    It is read in place of what the SDK makes of it: an SDK refuses whole answers for fields that nobody needs.
    """

    def __init__(self) -> None:
        self.body: Fields | None = None

    def forget_body(self) -> None:
        """Forget it before the next request."""
        self.body = None


def client_settings(library: Any, wire: Wire, *, is_open: bool = False) -> dict[str, Any]:
    """Arguments for a client of ``library``, httpx or httpx2: hooks, no redirects, a new connection each time.

    The time allowed for a request is its read timeout, counted from the first byte sent to the last one read: a
    server that sends a byte now and then cannot hold the caller for ever. A redirect would carry the key to another
    place. A connection kept open may be closed by the server in the very moment it is used again, and a request that
    is lost so may have been paid for. ``is_open``: no proxy of the environment is used.
    """

    def start(request: Any) -> None:
        request.headers["accept-encoding"] = "identity"  # so that the length read is the length there is
        allowed = request.extensions["timeout"]
        allowed["connect"] = min(CONNECT_S, allowed["connect"] or CONNECT_S)
        request.extensions["spca_deadline"] = time.monotonic() + (allowed["read"] or TIMEOUT_S)

    def judge(response: Any) -> None:
        content = _read_body(response.stream, response.request.extensions["spca_deadline"])
        encoding = response.headers.pop("content-encoding", "")
        body = _parsed(content)
        if body is None and encoding:
            content = _unpacked(content, encoding)
            body = _parsed(content)
        if not response.is_success:
            text = content.decode("utf-8", "replace")
            raise _RefusedError(Reply(response.status_code, response.headers, body or text))
        if not isinstance(body, dict):
            raise _BrokenError("the answer is not the JSON object it should be")
        if body.get("error") and not any(key in body for key in _ANSWERS):
            raise _RefusedError(Reply(_status_within(body["error"]), response.headers, body))
        wire.body = body
        response.stream = library.ByteStream(json.dumps(body).encode())  # as plain as an SDK expects it
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
    wire: Wire,
    send: Callable[[], object],
    read: Callable[[Fields], Response],
    list_models: Callable[[], Sequence[str]] | None = None,
) -> Response:
    """Send once, read the answer, and raise only errors of our own.

    What an SDK raised is their cause, with keys taken out of its texts.

    Args:
        service: what errors say of the model.
        request: what was asked.
        wire: that of the client which sends.
        send: makes the one request, by a client made with :func:`client_settings`.
        read: makes a response of what came over the wire.
        list_models: asks the server for the names it knows; called only when it does not know the model.
    """
    try:
        response = _attempt(service, request, lambda: _without_keys(read(_received(wire, send))))
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


def _received(wire: Wire, send: Callable[[], object]) -> Fields:
    wire.forget_body()
    try:
        send()
    except Exception as error:  # whatever an SDK raises that cannot read what came
        if wire.body is None:
            raise
        _LOG.debug("the SDK cannot read the answer: %s", quoted(error))
    if wire.body is None:
        raise _BrokenError("nothing was received")
    return wire.body


def _read_body(stream: Any, deadline: float) -> bytes:
    """Return the bytes of an answer; where they are whole, it does not matter how the connection ended."""
    received = bytearray()
    try:
        for chunk in stream:
            received += chunk
            if len(received) > MAX_BODY:
                raise _BrokenError(_TOO_LONG)
            if time.monotonic() > deadline:
                raise TimeoutError("the answer did not end in the time allowed")
    except _BrokenError:
        raise
    except Exception as error:  # whatever a transport raises
        if isinstance(_parsed(received), dict):
            _LOG.debug("the answer is whole, but its connection is not: %s", quoted(error))
        elif isinstance(error, TimeoutError):
            raise _BrokenError(str(error)) from error
        else:
            raise
    finally:
        stream.close()
    return bytes(received)


def _unpacked(content: bytes, encoding: str) -> bytes:
    """Unpack what a server on the way has compressed although that was not asked for, up to the longest answer."""
    if encoding.lower() not in _ENCODINGS:
        raise _BrokenError(f"the answer is compressed as {quoted(encoding)}, although that was not asked for")
    unpacker = zlib.decompressobj(_ANY_HEADER)
    try:
        unpacked = unpacker.decompress(content, MAX_BODY)
    except zlib.error as error:
        raise _BrokenError("the answer is compressed, and cannot be unpacked") from error
    if unpacker.unconsumed_tail:
        raise _BrokenError(_TOO_LONG)
    return unpacked


def _parsed(content: bytes | bytearray) -> Any:
    """Return the value of a body of JSON, None where it is not JSON; nothing in it is too odd to be read."""
    try:
        text = content.decode(json.detect_encoding(content), "replace")
        return json.loads(text, strict=False, parse_int=_number)
    except (ValueError, RecursionError):
        return None


def _number(digits: str) -> float:
    """Return a whole number; one with thousands of digits, which Python refuses to read, is infinite."""
    return int(digits) if len(digits) <= _MAX_DIGITS else float(digits)


def _status_within(error: object) -> int:
    """The status that a gateway puts into the body of an answer it calls a success."""
    code = error.get("code") if isinstance(error, dict) else None
    return code if isinstance(code, int) and 400 <= code <= 599 else 500
