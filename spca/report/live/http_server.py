"""A small read-only HTTP server of one run.

::

    GET /TOKEN/                          the page
    GET /TOKEN/piece/report              model.Report
    GET /TOKEN/piece/run/0/texts         {}: the pieces of levels hold all their texts
    GET /TOKEN/piece/run/0/level/<n>     model.Level
    GET /TOKEN/events                    server-sent events: "change" when there is something new

HEAD is answered likewise, other methods with 405, everything else with an empty 404. No file is ever looked up by a
name that came in a request.
"""

from __future__ import annotations

import gzip
import json
import re
import socket
import socketserver
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final

from spca.report.live.access import Access, accepts_gzip
from spca.report.live.live_run import LiveRun, packed

_LEVEL: Final = re.compile(r"piece/run/0/level/([1-9][0-9]{0,5})")
_VERSION: Final = re.compile(r"[0-9]{1,12}")
_LONGEST: Final = 500
"""Characters of an error."""
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
    """The page: HTML, compressed with gzip, and its Content-Security-Policy."""

    packed: bytes
    policy: str

    @classmethod
    def of(cls, html: str, policy: str) -> Page:
        return cls(gzip.compress(html.encode(), mtime=0), f"{policy}; frame-ancestors 'none'")


class Handler(BaseHTTPRequestHandler):
    """One request per connection: there are few, and none that waits for another one's answer."""

    protocol_version = "HTTP/1.1"
    default_request_version = "HTTP/1.0"  # what cannot be read is answered with headers
    disable_nagle_algorithm = True
    server: LiveServer

    def setup(self) -> None:
        super().setup()
        self.connection.settimeout(self.server.timeout_s)

    def _answer(self) -> None:
        target = self.requestline.split()[1]  # self.path is already a mended form of it
        asked = self.server.access.path(target, self._headers())
        if asked in _ROUTES:
            _ROUTES[asked](self)
        elif asked is not None and (found := _LEVEL.fullmatch(asked)):
            self._level(int(found[1]))
        else:
            self._send(HTTPStatus.NOT_FOUND)

    do_GET = do_HEAD = _answer  # noqa: N815  # the names that http.server asks for

    def _page(self) -> None:
        self._send(HTTPStatus.OK, self.server.page.packed, "text/html", self.server.page.policy)

    def _report(self) -> None:
        self._send(HTTPStatus.OK, self.server.live.report())

    def _texts(self) -> None:
        self._send(HTTPStatus.OK, packed({}))

    def _level(self, number: int) -> None:
        try:
            piece = self.server.live.level(number)
        except Exception as error:  # whatever is wrong with one level, the others can be looked at
            words = " ".join(f"level {number} cannot be shown: {type(error).__name__}: {error}".split())
            said = gzip.compress(json.dumps({"error": words[:_LONGEST]}).encode("ascii"))
            self._send(HTTPStatus.INTERNAL_SERVER_ERROR, said)
            return
        self._send(HTTPStatus.OK if piece else HTTPStatus.NOT_FOUND, piece or b"")

    def _events(self) -> None:
        self._begin(HTTPStatus.OK, {"Content-Type": "text/event-stream; charset=utf-8"})
        if self.command != "HEAD":
            self._stream()

    def _stream(self) -> None:
        """Tell the version at once, so that a change just before is not missed, then each one that is new."""
        told = self.headers.get("Last-Event-ID", "")
        version = int(told) if _VERSION.fullmatch(told) else 0
        self.wfile.write(b"retry: 2000\n\n")
        while (present := self.server.live.wait(version, self.server.heartbeat_s)) is not None:
            news = f'id: {present}\nevent: change\ndata: {{"version": {present}}}\n\n'
            self.wfile.write(b": still here\n\n" if present == version else news.encode())
            version = present

    def _headers(self) -> dict[str, str]:
        """By name in small letters; the values of one that came more than once are joined."""
        return {name.lower(): ", ".join(self.headers.get_all(name, [])) for name in self.headers}

    def _send(
        self, status: int, body: bytes = b"", kind: str = "application/json", policy: str = _SILENT_POLICY
    ) -> None:
        """Answer; ``body`` is compressed with gzip, or empty."""
        headers = {}
        if body:
            headers = {"Content-Type": f"{kind}; charset=utf-8", "Vary": "Accept-Encoding"}
            if accepts_gzip(self._headers()):
                headers["Content-Encoding"] = "gzip"
            else:
                body = gzip.decompress(body)
        self._begin(status, {**headers, "Content-Length": str(len(body))}, policy)
        if self.command != "HEAD":
            self.wfile.write(body)

    def _begin(self, status: int, headers: Mapping[str, str], policy: str = _SILENT_POLICY) -> None:
        self.close_connection = True
        self.send_response_only(status)
        self.send_header("Date", self.date_time_string())
        for name, value in {**_HEADERS, "Content-Security-Policy": policy, **headers}.items():
            self.send_header(name, value)
        self.end_headers()

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:  # noqa: ARG002
        """Answer what the base class refuses, without its page that repeats the request."""
        unknown = code == HTTPStatus.NOT_IMPLEMENTED
        allowed = {"Allow": "GET, HEAD"} if unknown else {}
        self._begin(HTTPStatus.METHOD_NOT_ALLOWED if unknown else code, {**allowed, "Content-Length": "0"})

    def log_message(self, *_: object) -> None:
        """Say nothing: the address of each request holds the token."""


_ROUTES: Final[Mapping[str | None, Callable[[Handler], None]]] = {
    "": Handler._page,
    "piece/report": Handler._report,
    "piece/run/0/texts": Handler._texts,
    "events": Handler._events,
}


class LiveServer(ThreadingHTTPServer):
    """Answers each connection from a thread of its own; :meth:`server_close` ends the streams.

    Args:
        timeout_s: seconds for which a client may neither send nor take anything before its connection is closed.
        heartbeat_s: seconds after which a silent stream says that it is alive, and finds out whether anybody listens.

    Raises:
        OSError: the address cannot be had.
    """

    daemon_threads = True
    request_queue_size = 64

    def __init__(
        self,
        family: socket.AddressFamily,
        address: tuple[Any, ...],
        live: LiveRun,
        page: Page,
        access: Access,
        timeout_s: float = 60.0,
        heartbeat_s: float = 10.0,
    ) -> None:
        self.address_family = family
        self.live, self.page, self.access = live, page, access
        self.timeout_s, self.heartbeat_s = timeout_s, heartbeat_s
        super().__init__(address, Handler)

    @property
    def port(self) -> int:
        return int(self.server_address[1])

    def server_bind(self) -> None:
        """Bind, without asking DNS for a name as the base class does."""
        socketserver.TCPServer.server_bind(self)

    def server_close(self) -> None:
        super().server_close()
        self.live.close()

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
