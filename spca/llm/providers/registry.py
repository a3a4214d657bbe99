"""Which provider a model's name means."""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from typing import Final

from spca.errors import ProviderConfigError
from spca.llm.calls.prices import ModelTable
from spca.llm.providers.base import Provider, Target
from spca.llm.providers.model_names import ModelName
from spca.llm.providers.servers import Server, Servers

PROVIDERS: Final[Mapping[str, tuple[str, str]]] = {
    "reference": ("spca.llm.providers.offline.reference", "ReferenceProvider"),
    "faulty": ("spca.llm.providers.offline.faulty", "FaultyProvider"),
    "replay": ("spca.llm.providers.offline.replay", "ReplayProvider"),
    "openai": ("spca.llm.providers.openai.openai", "OpenAIProvider"),
    "anthropic": ("spca.llm.providers.anthropic.anthropic", "AnthropicProvider"),
    "google": ("spca.llm.providers.google", "GoogleProvider"),
    "ollama": ("spca.llm.providers.ollama", "OllamaProvider"),
    "llamacpp": ("spca.llm.providers.llamacpp.llamacpp", "LlamacppProvider"),
}
"""Model prefix -> module and class; imported on first use."""

IN_PROCESS: Final = frozenset({"reference", "faulty", "replay", "llamacpp"})
"""Prefixes of models that run within this process."""


def provider_for(
    model: str, *, servers: Servers | None = None, table: ModelTable | None = None
) -> tuple[Provider, str]:
    """Return the provider of a model such as ``openai/gpt-6.1-sol@high``, and its name without prefix and effort.

    A provider that offers certain models only lists them as its attribute ``models``.

    Args:
        servers: those that are not at the usual place, and those of the user's own prefixes.
        table: what is known of models; by default the built-in table.

    Raises:
        ProviderConfigError: there is no such prefix or model, or its provider lacks a key.
    """
    asked, servers = ModelName.parse(model), servers or {}
    prefix, name = asked.prefix, asked.name
    server = servers.get(prefix, Server())
    if (prefix in PROVIDERS or server.is_named) and not name:
        raise ProviderConfigError(f"{model!r} lacks the name of a model after {prefix}/")
    if prefix not in PROVIDERS and not server.is_named:
        known = ", ".join(f"{p}/..." for p in dict.fromkeys((*PROVIDERS, *servers)))
        raise ProviderConfigError(f"unknown model {model!r}: the name must begin with one of {known}")
    module, cls = PROVIDERS["openai" if server.is_named else prefix]
    info = (table or ModelTable.load()).info(model)
    target = Target(
        name, server.url, info, is_named=server.is_named, label=asked.model, key_variable=server.key_variable
    )
    provider: Provider = getattr(importlib.import_module(module), cls)(target)
    models: Sequence[str] = getattr(provider, "models", (name,))
    if name not in models:
        known = ", ".join(f"{prefix}/{each}" for each in models)
        raise ProviderConfigError(f"unknown model {model!r}: choose one of {known}")
    return provider, name
