"""A small HTTP server that answers only requests whose path begins with a secret token.

An unknown path is answered with an empty 404, and an unknown method with 405. The server never opens a file whose name
comes from a request.
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
    """An HTML page, compressed with gzip, and its Content-Security-Policy."""

    packed: bytes
    policy: str

    @classmethod
    def pack(cls, html: str, policy: str) -> Page:
        return cls(gzip.compress(html.encode(), mtime=0), f"{policy}; frame-ancestors 'none'")


class TokenHandler(BaseHTTPRequestHandler):
    """Handles one request per connection, because requests are few and independent of each other.

    A subclass defines methods such as ``do_GET``, and lists the HTTP methods in ``allowed``.
    """

    protocol_version = "HTTP/1.1"
    default_request_version = "HTTP/1.0"  # not 0.9, so that also malformed requests are answered with headers
    disable_nagle_algorithm = True
    server: TokenServer
    allowed: ClassVar[str] = "GET, HEAD"

    def setup(self) -> None:
        super().setup()
        self.connection.settimeout(self.server.timeout_s)

    def requested_path(self) -> str | None:
        """Return the requested path after the token; None if the request is refused (see :class:`Access`)."""
        target = self.requestline.split()[1]  # not self.path, which the base class has changed
        path = self.server.access.path(target, self._join_headers())
        if path is None:
            _LOG.info("a request of %s is refused: no token, or another host", self.client_address[0])
        return path

    def send_page(self, page: Page) -> None:
        self.send(HTTPStatus.OK, page.packed, "text/html", page.policy)

    def send(
        self, status: int, body: bytes = b"", kind: str = "application/json", policy: str = _SILENT_POLICY
    ) -> None:
        """Send a response and close the connection.

        Args:
            body: compressed with gzip, or empty. If the client does not accept gzip, the body is sent decompressed.
            kind: media type of the body, without the charset, which is UTF-8.
            policy: Content-Security-Policy.
        """
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

    def _join_headers(self) -> dict[str, str]:
        """Return the headers: name in lower case -> value. The values of a repeated header are joined."""
        return {name.lower(): ", ".join(self.headers.get_all(name, [])) for name in self.headers}

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:  # noqa: ARG002
        """Answer a request that the base class refuses.

        The response lacks the page of the base class, because that page quotes the request.
        """
        is_unknown_method = code == HTTPStatus.NOT_IMPLEMENTED
        self.send(HTTPStatus.METHOD_NOT_ALLOWED if is_unknown_method else code)

    def log_message(self, *_: object) -> None:
        """Log nothing, because the address of each request contains the token."""


class TokenServer(ThreadingHTTPServer):
    """HTTP server that answers each connection in a thread of its own.

    Attributes:
        timeout_s: seconds after which a connection is closed if the client neither sends nor receives anything.

    Raises:
        OSError: the server cannot listen on the address.
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
        """Bind the socket, without the DNS request of :class:`http.server.HTTPServer`."""
        socketserver.TCPServer.server_bind(self)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Report an error, unless the connection broke because the client went away."""
        if not isinstance(sys.exc_info()[1], OSError):
            super().handle_error(request, client_address)


@contextmanager
def answering(server: TokenServer) -> Iterator[None]:
    """Let the server answer requests in a thread until the block ends; then close the server."""
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.1}, daemon=True)
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
