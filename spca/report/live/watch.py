"""The command ``watch``: serve a live page of a run."""

from __future__ import annotations

import secrets
import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Final

from spca.act.frame import WorldMaker
from spca.common.web.access import LOOPBACK, Access, is_loopback
from spca.common.web.token_server import Page, answering
from spca.errors import ReportError
from spca.report.live.http_server import LiveServer
from spca.report.live.live_run import LiveRun
from spca.report.page import assembly

POLL_S: Final = 0.5
"""Seconds between two checks of the folder for changes."""
_ANY: Final = ("0.0.0.0", "::")  # noqa: S104  # not to listen on, but to recognise hosts that mean all addresses


def serve(
    path: Path,
    make_world: WorldMaker,
    *,
    host: str = "127.0.0.1",
    port: int = 0,
    announce: Callable[[str], None],
    stop: threading.Event | None = None,
) -> None:
    """Serve the page of a run until ``stop`` is set or the user presses Ctrl-C.

    The server does not stop when the run ends.

    Args:
        path: the run's folder, which is only read.
        host: name or address to listen on. With a loopback address, only this machine can open the page. With another
            address, everyone who knows the page's address can open the page.
        port: port to listen on; 0 for any free port.
        announce: receives the lines for the user: the page's address, and the end of the run.

    Raises:
        ReportError: the folder is not the folder of a run, or the server cannot listen on the address.
    """
    live = LiveRun(path, make_world)
    host = host.strip("[]")
    token = secrets.token_urlsafe(32)
    server = _listening(live, host, port, token)
    with suppress(KeyboardInterrupt), answering(server):
        for line in greeting(host, str(server.server_address[0]), server.port, token):
            announce(line)
        _follow(live, announce, stop or threading.Event())


def access(host: str, address: str, token: str) -> Access:
    """Return the rules for requests: the token and the accepted host names.

    Args:
        host: name or address that the user gave.
        address: IP address that the server listens on.
    """
    names = frozenset({host.lower(), address.lower()})
    if address in _ANY:
        return Access(token, names | LOOPBACK | {socket.gethostname().lower()}, any_address=True)
    return Access(token, names | LOOPBACK if is_loopback(address) else names)


def greeting(host: str, address: str, port: int, token: str) -> list[str]:
    """Return a line with the page's address and, if other machines can read the page, a line with a warning."""
    name = host
    if address in _ANY:
        name = "::1" if ":" in address else "127.0.0.1"
    host_part = f"[{name}]" if ":" in name else name
    lines = [f"http://{host_part}:{port}/{token}/"]
    if not is_loopback(address):
        lines.append(f"listening on {host}: anyone who can reach it and has this address, token and all, can read it")
    return lines


def _listening(live: LiveRun, host: str, port: int, token: str) -> LiveServer:
    """Return a server of the live page that listens on a host and a port.

    Raises:
        ReportError: the server cannot listen on the address.
    """
    kind = replace(assembly.PAGE, connects=True)
    html = Page.pack(kind.render(live.view.run.id), kind.policy())
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        return LiveServer(family, address, live, html, access(host, str(address[0]), token))
    except (OSError, UnicodeError) as error:
        reason = str(error)
        if isinstance(error, OSError) and error.strerror:
            reason = error.strerror
        raise ReportError(f"cannot listen on {host}, port {port}: {reason}") from error


def _follow(live: LiveRun, announce: Callable[[str], None], stop: threading.Event) -> None:
    """Refresh the view every :data:`POLL_S` seconds until ``stop`` is set, and announce the end of the run."""
    while not stop.wait(POLL_S):
        was_running = live.view.run.state == "running"
        live.refresh()
        run = live.view.run
        if was_running and run.state != "running":
            levels = f"{run.finished} of {run.planned} levels, {run.solved} solved"
            announce(f"run {run.id} has {run.state}: {levels}")
