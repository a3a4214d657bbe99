"""Translate refusals of servers into errors of this program, from status, headers and body, for all protocols.

::

    the model declined (content policy)     RefusalError, which becomes a response
    the message names an unknown model      UnknownModelError
    404 or 405 that names no model          UnknownApiError, about the address
    401, 403, or a code for an invalid key  ProviderConfigError that names the variable of the key
    no credit (402, insufficient_quota)     ProviderConfigError
    the prompt is longer than the context   PromptTooLongError
    the form of the answer is unsupported   UnsupportedFormError, if there is a weaker form
    the answer broke the form (llama.cpp)   BadAnswerError
    408, 409, 425, 429, 5xx                 TransientError, with the wait that the server asks for
    anything else                           ProviderConfigError with the server's message
"""

from __future__ import annotations

import email.utils
import math
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC
from typing import Any, Final

from spca.errors import (
    BadAnswerError,
    PromptTooLongError,
    ProviderConfigError,
    ProviderError,
    RefusalError,
    TransientError,
    UnknownApiError,
    UnknownModelError,
    UnsupportedFormError,
)
from spca.llm.providers.answer_fields import Fields
from spca.llm.providers.base import Form, Request
from spca.llm.providers.secrets import quote_line

OTHER_MODEL: Final = "name another one with --planner-model, --planner-small-model or --coder-model"

