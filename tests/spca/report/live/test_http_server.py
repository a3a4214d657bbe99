"""The live server against clients that are clumsy, slow or hostile."""

from __future__ import annotations

import gzip
import json
import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import pytest

import minigridenv
from spca.act.frame import ReplayedWorld
from spca.common.web.token_server import Page
from spca.contracts import LevelSpec
from spca.report.live.http_server import LiveServer
from spca.report.live.live_run import LiveRun
from tests.support.report.asking import HTML, TOKEN, answering_threads, ask, connected, raw, served, until
from tests.support.report.finished_files import read_finished, write_finished
from tests.support.report.making import Writing

SAME_ON_ALL = {
    "Cache-Control": "no-store",
    "Connection": "close",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}


@pytest.fixture(scope="module")
def server(mixed_run: Path) -> Iterator[LiveServer]:
    with served(mixed_run) as server:
        yield server


def without_date(answer: tuple[int, dict[str, str], bytes]) -> tuple[int, dict[str, str], bytes]:
    status, headers, body = answer
    return status, {name: value for name, value in headers.items() if name != "Date"}, body


def test_the_page_and_the_pieces(server: LiveServer) -> None:
    status, headers, body = ask(server, f"/{TOKEN}/")
    assert (status, headers["Content-Type"], body.decode()) == (200, "text/html; charset=utf-8", HTML)
    assert headers["Content-Security-Policy"] == ("default-src 'none'; script-src 'sha256-x'; frame-ancestors 'none'")
    for piece in ("report", "run/0/texts", "run/0/level/1", "run/0/level/3"):
        status, headers, body = ask(server, f"/{TOKEN}/piece/{piece}")
        assert (status, headers["Content-Type"]) == (200, "application/json; charset=utf-8")
        assert headers["Content-Security-Policy"] == "default-src 'none'; frame-ancestors 'none'"
        assert isinstance(json.loads(body), dict)


def test_every_answer_is_locked_up_and_names_no_server(server: LiveServer) -> None:
    for path, method in ((f"/{TOKEN}/", "GET"), (f"/{TOKEN}/piece/report", "GET"), ("/", "GET"), ("/", "POST")):
        _, headers, body = ask(server, path, method)
        assert headers.items() >= SAME_ON_ALL.items()
        assert "Server" not in headers
        assert int(headers["Content-Length"]) == len(body)


def test_compression_for_those_who_accept_it(server: LiveServer) -> None:
    for path in (f"/{TOKEN}/", f"/{TOKEN}/piece/run/0/level/1"):
        _, plain_headers, plain = ask(server, path, headers={"Accept-Encoding": "identity"})
        _, headers, packed = ask(server, path, headers={"Accept-Encoding": "gzip, br"})
        assert "Content-Encoding" not in plain_headers
        assert headers["Content-Encoding"] == "gzip"
        assert gzip.decompress(packed) == plain
        assert len(packed) < len(plain)


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "//",
        f"/{TOKEN}",
        f"/{TOKEN[:-1]}/",
        f"/{TOKEN}x/",
        f"//{TOKEN}/",
        "/%74he-token/",
        "/the%2Dtoken/",
        f"/{TOKEN}/..",
        f"/{TOKEN}/../..",
        f"/{TOKEN}/../{TOKEN}/",
        f"/{TOKEN}/./",
        f"/{TOKEN}//",
        f"/{TOKEN}/%2e%2e/%2e%2e/run.json",
        f"/{TOKEN}/run.json",
        f"/{TOKEN}/piece/..%2frun.json",
        f"/{TOKEN}/piece/",
        f"/{TOKEN}/piece/report/",
        f"/{TOKEN}/piece/run/1/texts",
        f"/{TOKEN}/piece/run/0/level/0",
        f"/{TOKEN}/piece/run/0/level/01",
        f"/{TOKEN}/piece/run/0/level/-1",
        f"/{TOKEN}/piece/run/0/level/1.0",
        f"/{TOKEN}/piece/run/0/level/4",
        f"/{TOKEN}/piece/run/0/level/999999",
        f"/{TOKEN}/piece/run/0/level/" + "9" * 5000,
        f"/{TOKEN}/piece/run/0/level/1/../../../../../run.json",
        f"/{TOKEN}/piece/run/0/level/%31",
        "http://127.0.0.1/" + TOKEN + "/",
    ],
)
def test_everything_else_is_the_same_empty_answer(server: LiveServer, path: str) -> None:
    expected = without_date(ask(server, "/favicon.ico"))
    assert expected[0] == 404
    assert expected[2] == b""
    assert without_date(ask(server, path)) == expected


