"""One request and its answer over HTTP, in the same way for all SDKs.

A response hook of the SDK's HTTP client reads every answer before the SDK does. If the server refused the request, the
hook makes a :class:`~spca.llm.providers.failures.Reply`, since the SDKs' own exceptions contain the key and may lack
the headers. If the request succeeded, the hook stores the JSON body. This program reads the stored body and ignores the
SDK's result, because an SDK may reject a whole answer for a field that is not needed.
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
"""Seconds for making a connection; short, because a server accepts connections at once, however long models think."""

NO_KEY: Final = "none"
"""Key for servers that need no key; the SDKs require a key, and would otherwise search the environment for a key."""

_NO_REQUEST: Final = Request("", ())
_OFFLINE: Final = "is this machine online? (a proxy is named in HTTPS_PROXY)"
_MAX_NAMES: Final = 5
_CONTENT_FIELDS: Final = ("choices", "output", "candidates", "message", "content", "data", "models")
"""Every successful answer has at least one of these fields, in all protocols."""

_HTTP_LIBRARIES: Final[tuple[Any, ...]] = (httpx, httpx2)
"""The HTTP clients of the SDKs; httpx2 is a fork of httpx."""


class _RefusedError(Exception):
    """Carries a refusal through the SDK."""

    def __init__(self, reply: Reply) -> None:
        super().__init__(reply.status)
        self.reply = reply


class _BrokenError(Exception):
    """Raised for an answer that breaks the protocol."""


class ModelServer(ABC):
    """Base of the providers with a server: address, key, exchange of a request and an answer, and list of models.

    Args:
        target: model and server; its address takes precedence over the address in the provider's environment variable.
        prefix: prefix of the provider's models.
        usual_address: address of the provider.
        key_variables: environment variables that may hold the provider's key, if ``target`` names no variable.
        fixes: values for fields of :class:`Service` that differ for this provider.

    Raises:
        ProviderConfigError: the key is missing, although the server requires a key.
    """

    def __init__(self, target: Target, prefix: str, usual_address: str, *key_variables: str, **fixes: str) -> None:
        self._target = target
        self._label = target.label or f"{prefix}/{target.model}"
        address_in_environment = "" if target.is_named else os.environ.get(VARIABLES[prefix], "").strip()
        self._base_url = self._clean_address(target.base_url or address_in_environment or usual_address)
        self._is_at_provider = is_providers_own(self._label.partition("/")[0], self._base_url)
        variables = (target.key_variable,) if target.key_variable else key_variables
        all_variables = " or ".join(variables)
        takes_no_key = target.is_open or (target.is_named and not target.key_variable)
        variable_and_key = None if takes_no_key else _find_key(self._label, variables)
        requires_key = bool(target.key_variable) or self._is_at_provider
        if variable_and_key is None and requires_key:
            raise ProviderConfigError(f"{self._label}: set {all_variables} in the environment or in .env")
        variable, self._key = variable_and_key or (all_variables, NO_KEY)
        service = Service(self._label, variable, redact(self._base_url))
        self._service = replace(service, **{**fixes, **target.wording})
        self._body: dict[str, Any] = {}  # the JSON of the latest answer, which the response hook keeps
        self._client: Any = None

    @property
    def address(self) -> str:
        """Address of the server, without keys."""
        return self._service.address

    def complete(self, request: Request) -> Response:
        """Send ``request`` once; see :class:`spca.llm.providers.base.Provider`."""
        try:
            response = self._translate_errors(lambda: self._exchange(request), request)
        except RefusalError as refusal:
            return Response(str(refusal), Usage(0, 0), Finish.REFUSAL)  # a refused request is not billed
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
        # An answer goes into files and further prompts. Keys are removed, because the answer may repeat the request's.
        text = make_sendable(redact_keys(response.text))
        calls = tuple(replace(call, arguments=_redact_json(call.arguments)) for call in response.tool_calls)
        served = Fields(self._body).read_text("model")
        return replace(response, text=text, tool_calls=calls, served=served)

    def load_sdk(self) -> None:
        """Import the SDK and make its client; see :class:`spca.llm.providers.base.Listing`."""
        self._translate_errors(self._load)

    def list_models(self, timeout_s: float = LISTING_TIMEOUT_S) -> Sequence[Listed]:
        """Return the models of the server; see :class:`spca.llm.providers.base.Listing`."""
        return self._translate_errors(lambda: self._models(timeout_s))

    def _clean_address(self, address: str) -> str:
        """Return an address in the form that the SDK expects."""
        return address

    @abstractmethod
    def _connect(self) -> Any:
        """Import the SDK and make its client, with :meth:`_client_settings`."""

    @abstractmethod
    def _send(self, request: Request) -> object:
        """Send the request through the SDK, once."""

    @abstractmethod
    def _read(self, answer: Fields, _request: Request) -> Response:
        """Return the response in the JSON body of an answer."""

    def _adapt(self, _request: Request, _error: ProviderConfigError) -> str:
        """Change the form of later requests if the error calls for a change.

        Return a description of the change, "" if nothing was changed.
        """
        return ""

    def _load(self) -> object:
        """Access the modules that the SDK imports lazily, so that they are imported."""
        return self._sdk()

    @abstractmethod
    def _models(self, timeout_s: float) -> Sequence[Listed]:
        """Ask the server for its list of models, once."""

    def _sdk(self) -> Any:
        """Return the client of the SDK; the first call makes the client."""
        if self._client is None:
            self._client = self._connect()
        return self._client

    def _client_settings(self, library: Any) -> dict[str, Any]:
        """Return arguments for an HTTP client of ``library``, which is httpx or httpx2.

        Redirects are not followed, because the key would go to another server. Connections are not kept open, because
        the server may close a connection just when the client uses it again; the lost request may be billed.
        """
        return {
            "event_hooks": {"request": [_connect_soon], "response": [self._judge]},
            "follow_redirects": False,
            "trust_env": not self._target.is_open,
            "limits": library.Limits(max_keepalive_connections=0),
        }

    def _judge(self, response: Any) -> None:
        """Keep the JSON body of a successful answer in ``_body``; raise an error for any other answer.

        This is the response hook of the HTTP client. Some gateways report an error in an answer with a success status.
        """
        response.read()
        body = _parse_json(response.content)
        if not response.is_success:
            raise _RefusedError(Reply(response.status_code, response.headers, body or response.text))
        if not isinstance(body, dict):
            raise _BrokenError("the answer is not the JSON object it should be")
        has_content = any(field in body for field in _CONTENT_FIELDS)
        if body.get("error") and not has_content:
            raise _RefusedError(Reply(_status_within(body["error"]), response.headers, body))
        self._body = body

    def _exchange(self, request: Request) -> Response:
        """Send the request and read the body that :meth:`_judge` has kept, even if the SDK cannot read the answer."""
        self._body = {}
        try:
            self._send(request)
        except Exception as error:  # an SDK that cannot read the answer may raise any error
            if not self._body:
                raise
            _LOG.debug("the SDK cannot read the answer: %s", quote_line(error))
        return self._read(Fields(self._body), request)

    def _translate_errors(self, work: Callable[[], T], request: Request = _NO_REQUEST) -> T:
        """Return the result of ``work``; translate its errors into errors of this program, without keys.

        Raises:
            RefusalError: the server declined to answer.
            ProviderError: the translation of any other error.
        """
        try:
            return work()
        except ProviderError:
            raise
        except Exception as error:  # boundary: libraries may raise any error
            redact_error(error)
            raise self._translate(error, request) from error

    def _translate(self, error: Exception, request: Request) -> ProviderError:
        """Return an SDK's error as an error of this program.

        The first recognised error in the chain of its causes decides.
        """
        label = self._label
        for link in error_chain(error):
            if isinstance(link, _RefusedError):
                reply = link.reply
                _LOG.debug("%s: the server answers %s: %s", label, reply.status, words(reply.body))
                return explain_refusal(reply, self._service, request)
            if isinstance(link, _BrokenError):
                return TransientError(f"{label}: {link}", lost=True)
            for library in _HTTP_LIBRARIES:
                if isinstance(link, (library.InvalidURL, library.RequestError)):
                    return self._explain_transport(link, library)
        if isinstance(error, ImportError):
            return ProviderConfigError(f"{label}: {error}: install what requirements.txt names")
        cause = f"{type(error).__name__}: {quote_line(error)}"
        return BadAnswerError(f"{label}: the answer has an unknown form: {cause}")

    def _explain_transport(self, error: BaseException, library: Any) -> ProviderError:
        """Return the error to raise for an error of the HTTP library: bad address, no connection, or lost request."""
        label = self._label
        address = self._service.address
        cause = quote_line(error) if str(error) else type(error).__name__
        if isinstance(error, (library.InvalidURL, library.UnsupportedProtocol)):
            return ProviderConfigError(f"{label}: {address} is not an address of a server: {cause}")
        if isinstance(error, (library.ConnectError, library.ConnectTimeout, library.PoolTimeout, library.ProxyError)):
            fix = _OFFLINE if self._is_at_provider else self._service.if_absent
            return TransientError(f"{label}: no server at {address} ({cause}): {fix}")
        if isinstance(error, library.TimeoutException):
            late = f"did not answer in time ({self._service.if_late})"
            return TransientError(f"{label}: the server at {address} {late}", lost=True)
        return TransientError(f"{label}: the connection to {address} broke: {cause}", lost=True)

    def _list_first_names(self) -> str:
        """Return the first names in the server's list of models as a text.

        Return "" if the server is the provider's own, or if the list is unavailable.
        """
        if self._is_at_provider:
            return ""
        try:
            models = self._models(LISTING_TIMEOUT_S)
            return ", ".join(quote_line(model.name) for model in models[:_MAX_NAMES])
        except Exception:  # the names only complete an error that is reported anyway
            return ""


def _find_key(label: str, variables: Sequence[str]) -> tuple[str, str] | None:
    """Return name and value of the first environment variable that holds a key, None if all are empty.

    The variable is registered, so that its value is hidden in logs and messages.

    Raises:
        ProviderConfigError: the key contains characters that an HTTP header cannot carry, such as a line break.
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
    """Limit the time for making a connection to :data:`CONNECT_S`; used as a request hook of the HTTP client."""
    timeouts = request.extensions["timeout"]
    timeouts["connect"] = min(CONNECT_S, timeouts["connect"] or CONNECT_S)


def _parse_json(content: bytes) -> Any:
    """Return the value of a JSON text, None if the text is not JSON."""
    try:
        return json.loads(content, strict=False)
    except (ValueError, RecursionError):
        return None


def _status_within(error: object) -> int:
    """Return the HTTP status in the error object of a body, 500 if there is no such status."""
    code = error.get("code") if isinstance(error, dict) else None
    if isinstance(code, int) and 400 <= code <= 599:
        return code
    return 500


def _redact_json(value: Any) -> Any:
    """Return a JSON value without the keys (secrets) in its texts and field names."""
    if isinstance(value, str):
        return redact_keys(value)
    if isinstance(value, Mapping):
        return {redact_keys(name): _redact_json(child) for name, child in value.items()}
    if isinstance(value, list):
        return [_redact_json(child) for child in value]
    return value
