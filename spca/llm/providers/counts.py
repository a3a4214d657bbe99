"""Token counts as servers report them: what cannot be one, and one meaning for all protocols."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from spca.llm.providers.base import Usage
from spca.llm.providers.secrets import quoted

MOST: Final = 10**8
"""Tokens that one request can have at most: ten times the largest context of a model."""

_SHOWN: Final = 40
_HOLDERS: Final = ("usage", "usageMetadata")
_NAMES: Final = frozenset(
    (
        *("prompt_tokens", "completion_tokens", "input_tokens", "output_tokens"),
        *("cached_tokens", "cache_write_tokens", "reasoning_tokens"),
        *("promptTokenCount", "candidatesTokenCount", "cachedContentTokenCount", "thoughtsTokenCount"),
        *("prompt_eval_count", "eval_count"),
        *("cache_read_input_tokens", "cache_creation_input_tokens", "thinking_tokens"),
        *("ephemeral_5m_input_tokens", "ephemeral_1h_input_tokens"),
    )
)


def is_count(value: object) -> bool:
    """Whether a value of JSON can be a number of tokens; some servers write whole numbers as 12.0."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return is_number and 0 <= value <= MOST and value == int(value)  # type: ignore[operator, call-overload]


def absurd(body: Mapping[str, Any]) -> str:
    """The first count in the parsed body of an answer that cannot be one, in words; "" where all can be."""
    for part in _parts(body):
        for name in _NAMES & part.keys():
            if part[name] is not None and not is_count(part[name]):
                return f"the answer counts {quoted(part[name])[:_SHOWN]} as {name}"
    return ""


def usage(
    input_tokens: float | None,
    output_tokens: float | None,
    cached_tokens: float | None = None,
    reasoning_tokens: float | None = None,
    cache_write_tokens: float | None = None,
    total_tokens: object = None,
) -> Usage:
    """Counts that passed :func:`absurd`, in the meaning of :class:`Usage`.

    No prompt and no answer is made of nothing, so zero for both is a server that does not count: unknown. Some
    servers count reasoning beside the output and not as a part of it, which their total tells; it is added then.
    """
    counts = (input_tokens, output_tokens, cached_tokens, reasoning_tokens, cache_write_tokens)
    sent, said, cached, reasoned, written = (None if count is None else int(count) for count in counts)
    if not sent:
        sent = None
    if sent is None and not said:
        return Usage()
    if said is not None and reasoned and (reasoned > said or total_tokens == (sent or 0) + said + reasoned):
        said += reasoned
    return Usage(sent, said, cached, reasoned, written)


def _parts(body: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The objects of a body that may hold counts."""
    yield body
    for holder in _HOLDERS:
        found = body.get(holder)
        if isinstance(found, Mapping):
            yield found
            yield from (details for details in found.values() if isinstance(details, Mapping))
