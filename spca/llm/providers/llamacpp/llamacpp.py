"""``llamacpp/PATH.gguf``: the user's model file, run within this process by llama.cpp (package ``xllamacpp``).

The first call loads the file once for all models of a run that name the file; the memory is freed at exit. Decoding is
greedy unless the request has a temperature. The same prompt therefore gives the same answer, except for rounding.
Rounding differs if llama.cpp reuses its computation of the beginning of the prompt from an earlier call.
"""

from __future__ import annotations

import importlib.util
import os
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from spca.common.errors import FileError
from spca.common.files import open_to_read
from spca.common.installation import pip_install
from spca.errors import BadAnswerError, ProviderConfigError, TransientError
from spca.llm.providers.answer_fields import Fields
from spca.llm.providers.base import Finish, Request, Response, Target
from spca.llm.providers.conversation import add_system_line
from spca.llm.providers.failures import Reply, Service, explain_refusal
from spca.llm.providers.llamacpp.server import Answer, share_server
from spca.llm.providers.llamacpp.tools_in_words import call_schema, describe_tools, find_call
from spca.llm.providers.openai import chat
from spca.llm.providers.secrets import quote_line

THREADS_VARIABLE: Final = "SPCA_LLAMACPP_THREADS"
"""Environment variable with the number of computing threads (default: half of the processors)."""

DEFAULT_CONTEXT: Final = 16384
"""Tokens of prompt and answer together if the model table names no context; llama.cpp lowers this number to the model's
maximum.
"""

DEFAULT_MAX_OUTPUT: Final = 4096
"""Maximum number of tokens of an answer if no other limit is set.

Without a limit, a model that repeats itself would fill the whole context.
"""


class LlamacppProvider:
    """A GGUF file as a model; ``target.model`` is its path, absolute or relative to the working directory.

    Raises:
        ProviderConfigError: the package ``xllamacpp`` or the file is missing, or the file holds no model.
    """

    def __init__(self, target: Target) -> None:
        self._label = f"llamacpp/{target.model}"
        self._path = Path(target.model).absolute()
        larger = "give the model a larger context in the model table"
        self._service = Service(self._label, THREADS_VARIABLE, str(self._path), if_too_long=larger)
        self._context = target.info.context or DEFAULT_CONTEXT
        self._max_output = target.info.max_output or DEFAULT_MAX_OUTPUT
        self._threads = _threads()
        if importlib.util.find_spec("xllamacpp") is None:
            raise ProviderConfigError(f"{self._label}: model files need llama.cpp: {pip_install('xllamacpp')}")
        try:
            with open_to_read(self._path) as file:
                magic = file.read(4)
        except FileError as error:
            raise ProviderConfigError(f"{self._label}: {error}") from error
        if magic != b"GGUF":
            raise ProviderConfigError(f"{self._label}: {self._path} is not a GGUF file, the format of llama.cpp")

    def complete(self, request: Request) -> Response:
        """Ask the model; if a signal interrupts the wait for the answer, the computation ends too."""
        if any(message.images for message in request.messages):
            raise ProviderConfigError(
                f"{self._label}: a model file is given no pictures: use another provider for them"
            )
        server = self._server()
        answer = Answer()
        is_complete = answer.wait(server, self._body(request), request.limits.timeout_s)
        if not is_complete:
            timeout = f"{request.limits.timeout_s:g} s"
            raise TransientError(
                f"{self._label}: no answer within {timeout}: allow more, or use a smaller model", lost=True
            )
        return self._read(answer, request)

    def _server(self) -> Any:
        """Return the server of the model file; the first call loads the file."""
        try:
            return share_server(self._path, self._context, self._threads)
        except (RuntimeError, ValueError, MemoryError) as error:
            raise ProviderConfigError(
                f"{self._label}: llama.cpp cannot load {self._path}: is the file whole, its model of a kind "
                f"that this xllamacpp knows, and small enough for this machine's memory?"
            ) from error

    def _body(self, request: Request) -> dict[str, Any]:
        """Return the body of a streaming chat completion; tools are described in the system message."""
        limits = replace(
            request.limits,
            max_output_tokens=request.limits.max_output_tokens or self._max_output,
            temperature=request.limits.temperature or 0.0,
        )
        messages = list(request.messages)
        if request.tools:
            messages = add_system_line(messages, describe_tools(request.tools))
        without_tools = replace(request, messages=tuple(messages), tools=(), limits=limits)
        body = chat.arguments(without_tools, "max_tokens")
        forced_tools = [tool for tool in request.tools if request.tool_choice in {"required", tool.name}]
        if forced_tools:
            # llama.cpp enforces a schema by a grammar, for every chat template. Its own tool calls depend on the
            # template, and some templates ignore tools.
            schema = {"anyOf": [call_schema(tool) for tool in forced_tools]}
            form = {"name": "answer", "schema": schema, "strict": True}
            body["response_format"] = {"type": "json_schema", "json_schema": form}
        return body | {"stream": True, "stream_options": {"include_usage": True}, "return_progress": True}

    def _read(self, answer: Answer, request: Request) -> Response:
        """Return the answer as a response; raise the error if llama.cpp refused the request or failed."""
        if answer.refusal is not None:
            has_begun = any(answer.parts)
            if has_begun:  # so the request was accepted, and llama.cpp failed on the output of the model
                raise BadAnswerError(
                    f"{self._label}: the answer broke off: {quote_line(answer.refusal.get('message'))}"
                )
            code = answer.refusal.get("code")
            reply = Reply(code if isinstance(code, int) else 500, {}, {"error": answer.refusal})
            raise explain_refusal(reply, self._service, request)
        if answer.finish is None:
            raise BadAnswerError(f"{self._label}: the answer ended before its end")
        choice = {"message": {"content": "".join(answer.parts)}, "finish_reason": answer.finish}
        response = chat.read(Fields({"choices": [choice], "usage": answer.counts}), self._label)
        call = find_call(response.text, request.tools) if response.finish is Finish.STOP else None
        return replace(response, text="", finish=Finish.TOOL_CALL, tool_calls=(call,)) if call else response


def _threads() -> int:
    """Return the number of computing threads, from :data:`THREADS_VARIABLE` or by default."""
    given = os.environ.get(THREADS_VARIABLE)
    if given is None:
        return max(1, (os.cpu_count() or 1) // 2)
    if not given.isdecimal() or not int(given):
        raise ProviderConfigError(f"{THREADS_VARIABLE}={given}: the number of threads is a whole number from 1 on")
    return int(given)
