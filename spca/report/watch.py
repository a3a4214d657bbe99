"""``watch``: the page of a run, live while the run goes on."""

from __future__ import annotations

import secrets
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

from spca.errors import ReportError
from spca.report import page
from spca.report.access import LOOPBACK, Access, is_loopback
from spca.report.live import LiveRun
from spca.report.serving import LiveServer, Page, answering
from spca.watching import WorldMaker

POLL_S: Final = 0.5
"""Seconds between two looks at the folder."""
_ANY: Final = ("0.0.0.0", "::")  # noqa: S104  # how all addresses are told from one


def serve(
    path: Path,
    make_world: WorldMaker,
    *,
    host: str = "127.0.0.1",
    port: int = 0,
    announce: Callable[[str], None],
    stop: threading.Event | None = None,
) -> None:
    """Serve the page of a run until ``stop`` is set or the user interrupts, also after the run has ended.

    Args:
        path: the run's folder; only read.
        host: name or address to listen on; any but loopback opens the run to those who have the page's address.
        port: 0 takes any that is free.
        announce: given the page's address, and a line when the run ends.

    Raises:
        ReportError: the folder is no run, or the address cannot be listened on.
    """
    live = LiveRun(path, make_world)
    token = secrets.token_urlsafe(32)
    server = _listening(live, host, port, token)
    with suppress(KeyboardInterrupt), answering(server):
        for line in _greeting(host, server, token):
            announce(line)
        _follow(live, announce, stop or threading.Event())


def _listening(live: LiveRun, host: str, port: int, token: str) -> LiveServer:
    html = Page.of(page.live(live.run.id), page.policy(live=True))
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        names = frozenset({host.lower().strip("[]"), str(address[0]).lower()})
        any_address = address[0] in _ANY
        if any_address or is_loopback(str(address[0])):
            names |= LOOPBACK
        if any_address:
            names |= {socket.gethostname().lower()}
        return LiveServer(family, address, live, html, Access(token, names, any_address))
    except (OSError, UnicodeError) as error:
        reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
        raise ReportError(f"cannot listen on {host}, port {port}: {reason}") from error


def _greeting(host: str, server: LiveServer, token: str) -> Iterator[str]:
    address = str(server.server_address[0])
    name = ("[::1]" if ":" in address else "127.0.0.1") if address in _ANY else host
    if ":" in name and not name.startswith("["):
        name = f"[{name}]"
    yield f"http://{name}:{server.port}/{token}/"
    if not is_loopback(address):
        yield f"listening on {host}: anyone who can reach it and has this address, with its token, can read the run"


def _follow(live: LiveRun, announce: Callable[[str], None], stop: threading.Event) -> None:
    """Look at the folder again and again; says when the run ends."""
    state = live.run.state
    while not stop.wait(POLL_S):
        if not live.refresh():
            continue
        run, before, state = live.run, state, live.run.state
        if before == "running" != state:
            counts = f"{run.finished} of {run.planned} levels, {run.solved} solved"
            announce(f"run {run.id} has {'finished' if state == 'finished' else 'stopped'}: {counts}")
