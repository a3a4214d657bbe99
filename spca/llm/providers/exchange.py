"""One request and its answer over HTTP, the same way whichever SDK speaks.

The SDKs differ in what they do with an answer that is not a success: some keep its headers, some do not, all of
their exceptions hold the request and its key. So a response hook of the HTTP client under them judges the answer
first. A refusal becomes a :class:`~spca.llm.providers.failures.Reply`. Of a success the body, a JSON object, is kept as
it came, and read in place of what the SDK makes of it: an SDK refuses whole answers for fields that nobody needs.
"""

from __future__ import annotations

import json
import logging
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, TypeVar

import httpx
import httpx2

from spca.common.redaction import error_chain, hide, redact, redact_error, redact_keys
from spca.errors import (
    BadAnswerError,
    ProviderConfigError,
    ProviderError,
    RefusalError,
    TransientError,
    UnknownModelError,
    UnsupportedApiError,
)
from spca.llm.catalogue.servers import VARIABLES, is_providers_own
from spca.llm.providers.answer_fields import Fields
from spca.llm.providers.base import LISTING_TIMEOUT_S, Finish, Listed, Request, Response, Target, Usage
from spca.llm.providers.conversation import make_sendable
from spca.llm.providers.failures import Reply, Service, explain_refusal, words
from spca.llm.providers.secrets import quote_line

_LOG: Final = logging.getLogger(__name__)

T = TypeVar("T")

CONNECT_S: Final = 15.0
"""Seconds for a connection to be made: models think long, but a server that is there opens its door at once."""

NO_KEY: Final = "none"
"""Sent to servers of one's own that ask for no key: the SDKs want one, and would look for others."""

_NO_REQUEST: Final = Request("", ())
_OFFLINE: Final = "is this machine online? (a proxy is named in HTTPS_PROXY)"
_MAX_NAMES: Final = 5
_ANSWERS: Final = ("choices", "output", "candidates", "message", "content", "data", "models")

_LIBRARIES: Final[tuple[Any, ...]] = (httpx, httpx2)
"""The HTTP clients under the SDKs; the second is a fork of the first."""


class _RefusedError(Exception):
    def __init__(self, reply: Reply) -> None:
        super().__init__(reply.status)
        self.reply = reply


class _BrokenError(Exception):
    """The answer is not what the protocol says."""


