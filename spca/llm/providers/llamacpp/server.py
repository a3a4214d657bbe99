"""llama.cpp within this process (package ``xllamacpp``): loads each model file once, and can stop a computation.

No request leaves the process. llama.cpp opens an HTTP port on the loopback interface, which this program does not use;
a random key keeps other programs out.
"""

from __future__ import annotations

import atexit
import importlib
import secrets
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

_BATCH: Final = 64
"""Tokens of a prompt that are computed together; a computation can stop only between two batches."""

_PROMPT_CACHE_MIB: Final = 1024
"""Memory (MiB) for the computed states of earlier prompts.

Planner and coder take turns, and the prompts of each role begin alike, so that the states can be reused.
"""

_servers: dict[tuple[Path, int], Any] = {}
"""(path of the model file, tokens of context) -> server."""
_loading = threading.Lock()


def share_server(path: Path, context: int, threads: int) -> Any:
    """Return the server of a model file; the first call loads the file, and the end of the process frees its memory.

    Raises:
        RuntimeError, ValueError, MemoryError: llama.cpp cannot load the file.
    """
    key = (path, context)
    with _loading:
        if key not in _servers:
            _servers[key] = _load(path, context, threads)
            atexit.register(close)
        return _servers[key]


def close() -> None:
    """Free all loaded models; a later call loads its model again."""
    with _loading:
        _servers.clear()


class Answer:
    """An answer that llama.cpp computes in another thread, so that a signal can interrupt the waiting caller.

    Attributes:
        parts: pieces of the text, in order.
        counts: token counts of the answer.
        finish: why the answer ended; None before the end of the answer.
        refusal: the error of llama.cpp, None without an error.
        given_up: whether the computation has to stop.
        ended: set when the computation has ended.
    """

    def __init__(self) -> None:
        self.parts: list[str] = []
        self.counts: Mapping[str, Any] = {}
        self.finish: str | None = None
        self.refusal: Mapping[str, Any] | None = None
        self.given_up = False
        self.ended = threading.Event()

    def compute(self, server: Any, body: dict[str, Any]) -> None:
        """Compute the answer to ``body``, until the answer ends or :attr:`given_up` is set."""
        try:
            server.handle_chat_completions(body, self.take)
        except Exception as error:  # C++ may throw anything, and the waiting thread must learn of the error
            # llama.cpp throws "invalid argument" for a fault of the request, which becomes a ValueError.
            self.refusal = {"code": 400 if isinstance(error, ValueError) else 500, "message": str(error)}
        finally:
            self.ended.set()

    def take(self, chunk: Mapping[str, Any]) -> bool:
        """Add a chunk of the stream to the answer; return whether llama.cpp has to stop."""
        if chunk.get("error"):
            self.refusal = chunk["error"]
            return True
        self.counts = chunk.get("usage") or self.counts
        for choice in chunk.get("choices", ()):
            self.finish = choice.get("finish_reason") or self.finish
            self.parts.append(choice.get("delta", {}).get("content") or "")
        return self.given_up

    def wait(self, server: Any, body: dict[str, Any], timeout_s: float) -> bool:
        """Compute the answer and wait for its end; return False if the wait was longer than ``timeout_s`` seconds.

        However the wait ends, even by an interrupt, the computation stops after the present batch.
        """
        worker = threading.Thread(target=self.compute, args=(server, body), daemon=True)
        worker.start()
        try:
            return self.ended.wait(timeout_s)
        finally:
            self.given_up = True
            worker.join()


def _load(path: Path, context: int, threads: int) -> Any:
    """Load a model file and return its server; ``context`` is in tokens."""
    xllamacpp: Any = importlib.import_module("xllamacpp")
    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(path)
    parameters.n_ctx = context
    parameters.n_parallel = 1
    parameters.n_batch = parameters.n_ubatch = _BATCH
    parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = threads
    parameters.cache_ram_mib = _PROMPT_CACHE_MIB
    parameters.warmup = False
    parameters.verbosity = -1  # otherwise llama.cpp writes to the standard output and error of this process
    parameters.api_keys = [secrets.token_hex()]
    parameters.endpoint_slots = parameters.ui = False
    return xllamacpp.Server(parameters)