_TRANSIENT: Final = frozenset((408, 409, 425, 429))
"""Statuses below 500 after which the same request may succeed later."""
_GATEWAY_GAVE_UP: Final = frozenset((504, 524))
_DECLINED: Final = frozenset(("content_policy_violation", "content_filter", "invalid_prompt", "safety_violation"))
_NO_CREDIT: Final = frozenset(("insufficient_quota", "billing_hard_limit_reached", "billing_not_active"))
_BAD_KEY: Final = frozenset(("invalid_api_key", "api_key_invalid"))
_UNKNOWN_MODEL: Final = frozenset(("model_not_found",))
_FILTERED: Final = "blocked by content filtering policy"
"""Part of the message of Anthropic's server about an answer that it withholds."""
_OFF_FORM: Final = "output that does not match the expected"
"""Part of the message of llama.cpp's server about an answer that broke its grammar."""
_TOO_LONG_CODES: Final = frozenset(
    ("context_length_exceeded", "exceed_context_size_error", "string_above_max_length", "request_too_large")
)
_TOO_LONG_WORDS: Final = re.compile(
    r"context[ _-]?(length|window|size|limit)|maximum context|(prompt|input|request)( is)? too (long|large)"
    r"|(input|prompt) tokens? .*exceed|token count .*exceeds|reduce the length",
    re.IGNORECASE,
)
_FORM_WORDS: Final = re.compile(
    r"response_?(format|json_?schema|schema|mime_?type)|(json|guided|specified|output)[ _-]?(schema|mode|object|json)"
    r"|structured[ _-]output|\bgrammar\b|\btext\.format\b|invalid format:|required for format|schema in format"
    r"|\btools?\b.*\bnot (support|compatible)|not support.*\btools?\b|output_config(?!\.effort)|schema is too complex"
    r"|^request contains an invalid argument",  # Gemini's whole message about a schema that is too large
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Service:
    """Words for the errors of a model.

    Attributes:
        label: name of the model, with prefix.
        key: environment variable of the key.
        address: address of the server, without keys.
        if_absent: advice if there is no server at the address.
        if_late: the option with which the user can allow a longer time.
        if_unknown: advice if the server does not know the model.
        if_too_long: advice if the prompt is too long.
    """

    label: str
    key: str
    address: str
    if_absent: str = "is the server running?"
    if_late: str = "--timeout"
    if_unknown: str = OTHER_MODEL
    if_too_long: str = "use one with more context"


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer that reports no success; ``body`` is a JSON value, or a text if the answer is not JSON."""

    status: int
    headers: Mapping[str, str]
    body: Any


def explain_refusal(reply: Reply, service: Service, request: Request) -> ProviderError:
    """Return the error to raise for ``reply``, the answer to ``request``."""
    message = words(reply.body)
    codes = _codes(reply.body)
    is_declined = bool(codes & _DECLINED) or _FILTERED in message
    if is_declined and reply.status < 500:
        return RefusalError(message)

    account_error = _explain_account_refusal(reply.status, codes, message, service)
    if account_error is not None:
        return account_error
    return _explain_request_refusal(reply, codes, message, service, request)


def _explain_account_refusal(status: int, codes: set[str], message: str, service: Service) -> ProviderError | None:
    """Return the error for a refusal because of model, address, key or credit; None for any other refusal."""
    label = service.label
    address = service.address
    is_unknown_model = bool(codes & _UNKNOWN_MODEL) or (status == 404 and "model" in message.lower())
    if is_unknown_model:
        return UnknownModelError(f"{label}: no such model at {address} ({message}): {service.if_unknown}")
    if status in {404, 405}:
        return UnknownApiError(
            f"{label}: there is no API at {address} ({message}): is the address whole? Most end in /v1"
        )
    if status in {401, 403} or codes & _BAD_KEY:
        fault = f"the server at {address} refused the key ({status}: {message})"
        return ProviderConfigError(f"{label}: {fault}: check {service.key}")
    if status == 402 or codes & _NO_CREDIT:
        return ProviderConfigError(f"{label}: the account has no credit left ({message}): see its billing page")
    return None


def _explain_request_refusal(
    reply: Reply, codes: set[str], message: str, service: Service, request: Request
) -> ProviderError:
    """Return the error for a refusal because of the request or the state of the server."""
    label = service.label
    status = reply.status
    names_length = bool(codes & _TOO_LONG_CODES) or _TOO_LONG_WORDS.search(message) is not None
    if 400 <= status < 500 and names_length:
        return PromptTooLongError(f"{label}: the prompt is too long for the model ({message}): {service.if_too_long}")
    parameters = " ".join(error.read_text("param") for error in _errors(reply.body))
    can_weaken = request.schema is not None and request.form is not Form.TEXT
    may_reject_form = can_weaken and status in {400, 422, 500, 501}
    if may_reject_form and _FORM_WORDS.search(f"{message} {parameters}"):
        return UnsupportedFormError(f"{label}: the server does not take the form {request.form} ({message})")
    if status == 500 and _OFF_FORM in message:
        return BadAnswerError(f"{label}: {message}")
    if status in _TRANSIENT or status >= 500:
        return TransientError(
            f"{label}: the server answers {status}: {message}",
            status=status,
            retry_after=retry_after(reply),
            lost=status in _GATEWAY_GAVE_UP,
        )
    if 300 <= status < 400:
        location = reply.headers.get("location", "elsewhere")
        target = quote_line(location.partition("?")[0])
        return ProviderConfigError(f"{label}: {service.address} sends on to {target}: redirects are not followed")
    return ProviderConfigError(f"{label}: the server refused the request ({status}: {message})")


def words(body: object) -> str:
    """Return the server's message in ``body`` as one line without keys, or "no reason given"."""
    for error in _errors(body):
        for field in ("message", "detail", "error_description", "msg", "error"):
            if message := error.read_text(field).strip():
                return quote_line(message)
    return quote_line(body) if body else "no reason given"


def retry_after(reply: Reply, now: float | None = None) -> float | None:
    """Return the seconds that the server asks to wait, None if the server does not ask to wait.

    The first valid source counts, in this order: the header ``retry-after-ms``, the header ``Retry-After`` (seconds or
    a date), and a RetryInfo in the body.

    Args:
        reply: the answer.
        now: seconds since the epoch, from which a date counts; None for the present time.
    """
    header = reply.headers.get("retry-after")
    header_ms = reply.headers.get("retry-after-ms")
    waits = [_seconds(header_ms, 0.001), _seconds(header), _seconds_until(header, now)]

    for detail in _details(reply.body):
        if detail.read_text("@type").endswith("RetryInfo"):
            waits.append(_seconds(detail.read_text("retryDelay").removesuffix("s")))
    return next((wait for wait in waits if wait is not None), None)


def _seconds(value: str | None, unit: float = 1.0) -> float | None:
    """Return the seconds in a text that holds a number, None if the text is no finite number of at least 0.

    Args:
        unit: seconds per unit of the number in the text.
    """
    try:
        wait = float(value or "nan") * unit
    except ValueError:
        return None
    return wait if math.isfinite(wait) and wait >= 0 else None


def _seconds_until(date: str | None, now: float | None) -> float | None:
    """Return the seconds until an HTTP date, 0 for a date in the past, None if the text is no date."""
    try:
        moment = email.utils.parsedate_to_datetime(date or "")
    except ValueError:
        return None
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)  # the offset "-0000" means UTC
    start = time.time() if now is None else now
    return max(0.0, moment.timestamp() - start)


def _errors(body: object) -> list[Fields]:
    """Return the objects in ``body`` that may describe an error, the inner object first."""
    outer = Fields(body[0] if isinstance(body, list) and body else body)
    return [outer.read_object("error"), outer]


def _codes(body: object) -> set[str]:
    """Return all error codes in ``body``, in lower case."""
    codes: set[str] = set()
    for error in _errors(body):
        for key in ("code", "type", "status"):
            codes.add(error.read_text(key).lower())
    for detail in _details(body):
        codes.add(detail.read_text("reason").lower())
    return codes


def _details(body: object) -> list[Fields]:
    return [detail for error in _errors(body) for detail in error.read_objects("details")]
