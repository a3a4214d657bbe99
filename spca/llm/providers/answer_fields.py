"""Tolerant reading of the JSON fields in servers' answers, for all protocols."""

from __future__ import annotations

import json
from datetime import date
from typing import Any, Final

from spca.errors import BadAnswerError
from spca.llm.providers.base import ToolCall, Usage

_TEXT_TYPES: Final = frozenset(("", "text", "output_text"))


class Fields:
    """A JSON object of an answer.

    A field of an unexpected type counts as missing, so that an odd field does not spoil an answer that was paid for.
    """

    def __init__(self, value: object = None) -> None:
        self._values: dict[str, Any] = value if isinstance(value, dict) else {}

    def __bool__(self) -> bool:
        return bool(self._values)

    def __contains__(self, name: str) -> bool:
        return self._values.get(name) is not None

    def read_text(self, name: str) -> str:
        """Return the text in a field, "" if the field holds no text."""
        value = self._values.get(name)
        return value if isinstance(value, str) else ""

    def read_count(self, name: str) -> int | None:
        """Return the number of tokens in a field, None if the field holds no integer of at least 0."""
        value = self._values.get(name)
        return value if type(value) is int and value >= 0 else None

    def read_flag(self, name: str) -> bool:
        """Return whether a field holds a value that is true in Python."""
        return bool(self._values.get(name))

    def read_object(self, name: str) -> Fields:
        """Return the JSON object in a field, an empty object if the field holds no object."""
        return Fields(self._values.get(name))

    def read_objects(self, name: str) -> list[Fields]:
        """Return the JSON objects in a field that holds a list; a single object counts as a list of one object."""
        value = self._values.get(name)
        items = value if isinstance(value, list) else [value]
        return [Fields(item) for item in items if isinstance(item, dict)]

    def read_content(self, label: str) -> str:
        """Return the text in the field "content", which holds a text or a list of parts.

        Parts other than text are left out.

        Raises:
            BadAnswerError: the field holds neither a text nor parts.
        """
        value = self._values.get("content")
        if value is None or isinstance(value, str):
            return value or ""
        if not isinstance(value, list | dict):
            raise BadAnswerError(f"{label}: the content of the answer is no text")
        parts = [part for part in self.read_objects("content") if part.read_text("type") in _TEXT_TYPES]
        return "".join(part.read_text("text") for part in parts)

    def read_call(self, arguments: str, label: str) -> ToolCall:
        """Return the tool call that this object describes.

        Args:
            arguments: name of the field with the arguments. The field holds a JSON object, the JSON text of an object,
                or nothing.
            label: name of the model, for messages.

        Raises:
            BadAnswerError: the field holds something else.
        """
        name = self.read_text("name")
        value = self._values.get(arguments)
        fault = f"{label}: the arguments of the call of {name} are not a JSON object"
        try:
            parsed = json.loads(value) if isinstance(value, str) and value else value
        except (ValueError, RecursionError) as error:
            raise BadAnswerError(fault) from error
        if not parsed:
            return ToolCall(name, {})
        if not isinstance(parsed, dict):
            raise BadAnswerError(fault)
        return ToolCall(name, parsed)


def count_usage(
    sent: int | None,
    said: int | None,
    cached: int | None = None,
    reasoned: int | None = None,
    written: int | None = None,
    total: int | None = None,
) -> Usage:
    """Return the token counts of an answer in the meaning of :class:`Usage`; None is an unknown count.

    No prompt is empty, so 0 tokens for the prompt mean that the count is unknown. If both prompt and answer have 0
    tokens, the server does not count, and all counts are unknown.

    If a server counts reasoning separately from the output, reasoning is added to the output. Such a server is
    recognised by its total, or because reasoning exceeds the output.

    Args:
        sent: tokens of the prompt.
        said: tokens of the answer, with or without reasoning.
        cached: tokens of the prompt that were read from the cache.
        reasoned: tokens of reasoning.
        written: tokens of the prompt that were written into the cache.
        total: the server's total.
    """
    sent = sent or None
    if sent is None and not said:
        return Usage()
    if said is not None and reasoned:
        total_if_separate = (sent or 0) + said + reasoned
        is_separate = reasoned > said or total == total_if_separate
        if is_separate:
            said += reasoned
    return Usage(sent, said, cached, reasoned, written)


def read_day(value: object) -> date | None:
    """Return the day (YYYY-MM-DD) at the beginning of a text, None if the text begins with something else."""
    try:
        return date.fromisoformat(str(value)[:10])
    except ValueError:
        return None
