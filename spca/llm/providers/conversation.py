"""Preparation of requests that all providers share, before a request is put into the server's protocol."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from spca.llm.providers.base import Form, Image, Message, Request, Tool
from spca.llm.providers.schemas import describe_form, json_schema


def conversation(request: Request) -> tuple[Message, ...]:
    """Return the messages to send, without empty system messages and without characters that UTF-8 cannot encode.

    If the server is not given the schema of the answer, the system message describes the form of the answer.
    """
    messages = [replace(message, text=make_sendable(message.text)) for message in request.messages]
    if request.schema is not None and request.form is not Form.SCHEMA:
        messages = add_system_line(messages, describe_form(request.schema))
    return tuple(message for message in messages if not _is_empty_system_message(message))


def _is_empty_system_message(message: Message) -> bool:
    return message.role == "system" and not message.text and not message.images


def add_system_line(messages: list[Message], line: str) -> list[Message]:
    """Return ``messages`` with ``line`` appended to the first system message, or with a new system message."""
    for position, message in enumerate(messages):
        if message.role == "system":
            text = f"{message.text}\n\n{line}" if message.text else line
            return [*messages[:position], replace(message, text=text), *messages[position + 1 :]]
    return [Message("system", line), *messages]


def make_sendable(text: str) -> str:
    """Return ``text`` with "?" in place of lone surrogates.

    Generated code may print lone surrogates, but UTF-8 cannot encode them.
    """
    return text.encode("utf-8", "replace").decode("utf-8")


def data_url(image: Image) -> str:
    """Return ``image`` as a ``data:`` URL."""
    return f"data:{image.media_type};base64,{base64.b64encode(image.data).decode('ascii')}"


def keep_set(**options: Any) -> dict[str, Any]:
    """Return the options that are not None; the server chooses the values of the others."""
    return {name: value for name, value in options.items() if value is not None}


def declare_tools(tools: Sequence[Tool], key: str) -> list[dict[str, Any]]:
    """Return the declarations of tools; each has the schema of its arguments under ``key``."""
    declarations = []
    for tool in tools:
        schema = json_schema(tool.parameters)
        declarations.append({"name": tool.name, "description": tool.description, key: schema})
    return declarations


def tell_choice(choice: str) -> str:
    """Return an instruction to call a tool, for servers whose requests have no field for this choice.

    Args:
        choice: "required" for any of the tools, or the name of a tool.
    """
    wanted = "one of the tools" if choice == "required" else f"the tool {choice}"
    return f"Answer only by calling {wanted}, never in words."
