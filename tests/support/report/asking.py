"""A live server for tests, and clients of it."""

from __future__ import annotations

import http.client
import socket
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

import minigridenv
from spca.act.frame import WorldMaker
from spca.common.web.access import LOOPBACK, Access
from spca.common.web.token_server import Page, answering
from spca.report.live.http_server import LiveServer
from spca.report.live.live_run import LiveRun
from tests.support.waiting import AGES, PATIENCE, becomes

TOKEN = "the-token"  # noqa: S105  # of these tests
HTML = "<!doctype html><title>page</title>" + "x" * 2000


@contextmanager
def served(
    path: Path,
    make_world: WorldMaker = minigridenv.MiniGridEnv,
    *,
    timeout_s: float = AGES,
) -> Iterator[LiveServer]:
    live = LiveRun(path, make_world, rest_s=0.0)
    page = Page.pack(HTML, "default-src 'none'; script-src 'sha256-x'")
    access = Access(TOKEN, LOOPBACK)
    server = LiveServer(socket.AF_INET, ("127.0.0.1", 0), live, page, access)
    server.timeout_s = timeout_s
    with answering(server):
        yield server


def ask(
    server: LiveServer,
    path: str,
    method: str = "GET",
    headers: Mapping[str, str] | None = None,
    body: str | None = None,
) -> tuple[int, dict[str, str], bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE)
    try:
        connection.request(method, path, body, dict(headers or {}))
        answer = connection.getresponse()
        return answer.status, dict(answer.getheaders()), answer.read()
    finally:
        connection.close()


def connected(server: LiveServer) -> socket.socket:
    return socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE)


def raw(server: LiveServer, data: bytes) -> bytes:
    """What comes back until the server closes."""
    with connected(server) as client:
        with suppress(ConnectionError):  # it may have answered and closed before everything was sent
            client.sendall(data)
        parts = list[bytes]()
        with suppress(ConnectionError):
            while part := client.recv(65536):
                parts.append(part)
        return b"".join(parts)


def answering_threads() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if "process_request_thread" in thread.name]


def until(condition: Callable[[], bool]) -> None:
    assert becomes(condition), "waited in vain"
