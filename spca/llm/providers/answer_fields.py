"""Fields of an answer as servers send them: nothing is as it should be for certain but what is needed of the content.

Each field has one reader for all protocols. A field that is not of its kind counts as one that is missing, so that an
answer that was paid for is used whatever its wrapping is.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final, TypeAlias

from spca.errors import BadAnswerError
from spca.llm.providers.base import ToolCall, Usage

MAX_TOKENS: Final = 10**8
"""Tokens that one request can have at most: ten times the largest context of a model."""

Fields: TypeAlias = Mapping[str, Any]
"""A JSON object of an answer."""

_TEXT_TYPES: Final = frozenset(("", "text", "output_text"))


def is_count(value: object) -> bool:
    """Return whether a value of JSON can be a number of tokens; some servers write whole numbers as 12.0."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return is_number and 0 <= value <= MAX_TOKENS and value == int(value)  # type: ignore[operator, call-overload]


def read_count(value: Any) -> int | None:
    """Return a number of tokens, None for what cannot be one."""
    return int(value) if is_count(value) else None


def sum_counts(*values: object) -> int | None:
    """Return the sum of counts that some servers tell apart, None if nothing is there or one of them cannot be."""
    counts = [read_count(value) for value in values if value is not None]
    known = [count for count in counts if count is not None]
    return sum(known) if known and len(known) == len(counts) else None


def read_usage(
    input_tokens: object,
    output_tokens: object,
    cached_tokens: object = None,
    reasoning_tokens: object = None,
    cache_write_tokens: object = None,
    total_tokens: object = None,
) -> Usage:
    """Return the counts of an answer in the meaning of :class:`Usage`.

    No prompt and no answer is made of nothing, so zero for both is a server that does not count: unknown. Some
    servers count reasoning beside the output and not as a part of it, which their total tells; it is added then.
    Nothing is known of the parts of a count that is unknown.
    """
    sent = read_count(input_tokens) or None
    said = read_count(output_tokens)
    if sent is None and not said:
        return Usage()
    reasoned = None if said is None else read_count(reasoning_tokens)
    if said is not None and reasoned and (reasoned > said or total_tokens == (sent or 0) + said + reasoned):
        said += reasoned
    if sent is None:
        return Usage(None, said, None, reasoned)
    return Usage(sent, said, read_count(cached_tokens), reasoned, read_count(cache_write_tokens))


def read_object(value: object) -> Fields:
    """Return a JSON object, an empty one for anything else."""
    return value if isinstance(value, Mapping) else {}


def read_objects(value: object) -> list[Fields]:
    """Return the JSON objects in a list; one that stands alone is a list of one."""
    items = value if isinstance(value, list) else [value]
    return [item for item in items if isinstance(item, Mapping)]


def read_text(value: object) -> str:
    """Return a text, "" for anything else."""
    return value if isinstance(value, str) else ""


def read_content(value: object, label: str) -> str:
    """Return the words of a message: a text, or parts of which those that are not text are left out.

    Raises:
        BadAnswerError: it is neither.
    """
    if value is None or isinstance(value, str):
        return value or ""
    if not isinstance(value, list | Mapping):
        raise BadAnswerError(f"{label}: the content of the answer is no text")
    parts = [part for part in read_objects(value) if read_text(part.get("type")) in _TEXT_TYPES]
    return "".join(read_text(part.get("text")) for part in parts)


def read_call(name: object, arguments: object, label: str) -> ToolCall:
    """Return the call of a tool from its arguments, a JSON object or the text of one, which may be empty.

    Raises:
        BadAnswerError: the arguments are something else.
    """
    try:
        parsed = json.loads(arguments or "{}") if isinstance(arguments, str) else arguments
    except (ValueError, RecursionError):
        parsed = ""
    if parsed is None:
        parsed = {}
    if not isinstance(parsed, dict):
        raise BadAnswerError(f"{label}: the arguments of the call of {name} are not a JSON object")
    return ToolCall(str(name), parsed)
