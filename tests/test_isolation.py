"""The walls of conftest.py around every test."""

from __future__ import annotations

import contextlib
import os
import socket
import threading
import urllib.error
import urllib.request
from collections.abc import Callable

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
