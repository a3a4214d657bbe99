"""The live server against clients that are clumsy, slow or hostile."""

from __future__ import annotations

import gzip
import http.client
import json
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

import minigridenv
from spca.report.access import LOOPBACK, Access
from spca.report.live import LiveRun
from spca.report.serving import Limits, LiveServer, Page, answering
from spca.watching import ReplayedWorld, WorldMaker
from tests.spca.report.making import Writing

TOKEN = "the-token"  # noqa: S105  # of these tests
HTML = "<!doctype html><title>page</title>" + "x" * 2000
SAME_ON_ALL = {
    "Cache-Control": "no-store",
    "Connection": "close",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}


@contextmanager
def served(
    path: Path, limits: Limits | None = None, make_world: WorldMaker = minigridenv.MiniGridEnv
) -> Iterator[LiveServer]:
    live = LiveRun(path, make_world, rest_s=0.0)
    page = Page.of(HTML, "default-src 'none'; script-src 'sha256-x'")
    access = Access(TOKEN, LOOPBACK)
    server = LiveServer(socket.AF_INET, ("127.0.0.1", 0), live, page, access, limits or Limits())
    with answering(server):
        yield server


@pytest.fixture(scope="module")
def server(mixed_run: Path) -> Iterator[LiveServer]:
    with served(mixed_run) as server:
        yield server


def ask(
    server: LiveServer,
    path: str,
    method: str = "GET",
    headers: Mapping[str, str] | None = None,
    body: str | None = None,
) -> tuple[int, dict[str, str], bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=20)
    try:
        connection.request(method, path, body, dict(headers or {}))
        answer = connection.getresponse()
        return answer.status, dict(answer.getheaders()), answer.read()
    finally:
        connection.close()


