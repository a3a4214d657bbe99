"""Messages between the solver and its process: JSON objects, because reading JSON executes no code."""

from __future__ import annotations

import json
from collections.abc import Mapping
from multiprocessing.connection import Connection
from typing import Any


def send_message(connection: Connection[Any, Any], message: Mapping[str, object]) -> None:
    """Send a message.

    Raises:
        ConnectionError: the other process has ended.
    """
    connection.send_bytes(json.dumps(message).encode())


def receive_message(connection: Connection[Any, Any]) -> dict[str, Any]:
    """Wait for the next message and return it.

    Raises:
        EOFError, OSError: the other process has ended.
    """
    message: dict[str, Any] = json.loads(connection.recv_bytes())
    return message
