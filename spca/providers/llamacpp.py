"""``llamacpp/PATH.gguf``: a model file that the user supplies, run within this process by llama.cpp (``xllamacpp``).

The file is loaded by the first call, once for all models of a run that name it, and freed at exit. Answers are greedy
unless a temperature is asked for: the same prompt gives the same answer, but for rounding where the part of it that
llama.cpp still has from an earlier call is not computed again. No request leaves the process; the HTTP listener that
llama.cpp opens on loopback all the same takes a key that nobody is told.
"""

from __future__ import annotations

import atexit
import importlib
import importlib.util
import json
import os
import secrets
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from spca.errors import BadAnswerError, ProviderConfigError, TransientError
from spca.providers import schemas
from spca.providers.base import Finish, Form, Request, Response, Target, Tool, ToolCall
from spca.providers.conversation import conversation, usage, with_system_line
from spca.providers.failures import Reply, Service, meaning
from spca.providers.secrets import quoted

THREADS_VARIABLE: Final = "SPCA_LLAMACPP_THREADS"
"""Environment variable with the number of threads that compute (default: half of the processors)."""

DEFAULT_CONTEXT: Final = 16384
"""Tokens of prompt and answer together where the model table says nothing; llama.cpp caps it at the model's own."""

DEFAULT_MAX_OUTPUT: Final = 4096
"""Tokens of an answer where nobody gave a limit: a small model that repeats itself would fill the whole context."""

_BATCH: Final = 64
"""Tokens of a prompt that are computed in one go; only between two of them can a call be given up."""

_PROMPT_CACHE_MIB: Final = 1024
"""Memory for prompts that were computed before: planner and coder take turns, and their prompts begin alike."""

_FINISHES: Final = {"stop": Finish.STOP, "length": Finish.LENGTH}

_servers: dict[tuple[Path, int], Any] = {}
_loading = threading.Lock()


class LlamacppProvider:
    """A GGUF file as a model; ``target.model`` is its path, absolute or relative to the working directory.

    Raises:
        ProviderConfigError: the package ``xllamacpp`` or the file is missing, or the file holds no model.
    """

    def __init__(self, target: Target) -> None:
        self._label = f"llamacpp/{target.model}"
        self._path = Path(target.model).absolute()
        self._context = target.info.context or DEFAULT_CONTEXT
        self._max_output = target.info.max_output or DEFAULT_MAX_OUTPUT
        self._threads = _threads()
        if importlib.util.find_spec("xllamacpp") is None:
            raise ProviderConfigError(f"{self._label}: model files need llama.cpp: pip install xllamacpp")
        try:
            with self._path.open("rb") as file:
                magic = file.read(4)
        except OSError as error:
            raise ProviderConfigError(f"{self._label}: cannot read {self._path}: {error.strerror}") from None
        if magic != b"GGUF":
            raise ProviderConfigError(f"{self._label}: {self._path} is not a GGUF file, the format of llama.cpp")

    def complete(self, request: Request) -> Response:
        """Ask the model; waits in a way that a signal interrupts, and then ends the computation."""
        if any(message.images for message in request.messages):
            raise ProviderConfigError(
                f"{self._label}: a model file is given no pictures: use another provider for them"
            )
        server = self._server()
        answer = _Answer()
        worker = threading.Thread(target=answer.compute, args=(server, self._body(request)), daemon=True)
        worker.start()
        try:
            in_time = answer.ended.wait(request.limits.timeout_s)
        finally:
            answer.given_up = True
            worker.join()
        if not in_time:
            allowed = f"{request.limits.timeout_s:g} s"
            raise TransientError(
                f"{self._label}: no answer within {allowed}: allow more, or use a smaller model", lost=True
            )
        return self._read(answer, request)

    def _server(self) -> Any:
        key = (self._path, self._context)
        with _loading:
            if key not in _servers:
                try:
                    _servers[key] = _load(self._path, self._context, self._threads)
                except (RuntimeError, ValueError, MemoryError):
                    raise ProviderConfigError(
                        f"{self._label}: llama.cpp cannot load {self._path}: is the file whole, its model of a kind "
                        f"that this xllamacpp knows, and small enough for this machine's memory?"
                    ) from None
                atexit.register(close)
            return _servers[key]

    def _body(self, request: Request) -> dict[str, Any]:
        limits = request.limits
        body: dict[str, Any] = {
            "messages": _messages(request),
            "max_tokens": limits.max_output_tokens or self._max_output,
            "temperature": limits.temperature or 0.0,
            "stream": True,
            "stream_options": {"include_usage": True},
            "return_progress": True,
        }
        form = _form(request)
        if form is not None:
            schema = {"name": "answer", "schema": form, "strict": True}
            body["response_format"] = {"type": "json_schema", "json_schema": schema}
        return body

    def _read(self, answer: _Answer, request: Request) -> Response:
        if answer.refusal is not None:
            if any(answer.parts):  # the request was taken: llama.cpp stumbles over what the model made of it
                raise BadAnswerError(f"{self._label}: the answer broke off: {quoted(answer.refusal.get('message'))}")
            if answer.refusal.get("type") == "exceed_context_size_error":
                raise ProviderConfigError(
                    f"{self._label}: the prompt is too long ({quoted(answer.refusal.get('message'))}): "
                    f"give the model a larger context in the model table"
                )
            code = answer.refusal.get("code")
            reply = Reply(code if isinstance(code, int) else 500, {}, {"error": answer.refusal})
            said = meaning(reply, Service(self._label, THREADS_VARIABLE, str(self._path)), request)
            if isinstance(said, Response):
                return said
            raise said
        if answer.finish not in _FINISHES:
            raise BadAnswerError(f"{self._label}: the answer ended without a known reason")
        finish = _FINISHES[answer.finish]
        text = "".join(answer.parts)
        call = _called(text, request.tools) if finish is Finish.STOP else None
        details = answer.counts.get("prompt_tokens_details") or {}
        counts = usage(
            answer.counts.get("prompt_tokens"), answer.counts.get("completion_tokens"), details.get("cached_tokens")
        )
        return Response("", counts, Finish.TOOL_CALL, (call,)) if call else Response(text, counts, finish)


