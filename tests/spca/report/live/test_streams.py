"""Event streams of the live server, and its end."""

from __future__ import annotations

import json
import time
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.support.report.asking import TOKEN, answering_threads, ask, connected, events, served, until
from tests.support.report.making import Writing
from tests.support.waiting import AGES, PATIENCE


def test_event_streams_leave_room_for_requests(finished_run: Path) -> None:
    with served(finished_run) as server:
        streams = [events(server) for _ in range(40)]
        assert {next(stream)["id"] for stream in streams} == {"1"}
        assert ask(server, f"/{TOKEN}/")[0] == 200


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
    with served(finished_run, heartbeat_s=0.05) as server:
        stream = events(server, last="1")
        assert [next(stream), next(stream)] == [{"": "still here"}] * 2
        for strange in ("-1", "x", "1" * 400, ""):
            assert next(events(server, last=strange))["id"] == "1"


@pytest.mark.long
def test_streams_outlast_the_timeout_of_clients(finished_run: Path) -> None:
    with served(finished_run, timeout_s=1.0, heartbeat_s=0.6) as server:
        stream = events(server)
        assert [next(stream).get("id") for _ in range(3)] == ["1", None, None]


@pytest.mark.long
def test_streams_of_clients_that_went_away_end_silently_and_make_room(
    finished_run: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with served(finished_run, heartbeat_s=0.05) as server:
        for _ in range(2):
            stream = events(server)
            next(stream)
            until(lambda: len(answering_threads()) == 1)
            stream.close()  # type: ignore[attr-defined]  # it is a generator
            until(lambda: not answering_threads())
    assert capfd.readouterr() == ("", "")


def test_closing_ends_open_streams_and_waits_for_no_stalled_client(finished_run: Path) -> None:
    with ExitStack() as held:
        with served(finished_run, heartbeat_s=AGES) as server:
            streams = [events(server) for _ in range(3)]
            for stream in streams:
                next(stream)
            held.enter_context(connected(server)).sendall(b"GET / HTTP/1.1\r\n")
            until(lambda: len(answering_threads()) == 4)
            started = time.monotonic()
        assert time.monotonic() - started < PATIENCE
        for stream in streams:
            assert list(stream) == []
    until(lambda: not answering_threads())
    with pytest.raises(ConnectionRefusedError):
        ask(server, f"/{TOKEN}/")
