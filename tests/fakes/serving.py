"""A small HTTP server on loopback that a test can start, question and stop."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self


@dataclass(frozen=True, slots=True)
class Asked:
    """A request as it arrived; header names in small letters."""

    method: str
    path: str
    headers: Mapping[str, str]
    raw: bytes

    @property
    def body(self) -> Any:
        """The JSON of the body."""
        return json.loads(self.raw)


@dataclass(frozen=True, slots=True)
class Reply:
    """What is sent back.

    ``delay`` seconds pass before; ``announced`` bytes are claimed where that is not the true length, after which the
    connection ends; ``silent`` ends it without any answer.
    """

    body: bytes = b""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    content_type: str = "application/json"
    delay: float = 0.0
    announced: int | None = None
    silent: bool = False

    @classmethod
    def of(cls, data: Any, status: int = 200, **more: Any) -> Self:
        """A reply whose body is JSON."""
        return cls(json.dumps(data).encode(), status, **more)


class Server(ThreadingHTTPServer):
    """Answers on a free port of 127.0.0.1, or on ``port``, while it is a context manager; override ``reply_to``."""

    daemon_threads = True

    def __init__(self, port: int = 0) -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        self.closing = threading.Event()
        self._thread = threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.01})

    def reply_to(self, asked: Asked) -> Reply:
        """The answer to a request; called from a thread of its connection."""
        raise NotImplementedError

    @property
    def url(self) -> str:
        """Where it listens, without a path."""
        return f"http://127.0.0.1:{self.server_address[1]}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.closing.set()
        self.shutdown()
        self._thread.join()
        self.server_close()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of clients that went away before their answer."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # Head and body leave in one packet: on loopback a second one would wait for the first one's acknowledgement.
    wbufsize = -1
    server: Server

    def _answer(self) -> None:
        raw = self.rfile.read(int(self.headers.get("content-length") or 0))
        headers = {name.lower(): text for name, text in self.headers.items()}
        reply = self.server.reply_to(Asked(self.command, self.path, headers, raw))
        self.server.closing.wait(reply.delay)
        if reply.silent:
            self.close_connection = True
            return
        self.send_response(reply.status)
        self.send_header("content-type", reply.content_type)
        self.send_header("content-length", str(len(reply.body) if reply.announced is None else reply.announced))
        for name, text in reply.headers.items():
            self.send_header(name, text)
        self.end_headers()
        self.wfile.write(reply.body)
        self.close_connection |= reply.announced is not None

    do_GET = do_POST = _answer  # noqa: N815  # the names that http.server asks for

    def log_message(self, *_: object) -> None:
        """Say nothing."""