def test_other_hosts_and_other_sites_get_the_same_empty_answer(server: LiveServer) -> None:
    expected = without_date(ask(server, "/favicon.ico"))
    for headers in ({"Host": "evil.example"}, {"Origin": "http://evil.example"}, {"Sec-Fetch-Site": "cross-site"}):
        for path in ("", "piece/report", "version"):
            assert without_date(ask(server, f"/{TOKEN}/{path}", headers=headers)) == expected
    for hosts in (b"", b"Host: evil.example\r\nHost: localhost\r\n", b"Host: localhost\r\nHost: evil.example\r\n"):
        answer = raw(server, b"GET /%s/ HTTP/1.1\r\n%s\r\n" % (TOKEN.encode(), hosts))
        assert answer.startswith(b"HTTP/1.1 404 ")


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT", "get", "page"])
def test_it_is_read_only(server: LiveServer, method: str) -> None:
    for path in (f"/{TOKEN}/", "/", f"/{TOKEN}/piece/report"):
        status, headers, body = ask(server, path, method, body="a=1" if method == "POST" else None)
        assert (status, headers["Allow"], body) == (405, "GET, HEAD", b"")


def test_head_is_get_without_a_body(server: LiveServer) -> None:
    for path in (f"/{TOKEN}/", f"/{TOKEN}/piece/run/0/level/1", f"/{TOKEN}/piece/report"):
        get, head = ask(server, path), ask(server, path, "HEAD")
        assert head[2] == b""
        assert without_date(head)[:2] == without_date(get)[:2]


@pytest.mark.parametrize(
    ("data", "status"),
    [
        (b"\r\n", b""),
        (b"GET\r\n\r\n", b"HTTP/1.1 400 "),
        (b"GET / HTTP/9.9\r\n\r\n", b"HTTP/1.1 505 "),
        (b"GET / HTTP/1.1x\r\n\r\n", b"HTTP/1.1 400 "),
        (b"GET /" + b"a" * 70_000 + b" HTTP/1.1\r\n\r\n", b"HTTP/1.1 414 "),
        (b"GET / HTTP/1.1\r\nX: " + b"a" * 70_000 + b"\r\n\r\n", b"HTTP/1.1 431 "),
        (b"GET / HTTP/1.1\r\n" + b"X: a\r\n" * 200 + b"\r\n", b"HTTP/1.1 431 "),
        (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", b"HTTP/1.1 "),
        (b"GET /<script> x HTTP/1.1\r\n\r\n", b"HTTP/1.1 400 "),
        (b"GET /the-token/\r\n\r\n", b"HTTP/1.1 404 "),
    ],
)
def test_malformed_requests_get_a_short_answer_that_repeats_nothing(
    server: LiveServer, data: bytes, status: bytes
) -> None:
    answer = raw(server, data)
    assert answer.startswith(status)
    assert answer.partition(b"\r\n\r\n")[2] == b""
    assert b"script" not in answer
    assert b"aaaa" not in answer


@pytest.mark.parametrize("sent", [b"", b"GET / HTTP/1.1\r\nX: "])
def test_a_client_that_stalls_is_cut_off_while_others_are_answered(finished_run: Path, sent: bytes) -> None:
    with served(finished_run, timeout_s=1.0) as server, connected(server) as slow:
        started = time.monotonic()
        slow.sendall(sent)
        assert ask(server, f"/{TOKEN}/")[0] == 200
        assert slow.recv(1000) == b""
        assert time.monotonic() - started >= 0.9
        until(lambda: not answering_threads())


@pytest.mark.long
def test_a_client_that_takes_nothing_is_cut_off(mixed_run: Path) -> None:
    with served(mixed_run, timeout_s=1.0) as server, connected(server) as slow:
        slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1024)
        server.page = Page(gzip.compress(b"x" * (64 << 20), 1), "default-src 'none'")
        slow.sendall(f"GET /{TOKEN}/ HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        until(lambda: len(answering_threads()) == 1)
        assert ask(server, f"/{TOKEN}/piece/report")[0] == 200
        until(lambda: not answering_threads())


@pytest.mark.long
def test_many_stalled_clients_keep_nobody_out(finished_run: Path) -> None:
    with served(finished_run) as server, ExitStack() as held:
        for _ in range(100):
            held.enter_context(connected(server)).sendall(b"GET / HTTP/1.1\r\n")
        until(lambda: len(answering_threads()) >= 100)
        assert ask(server, f"/{TOKEN}/")[0] == 200


def test_many_at_once(server: LiveServer) -> None:
    paths = [f"/{TOKEN}/{rest}" for rest in ("", "piece/report", "piece/run/0/level/1", "piece/run/0/level/2")] * 8
    with ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(lambda path: ask(server, path), paths))
    assert {status for status, _, _ in answers} == {200}
    assert answers[2][2] == answers[30][2]


