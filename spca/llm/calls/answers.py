"""Check answers of models, and read the JSON object out of the text that surrounds it (pure)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final, TypeVar

from pydantic import BaseModel, ValidationError

from spca.errors import BadAnswerError, RefusalError, TruncatedError
from spca.llm.providers.base import Finish, Response

Schema = TypeVar("Schema", bound=BaseModel)

MAX_CHARS: Final = 100_000
"""Maximum number of characters of an answer; a longer answer is refused before any of it is parsed."""

_MAX_STARTS: Final = 100
"""Maximum number of opening braces at which parsing is tried, so that the time for a hostile answer is linear in its
size.
"""

_MAX_OBJECTS: Final = 1000
"""Maximum number of JSON objects of an answer that are validated."""

_MAX_QUOTED: Final = 16_000
"""Maximum number of characters that are quoted to the model from a complete answer."""
_MAX_CUT_OFF: Final = 1000
"""Maximum number of characters that are quoted to the model from an answer that was cut off by its length."""
_MAX_REFUSAL: Final = 200
"""Maximum number of characters of a refusal that are quoted in an error."""
_REASONING_SHARE: Final = 0.9
"""If an answer was cut off by its length, reasoning is blamed from this fraction of reasoning tokens in the output on.
"""


def plain(text: str) -> str:
    """Return a text without the model's thoughts at its beginning, and with lone surrogates replaced.

    Files and servers refuse lone surrogates. Some servers leave the thoughts of open reasoning models in the text,
    between ``<think>`` and ``</think>``. If a prompt template ends with the opening tag, the text contains only the
    closing tag, alone on its line.
    """
    clean = text.encode("utf-8", "replace").decode()
    thoughts, closing_tag, answer = clean.partition("</think>")
    opens_with_tag = thoughts.lstrip().startswith("<think>")
    is_opened_by_prompt = "<think>" not in thoughts and thoughts.endswith("\n")
    has_thoughts = bool(closing_tag) and (opens_with_tag or is_opened_by_prompt)
    return answer.lstrip() if has_thoughts else clean


def quotable(response: Response) -> str:
    """Return the answer to quote in a repair request; shorten it, so that the request fits into the model's context."""
    text = response.text
    if not text.strip():
        return ""
    limit = _MAX_CUT_OFF if response.finish is Finish.LENGTH else _MAX_QUOTED
    left_out = len(text) - limit
    if left_out <= 0:
        return text
    return f"{text[:limit]}\n[... {left_out} characters left out ...]"


def describe_exhausted_reasoning(response: Response) -> str:
    """Return a sentence that says how reasoning used up the answer, "" if reasoning did not use up the answer."""
    reasoning = response.usage.reasoning_tokens or 0
    output = response.usage.output_tokens or 0
    text = response.text.strip()
    is_cut = response.finish is Finish.LENGTH
    has_content = bool(text or response.tool_calls)
    is_silent = not has_content and response.finish is not Finish.REFUSAL
    is_mostly_reasoning = reasoning >= _REASONING_SHARE * output
    is_unfinished_thought = text.startswith("<think>") and "</think>" not in text
    if reasoning and (is_silent or (is_cut and is_mostly_reasoning)):
        return f"reasoning used up the answer: {reasoning} of its {max(reasoning, output)} tokens"
    if is_cut and (is_silent or is_unfinished_thought):
        return "reasoning used up the answer: its length ran out before a word was said"
    return ""


def check_complete(response: Response) -> None:
    """Raise if an answer is a refusal, truncated, empty or too long to be read.

    Raises:
        RefusalError: the model declined.
        TruncatedError: the answer was cut off, or reasoning used up the answer.
        BadAnswerError: the answer is empty, or longer than :data:`MAX_CHARS`.
    """
    if len(response.text) > MAX_CHARS:
        raise BadAnswerError(
            f"the answer has {len(response.text)} characters; at most {MAX_CHARS} are read: answer briefly"
        )
    text = " ".join(response.text.split())[:_MAX_REFUSAL]
    if response.finish is Finish.REFUSAL:
        raise RefusalError(f"the model declined to answer: {text or 'it gave no reason'}")
    if fault := describe_exhausted_reasoning(response):
        raise TruncatedError(f"{fault}: raise --max-output-tokens, or take a model that reasons less")
    if response.finish is Finish.LENGTH:
        raise TruncatedError(
            "the answer was cut off at the limit on its length (the model's, or --max-output-tokens): answer briefly"
        )
    if not text and not response.tool_calls:
        raise BadAnswerError("the answer is empty")


def read_object(response: Response, schema: type[Schema]) -> Schema:
    """Return the object in an answer, even if the answer was cut off after the end of the object.

    Raises:
        BadAnswerError: for the reasons of :func:`check_complete` and :func:`parse_answer`.
    """
    try:
        check_complete(response)
    except TruncatedError as truncated:
        try:
            return parse_answer(response.text, schema)
        except BadAnswerError as unread:
            raise truncated from unread  # "cut off" explains the fault better than the place of the JSON error
    return parse_answer(response.text, schema)


def parse_answer(text: str, schema: type[Schema]) -> Schema:
    """Return the first JSON object in a text that fits ``schema``.

    Code fences, words around the object and line breaks inside the strings of the object are accepted.

    Raises:
        BadAnswerError: no object fits; the message names the fault of the last object.
    """
    fault = "the answer holds no JSON object"
    for candidate in _iterate_objects(text):
        if isinstance(candidate, json.JSONDecodeError):
            fault = f"the answer is not valid JSON: {candidate}"
            continue
        try:
            return _validate(candidate, schema)
        except BadAnswerError as error:
            fault = str(error)
    raise BadAnswerError(fault)


def _validate(fields: dict[str, Any], schema: type[Schema]) -> Schema:
    """Return the fields as an instance of ``schema``; raise BadAnswerError if they do not fit."""
    try:
        # Pydantic refuses lone surrogates, which no file can hold, only in JSON text: hence the way back to JSON.
        return schema.model_validate_json(json.dumps(fields))
    except ValidationError as error:
        first_error = error.errors(include_url=False, include_input=False)[0]
        field_path = ".".join(map(str, first_error["loc"])) or "the JSON"
        fault = f"the answer is not valid: {field_path}: {first_error['msg']}"
    except RecursionError:
        fault = "the answer is not valid JSON: nested too deeply"
    raise BadAnswerError(fault)


def _iterate_objects(text: str) -> Iterator[dict[str, Any] | json.JSONDecodeError]:
    """Yield the JSON objects in a text in order; without any object, yield the error at the highest position."""
    decoder = json.JSONDecoder(strict=False)
    position = text.find("{")
    errors: list[json.JSONDecodeError] = []
    count = 0
    while position >= 0 and len(errors) < _MAX_STARTS and count < _MAX_OBJECTS:
        try:
            value, end = decoder.raw_decode(text, position)
        except json.JSONDecodeError as error:
            errors.append(error)
            end = position + 1
        except ValueError as error:  # Python refuses to parse a number with thousands of digits
            reason = str(error).partition(":")[0]
            errors.append(json.JSONDecodeError(reason, text, position))
            end = position + 1
        except RecursionError:
            errors.append(json.JSONDecodeError("nested too deeply", text, position))
            break
        else:
            count += 1
            yield value
        position = text.find("{", end)
    if errors and count == 0:
        yield max(errors, key=lambda error: error.pos)
