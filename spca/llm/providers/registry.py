"""Which provider a model's name means."""

from __future__ import annotations

import importlib
import re
from collections.abc import Mapping, Sequence
from typing import Final

from spca.common.errors import SettingsError
from spca.errors import ProviderConfigError
from spca.llm.calls.model_suggestions import nearest_model, suggest_model
from spca.llm.calls.prices import ModelTable
from spca.llm.providers.addresses import address_fault
from spca.llm.providers.base import Provider, Target
from spca.llm.providers.model_names import WITHOUT_EFFORT, ModelName
from spca.llm.providers.servers import Server, Servers

PROVIDERS: Final[Mapping[str, tuple[str, str]]] = {
    "reference": ("spca.llm.providers.offline.reference", "ReferenceProvider"),
    "faulty": ("spca.llm.providers.offline.faulty", "FaultyProvider"),
    "replay": ("spca.llm.providers.offline.replay", "ReplayProvider"),
    "human": ("spca.llm.providers.offline.human", "HumanProvider"),
    "openai": ("spca.llm.providers.openai.openai", "OpenAIProvider"),
    "anthropic": ("spca.llm.providers.anthropic.anthropic", "AnthropicProvider"),
    "google": ("spca.llm.providers.google", "GoogleProvider"),
    "ollama": ("spca.llm.providers.ollama", "OllamaProvider"),
    "llamacpp": ("spca.llm.providers.llamacpp.llamacpp", "LlamacppProvider"),
}
"""Model prefix -> module and class; imported on first use."""

IN_PROCESS: Final = WITHOUT_EFFORT
"""Prefixes of models that run within this process."""

SERVERS_VARIABLE: Final = "SPCA_SERVERS"
"""Environment variable that lists servers of the user's own: ``NAME=URL|KEY_VARIABLE``, separated by commas."""
SERVER_HELP: Final = f"a server of yours: NAME/MODEL is asked there (may be repeated; {SERVERS_VARIABLE})"
SERVER_FORM: Final = "NAME=URL[,KEY_VARIABLE]"
_NAME: Final = re.compile(r"[a-z0-9_-]{1,40}")
_VARIABLE: Final = re.compile(r"[A-Z_][A-Z0-9_]{0,99}")


def provider_for(
    model: str, *, servers: Servers | None = None, table: ModelTable | None = None
) -> tuple[Provider, str]:
    """Return the provider of a model such as ``openai/gpt-6.1-sol@high``, and its name without prefix and effort.

    A provider that offers certain models only lists them as its attribute ``models``.

    Args:
        servers: those that are not at the usual place, and those of the user's own prefixes.
        table: what is known of models; by default the built-in table.

    Raises:
        ProviderConfigError: there is no such prefix or model, it does not take the effort, or its provider lacks a key.
    """
    asked, servers = ModelName.parse(model), servers or {}
    table = table or ModelTable.load()
    prefix, name = asked.prefix, asked.name
    server = servers.get(prefix, Server())
    if (prefix in PROVIDERS or server.is_named) and not name:
        fix = ": human/editor or human/FOLDER" if prefix == "human" else ""
        raise ProviderConfigError(f"{model!r} lacks the name of a model after {prefix}/{fix}")
    if prefix not in PROVIDERS and not server.is_named:
        known = ", ".join(f"{p}/..." for p in dict.fromkeys((*PROVIDERS, *servers)))
        raise ProviderConfigError(
            f"unknown model {model!r}: the name must begin with one of {known}; --server {SERVER_FORM} adds one"
            f"{_suggest_with_prefix(model, table)}"
        )
    module, cls = PROVIDERS["openai" if server.is_named else prefix]
    info = table.info(model)
    if fault := asked.fault(info.least_effort):
        raise ProviderConfigError(fault)
    target = Target(
        name, server.url, info, is_named=server.is_named, label=asked.model, key_variable=server.key_variable
    )
    try:
        provider: Provider = getattr(importlib.import_module(module), cls)(target)
    except ProviderConfigError as error:  # no key, for instance; the name is wrong as well
        if hint := suggest_model(model, table, server.url):
            raise ProviderConfigError(f"{error}{hint}") from error
        raise
    models: Sequence[str] = getattr(provider, "models", (name,))
    if name not in models:
        known = ", ".join(f"{prefix}/{each}" for each in models)
        raise ProviderConfigError(f"unknown model {model!r}: choose one of {known}")
    return provider, name


def _suggest_with_prefix(model: str, table: ModelTable) -> str:
    near = nearest_model(model, table, has_prefix=False)
    return f" (did you mean {near}?)" if near else ""


def own_servers(flags: Sequence[str], listed: str) -> dict[str, Server]:
    """Return the servers of the user's own by name: those of flags go before those that a variable lists.

    Args:
        flags: values of ``--server``, each ``NAME=URL`` or ``NAME=URL,KEY_VARIABLE``.
        listed: the value of :data:`SERVERS_VARIABLE`, "" where it is not set.

    Raises:
        SettingsError: one of them cannot be meant; a text that may hold a key is not repeated.
    """
    found: dict[str, Server] = {}
    in_list = [text for text in (part.strip() for part in listed.split(",")) if text]
    for said, mark, texts in ((SERVERS_VARIABLE, "|", in_list), ("--server", ",", flags)):
        servers = [_server(said, mark, text.strip()) for text in texts]
        twice = next((name for at, (name, _) in enumerate(servers) if name in dict(servers[:at])), None)
        if twice:
            raise SettingsError(f"{said} {twice}: two servers have this name: give each one of its own")
        found |= dict(servers)
    return found


def servers_text(servers: Servers) -> str | None:
    """Return named servers in the form of :data:`SERVERS_VARIABLE`, None for no server."""
    texts = (f"{name}={'|'.join(filter(None, (s.url, s.key_variable)))}" for name, s in servers.items() if s.is_named)
    return ",".join(texts) or None


def _server(said: str, mark: str, text: str) -> tuple[str, Server]:
    name, equals, rest = text.partition("=")
    url, *variables = re.split("[,|]", rest)
    if not (equals and _NAME.fullmatch(name)):
        form = f"NAME=URL or NAME=URL{mark}KEY_VARIABLE"
        raise SettingsError(f"{said}: a server is given as {form}, its name of small letters, digits, _ and -")
    if name in PROVIDERS:
        raise SettingsError(f"{said} {name}: {name}/... are models already: give the server another name")
    if len(variables) > 1 or not all(map(_VARIABLE.fullmatch, variables)):
        raise SettingsError(
            f"{said} {name}: after its address comes the variable that holds its key, such as LAB_KEY: "
            "the key itself belongs into .env"
        )
    if fault := address_fault(f"{said} {name}", url if ":" in url else ""):  # any other word may be a key
        raise SettingsError(fault)
    return name, Server(url, variables[0] if variables else None, is_named=True)
