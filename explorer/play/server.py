"""A small local server, on which a person plays a scene in the browser.

::

    GET  /TOKEN/             the page GET  /TOKEN/piece/state  the person's knowledge GET  /TOKEN/piece/look/N the looks
    of all blocks, items and mobs that were seen POST /TOKEN/ask          a step: {"do": "forward"}, {"hold": item},
    {"craft": recipe}, {"touch": [x, y, z]} GET  /TOKEN/report       the report of the episode, after the episode has
    ended
"""

from __future__ import annotations

import json
import secrets
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http import HTTPStatus
from typing import Any, ClassVar, Final

from explorer.errors import EpisodeError
from explorer.play.session import Session
from explorer.report.pages import PLAY_PAGE, REPORT_PAGE
from spca.common.web.access import LOOPBACK, Access
from spca.common.web.packing import compress, pack
from spca.common.web.token_server import Page, TokenHandler, TokenServer, answering

_MAX_REQUEST_BYTES: Final = 4096
"""Largest number of bytes of a request."""


class PlayHandler(TokenHandler):
    """A handler that receives the requests of the page and passes them on to a :class:`Session`."""

    server: PlayServer
    allowed: ClassVar[str] = "GET, HEAD, POST"

    def _answer(self) -> None:
        """Send the page, the data or the report that the path of a request names."""
        path = self.requested_path()
        if path == "":
            self.send_page(self.server.page)
        elif path == "piece/state":
            self._send_json(self.server.session.describe())
        elif path is not None and path.startswith("piece/look/"):
            self._send_json(self.server.session.describe_looks())
        elif path == "report" and self.server.session.game.over:
            self.send_page(self.server.report())
        else:
            self.send(HTTPStatus.NOT_FOUND)

    do_GET = do_HEAD = _answer  # noqa: N815  # names required by http.server

    def do_POST(self) -> None:  # noqa: N802  # likewise
        """Carry out a request of the page (:meth:`Session.ask`), and send the person's knowledge after it."""
        if self.requested_path() != "ask" or self.headers.get("Content-Type", "") != "application/json":
            self.send(HTTPStatus.NOT_FOUND)
            return
        length = self.headers.get("Content-Length", "")
        is_number = length.isascii() and length.isdigit() and len(length) < 6
        if not is_number or int(length) > _MAX_REQUEST_BYTES:
            self.send(HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
            return

        try:
            wish = json.loads(self.rfile.read(int(length)))
            answer = self.server.session.ask(wish) if isinstance(wish, dict) else None
        except (ValueError, RecursionError):
            answer = None
        if answer is None:
            self.send(HTTPStatus.BAD_REQUEST)
        else:
            self._send_json(answer)

    def _send_json(self, value: dict[str, Any]) -> None:
        self.send(HTTPStatus.OK, compress(value))


class PlayServer(TokenServer):
    """A server of one session.

    Args:
        session: the episode.
        program: name of the program, for the page.
        report: returns the report page of the episode as HTML.
        port: port to listen on; 0 takes any free port.

    Raises:
        EpisodeError: the port cannot be used.
    """

    def __init__(self, session: Session, program: str, report: Callable[[], str], port: int = 0) -> None:
        self.session = session
        self._report = report
        self.token = secrets.token_urlsafe(32)
        title = session.loaded.text
        data = {"title": title, "program": program, "made": time.time()}
        page = PLAY_PAGE.render(title, {"report": pack(data)})
        self.page = Page.pack(page, PLAY_PAGE.policy())
        try:
            super().__init__(socket.AF_INET, ("127.0.0.1", port), PlayHandler, Access(self.token, LOOPBACK))
        except OSError as error:
            raise EpisodeError(f"cannot listen on port {port}: {error.strerror or error}") from error

    @property
    def address(self) -> str:
        """Address of the page."""
        return f"http://127.0.0.1:{self.port}/{self.token}/"

    def report(self) -> Page:
        """Return the report page of the episode."""
        return Page.pack(self._report(), REPORT_PAGE.policy())


@contextmanager
def served(session: Session, program: str, report: Callable[[], str], port: int = 0) -> Iterator[PlayServer]:
    """Yield a server of a session, which runs within the context. The arguments are those of :class:`PlayServer`.

    Raises:
        EpisodeError: see :class:`PlayServer`.
    """
    server = PlayServer(session, program, report, port)
    with answering(server):
        yield server
