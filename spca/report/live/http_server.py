"""A small read-only HTTP server for the live page of one run.

::

    GET /TOKEN/                          the page
    GET /TOKEN/piece/report              model.Report
    GET /TOKEN/piece/run/0/texts         {}, because the piece of each level has all texts of the level
    GET /TOKEN/piece/run/0/level/<n>     model.Level
    GET /TOKEN/version                   a number, which grows when the content of the run changes

HEAD is answered like GET. Other methods get status 405, and other paths get status 404 with an empty body. The server
never opens a file whose name comes from a request.
"""

from __future__ import annotations

import gzip
import json
import re
import socket
from http import HTTPStatus
from typing import Any, Final

from spca.common.web.access import Access
from spca.common.web.packing import compress
from spca.common.web.token_server import Page, TokenHandler, TokenServer
from spca.report.live.live_run import LiveRun

_LEVEL: Final = re.compile(r"piece/run/0/level/([1-9][0-9]{0,5})")
_MAX_LINE: Final = 500
"""Largest number of characters of an error message."""


class Handler(TokenHandler):
    """Answers requests to a :class:`LiveServer`."""

    server: LiveServer

    def _answer(self) -> None:
        path = self.requested_path()
        live = self.server.live
        if path == "":
            self.send_page(self.server.page)
        elif path == "piece/report":
            self.send(HTTPStatus.OK, live.view.report)
        elif path == "piece/run/0/texts":
            self.send(HTTPStatus.OK, compress({}))
        elif path == "version":
            self.send(HTTPStatus.OK, gzip.compress(str(live.view.version).encode()))
        elif path and (match := _LEVEL.fullmatch(path)):
            self._send_level(int(match[1]))
        else:
            self.send(HTTPStatus.NOT_FOUND)

    do_GET = do_HEAD = _answer  # noqa: N815  # the names that http.server asks for

    def _send_level(self, number: int) -> None:
        """Send the piece of a level; 404 for an unknown level, 500 with a message if the level cannot be read."""
        try:
            piece = self.server.live.level(number)
        except Exception as error:  # boundary: a level that cannot be shown must not affect other levels
            message = f"level {number} cannot be shown: {type(error).__name__}: {error}"
            line = " ".join(message.split())[:_MAX_LINE]
            body = json.dumps({"error": line}).encode("ascii")
            self.send(HTTPStatus.INTERNAL_SERVER_ERROR, gzip.compress(body))
            return
        self.send(HTTPStatus.OK if piece else HTTPStatus.NOT_FOUND, piece or b"")


class LiveServer(TokenServer):
    """The server of the live page of one run.

    Raises:
        OSError: the address cannot be used.
    """

    def __init__(
        self, family: socket.AddressFamily, address: tuple[Any, ...], live: LiveRun, page: Page, access: Access
    ) -> None:
        self.live = live
        self.page = page
        super().__init__(family, address, Handler, access)
