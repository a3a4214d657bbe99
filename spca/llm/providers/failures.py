"""What the refusals of servers mean: one reading of status, headers and body for every protocol.

::

    model declined (content policy)      RefusalError, which becomes a response
    401, 403, a key called invalid       ProviderConfigError, names the variable of the key
    a model called unknown               UnknownModelError
    404, 405 without a word on a model   UnknownApiError, about the address
    no credit (402, insufficient_quota)  ProviderConfigError
    prompt longer than the context       PromptTooLongError
    form of the answer not known         UnsupportedFormError, when there is a weaker one
    408, 409, 425, 429, 5xx              TransientError, with the wait that the server asks for
    answer not of the form (llama.cpp)   BadAnswerError
    anything else                        ProviderConfigError with the server's words
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

_PASSING: Final = frozenset((408, 409, 425, 429))
_GATEWAY_GAVE_UP: Final = frozenset((504, 524))
_DECLINED: Final = frozenset(("content_policy_violation", "content_filter", "invalid_prompt", "safety_violation"))
_NO_CREDIT: Final = frozenset(("insufficient_quota", "billing_hard_limit_reached", "billing_not_active"))
_BAD_KEY: Final = frozenset(("invalid_api_key", "api_key_invalid"))
_UNKNOWN_MODEL: Final = frozenset(("model_not_found",))
_FILTERED: Final = "blocked by content filtering policy"
"""What Anthropic's server says of an answer that it does not hand out."""
_OFF_FORM: Final = "output that does not match the expected"
"""What llama.cpp's server says of an answer that broke the grammar it was bound by."""
_TOO_LONG_CODES: Final = frozenset(
    ("context_length_exceeded", "exceed_context_size_error", "string_above_max_length", "request_too_large")
)
_TOO_LONG: Final = re.compile(
    r"context[ _-]?(length|window|size|limit)|maximum context|(prompt|input|request)( is)? too (long|large)"
    r"|(input|prompt) tokens? .*exceed|token count .*exceeds|reduce the length",
    re.IGNORECASE,
)
_FORM: Final = re.compile(
    r"response_?(format|json_?schema|schema|mime_?type)|(json|guided|specified|output)[ _-]?(schema|mode|object|json)"
    r"|structured[ _-]output|\bgrammar\b|\btext\.format\b|invalid format:|required for format|schema in format"
    r"|\btools?\b.*\bnot (support|compatible)|not support.*\btools?\b|output_config(?!\.effort)|schema is too complex"
    r"|^request contains an invalid argument",  # all that Gemini says of a schema it finds too large
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Service:
    """What errors say of a model: its full name, the variable of its key, where it is and how to mend it there."""

    label: str
    key: str
    address: str
    if_absent: str = "is the server running?"
    if_late: str = "--timeout"
    if_unknown: str = OTHER_MODEL
    if_too_long: str = "use one with more context"


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer other than success; ``body`` is parsed JSON, or text if it is not JSON."""

    status: int
    headers: Mapping[str, str]
    body: Any


def explain_refusal(reply: Reply, service: Service, request: Request) -> ProviderError:
    """Return the error to raise for ``reply``, of a server that was asked for ``request``."""
    said = words(reply.body)
    codes = _codes(reply.body)
    is_declined = bool(codes & _DECLINED) or _FILTERED in said
    if is_declined and reply.status < 500:
        return RefusalError(said)

    account_error = _explain_account_refusal(reply.status, codes, said, service)
    if account_error is not None:
        return account_error
    return _explain_request_refusal(reply, codes, said, service, request)


def _explain_account_refusal(status: int, codes: set[str], said: str, service: Service) -> ProviderError | None:
    label = service.label
    if codes & _UNKNOWN_MODEL or (status == 404 and "model" in said.lower()):
        return UnknownModelError(f"{label}: no such model at {service.address} ({said}): {service.if_unknown}")
    if status in {404, 405}:
        return UnknownApiError(
            f"{label}: there is no API at {service.address} ({said}): is the address whole? Most end in /v1"
        )
    if status in {401, 403} or codes & _BAD_KEY:
        return ProviderConfigError(
            f"{label}: the server at {service.address} refused the key ({status}: {said}): check {service.key}"
        )
    if status == 402 or codes & _NO_CREDIT:
        return ProviderConfigError(f"{label}: the account has no credit left ({said}): see its billing page")
    return None


def _explain_request_refusal(
    reply: Reply, codes: set[str], said: str, service: Service, request: Request
) -> ProviderError:
    label = service.label
    status = reply.status
    client_error = 400 <= status < 500
    if client_error and (codes & _TOO_LONG_CODES or _TOO_LONG.search(said)):
        return PromptTooLongError(f"{label}: the prompt is too long for the model ({said}): {service.if_too_long}")
    parameters = " ".join(error.read_text("param") for error in _errors(reply.body))
    can_weaken = request.schema is not None and request.form is not Form.TEXT
    may_reject_form = can_weaken and status in {400, 422, 500, 501}
    if may_reject_form and _FORM.search(f"{said} {parameters}"):
        return UnsupportedFormError(f"{label}: the server does not take the form {request.form} ({said})")
    if status == 500 and _OFF_FORM in said:
        return BadAnswerError(f"{label}: {said}")
    if status in _PASSING or status >= 500:
        return TransientError(
            f"{label}: the server answers {status}: {said}",
            status=status,
            retry_after=retry_after(reply),
            lost=status in _GATEWAY_GAVE_UP,
        )
    if 300 <= status < 400:
        location = reply.headers.get("location", "elsewhere")
        target = quote_line(location.partition("?")[0])
        return ProviderConfigError(f"{label}: {service.address} sends on to {target}: redirects are not followed")
    return ProviderConfigError(f"{label}: the server refused the request ({status}: {said})")


def words(body: object) -> str:
    """Return what the server says in its own words, fit for a message."""
    for found in _errors(body):
        for key in ("message", "detail", "error_description", "msg", "error"):
            if said := found.read_text(key).strip():
                return quote_line(said)
    return quote_line(body) if body else "no reason given"


def retry_after(reply: Reply, now: float | None = None) -> float | None:
    """Return the seconds that the server asks to wait.

    Sources, in this order: ``retry-after-ms``, ``Retry-After`` (seconds or a date), RetryInfo.

    Args:
        reply: the answer.
        now: seconds since the epoch, for dates; the clock's when None.
    """
    given = reply.headers.get("retry-after")
    given_ms = reply.headers.get("retry-after-ms")
    waits = [_seconds(given_ms, 0.001), _seconds(given), _seconds_until(given, now)]

    for detail in _details(reply.body):
        if detail.read_text("@type").endswith("RetryInfo"):
            waits.append(_seconds(detail.read_text("retryDelay").removesuffix("s")))
    return next((wait for wait in waits if wait is not None), None)


def _seconds(value: str | None, unit: float = 1.0) -> float | None:
    try:
        wait = float(value or "nan") * unit
    except ValueError:
        return None
    return wait if math.isfinite(wait) and wait >= 0 else None


def _seconds_until(date: str | None, now: float | None) -> float | None:
    try:
        moment = email.utils.parsedate_to_datetime(date or "")
    except ValueError:
        return None
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)  # "-0000" says UTC too
    start = time.time() if now is None else now
    return max(0.0, moment.timestamp() - start)


def _errors(body: object) -> list[Fields]:
    """Return the objects in ``body`` that may describe an error, innermost first."""
    outer = Fields(body[0] if isinstance(body, list) and body else body)
    return [outer.read_object("error"), outer]


def _codes(body: object) -> set[str]:
    codes: set[str] = set()
    for error in _errors(body):
        for key in ("code", "type", "status"):
            codes.add(error.read_text(key).lower())
    for detail in _details(body):
        codes.add(detail.read_text("reason").lower())
    return codes


def _details(body: object) -> list[Fields]:
    return [detail for error in _errors(body) for detail in error.read_objects("details")]
