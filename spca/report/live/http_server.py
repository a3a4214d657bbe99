"""A small read-only HTTP server of one run.

::

    GET /TOKEN/                          the page
    GET /TOKEN/piece/report              model.Report
    GET /TOKEN/piece/run/0/texts         {}: the pieces of levels hold all their texts
    GET /TOKEN/piece/run/0/level/<n>     model.Level
    GET /TOKEN/version                   a number; another one when there is something new

HEAD is answered likewise, other methods with 405, everything else with an empty 404. No file is ever looked up by a
name that came in a request.
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
"""Characters of an error."""


class Handler(TokenHandler):
    """Answers from a :class:`LiveServer`."""

    server: LiveServer

    def _answer(self) -> None:
        asked = self.requested_path()
        live = self.server.live
        if asked == "":
            self.send_page(self.server.page)
        elif asked == "piece/report":
            self.send(HTTPStatus.OK, live.view.report)
        elif asked == "piece/run/0/texts":
            self.send(HTTPStatus.OK, compress({}))
        elif asked == "version":
            self.send(HTTPStatus.OK, gzip.compress(str(live.view.version).encode()))
        elif asked and (found := _LEVEL.fullmatch(asked)):
            self._send_level(int(found[1]))
        else:
            self.send(HTTPStatus.NOT_FOUND)

    do_GET = do_HEAD = _answer  # noqa: N815  # the names that http.server asks for

    def _send_level(self, number: int) -> None:
        try:
            piece = self.server.live.level(number)
        except Exception as error:  # whatever is wrong with one level, the others can be looked at
            words = " ".join(f"level {number} cannot be shown: {type(error).__name__}: {error}".split())
            said = gzip.compress(json.dumps({"error": words[:_MAX_LINE]}).encode("ascii"))
            self.send(HTTPStatus.INTERNAL_SERVER_ERROR, said)
            return
        self.send(HTTPStatus.OK if piece else HTTPStatus.NOT_FOUND, piece or b"")


class LiveServer(TokenServer):
    """Answers with the pages of one run.

    Raises:
        OSError: the address cannot be used.
    """

    def __init__(
        self, family: socket.AddressFamily, address: tuple[Any, ...], live: LiveRun, page: Page, access: Access
    ) -> None:
        self.live = live
        self.page = page
        super().__init__(family, address, Handler, access)