class _Answer:
    """An answer that grows as llama.cpp computes it, in a thread of its own so that the caller can be interrupted."""

    def __init__(self) -> None:
        self.parts: list[str] = []
        self.counts: Mapping[str, Any] = {}
        self.finish: str | None = None
        self.refusal: Mapping[str, Any] | None = None
        self.given_up = False
        self.ended = threading.Event()

    def compute(self, server: Any, body: dict[str, Any]) -> None:
        """Run ``body`` to its end, or until :attr:`given_up` is set."""
        try:
            server.handle_chat_completions(body, self.take)
        except Exception as error:  # whatever C++ threw: the thread that waits must learn of it
            # llama.cpp throws "invalid argument", here ValueError, for what the request has wrong.
            self.refusal = {"code": 400 if isinstance(error, ValueError) else 500, "message": str(error)}
        finally:
            self.ended.set()

    def take(self, chunk: Mapping[str, Any]) -> bool:
        """Add a piece of the stream; true ends the computation."""
        if chunk.get("error"):
            self.refusal = chunk["error"]
            return True
        self.counts = chunk.get("usage") or self.counts
        for choice in chunk.get("choices", ()):
            self.finish = choice.get("finish_reason") or self.finish
            self.parts.append(choice.get("delta", {}).get("content") or "")
        return self.given_up


def close() -> None:
    """Free the models that were loaded; a later call loads its model again."""
    with _loading:
        _servers.clear()


def _load(path: Path, context: int, threads: int) -> Any:
    xllamacpp: Any = importlib.import_module("xllamacpp")
    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(path)
    parameters.n_ctx = context
    parameters.n_parallel = 1
    parameters.n_batch = parameters.n_ubatch = _BATCH
    parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = threads
    parameters.cache_ram_mib = _PROMPT_CACHE_MIB
    parameters.warmup = False
    parameters.verbosity = -1  # it writes to our standard output and error otherwise
    parameters.api_keys = [secrets.token_hex()]
    parameters.endpoint_slots = parameters.ui = False
    return xllamacpp.Server(parameters)


def _threads() -> int:
    given = os.environ.get(THREADS_VARIABLE)
    if given is None:
        return max(1, (os.cpu_count() or 1) // 2)
    if not given.isdecimal() or not int(given):
        raise ProviderConfigError(f"{THREADS_VARIABLE}={given}: the number of threads is a whole number from 1 on")
    return int(given)


def _form(request: Request) -> schemas.Schema | None:
    """What the answer must be, as a JSON schema; None where it is free.

    llama.cpp makes a grammar of it that binds whatever the model's chat template is; its own tool calls depend on the
    template, and some drop the tools.
    """
    if request.tools:
        wanted = [tool for tool in request.tools if request.tool_choice in {"required", tool.name}]
        return {"anyOf": [_call_schema(tool) for tool in wanted]} if wanted else None
    if request.schema is None or request.form is Form.TEXT:
        return None
    return schemas.json_schema(request.schema) if request.form is Form.SCHEMA else {"type": "object"}


def _call_schema(tool: Tool) -> schemas.Schema:
    properties = {"name": {"enum": [tool.name]}, "arguments": schemas.json_schema(tool.parameters)}
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def _messages(request: Request) -> list[dict[str, str]]:
    messages = list(conversation(request))
    if request.tools:
        messages = with_system_line(messages, _told(request.tools))
    return [{"role": message.role, "content": message.text} for message in messages]


def _told(tools: Sequence[Tool]) -> str:
    described = [
        {"name": tool.name, "description": tool.description, "arguments": schemas.json_schema(tool.parameters)}
        for tool in tools
    ]
    lines = "\n".join(json.dumps(each, ensure_ascii=False, separators=(",", ":")) for each in described)
    form = '{"name": "...", "arguments": {...}}'
    return f"You can call a function by answering with nothing but {form}. The functions, with JSON schemas:\n{lines}"


def _called(text: str, tools: Sequence[Tool]) -> ToolCall | None:
    """The call that ``text`` is; None where it is words."""
    try:
        call = json.loads(text) if tools else None
    except ValueError:
        return None
    if (
        isinstance(call, dict)
        and isinstance(call.get("arguments"), dict)
        and call.get("name") in {t.name for t in tools}
    ):
        return ToolCall(call["name"], call["arguments"])
    return None