class ModelServer(ABC):
    """What the providers of servers share: address, key, one exchange, and a list of models.

    Args:
        target: its address goes before that of the provider's environment variable.
        prefix: of the models' names.
        usual_address: where the provider serves its models.
        key_variables: environment variables that may hold its key, if ``target`` names none.
        fixes: fields of :class:`Service` that this provider words in another way.

    Raises:
        ProviderConfigError: there is no key, and no server of one's own that may want none.
    """

    def __init__(self, target: Target, prefix: str, usual_address: str, *key_variables: str, **fixes: str) -> None:
        self._target = target
        self._label = target.label or f"{prefix}/{target.model}"
        named = "" if target.is_named else os.environ.get(VARIABLES[prefix], "").strip()
        self._base_url = self._clean_address(target.base_url or named or usual_address)
        self._is_at_provider = is_providers_own(self._label.partition("/")[0], self._base_url)
        variables = (target.key_variable,) if target.key_variable else key_variables
        takes_none = target.is_open or (target.is_named and not target.key_variable)
        found = None if takes_none else _find_key(self._label, variables)
        if found is None and (target.key_variable or self._is_at_provider):
            wanted = " or ".join(variables)
            raise ProviderConfigError(f"{self._label}: set {wanted} in the environment or in .env")
        variable, self._key = found or (" or ".join(variables), NO_KEY)
        service = Service(self._label, variable, redact(self._base_url))
        self._service = replace(service, **{**fixes, **target.wording})
        self._body: dict[str, Any] = {}
        self._client: Any = None

    @property
    def address(self) -> str:
        """Where the server is."""
        return self._service.address

    def complete(self, request: Request) -> Response:
        """Send ``request`` once; see :class:`spca.llm.providers.base.Provider`."""
        try:
            response = self._translate_errors(lambda: self._exchange(request), request)
        except RefusalError as refusal:
            return Response(str(refusal), Usage(0, 0), Finish.REFUSAL)  # what is refused is not billed
        except UnknownModelError as error:
            names = self._list_first_names()
            if not names:
                raise
            raise UnknownModelError(f"{error}; the server has {names}") from error
        except ProviderConfigError as error:
            change = self._adapt(request, error)
            if not change:
                raise
            raise UnsupportedApiError(f"{error}; {change} from now on") from error
        calls = tuple(replace(call, arguments=_redact_json(call.arguments)) for call in response.tool_calls)
        # An answer may repeat the key that came with the question, and goes into files and further prompts.
        served = Fields(self._body).read_text("model")
        return replace(response, text=make_sendable(redact_keys(response.text)), tool_calls=calls, served=served)

    def load_sdk(self) -> None:
        """Import the SDK and make its client; see :class:`spca.llm.providers.base.Listing`."""
        self._translate_errors(self._load)

    def list_models(self, timeout_s: float = LISTING_TIMEOUT_S) -> Sequence[Listed]:
        """Return the models of the server; see :class:`spca.llm.providers.base.Listing`."""
        return self._translate_errors(lambda: self._models(timeout_s))

    def _clean_address(self, address: str) -> str:
        """Return an address as the SDK wants it."""
        return address

    @abstractmethod
    def _connect(self) -> Any:
        """Import the SDK and make its client, with :meth:`_client_settings`."""

    @abstractmethod
    def _send(self, request: Request) -> object:
        """Make the one request."""

    @abstractmethod
    def _read(self, answer: Fields, _request: Request) -> Response:
        """Make a response of what came over the wire."""

    def _adapt(self, _request: Request, _error: ProviderConfigError) -> str:
        """Ask in another way from now on, where a refusal calls for one; return how, "" for no other way."""
        return ""

    def _load(self) -> object:
        """Touch what the SDK imports late."""
        return self._sdk()

    @abstractmethod
    def _models(self, timeout_s: float) -> Sequence[Listed]:
        """Ask for the list once."""

    def _sdk(self) -> Any:
        if self._client is None:
            self._client = self._connect()
        return self._client

    def _client_settings(self, library: Any) -> dict[str, Any]:
        """Return arguments for a client of ``library``, httpx or httpx2.

        A redirect would carry the key to another place. A connection kept open may be closed by the server in the very
        moment it is used again, and a request that is lost so may have been paid for.
        """
        return {
            "event_hooks": {"request": [_connect_soon], "response": [self._judge]},
            "follow_redirects": False,
            "trust_env": not self._target.is_open,
            "limits": library.Limits(max_keepalive_connections=0),
        }

    def _judge(self, response: Any) -> None:
        """Keep the body of an answer, or raise what it is instead."""
        response.read()
        body = _parse_json(response.content)
        if not response.is_success:
            raise _RefusedError(Reply(response.status_code, response.headers, body or response.text))
        if not isinstance(body, dict):
            raise _BrokenError("the answer is not the JSON object it should be")
        if body.get("error") and not any(key in body for key in _ANSWERS):
            raise _RefusedError(Reply(_status_within(body["error"]), response.headers, body))
        self._body = body

    def _exchange(self, request: Request) -> Response:
        self._body = {}
        try:
            self._send(request)
        except Exception as error:  # whatever an SDK raises that cannot read what came
            if not self._body:
                raise
            _LOG.debug("the SDK cannot read the answer: %s", quote_line(error))
        return self._read(Fields(self._body), request)

    def _translate_errors(self, work: Callable[[], T], request: Request = _NO_REQUEST) -> T:
        """Return what the work returns; raise only errors of our own, whose causes hold no keys.

        Raises:
            RefusalError: the server declined what it was asked.
            ProviderError: what else the work raised, translated.
        """
        try:
            return work()
        except ProviderError:
            raise
        except Exception as error:  # the boundary to libraries that raise whatever they meet
            redact_error(error)
            raise self._translate(error, request) from error

    def _translate(self, error: Exception, request: Request) -> ProviderError:
        """Return the meaning of what an SDK raised; the cause it knew is looked for along the chain."""
        label = self._label
        for link in error_chain(error):
            if isinstance(link, _RefusedError):
                reply = link.reply
                _LOG.debug("%s: the server answers %s: %s", label, reply.status, words(reply.body))
                return explain_refusal(reply, self._service, request)
            if isinstance(link, _BrokenError):
                return TransientError(f"{label}: {link}", lost=True)
            for library in _LIBRARIES:
                if isinstance(link, (library.InvalidURL, library.RequestError)):
                    return self._explain_transport(link, library)
        if isinstance(error, ImportError):
            return ProviderConfigError(f"{label}: {error}: install what requirements.txt names")
        said = f"{type(error).__name__}: {quote_line(error)}"
        return BadAnswerError(f"{label}: the answer has an unknown form: {said}")

    def _explain_transport(self, error: BaseException, library: Any) -> ProviderError:
        label = self._label
        address = self._service.address
        said = quote_line(error) if str(error) else type(error).__name__
        if isinstance(error, (library.InvalidURL, library.UnsupportedProtocol)):
            return ProviderConfigError(f"{label}: {address} is not an address of a server: {said}")
        if isinstance(error, (library.ConnectError, library.ConnectTimeout, library.PoolTimeout, library.ProxyError)):
            fix = _OFFLINE if self._is_at_provider else self._service.if_absent
            return TransientError(f"{label}: no server at {address} ({said}): {fix}")
        if isinstance(error, library.TimeoutException):
            late = f"did not answer in time ({self._service.if_late})"
            return TransientError(f"{label}: the server at {address} {late}", lost=True)
        return TransientError(f"{label}: the connection to {address} broke: {said}", lost=True)

    def _list_first_names(self) -> str:
        """Return the first names in the list of a server of one's own, "" if there are none."""
        if self._is_at_provider:
            return ""
        try:
            return ", ".join(quote_line(model.name) for model in self._models(LISTING_TIMEOUT_S)[:_MAX_NAMES])
        except Exception:  # names are a courtesy; the error they go with is already known
            return ""


