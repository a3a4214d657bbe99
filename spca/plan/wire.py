"""Messages between the solver and its process: JSON objects, which do nothing when they are read."""

from __future__ import annotations

import json
from collections.abc import Mapping
from multiprocessing.connection import Connection
from typing import Any


def send_message(connection: Connection[Any, Any], message: Mapping[str, object]) -> None:
    """Send a message.

    Raises:
        ConnectionError: nobody is left to receive it.
    """
    connection.send_bytes(json.dumps(message).encode())


def receive_message(connection: Connection[Any, Any]) -> dict[str, Any]:
    """Return the next message; waits until there is one.

    Raises:
        EOFError, OSError: there are no more.
    """
    message: dict[str, Any] = json.loads(connection.recv_bytes())
    return message
