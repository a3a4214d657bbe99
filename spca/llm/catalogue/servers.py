"""Where models are asked for: addresses of providers, and servers of the user's own."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from spca.common.errors import SettingsError
from spca.common.redaction import redact
from spca.llm.catalogue.model_ref import IN_PROCESS

VARIABLES: Final = {
    "openai": "OPENAI_BASE_URL",
    "anthropic": "ANTHROPIC_BASE_URL",
    "google": "GOOGLE_GEMINI_BASE_URL",
    "ollama": "OLLAMA_HOST",
}
"""Environment variable of the address of a provider, by prefix."""
PROVIDER_HOSTS: Final = {
    "openai": ".api.openai.com",
    "anthropic": ".api.anthropic.com",
    "google": ".generativelanguage.googleapis.com",
}
"""Where providers serve their own models: their hosts, or the ends of them (there is one for each region)."""
SERVERS_VARIABLE: Final = "SPCA_SERVERS"
"""Environment variable that lists servers of the user's own: ``NAME=URL|KEY_VARIABLE``, separated by commas."""
SERVER_FORM: Final = "NAME=URL[,KEY_VARIABLE]"

_NAME: Final = re.compile(r"[a-z0-9_-]{1,40}")
_VARIABLE: Final = re.compile(r"[A-Z_][A-Z0-9_]{0,99}")


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


def is_providers_own(prefix: str, url: str | None) -> bool:
    """Return whether models of this prefix are asked for at their provider; ``url`` None is the usual place."""
    return not url or f".{host(url)}".endswith(PROVIDER_HOSTS.get(prefix, "/"))


def host(url: str) -> str:
    """Return the host of an address, "" if it has none."""
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""


def find_address_fault(name: str, url: str, *, is_host: bool = False) -> str:
    """Return what is wrong with an address, in a line that names where it was given; "" where nothing is.

    Args:
        name: of the flag or variable.
        url: may be a key by mistake, and is not repeated where it looks so.
        is_host: whether a host and a port alone will do.
    """
    if set("@?#") & set(url):  # even in what is no address
        return f"{name}: an address holds no name, password or query: keys belong into .env"
    try:
        parts = urlsplit(url)
        is_address = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_address = False
    is_whole = url.isprintable() and " " not in url  # urlsplit drops line breaks
    if is_host or (is_address and is_whole):
        return ""
    return f"{redact(f'{name} {url}'.strip())}: an address looks like http://localhost:8000/v1"


def parse_servers(flags: Sequence[str], listed: str) -> dict[str, Server]:
    """Return the servers of the user's own by name: those of flags go before those that a variable lists.

    Args:
        flags: values of ``--server``, each ``NAME=URL`` or ``NAME=URL,KEY_VARIABLE``.
        listed: the value of :data:`SERVERS_VARIABLE`, "" where it is not set.

    Raises:
        SettingsError: one of them cannot be meant; a text that may hold a key is not repeated.
    """
    in_list = [text for text in listed.split(",") if text.strip()]
    return _parse_all(SERVERS_VARIABLE, "|", in_list) | _parse_all("--server", ",", flags)


def format_servers(servers: Servers) -> str | None:
    """Return named servers in the form of :data:`SERVERS_VARIABLE`, None for no server."""
    texts = []
    for name, server in servers.items():
        if server.is_named:
            key = f"|{server.key_variable}" if server.key_variable else ""
            texts.append(f"{name}={server.url}{key}")
    return ",".join(texts) or None


def _parse_all(given_by: str, mark: str, texts: Sequence[str]) -> dict[str, Server]:
    found: dict[str, Server] = {}
    for text in texts:
        name, server = _parse_server(given_by, mark, text.strip())
        if name in found:
            raise SettingsError(f"{given_by} {name}: two servers have this name: give each one of its own")
        found[name] = server
    return found


def _parse_server(given_by: str, mark: str, text: str) -> tuple[str, Server]:
    name, equals, rest = text.partition("=")
    url, *variables = re.split("[,|]", rest)
    if not (equals and _NAME.fullmatch(name)):
        form = f"NAME=URL or NAME=URL{mark}KEY_VARIABLE"
        raise SettingsError(f"{given_by}: a server is given as {form}, its name of small letters, digits, _ and -")
    if name in VARIABLES or name in IN_PROCESS:
        raise SettingsError(f"{given_by} {name}: {name}/... are models already: give the server another name")
    if len(variables) > 1 or not all(map(_VARIABLE.fullmatch, variables)):
        raise SettingsError(
            f"{given_by} {name}: after its address comes the variable that holds its key, such as LAB_KEY: "
            "the key itself belongs into .env"
        )
    shown = url if ":" in url else ""  # any other word may be a key
    if fault := find_address_fault(f"{given_by} {name}", shown):
        raise SettingsError(fault)
    return name, Server(url, variables[0] if variables else None, is_named=True)
