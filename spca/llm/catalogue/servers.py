"""Servers of models: addresses of the providers, and servers that the user has added."""

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
"""Prefix -> environment variable with the address of the provider."""
PROVIDER_HOSTS: Final = {
    "openai": ".api.openai.com",
    "anthropic": ".api.anthropic.com",
    "google": ".generativelanguage.googleapis.com",
}
"""Prefix -> ending of the host names at which the provider itself serves its models; an ending may cover regional
hosts.
"""
SERVERS_VARIABLE: Final = "SPCA_SERVERS"
"""Environment variable that lists servers of the user: ``NAME=URL`` or ``NAME=URL|KEY_VARIABLE``, between commas."""
SERVER_FORM: Final = "NAME=URL[,KEY_VARIABLE]"

_NAME: Final = re.compile(r"[a-z0-9_-]{1,40}")
_VARIABLE: Final = re.compile(r"[A-Z_][A-Z0-9_]{0,99}")


@dataclass(frozen=True, slots=True)
class Server:
    """The server for the models of one prefix.

    Attributes:
        url: address; None for the address in the provider's environment variable, or else the usual address.
        key_variable: environment variable with the key of the server; None for the provider's own variables.
        is_named: whether the user has added the server under a new prefix. If so, the server speaks OpenAI's protocol
            and is never sent a provider's key.
    """

    url: str | None = None
    key_variable: str | None = None
    is_named: bool = False


Servers = Mapping[str, Server]
"""Prefix -> server; a prefix that is missing here has its usual server."""


def is_providers_own(prefix: str, url: str | None) -> bool:
    """Return whether an address belongs to the provider of the prefix itself; None stands for the usual address."""
    if not url:
        return True
    provider_host = PROVIDER_HOSTS.get(prefix)
    return provider_host is not None and f".{host(url)}".endswith(provider_host)


def host(url: str) -> str:
    """Return the host of an address, "" if the address has no host."""
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""


def find_address_fault(name: str, url: str, *, is_host: bool = False) -> str:
    """Return a message about what is wrong with an address, "" if the address is valid.

    Args:
        name: the flag or variable that holds the address, for the message.
        url: the address. A user may give a key by mistake, so the message repeats no text that looks like a key.
        is_host: whether a host with a port, without a scheme, is valid too.
    """
    if set("@?#") & set(url):  # checked before the form, so that no password can be repeated below
        return f"{name}: an address holds no name, password or query: keys belong into .env"
    try:
        parts = urlsplit(url)
        is_address = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_address = False
    is_one_word = url.isprintable() and " " not in url  # urlsplit drops line breaks without an error
    if is_host or (is_address and is_one_word):
        return ""
    shown = redact(f"{name} {url}".strip())
    return f"{shown}: an address looks like http://localhost:8000/v1"


def parse_servers(flags: Sequence[str], listed: str) -> dict[str, Server]:
    """Return the servers that the user has added, by name; a flag replaces a listed server of the same name.

    Args:
        flags: values of ``--server``, each ``NAME=URL`` or ``NAME=URL,KEY_VARIABLE``.
        listed: the value of :data:`SERVERS_VARIABLE`, "" if the variable is not set.

    Raises:
        SettingsError: a text has another form; the message repeats no text that may be a key.
    """
    listed_texts = [text for text in listed.split(",") if text.strip()]
    listed_servers = _parse_all(SERVERS_VARIABLE, "|", listed_texts)
    return listed_servers | _parse_all("--server", ",", flags)


def format_servers(servers: Servers) -> str | None:
    """Return the servers that the user has added, in the form of :data:`SERVERS_VARIABLE`; None if there are none."""
    texts = []
    for name, server in servers.items():
        if server.is_named:
            key = f"|{server.key_variable}" if server.key_variable else ""
            texts.append(f"{name}={server.url}{key}")
    return ",".join(texts) or None


def _parse_all(given_by: str, separator: str, texts: Sequence[str]) -> dict[str, Server]:
    """Return the servers of all texts by name; raise SettingsError if two servers have the same name."""
    servers: dict[str, Server] = {}
    for text in texts:
        name, server = _parse_server(given_by, separator, text.strip())
        if name in servers:
            raise SettingsError(f"{given_by} {name}: two servers have this name: give each one of its own")
        servers[name] = server
    return servers


def _parse_server(given_by: str, separator: str, text: str) -> tuple[str, Server]:
    """Return name and server of a text.

    Args:
        given_by: the flag or variable that holds the text, for messages.
        separator: "," or "|": the character that the documentation puts before the key variable; both are accepted.
    """
    name, equals, rest = text.partition("=")
    url, *variables = re.split("[,|]", rest)
    if not (equals and _NAME.fullmatch(name)):
        form = f"NAME=URL or NAME=URL{separator}KEY_VARIABLE"
        raise SettingsError(f"{given_by}: a server is given as {form}, its name of small letters, digits, _ and -")
    if name in VARIABLES or name in IN_PROCESS:
        raise SettingsError(f"{given_by} {name}: {name}/... are models already: give the server another name")
    if len(variables) > 1 or not all(map(_VARIABLE.fullmatch, variables)):
        raise SettingsError(
            f"{given_by} {name}: after its address comes the variable that holds its key, such as LAB_KEY: "
            "the key itself belongs into .env"
        )
    shown = url if ":" in url else ""  # a word without a colon is no address, and may be a key
    if fault := find_address_fault(f"{given_by} {name}", shown):
        raise SettingsError(fault)
    key_variable = variables[0] if variables else None
    return name, Server(url, key_variable, is_named=True)
