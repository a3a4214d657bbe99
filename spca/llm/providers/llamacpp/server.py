"""llama.cpp within this process (package ``xllamacpp``): model files loaded once, answers that can be given up.

No request leaves the process; the HTTP listener that llama.cpp opens on loopback all the same takes a random key that
nobody else has.
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
"""Tokens of a prompt that are computed in one go; only between two of them can a call be given up."""

_PROMPT_CACHE_MIB: Final = 1024
"""Memory for prompts that were computed before: planner and coder take turns, and their prompts begin alike."""

_servers: dict[tuple[Path, int], Any] = {}
_loading = threading.Lock()


def share_server(path: Path, context: int, threads: int) -> Any:
    """The server of a model file; the first call loads it, and the process frees it at its end.

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
    """Free the models that were loaded; a later call loads its model again."""
    with _loading:
        _servers.clear()


class Answer:
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

    def wait(self, server: Any, body: dict[str, Any], timeout_s: float) -> bool:
        """Compute; false if it took too long. Whatever ends the wait ends the computation, after one more batch."""
        worker = threading.Thread(target=self.compute, args=(server, body), daemon=True)
        worker.start()
        try:
            return self.ended.wait(timeout_s)
        finally:
            self.given_up = True
            worker.join()


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
