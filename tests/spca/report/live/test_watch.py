"""``watch`` from its first line to its end."""

from __future__ import annotations

import http.client
import json
import queue
import re
import signal
import socket
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

import minigridenv
from spca.common.files import lock_folder
from spca.errors import ReportError
from spca.report.live import watch
from spca.runs.recording.folder import LOCK
from tests.support.processes import Process
from tests.support.report.making import Writing
from tests.support.waiting import PATIENCE, becomes

ROOT = Path(watch.__file__).resolve().parents[3]
ADDRESS = re.compile(r"http://(127\.0\.0\.1|localhost|\[::1\]):([0-9]+)/([A-Za-z0-9_-]{43})/")


@contextmanager
def watched(path: Path, host: str = "127.0.0.1") -> Iterator[queue.Queue[str]]:
    """What ``serve`` announces; it is stopped, and has ended, at the end."""
    said, stop = queue.Queue[str](), threading.Event()
    options = {"host": host, "announce": said.put, "stop": stop}
    thread = threading.Thread(target=watch.serve, args=(path, minigridenv.MiniGridEnv), kwargs=options)
    before = set(threading.enumerate())
    thread.start()
    try:
        yield said
    finally:
        stop.set()
        thread.join(PATIENCE)
    for left in set(threading.enumerate()) - before:
        left.join(PATIENCE)
        assert not left.is_alive()


def opened(address: str) -> http.client.HTTPResponse:
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    answer = direct.open(address, timeout=PATIENCE)
    assert isinstance(answer, http.client.HTTPResponse)
    return answer


def get(address: str) -> str:
    with opened(address) as answer:
        return str(answer.read().decode())


def outcomes(address: str) -> list[str]:
    return [row["outcome"] for row in json.loads(get(f"{address}piece/report"))["value"]["runs"][0]["levels"]]


def test_a_run_is_seen_level_by_level(tmp_path: Path) -> None:
    run = Writing(tmp_path)
    with lock_folder(run.path, "run", LOCK), watched(run.path) as said:
        address = said.get(timeout=PATIENCE)
        assert ADDRESS.fullmatch(address)
        assert "<body data-connects>" in get(address)
        assert outcomes(address) == ["pending"] * 3
        assert get(f"{address}version") == "1"
        run.solve()
        assert becomes(lambda: get(f"{address}version") != "1")
        assert outcomes(address) == ["success", "pending", "pending"]
        assert json.loads(get(f"{address}piece/run/0/level/1"))["value"]["outcome"] == "success"
        assert said.empty()


def test_the_end_of_a_run_is_announced_once_and_the_page_stays(tmp_path: Path) -> None:
    run = Writing(tmp_path)
    with ExitStack() as running:
        running.enter_context(lock_folder(run.path, "run", LOCK))
        with watched(run.path) as said:
            address = said.get(timeout=PATIENCE)
            run.solve()
            run.fail()
            run.solve()
            run.end()
            running.close()
            assert said.get(timeout=PATIENCE) == f"run {run.path.name} has finished: 3 of 3 levels, 2 solved"
            assert outcomes(address) == ["success", "fail", "success"]
            assert said.empty()


@pytest.mark.long
def test_each_server_has_a_token_of_its_own_that_opens_it_alone(finished_run: Path) -> None:
    with watched(finished_run) as said:
        one = ADDRESS.fullmatch(said.get(timeout=PATIENCE))
        with watched(finished_run) as said_too:
            two = ADDRESS.fullmatch(said_too.get(timeout=PATIENCE))
        assert one
        assert two
        assert one[3] != two[3]
        assert get(one[0])
        for wrong in (f"http://127.0.0.1:{one[2]}/{two[3]}/", f"http://127.0.0.1:{one[2]}/"):
            with pytest.raises(urllib.error.HTTPError) as refused:
                get(wrong)
            assert refused.value.code == 404
            refused.value.close()


def test_a_port_in_use_is_one_clear_line(finished_run: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        with pytest.raises(ReportError, match=rf"^cannot listen on 127\.0\.0\.1, port {port}: Address already in use$"):
            watch.serve(finished_run, minigridenv.MiniGridEnv, port=port, announce=print, stop=None)


@pytest.mark.parametrize("host", ["127.0.0.300.localhost", "127.0.0.1 .localhost", "x" * 300 + ".localhost"])
def test_an_address_that_is_none_is_one_clear_line(finished_run: Path, host: str) -> None:
    with pytest.raises(ReportError, match=r"^cannot listen on [^\n]+, port 0: [^\n]+$"):
        watch.serve(finished_run, minigridenv.MiniGridEnv, host=host, announce=print, stop=None)


def test_a_folder_that_is_no_run_is_refused_before_anything_is_opened(tmp_path: Path) -> None:
    with pytest.raises(ReportError):
        watch.serve(tmp_path, minigridenv.MiniGridEnv, announce=pytest.fail, stop=None)


@pytest.mark.parametrize("host", ["localhost", "::1", "[::1]"])
def test_loopback_by_other_names(finished_run: Path, host: str) -> None:
    if ":" in host and not socket.has_dualstack_ipv6():
        pytest.skip("this machine has no IPv6")
    with watched(finished_run, host) as said:
        address = said.get(timeout=PATIENCE)
        assert ADDRESS.fullmatch(address)
        assert get(address)
        assert said.empty()


@pytest.mark.parametrize(
    ("host", "address", "url", "open_to_others"),
    [
        ("127.0.0.1", "127.0.0.1", "http://127.0.0.1:80/t/", False),
        ("localhost", "::1", "http://localhost:80/t/", False),
        ("::1", "::1", "http://[::1]:80/t/", False),
        ("10.0.0.7", "10.0.0.7", "http://10.0.0.7:80/t/", True),
        ("gpu-7", "10.0.0.7", "http://gpu-7:80/t/", True),
        ("2001:db8::7", "2001:db8::7", "http://[2001:db8::7]:80/t/", True),
        ("0.0.0.0", "0.0.0.0", "http://127.0.0.1:80/t/", True),  # noqa: S104  # an example
        ("::", "::", "http://[::1]:80/t/", True),
    ],
)
def test_it_says_its_address_and_whether_others_can_reach_it(
    host: str, address: str, url: str, open_to_others: bool
) -> None:
    said, *more = watch.greeting(host, address, 80, "t")
    assert said == url
    assert len(more) == open_to_others
    assert all("can read it" in line for line in more)
    assert watch.access(host, address, "t").path("/t/", {"host": url.split("/")[2]}) == ""


def test_a_server_on_one_address_does_not_answer_to_the_names_of_others() -> None:
    here, lan = watch.access("127.0.0.1", "127.0.0.1", "t"), watch.access("10.0.0.7", "10.0.0.7", "t")
    assert here.path("/t/", {"host": "10.0.0.7"}) is None
    assert lan.path("/t/", {"host": "127.0.0.1"}) is None


_PROGRAM = """
import sys
from pathlib import Path
import minigridenv
from spca.report.live import watch
watch.serve(Path(sys.argv[1]), minigridenv.MiniGridEnv, announce=lambda line: print(line, flush=True), stop=None)
"""


@pytest.mark.long
def test_an_interrupt_ends_it_well_even_with_a_page_open(finished_run: Path) -> None:
    command = [sys.executable, "-c", _PROGRAM, str(finished_run)]
    with Process(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout
        address = process.stdout.readline().strip()
        with opened(f"{address}version") as version:
            assert version.read() == b"1"
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=PATIENCE)
            assert (process.returncode, out, err) == (0, "", "")