def _find_key(label: str, variables: Sequence[str]) -> tuple[str, str] | None:
    """Return name and value of the first variable that holds a key, None if none does.

    Raises:
        ProviderConfigError: it holds characters that no HTTP header carries, such as a line break.
    """
    for name in variables:
        value = os.environ.get(name, "").strip()
        if not value:
            continue
        if not (value.isascii() and value.isprintable()):
            raise ProviderConfigError(f"{label}: {name} holds characters that no key has: check it")
        hide(name)
        return name, value
    return None


def _connect_soon(request: Any) -> None:
    allowed = request.extensions["timeout"]
    allowed["connect"] = min(CONNECT_S, allowed["connect"] or CONNECT_S)


def _parse_json(content: bytes) -> Any:
    """Return the value of a body of JSON, None where it is not JSON."""
    try:
        return json.loads(content, strict=False)
    except (ValueError, RecursionError):
        return None


def _status_within(error: object) -> int:
    """Return the status that a gateway puts into the body of an answer it calls a success."""
    code = error.get("code") if isinstance(error, dict) else None
    return code if isinstance(code, int) and 400 <= code <= 599 else 500


def _redact_json(value: Any) -> Any:
    """Return parsed JSON whose texts hold no keys."""
    if isinstance(value, str):
        return redact_keys(value)
    if isinstance(value, Mapping):
        return {redact_keys(name): _redact_json(each) for name, each in value.items()}
    return [_redact_json(each) for each in value] if isinstance(value, list) else value
