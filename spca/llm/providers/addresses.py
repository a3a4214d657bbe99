"""Addresses of servers, as users write them."""

from __future__ import annotations

from typing import Final
from urllib.parse import urlsplit

from spca.common.redaction import redact

VARIABLES: Final = {
    "openai": "OPENAI_BASE_URL",
    "anthropic": "ANTHROPIC_BASE_URL",
    "google": "GOOGLE_GEMINI_BASE_URL",
    "ollama": "OLLAMA_HOST",
}
"""Environment variable of the address of a provider, by prefix."""
_OWN: Final = {
    "openai": ".api.openai.com",
    "anthropic": ".api.anthropic.com",
    "google": ".generativelanguage.googleapis.com",
}
"""Where providers serve their own models: their hosts, or the ends of them (there is one for each region)."""


def is_providers_own(prefix: str, url: str | None) -> bool:
    """Return whether models of this prefix are asked for at their provider; ``url`` None is the usual place."""
    return not url or f".{host(url)}".endswith(_OWN.get(prefix, "/"))


def host(url: str) -> str:
    """Return the host of an address, "" if it has none."""
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""


def address_fault(name: str, url: str, *, is_host: bool = False) -> str:
    """What is wrong with an address, in a line that names where it was given; "" where nothing is.

    Args:
        name: of the flag or variable.
        url: may be a key by mistake, and is not told on where it looks so.
        is_host: whether a host and a port alone will do.
    """
    if set("@?#") & set(url):  # even in what is no address
        return f"{name}: an address holds no name, password or query: keys belong into .env"
    try:
        parts = urlsplit(url)
        is_address = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
        is_address &= url.isprintable() and " " not in url  # urlsplit drops line breaks
    except ValueError:
        is_address = False
    told = redact(f"{name} {url}".strip())
    return "" if is_host or is_address else f"{told}: an address looks like http://localhost:8000/v1"
