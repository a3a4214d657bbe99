"""Access control for requests to a :class:`~spca.common.web.token_server.TokenServer` (pure).

A request must contain the secret token in its address. Two further checks defend against pages of other sites that are
open in the same browser. First, the host name must be known. This refuses an attacker's DNS name for this machine (DNS
rebinding). Second, the headers of the browser must not say that the request comes from another site.
"""

from __future__ import annotations

import hmac
import re
from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Final

LOOPBACK: Final = frozenset({"localhost", "127.0.0.1", "::1"})

# Host header: an IPv6 address in brackets, or a name or IPv4 address; then an optional port.
_HOST: Final = re.compile(r"(\[[0-9A-Fa-f:.]{2,45}\]|[A-Za-z0-9._-]{1,253})(?::[0-9]{1,5})?")


@dataclass(frozen=True, slots=True)
class Access:
    """Rules that a request must satisfy.

    Attributes:
        token: the secret, which is the first segment of every path.
        names: host names and addresses of this server in lower case, without ports. Ports are not checked, because a
            tunnel or a container may forward another port, and no attack depends on the port.
        any_address: whether the server listens on all addresses of the machine. Then every IP address is accepted as
            host, because an IP address cannot be the DNS name of an attacker.
    """

    token: str
    names: frozenset[str]
    any_address: bool = False

    def path(self, target: str, headers: Mapping[str, str]) -> str | None:
        """Return the requested path after the token, without the query; None if the request is refused.

        Args:
            target: target of the request line, not decoded, so that each resource has exactly one address.
            headers: name of a header in lower case -> value.
        """
        # A valid target is /TOKEN/PATH?QUERY.
        root, _, below_root = target.partition("?")[0].partition("/")
        token, slash, path = below_root.partition("/")
        has_token = hmac.compare_digest(token.encode(), self.token.encode())
        is_well_formed = root == "" and slash == "/"
        if not (has_token and is_well_formed and self._is_own_host(headers.get("host", ""))):
            return None
        opens_start_page = path == "" and _opens_page(headers)
        return path if _has_same_origin(headers) or opens_start_page else None

    def _is_own_host(self, host: str) -> bool:
        """Return whether a Host header names this server."""
        match = _HOST.fullmatch(host)
        if not match:
            return False
        name = match[1].strip("[]").lower().removesuffix(".")
        return name in self.names or (self.any_address and _is_ip_address(name))


def is_loopback(address: str) -> bool:
    """Return whether only this machine can reach an address."""
    return _is_ip_address(address) and ip_address(address).is_loopback


def _has_same_origin(headers: Mapping[str, str]) -> bool:
    """Return whether a request comes from a page of this server, or from no page at all."""
    origin = headers.get("origin")
    own_origin = f"http://{headers.get('host', '')}"
    if origin is not None and origin.lower() != own_origin.lower():
        return False
    return headers.get("sec-fetch-site", "none") in ("none", "same-origin")


def _opens_page(headers: Mapping[str, str]) -> bool:
    """Return whether a request opens a page in a tab, for example because a user follows a link on another site.

    Such a request is safe, because the other site cannot read the opened page. The other site may be a terminal in the
    browser.
    """
    return headers.get("sec-fetch-mode") == "navigate" and headers.get("sec-fetch-dest") == "document"


def _is_ip_address(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True
