"""A small HTTP server whose addresses all begin with a token.

What a route does not answer gets an empty 404, an unknown method 405. No file is ever looked up by a name that came in
a request.
"""

from __future__ import annotations

import gzip
import logging
import socket
import socketserver
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar, Final

from spca.common.web.access import Access

_LOG: Final = logging.getLogger(__name__)

_SILENT_POLICY: Final = "default-src 'none'; frame-ancestors 'none'"
_HEADERS: Final[Mapping[str, str]] = {
    "Cache-Control": "no-store",
    "Connection": "close",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}


@dataclass(frozen=True, slots=True)
class Page:
    """A page: HTML, compressed with gzip, and its Content-Security-Policy."""

    packed: bytes
    policy: str

    @classmethod
    def pack(cls, html: str, policy: str) -> Page:
        return cls(gzip.compress(html.encode(), mtime=0), f"{policy}; frame-ancestors 'none'")


class TokenHandler(BaseHTTPRequestHandler):
    """One request per connection: there are few, and none that waits for another one's answer.

    A subclass defines ``do_GET`` and the like, and names them in ``allowed``.
    """

    protocol_version = "HTTP/1.1"
    default_request_version = "HTTP/1.0"  # what cannot be read is answered with headers
    disable_nagle_algorithm = True
    server: TokenServer
    allowed: ClassVar[str] = "GET, HEAD"

    def setup(self) -> None:
        super().setup()
        self.connection.settimeout(self.server.timeout_s)

    def requested_path(self) -> str | None:
        """What is asked for below the token; None where nothing may be said."""
        target = self.requestline.split()[1]  # self.path is already a mended form of it
        path = self.server.access.path(target, self._fields())
        if path is None:
            _LOG.info("a request of %s is refused: no token, or another host", self.client_address[0])
        return path

    def send_page(self, page: Page) -> None:
        self.send(HTTPStatus.OK, page.packed, "text/html", page.policy)

    def send(
        self, status: int, body: bytes = b"", kind: str = "application/json", policy: str = _SILENT_POLICY
    ) -> None:
        """Answer, and close the connection; ``body`` is compressed with gzip, or empty."""
        headers = {**_HEADERS, "Content-Security-Policy": policy}
        if status == HTTPStatus.METHOD_NOT_ALLOWED:
            headers["Allow"] = self.allowed
        if body:
            headers["Content-Type"] = f"{kind}; charset=utf-8"
            headers["Vary"] = "Accept-Encoding"
            if "gzip" in self.headers.get("Accept-Encoding", "").lower():
                headers["Content-Encoding"] = "gzip"
            else:
                body = gzip.decompress(body)
        self.close_connection = True
        self.send_response_only(status)
        self.send_header("Date", self.date_time_string())
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def _fields(self) -> dict[str, str]:
        """By name in small letters; the values of one that came more than once are joined."""
        return {name.lower(): ", ".join(self.headers.get_all(name, [])) for name in self.headers}

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:  # noqa: ARG002
        """Answer what the base class refuses, without its page that repeats the request."""
        self.send(HTTPStatus.METHOD_NOT_ALLOWED if code == HTTPStatus.NOT_IMPLEMENTED else code)

    def log_message(self, *_: object) -> None:
        """Say nothing: the address of each request holds the token."""


class TokenServer(ThreadingHTTPServer):
    """Answers each connection from a thread of its own.

    Attributes:
        timeout_s: seconds for which a client may neither send nor take anything before its connection is closed.

    Raises:
        OSError: the address cannot be had.
    """

    daemon_threads = True
    request_queue_size = 64
    timeout_s = 60.0

    def __init__(
        self, family: socket.AddressFamily, address: tuple[Any, ...], handler: type[TokenHandler], access: Access
    ) -> None:
        self.address_family = family
        self.access = access
        super().__init__(address, handler)

    @property
    def port(self) -> int:
        return int(self.server_address[1])

    def server_bind(self) -> None:
        """Bind, without asking DNS for a name as the base class does."""
        socketserver.TCPServer.server_bind(self)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of clients that went away."""
        if not isinstance(sys.exc_info()[1], OSError):
            super().handle_error(request, client_address)


@contextmanager
def answering(server: TokenServer) -> Iterator[None]:
    """Let the server answer meanwhile; closes it."""
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.1}, daemon=True)
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
