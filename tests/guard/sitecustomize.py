"""Keeps the Python processes that a test starts on loopback; its folder is on their ``PYTHONPATH``.

Python imports a module of this name when it starts. A connection, a datagram or a look-up that leaves this machine's
loopback is refused and noted in the file that ``TESTS_REFUSED`` names, where the session of the tests finds it. A
``sitecustomize`` further down the path is imported as if this one were not there.
"""

from __future__ import annotations

import os
import sys

_LEAVING = ("socket.connect", "socket.sendto", "socket.sendmsg")
_LOOKING_UP = ("socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr", "socket.getnameinfo")


def is_loopback(host: str | bytes) -> bool:
    """Whether a host name or address is this machine's loopback."""
    from ipaddress import ip_address

    name = host.decode() if isinstance(host, bytes) else host
    try:
        return ip_address(name).is_loopback
    except ValueError:
        return name == "localhost" or name.endswith(".localhost")


def _refuse(event: str, arguments: tuple[object, ...]) -> None:
    """An audit hook, which sees sockets of every library and cannot be taken out again."""
    if event in _LEAVING:
        target = arguments[1]
    elif event in _LOOKING_UP:
        target = arguments[0]
    else:
        return
    host = target[0] if isinstance(target, tuple) else target if event in _LOOKING_UP else None
    # Other families have paths, numbers or nothing in this place.
    if not isinstance(host, str | bytes) or not host or is_loopback(host):
        return
    told = f"a test may only reach loopback, not {target!r} ({event})"
    if note := os.environ.get("TESTS_REFUSED"):
        with open(note, "a", encoding="utf-8") as file:
            file.write(f"{told} in {' '.join(sys.orig_argv)!r}\n")
    raise PermissionError(told)


def _import_next() -> None:
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry) != here]
    this = sys.modules.pop(__name__)
    try:
        __import__(__name__)
    except ModuleNotFoundError:
        sys.modules[__name__] = this


if __name__ == "sitecustomize":
    sys.addaudithook(_refuse)
    _import_next()
