"""The walls of conftest.py around every test."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from textwrap import dedent

import pytest


def test_no_provider_settings_are_visible() -> None:
    assert not [name for name in os.environ if name.endswith(("_API_KEY", "_BASE_URL")) or name == "OLLAMA_HOST"]


@pytest.mark.parametrize("method", ["connect", "connect_ex"])
@pytest.mark.parametrize("address", [("192.0.2.1", 80), ("example.org", 80)])
def test_other_machines_cannot_be_connected_to(method: str, address: tuple[str, int]) -> None:
    with socket.socket() as sock, pytest.raises(pytest.fail.Exception, match="only reach loopback"):
        getattr(sock, method)(address)


def test_other_machines_cannot_be_sent_to() -> None:
    with (
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock,
        pytest.raises(pytest.fail.Exception, match="only reach loopback"),
    ):
        sock.sendto(b"", ("192.0.2.1", 9))


def test_other_names_cannot_be_looked_up() -> None:
    with pytest.raises(pytest.fail.Exception, match="only look up loopback"):
        socket.create_connection(("example.org", 80), timeout=1)


def test_a_caught_error_still_fails_the_test() -> None:
    with pytest.raises(pytest.fail.Exception), contextlib.suppress(Exception):
        socket.create_connection(("example.org", 80), timeout=1)


def test_http_clients_are_sent_to_a_closed_door() -> None:
    with pytest.raises(urllib.error.URLError):
        urllib.request.urlopen("http://example.org", timeout=1)


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_loopback_can_be_reached(host: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        answer = threading.Thread(target=lambda: server.accept()[0].close())
        answer.start()
        socket.create_connection((host, server.getsockname()[1]), timeout=5).close()
        answer.join()


LEAVE = {
    "connect": "socket.socket().connect(('192.0.2.1', 80))",
    "connect_ex": "socket.socket().connect_ex(('192.0.2.1', 80))",
    "IPv6": "socket.socket(socket.AF_INET6).connect(('2001:db8::1', 80))",
    "datagram": "socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'', ('192.0.2.1', 9))",
    "below socket": "import _socket; _socket.socket(socket.AF_INET, socket.SOCK_STREAM).connect(('192.0.2.1', 80))",
    "look-up": "socket.getaddrinfo('example.org', 80)",
    "older look-up": "socket.gethostbyname('example.org')",
    "asyncio": "import asyncio; asyncio.run(asyncio.open_connection('192.0.2.1', 80))",
    "grandchild": "subprocess.run([sys.executable, '-c', 'import socket; socket.gethostbyname(\"example.org\")'])",
}


@pytest.mark.parametrize("way", LEAVE)
def test_a_child_process_reaches_loopback_only(way: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    refused = tmp_path / "refused.txt"
    monkeypatch.setenv("TESTS_REFUSED", str(refused))
    done = python(f"import socket, subprocess, sys; {LEAVE[way]}")
    assert "PermissionError: a test may only reach loopback" in done.stderr
    assert refused.read_text().startswith("a test may only reach loopback")


def test_a_child_process_reaches_loopback_and_other_families() -> None:
    program = """
        import socket
        with socket.create_server(("127.0.0.1", 0)) as server:
            socket.create_connection(("localhost", server.getsockname()[1]), timeout=5).close()
        one, other = socket.socketpair()
        one.sendall(b"x")
        assert other.recv(1) == b"x"
    """
    done = python(dedent(program))
    assert (done.returncode, done.stderr) == (0, "")


def test_the_guard_makes_way_for_another_sitecustomize(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "sitecustomize.py").write_text("mark = 'here'\n")
    monkeypatch.setenv("PYTHONPATH", f"{os.environ['PYTHONPATH']}{os.pathsep}{tmp_path}")
    monkeypatch.setenv("TESTS_REFUSED", str(tmp_path / "refused.txt"))
    done = python("import sitecustomize; print(sitecustomize.mark); import socket; socket.gethostbyname('a.invalid')")
    assert done.stdout == "here\n"
    assert "may only reach loopback" in done.stderr


def test_children_are_measured_where_this_process_is(tmp_path: Path) -> None:
    """Coverage starts in them by a variable and a file of its own, which the guard leaves alone."""
    settings = tmp_path / "settings.ini"
    settings.write_text("[run]\nparallel = true\npatch = subprocess\nsource = .\n")
    (tmp_path / "child.py").write_text("import sitecustomize\nprint('measured')\n")
    (tmp_path / "parent.py").write_text(
        "import subprocess, sys\nsubprocess.run([sys.executable, 'child.py'], check=True)\n"
    )
    unmeasured = {name: text for name, text in os.environ.items() if not name.startswith("COVERAGE")}
    for command in (["run", "--rcfile", settings.name, "parent.py"], ["combine", "-q"], ["json", "-q"]):
        chosen = [command[0], *(["--rcfile", settings.name] if command[0] != "run" else []), *command[1:]]
        subprocess.run([sys.executable, "-m", "coverage", *chosen], cwd=tmp_path, env=unmeasured, check=True)
    measured = json.loads((tmp_path / "coverage.json").read_text())["files"]
    assert measured["child.py"]["summary"]["percent_covered"] == 100


def python(program: str) -> subprocess.CompletedProcess[str]:
    """Run a program with this interpreter."""
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=30, check=False)


def test_missing_program_skips_by_hand_and_fails_in_ci(
    program: Callable[[str, str], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CI", "")
    with pytest.raises(pytest.skip.Exception, match="apt install no-such-package"):
        program("no-such-program", "no-such-package")
    monkeypatch.setenv("CI", "true")
    with pytest.raises(pytest.fail.Exception, match="apt install no-such-package"):
        program("no-such-program", "no-such-package")
    assert program("sh", "dash")
