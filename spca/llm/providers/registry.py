"""Which provider a model's name means."""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from typing import Final

from spca.errors import ProviderConfigError
from spca.llm.calls.prices import ModelTable
from spca.llm.providers.base import Provider, Target

PROVIDERS: Final[Mapping[str, tuple[str, str]]] = {
    "reference": ("spca.llm.providers.offline.reference", "ReferenceProvider"),
    "faulty": ("spca.llm.providers.offline.faulty", "FaultyProvider"),
    "replay": ("spca.llm.providers.offline.replay", "ReplayProvider"),
    "openai": ("spca.llm.providers.openai.openai", "OpenAIProvider"),
    "google": ("spca.llm.providers.google", "GoogleProvider"),
    "ollama": ("spca.llm.providers.ollama", "OllamaProvider"),
    "llamacpp": ("spca.llm.providers.llamacpp.llamacpp", "LlamacppProvider"),
}
"""Model prefix -> module and class; imported on first use."""

IN_PROCESS: Final = frozenset({"reference", "faulty", "replay", "llamacpp"})
"""Prefixes of models that run within this process."""


def provider_for(
    model: str, *, addresses: Mapping[str, str | None] | None = None, table: ModelTable | None = None
) -> tuple[Provider, str]:
    """The provider of a model name such as ``openai/gpt-6.1-sol``, and the name without its prefix.

    A provider that offers certain models only lists them as its attribute ``models``.

    Args:
        addresses: base URLs by prefix, for servers that are not at the usual place.
        table: what is known of models; by default the built-in table.

    Raises:
        ProviderConfigError: there is no such prefix or model, or its provider lacks a key.
    """
    prefix, _, name = model.partition("/")
    if prefix in PROVIDERS and not name:
        raise ProviderConfigError(f"{model!r} lacks the name of a model after {prefix}/")
    if prefix not in PROVIDERS:
        known = ", ".join(f"{p}/..." for p in PROVIDERS)
        raise ProviderConfigError(f"unknown model {model!r}: the name must begin with one of {known}")
    module, cls = PROVIDERS[prefix]
    info = (table or ModelTable.load()).info(model)
    target = Target(name, (addresses or {}).get(prefix), info)
    provider: Provider = getattr(importlib.import_module(module), cls)(target)
    models: Sequence[str] = getattr(provider, "models", (name,))
    if name not in models:
        known = ", ".join(f"{prefix}/{each}" for each in models)
        raise ProviderConfigError(f"unknown model {model!r}: choose one of {known}")
    return provider, name