def broken_world(_level: LevelSpec, _seed: int, /, *, upstream_rules: bool = False) -> ReplayedWorld:
    """A world whose maker has a bug."""
    raise RuntimeError(f"broken\nby <script>{upstream_rules}</script>\x1b[31m")


def test_a_level_that_cannot_be_built_is_told_in_one_line_and_ends_nothing(mixed_run: Path) -> None:
    with served(mixed_run, make_world=broken_world) as server:
        status, headers, body = ask(server, f"/{TOKEN}/piece/run/0/level/1")
        assert (status, headers["Content-Type"]) == (500, "application/json; charset=utf-8")
        assert b"\\u001b" in body
        (said,) = json.loads(body).values()
        assert said == "level 1 cannot be shown: RuntimeError: broken by <script>False</script>\x1b[31m"
        assert ask(server, f"/{TOKEN}/piece/report")[0] == 200


def test_what_models_said_stays_json(tmp_path: Path) -> None:
    hostile = "</script><script>alert(1)</script>\x1b[31m\u2028\r\n\r\nHTTP/1.1 200 OK\ud800"
    run = Writing(tmp_path)
    run.fail(hostile.encode("utf-8", "replace").decode())
    with served(run.path) as server:
        for piece in ("report", "run/0/level/1"):
            status, headers, body = ask(server, f"/{TOKEN}/piece/{piece}")
            assert (status, headers["Content-Type"]) == (200, "application/json; charset=utf-8")
            assert b"\r" not in body
            assert b"alert(1)" in body
            json.loads(body)


@pytest.mark.long
def test_nothing_outside_of_the_folder_can_be_had(tmp_path: Path) -> None:
    (tmp_path / "secret.json").write_text('{"attempts": [], "secret": "hidden away"}')
    run = Writing(tmp_path / "runs")
    run.solve()
    (summary,) = read_finished(run.path)
    (run.path / "trajectories" / "link.json").symlink_to(tmp_path / "secret.json")
    for name in ("../../secret.json", str(tmp_path / "secret.json"), "trajectories/link.json"):
        write_finished(run.path, [summary | {"trajectory": name, "agent_file": name}])
        with served(run.path) as server:
            for piece in ("report", "run/0/level/1"):
                assert b"hidden away" not in ask(server, f"/{TOKEN}/piece/{piece}")[2]


def test_a_world_is_built_for_one_level_at_a_time(mixed_run: Path) -> None:
    present, most = 0, 0
    lock = threading.Lock()

    def counted(level: LevelSpec, seed: int, /, *, upstream_rules: bool = False) -> ReplayedWorld:
        nonlocal present, most
        with lock:
            present += 1
            most = max(most, present)
        time.sleep(0.02)
        with lock:
            present -= 1
        return minigridenv.MiniGridEnv(level, seed, upstream_rules=upstream_rules)

    live = LiveRun(mixed_run, counted)
    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(live.level, (1, 2, 3, 1, 2)))
    assert most == 1
