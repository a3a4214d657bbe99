"""A small read-only HTTP server of one run, made to be open on a machine that others use too."""

from __future__ import annotations

import gzip
import math
import socket
import socketserver
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final

from spca.report.live.access import Access
from spca.report.live.live_run import LiveRun


@dataclass(frozen=True, slots=True)
class Limits:
    """What clients may take, so that none can keep the others from being answered.

    Attributes:
        connections: open at the same time; more are closed at once.
        streams: event streams among them, which stay open and must leave room for other requests.
        asking_s: seconds in which a request must have arrived as a whole.
        answering_s: seconds in which an answer must have been taken.
        heartbeat_s: seconds after which a silent stream says that it is alive, and finds out whether anybody listens.
        closing_s: seconds that connections have to end in when the server closes.
    """

    connections: int = 64
    streams: int = 32
    asking_s: float = 10.0
    answering_s: float = 60.0
    heartbeat_s: float = 10.0
    closing_s: float = 5.0


@dataclass(frozen=True, slots=True)
class Page:
    """The page: HTML, compressed with gzip, and its Content-Security-Policy."""

    packed: bytes
    policy: str

    @classmethod
    def of(cls, html: str, policy: str) -> Page:
        return cls(gzip.compress(html.encode(), mtime=0), f"{policy}; frame-ancestors 'none'")


_LIMITS: Final = Limits()


class LiveServer(ThreadingHTTPServer):
    """Answers each connection from a thread of its own; :meth:`server_close` ends them all.

    Raises:
        OSError: the address cannot be had.
    """

    daemon_threads = True

    def __init__(
        self,
        family: socket.AddressFamily,
        address: tuple[Any, ...],
        live: LiveRun,
        page: Page,
        access: Access,
        handler: type[BaseHTTPRequestHandler],
        limits: Limits = _LIMITS,
    ) -> None:
        self.address_family = family
        self.live, self.page, self.access, self.limits = live, page, access, limits
        self.streams = threading.BoundedSemaphore(limits.streams)
        self._ended = threading.Condition()
        self._due = dict[Any, float]()
        """Open connections, and when their requests must have arrived."""
        super().__init__(address, handler)

    @property
    def port(self) -> int:
        return int(self.server_address[1])

    def server_bind(self) -> None:
        """Bind, without asking DNS for a name as the base class does."""
        socketserver.TCPServer.server_bind(self)

    def verify_request(self, request: Any, client_address: Any) -> bool:  # noqa: ARG002  # the base class's names
        with self._ended:
            if len(self._due) >= self.limits.connections:
                return False
            self._due[request] = time.monotonic() + self.limits.asking_s
            return True

    def arrived(self, request: Any) -> None:
        """A request is there as a whole."""
        with self._ended:
            if request in self._due:
                self._due[request] = math.inf

    def service_actions(self) -> None:
        """Cut connections that dawdle: a timeout of the socket would begin anew with every byte."""
        now = time.monotonic()
        with self._ended:
            for request in [request for request, due in self._due.items() if due < now]:
                _cut(request)

    def shutdown_request(self, request: Any) -> None:
        super().shutdown_request(request)
        with self._ended:
            self._due.pop(request, None)
            self._ended.notify_all()

    def server_close(self) -> None:
        super().server_close()
        self.live.close()
        with self._ended:
            for request in self._due:
                _cut(request)
            self._ended.wait_for(lambda: not self._due, self.limits.closing_s)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of clients that went away."""
        if not isinstance(sys.exc_info()[1], OSError):
            super().handle_error(request, client_address)


@contextmanager
def answering(server: LiveServer) -> Iterator[None]:
    """Let the server answer meanwhile; closes it."""
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.1}, daemon=True)
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _cut(connection: socket.socket) -> None:
    with suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)
