"""Fields of an answer as servers send them, read the same way for all protocols."""

from __future__ import annotations

import json
from datetime import date
from typing import Any, Final

from spca.errors import BadAnswerError
from spca.llm.providers.base import ToolCall, Usage

_TEXT_TYPES: Final = frozenset(("", "text", "output_text"))


class Fields:
    """A JSON object of an answer.

    A field that is not of the kind asked for counts as missing: an answer that was paid for is used, whatever its
    wrapping is.
    """

    def __init__(self, value: object = None) -> None:
        self._values: dict[str, Any] = value if isinstance(value, dict) else {}

    def __bool__(self) -> bool:
        return bool(self._values)

    def __contains__(self, name: str) -> bool:
        return self._values.get(name) is not None

    def read_text(self, name: str) -> str:
        """Return a text, "" for anything else."""
        value = self._values.get(name)
        return value if isinstance(value, str) else ""

    def read_count(self, name: str) -> int | None:
        """Return a number of tokens, None for what cannot be one."""
        value = self._values.get(name)
        return value if type(value) is int and value >= 0 else None

    def read_flag(self, name: str) -> bool:
        """Return whether a field is set to something that is not false."""
        return bool(self._values.get(name))

    def read_object(self, name: str) -> Fields:
        """Return a JSON object, an empty one for anything else."""
        return Fields(self._values.get(name))

    def read_objects(self, name: str) -> list[Fields]:
        """Return the JSON objects in a list; one that stands alone is a list of one."""
        value = self._values.get(name)
        items = value if isinstance(value, list) else [value]
        return [Fields(item) for item in items if isinstance(item, dict)]

    def read_content(self, label: str) -> str:
        """Return the words in "content": a text, or parts of which those that are not text are left out.

        Raises:
            BadAnswerError: it is neither.
        """
        value = self._values.get("content")
        if value is None or isinstance(value, str):
            return value or ""
        if not isinstance(value, list | dict):
            raise BadAnswerError(f"{label}: the content of the answer is no text")
        parts = [part for part in self.read_objects("content") if part.read_text("type") in _TEXT_TYPES]
        return "".join(part.read_text("text") for part in parts)

    def read_call(self, arguments: str, label: str) -> ToolCall:
        """Return the call of a tool; the field ``arguments`` holds a JSON object or the text of one, or nothing.

        Raises:
            BadAnswerError: it holds something else.
        """
        name = self.read_text("name")
        value = self._values.get(arguments)
        fault = f"{label}: the arguments of the call of {name} are not a JSON object"
        try:
            parsed = json.loads(value) if isinstance(value, str) and value else value
        except (ValueError, RecursionError) as error:
            raise BadAnswerError(fault) from error
        if not isinstance(parsed or {}, dict):
            raise BadAnswerError(fault)
        return ToolCall(name, parsed or {})


def count_usage(
    sent: int | None,
    said: int | None,
    cached: int | None = None,
    reasoned: int | None = None,
    written: int | None = None,
    total: int | None = None,
) -> Usage:
    """Return the counts of an answer in the meaning of :class:`Usage`.

    No prompt and no answer is made of nothing, so zero for both is a server that does not count: unknown. Some
    servers count reasoning beside the output and not as a part of it, which their total tells. It is added then.
    """
    sent = sent or None
    if sent is None and not said:
        return Usage()
    if said is not None and reasoned and (reasoned > said or total == (sent or 0) + said + reasoned):
        said += reasoned
    return Usage(sent, said, cached, reasoned, written)


def read_day(value: object) -> date | None:
    """Return the day with which a text begins, None if it is none."""
    try:
        return date.fromisoformat(str(value)[:10])
    except ValueError:
        return None
