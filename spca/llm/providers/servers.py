"""Where models are asked for, and with which key (values)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Server:
    """The server of a prefix.

    Attributes:
        url: None for the provider's usual place, or the one that its environment variable names.
        key_variable: environment variable that holds its key; None for the provider's own variables.
        is_named: the user made up its prefix: it speaks OpenAI's protocol, and no key of a provider is sent to it.
    """

    url: str | None = None
    key_variable: str | None = None
    is_named: bool = False


Servers = Mapping[str, Server]
"""Servers by prefix; a prefix that is left out is at its usual place."""