def raw(server: LiveServer, data: bytes, timeout: float = 20) -> bytes:
    """What comes back until the server closes."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=timeout) as client:
        with suppress(ConnectionError):  # it may have answered and closed before everything was sent
            client.sendall(data)
        parts = list[bytes]()
        with suppress(ConnectionError):
            while part := client.recv(65536):
                parts.append(part)
        return b"".join(parts)


def without_date(answer: tuple[int, dict[str, str], bytes]) -> tuple[int, dict[str, str], bytes]:
    status, headers, body = answer
    return status, {name: value for name, value in headers.items() if name != "Date"}, body


def answering_threads() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if "process_request_thread" in thread.name]


def until(condition: Callable[[], bool], seconds: float = 5.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.01)


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
        for path in ("", "piece/report", "events"):
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
    status, headers, body = ask(server, f"/{TOKEN}/events", "HEAD")
    assert (status, headers["Content-Type"], body) == (200, "text/event-stream; charset=utf-8", b"")
    assert ask(server, "/events", "HEAD")[0] == 404


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


def test_clients_that_dawdle_are_cut_off_while_others_are_answered(finished_run: Path) -> None:
    with served(finished_run, Limits(asking_s=0.4)) as server:
        started = time.monotonic()
        with socket.create_connection(("127.0.0.1", server.port), timeout=0.05) as slow:
            slow.sendall(b"GET / HTTP/1.1\r\nX: ")
            assert not dripped(slow, lambda: ask(server, f"/{TOKEN}/")[0] == 200 and time.monotonic() < started + 8)
        assert time.monotonic() - started >= 0.4


def dripped(client: socket.socket, wanted: Callable[[], bool]) -> bytes:
    """Send a byte now and then, each of which begins a timeout of the socket anew, until an answer or an end comes."""
    while wanted():
        try:
            client.sendall(b"a")
            return client.recv(1000)
        except TimeoutError:
            continue
        except ConnectionError:
            return b""
    return b"never cut off"


def test_more_connections_than_allowed_are_closed_and_room_comes_back(finished_run: Path) -> None:
    with served(finished_run, Limits(connections=3)) as server:
        held = [socket.create_connection(("127.0.0.1", server.port), timeout=10) for _ in range(3)]
        until(lambda: len(answering_threads()) >= 3)
        with suppress(ConnectionError):
            assert raw(server, b"GET / HTTP/1.1\r\n\r\n") == b""
        for client in held:
            client.close()

        def answered() -> bool:
            with suppress(ConnectionError, http.client.HTTPException):
                return ask(server, f"/{TOKEN}/")[0] == 200
            return False

        until(answered)


def test_event_streams_leave_room_for_requests(finished_run: Path) -> None:
    with served(finished_run, Limits(streams=2)) as server:
        streams = [events(server) for _ in range(2)]
        assert [next(stream)["id"] for stream in streams] == ["1", "1"]
        assert ask(server, f"/{TOKEN}/events")[0] == 503
        assert ask(server, f"/{TOKEN}/")[0] == 200


def events(server: LiveServer, last: str | None = None, timeout: float = 10) -> Iterator[dict[str, str]]:
    """Events as a browser takes them in; comments have the name "": they are events here so that tests see them."""
    client = socket.create_connection(("127.0.0.1", server.port), timeout=timeout)
    known = f"Last-Event-ID: {last}\r\n" if last is not None else ""
    client.sendall(f"GET /{TOKEN}/events HTTP/1.1\r\nHost: localhost\r\n{known}\r\n".encode())
    with client, client.makefile("r", encoding="utf-8", newline="\n") as lines:
        assert lines.readline() == "HTTP/1.1 200 OK\r\n"
        while lines.readline() != "\r\n":
            continue
        fields = dict[str, str]()
        for line in lines:
            if line != "\n":
                name, _, value = line.rstrip("\n").partition(": ")
                fields[name] = value
            elif set(fields) - {"retry"}:
                yield fields
                fields = {}
            else:
                assert fields == {"retry": "2000"}
                fields = {}


def test_a_stream_tells_the_present_version_then_each_change(tmp_path: Path) -> None:
    run = Writing(tmp_path)
    with served(run.path) as server:
        stream = events(server)
        first = next(stream)
        assert first == {"id": "1", "event": "change", "data": '{"version": 1}'}
        for expected, step in ((2, run.begin), (3, run.plan)):
            step()
            until(server.live.refresh)
            assert json.loads(next(stream)["data"]) == {"version": expected}
        again = events(server, last="2")
        assert next(again)["id"] == "3"


def test_a_silent_stream_says_that_it_is_alive(finished_run: Path) -> None:
    with served(finished_run, Limits(heartbeat_s=0.05)) as server:
        stream = events(server, last="1")
        assert [next(stream), next(stream)] == [{"": "still here"}] * 2
        for strange in ("-1", "x", "1" * 400, ""):
            assert next(events(server, last=strange))["id"] == "1"


def test_streams_outlast_the_time_for_asking(finished_run: Path) -> None:
    with served(finished_run, Limits(asking_s=0.1, heartbeat_s=0.3)) as server:
        stream = events(server)
        assert [next(stream).get("id") for _ in range(3)] == ["1", None, None]


def test_streams_of_clients_that_went_away_end_silently_and_make_room(
    finished_run: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with served(finished_run, Limits(heartbeat_s=0.05, streams=1)) as server:
        for _ in range(2):
            stream = events(server)
            next(stream)
            until(lambda: len(answering_threads()) == 1)
            stream.close()  # type: ignore[attr-defined]  # it is a generator
            until(lambda: not answering_threads())
    assert capfd.readouterr() == ("", "")


def test_closing_ends_open_streams_and_idle_connections_at_once(finished_run: Path) -> None:
    with served(finished_run) as server:
        streams = [events(server) for _ in range(3)]
        for stream in streams:
            next(stream)
        idle = socket.create_connection(("127.0.0.1", server.port), timeout=10)
        until(lambda: len(answering_threads()) == 4)
        started = time.monotonic()
    assert time.monotonic() - started < 2
    until(lambda: not answering_threads())
    for stream in streams:
        assert list(stream) == []
    with idle:
        assert idle.recv(10) == b""
    with pytest.raises(ConnectionRefusedError):
        ask(server, f"/{TOKEN}/")


def test_many_at_once(server: LiveServer) -> None:
    paths = [f"/{TOKEN}/{rest}" for rest in ("", "piece/report", "piece/run/0/level/1", "piece/run/0/level/2")] * 8
    with ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(lambda path: ask(server, path), paths))
    assert {status for status, _, _ in answers} == {200}
    assert answers[2][2] == answers[30][2]


def broken_world(_env_id: str, _seed: int, /, *, upstream_rules: bool = False) -> ReplayedWorld:
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
            assert body.isascii()
            assert b"\r" not in body
            assert b"alert(1)" in body
            json.loads(body)


def test_nothing_outside_of_the_folder_can_be_had(tmp_path: Path) -> None:
    (tmp_path / "secret.json").write_text('{"attempts": [], "secret": "hidden away"}')
    run = Writing(tmp_path / "runs")
    run.solve()
    state = json.loads((run.path / "state.json").read_text())
    (run.path / "trajectories" / "link.json").symlink_to(tmp_path / "secret.json")
    for name in ("../../secret.json", str(tmp_path / "secret.json"), "trajectories/link.json"):
        state["finished"][0] |= {"trajectory": name, "agent_file": name}
        (run.path / "state.json").write_text(json.dumps(state))
        with served(run.path) as server:
            for piece in ("report", "run/0/level/1"):
                assert b"hidden away" not in ask(server, f"/{TOKEN}/piece/{piece}")[2]


def test_a_world_is_built_for_one_level_at_a_time(mixed_run: Path) -> None:
    present, most = 0, 0
    lock = threading.Lock()

    def counted(env_id: str, seed: int, /, *, upstream_rules: bool = False) -> ReplayedWorld:
        nonlocal present, most
        with lock:
            present += 1
            most = max(most, present)
        time.sleep(0.02)
        with lock:
            present -= 1
        return minigridenv.MiniGridEnv(env_id, seed, upstream_rules=upstream_rules)

    live = LiveRun(mixed_run, counted)
    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(live.level, (1, 2, 3, 1, 2)))
    assert most == 1
