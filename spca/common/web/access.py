"""Who may ask a server of ours for what (pure).

The token in the address is the key. The rest is depth of defence, against pages of other sites that the same browser
has open: a name that an attacker's DNS points at this machine (DNS rebinding) is not answered, nor is a request that
the browser says another site made.
"""

from __future__ import annotations

import hmac
import re
from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Final

LOOPBACK: Final = frozenset({"localhost", "127.0.0.1", "::1"})

_HOST: Final = re.compile(r"(\[[0-9A-Fa-f:.]{2,45}\]|[A-Za-z0-9._-]{1,253})(?::[0-9]{1,5})?")


@dataclass(frozen=True, slots=True)
class Access:
    """What a request must show.

    Attributes:
        token: the first segment of every address.
        names: names and addresses of this server in small letters, without ports; these differ where a tunnel or a
            container forwards one port to another, and no attack needs that.
        any_address: it listens on all addresses of the machine, so that it goes by any number; a number is never
            somebody's DNS name.
    """

    token: str
    names: frozenset[str]
    any_address: bool = False

    def path(self, target: str, headers: Mapping[str, str]) -> str | None:
        """What is asked for below the token, without the query; None where nothing may be said.

        Args:
            target: of the request line, as it came: nothing in it is decoded, so that each piece has one address.
            headers: by name in small letters.
        """
        root, _, below = target.partition("?")[0].partition("/")
        token, slash, rest = below.partition("/")
        known = hmac.compare_digest(token.encode(), self.token.encode())
        if not (known and root == "" and slash and self._is_named(headers.get("host", ""))):
            return None
        return rest if _has_same_origin(headers) or (rest == "" and _opens_page(headers)) else None

    def _is_named(self, host: str) -> bool:
        found = _HOST.fullmatch(host)
        if not found:
            return False
        name = found[1].strip("[]").lower().removesuffix(".")
        return name in self.names or (self.any_address and _is_number(name))


def is_loopback(address: str) -> bool:
    """Whether only this machine can reach an address."""
    return _is_number(address) and ip_address(address).is_loopback


def _has_same_origin(headers: Mapping[str, str]) -> bool:
    origin = headers.get("origin")
    if origin is not None and origin.lower() != f"http://{headers.get('host', '')}".lower():
        return False
    return headers.get("sec-fetch-site", "none") in ("none", "same-origin")


def _opens_page(headers: Mapping[str, str]) -> bool:
    """A link was followed, as from a terminal that is itself a web page; its site learns nothing of what is opened."""
    return headers.get("sec-fetch-mode") == "navigate" and headers.get("sec-fetch-dest") == "document"


def _is_number(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True
