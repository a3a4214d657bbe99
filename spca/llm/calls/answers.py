"""What a model's text holds: the JSON of a structured answer, without what models put around it (pure)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final, TypeVar

from pydantic import BaseModel, ValidationError

from spca.errors import BadAnswerError, RefusalError, TruncatedError
from spca.llm.providers.base import Finish, Response

Schema = TypeVar("Schema", bound=BaseModel)

MAX_CHARS: Final = 100_000
"""Of an answer: longer ones are refused before anything in them is read."""

_MAX_STARTS: Final = 100
"""Opening braces at which an answer is tried to be read, so that a hostile one costs no more than its size."""

_MAX_OBJECTS: Final = 1000
"""Objects in an answer that are looked at."""

_MAX_QUOTED: Final = 16_000
_MAX_CUT_OFF: Final = 1000
"""Characters of an answer that are quoted to the model: of one that is whole, and of one cut off by its length."""
_MAX_SAID: Final = 200
_MOSTLY: Final = 0.9
"""Share of the tokens of an answer cut off by its length from which on reasoning is why."""


def plain(text: str) -> str:
    """A text without leading thoughts and without lone surrogates, which could be neither written nor sent on.

    Thoughts are what open reasoning models say to themselves before ``</think>``, where the server leaves it in the
    text; some templates of prompts end with the opening tag, so that the closing one stands alone on its line.
    """
    clean = text.encode("utf-8", "replace").decode()
    thoughts, tag, answer = clean.partition("</think>")
    began = thoughts.lstrip().startswith("<think>") or ("<think>" not in thoughts and thoughts.endswith("\n"))
    return answer.lstrip() if tag and began else clean


def quotable(response: Response) -> str:
    """The answer as far as it is worth showing to the model again, so that a repair fits where the question did."""
    limit = _MAX_CUT_OFF if response.finish is Finish.LENGTH else _MAX_QUOTED
    left_out = len(response.text) - limit
    if not response.text.strip():
        return ""
    return response.text if left_out <= 0 else f"{response.text[:limit]}\n[... {left_out} characters left out ...]"


def reasoned_away(response: Response) -> str:
    """Return how reasoning used up the answer, in words; "" if it did not."""
    reasoned = response.usage.reasoning_tokens or 0
    written = response.usage.output_tokens or 0
    text = response.text.strip()
    is_cut = response.finish is Finish.LENGTH
    is_silent = not text and not response.tool_calls and response.finish is not Finish.REFUSAL
    is_thought = text.startswith("<think>") and "</think>" not in text
    if reasoned and (is_silent or (is_cut and reasoned >= _MOSTLY * written)):
        return f"reasoning used up the answer: {reasoned} of its {max(reasoned, written)} tokens"
    if is_cut and (is_silent or is_thought):
        return "reasoning used up the answer: its length ran out before a word was said"
    return ""


def check_complete(response: Response) -> None:
    """Raise if an answer is a refusal, truncated, empty or too long to be read.

    Raises:
        RefusalError: the model declined.
        TruncatedError: the answer was cut off, or reasoning used it up.
        BadAnswerError: it is empty, or longer than :data:`MAX_CHARS`.
    """
    if len(response.text) > MAX_CHARS:
        raise BadAnswerError(
            f"the answer has {len(response.text)} characters; at most {MAX_CHARS} are read: answer briefly"
        )
    said = " ".join(response.text.split())[:_MAX_SAID]
    if response.finish is Finish.REFUSAL:
        raise RefusalError(f"the model declined to answer: {said or 'it gave no reason'}")
    if eaten := reasoned_away(response):
        raise TruncatedError(f"{eaten}: raise --max-output-tokens, or take a model that reasons less")
    if response.finish is Finish.LENGTH:
        raise TruncatedError(
            "the answer was cut off at the limit on its length (the model's, or --max-output-tokens): answer briefly"
        )
    if not said and not response.tool_calls:
        raise BadAnswerError("the answer is empty")


def read_object(response: Response, schema: type[Schema]) -> Schema:
    """Return the object that was asked for, also where the answer was cut off after it: it is whole and paid for.

    Raises:
        BadAnswerError: as :func:`check_complete` and :func:`parsed`.
    """
    try:
        check_complete(response)
    except TruncatedError as cut:
        try:
            return parsed(response.text, schema)
        except BadAnswerError as unread:
            raise cut from unread  # that the text ended early says more than where its JSON did
    return parsed(response.text, schema)


def parsed(text: str, schema: type[Schema]) -> Schema:
    """Validate an answer, forgiving code fences, chatter around the JSON object and line breaks inside its strings.

    Raises:
        BadAnswerError: says where the answer is not of the form.
    """
    fault = "the answer holds no JSON object"
    for found in _objects(text):
        if isinstance(found, json.JSONDecodeError):
            fault = f"the answer is not valid JSON: {found}"
            continue
        try:
            return _validated(found, schema)
        except BadAnswerError as error:
            fault = str(error)
    raise BadAnswerError(fault)


def _validated(found: dict[str, Any], schema: type[Schema]) -> Schema:
    try:
        # As JSON again, since only then Pydantic refuses lone surrogates, which could not be written to a file.
        return schema.model_validate_json(json.dumps(found))
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(map(str, first["loc"])) or "the JSON"
        fault = f"the answer is not valid: {where}: {first['msg']}"
    except RecursionError:
        fault = "the answer is not valid JSON: nested too deeply"
    raise BadAnswerError(fault)


def _objects(text: str) -> Iterator[dict[str, Any] | json.JSONDecodeError]:
    """Yield the JSON objects in a text in order, or else the error of the attempt that got furthest."""
    decoder = json.JSONDecoder(strict=False)
    position = text.find("{")
    errors = list[json.JSONDecodeError]()
    found = 0
    while position >= 0 and len(errors) < _MAX_STARTS and found < _MAX_OBJECTS:
        try:
            value, end = decoder.raw_decode(text, position)
        except json.JSONDecodeError as error:
            errors.append(error)
            end = position + 1
        except ValueError as error:  # a number with thousands of digits
            errors.append(json.JSONDecodeError(str(error).partition(":")[0], text, position))
            end = position + 1
        except RecursionError:
            errors.append(json.JSONDecodeError("nested too deeply", text, position))
            break
        else:
            found += 1
            yield value
        position = text.find("{", end)
    if errors and not found:
        yield max(errors, key=lambda error: error.pos)
