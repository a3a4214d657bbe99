"""Addresses of servers, as users write them."""

from __future__ import annotations

from urllib.parse import urlsplit


def address_fault(name: str, url: str, *, is_host: bool = False) -> str:
    """What is wrong with an address, in a line that names where it was given; "" where nothing is.

    Args:
        name: of the flag or variable.
        url: may hold a key by mistake, and is not told on where it looks so.
        is_host: whether a host and a port alone will do.
    """
    if set("@?#") & set(url):  # even in what is no address
        return f"{name}: an address holds no name, password or query: keys belong into .env"
    try:
        parts = urlsplit(url)
        is_address = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_address = False
    return "" if is_host or is_address else f"{name} {url}: an address looks like http://localhost:8000/v1"
