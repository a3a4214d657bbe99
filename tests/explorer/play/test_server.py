"""The server of a game against clients that are clumsy or hostile."""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import pytest

from explorer.errors import EpisodeError
from explorer.play.server import PlayServer, served
from explorer.play.session import Session
from explorer.report.reading import Read, Shelf, report
from tests.support.explorer.told import told
from tests.support.waiting import PATIENCE

JSON = {"Content-Type": "application/json"}


@contextmanager
def playing() -> Iterator[PlayServer]:
    loaded = told(text="Get </script><script>alert(1)</script> \x1b[31m\u202e the emerald.")
    session = Session(loaded)
    with served(session, "x", lambda: report([Read(session.episode())], "Yours", Shelf([loaded]))) as made:
        yield made


@pytest.fixture(scope="module")
def server() -> Iterator[PlayServer]:
    """One for all who get nothing from it."""
    with playing() as made:
        yield made


def ask(
    server: PlayServer,
    path: str,
    method: str = "GET",
    headers: Mapping[str, str] | None = None,
    body: str | bytes | None = None,
) -> tuple[int, dict[str, str], bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE)
    try:
        connection.request(method, path, body, dict(headers or {}))
        answer = connection.getresponse()
        return answer.status, dict(answer.getheaders()), answer.read()
    finally:
        connection.close()


def wish(server: PlayServer, **asked: Any) -> tuple[int, dict[str, Any]]:
    status, _, body = ask(server, f"/{server.token}/ask", "POST", JSON, json.dumps(asked))
    return status, json.loads(body)["value"]


def test_a_game_over_http() -> None:
    with playing() as server:
        play_over_http(server)


def play_over_http(server: PlayServer) -> None:
    status, headers, page = ask(server, f"/{server.token}/")
    assert status == 200
    assert "connect-src 'self'" in headers["Content-Security-Policy"]
    assert b"alert(1)</script>" not in page
    assert ask(server, f"/{server.token}/report")[0] == 404
    assert json.loads(ask(server, f"/{server.token}/piece/state")[2])["value"]["step"] == 0
    assert json.loads(ask(server, f"/{server.token}/piece/look/5")[2])["value"].keys() == {
        "looks",
        "sprites",
        "picture",
    }
    assert ask(server, f"/{server.token}/version")[0] == 404
    status, told_after = wish(server, do="forward")
    assert (status, told_after["step"], told_after["over"]) == (200, 1, "")
    assert wish(server, do="done")[1]["over"] == "done"
    status, headers, page = ask(server, f"/{server.token}/report")
    assert status == 200
    assert "connect-src 'none'" in headers["Content-Security-Policy"]
    assert b"<script>alert" not in page


@pytest.mark.parametrize(
    "path", ["/", "/piece/state", "/wrong/", "/wrong/piece/state", "/{token}", "/{token}/../piece/state", "/{token}/x"]
)
def test_what_is_not_below_the_token_is_not_there(server: PlayServer, path: str) -> None:
    status, headers, body = ask(server, path.format(token=server.token))
    assert (status, body) == (404, b"")
    assert headers["X-Frame-Options"] == "DENY"


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "evil.example"}, {"Origin": "http://evil.example"}, {"Sec-Fetch-Site": "cross-site"},
        {"Content-Type": "text/plain"}, {"Content-Type": "application/x-www-form-urlencoded"},
    ],
)  # fmt: skip
def test_other_sites_cannot_play(server: PlayServer, headers: dict[str, str]) -> None:
    body = json.dumps({"do": "done"})
    assert ask(server, f"/{server.token}/ask", "POST", {**JSON, **headers}, body)[0] == 404
    assert not server.session.game.over


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"", 400), (b"{", 400), (b"[]", 400), (b'"x"', 400), (b'{"do": "fly"}', 400), (b"\xff\xfe", 400),
        (b"[" * 4000, 400), (b" " * 4097, 413), (b'{"touch": [1e999, 0, 0]}', 400), (b'{"do": ' + b"9" * 4000, 400),
    ],
)  # fmt: skip
def test_bodies_that_are_no_wish(server: PlayServer, body: bytes, status: int) -> None:
    assert ask(server, f"/{server.token}/ask", "POST", JSON, body)[0] == status
    assert server.session.game.view.step == 0


@pytest.mark.parametrize("length", ["-1", "x", "", "999999999", "1_0", "٣"])
def test_lengths_that_are_none(server: PlayServer, length: str) -> None:
    raw = http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE)
    raw.putrequest("POST", f"/{server.token}/ask")
    raw.putheader("Content-Type", "application/json")
    raw.putheader("Content-Length", length.encode())
    raw.endheaders()
    assert raw.getresponse().status == 413
    raw.close()


@pytest.mark.parametrize("method", ["PUT", "DELETE", "OPTIONS", "PATCH"])
def test_other_methods_are_not_there(server: PlayServer, method: str) -> None:
    status, headers, _ = ask(server, f"/{server.token}/", method)
    assert (status, headers["Allow"]) == (405, "GET, HEAD, POST")


def test_a_port_that_is_taken_is_one_line(server: PlayServer) -> None:
    with pytest.raises(EpisodeError, match=f"cannot listen on port {server.port}: Address already in use"):
        PlayServer(server.session, "x", str, server.port)
