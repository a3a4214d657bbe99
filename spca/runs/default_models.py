"""Default models for roles without a model that the user has chosen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from spca.llm.catalogue.model_ref import ModelRef
from spca.llm.catalogue.servers import is_providers_own


@dataclass(frozen=True, slots=True)
class Default:
    """The default models of a provider, used if any of the environment ``variables`` is set.

    ``models`` contains the large planner, the small planner and the coder, in this order.
    """

    prefix: str
    variables: tuple[str, ...]
    models: tuple[ModelRef, ...]


def _make_default(prefix: str, variables: tuple[str, ...], *names: str) -> Default:
    return Default(prefix, variables, tuple(ModelRef(prefix, name) for name in names))


REFERENCE: Final = _make_default("reference", (), "planner", "planner", "coder")
DEFAULTS: Final = (
    _make_default("openai", ("OPENAI_API_KEY", "OPENAI_BASE_URL"), "gpt-6.1-sol", "gpt-6.1-terra", "gpt-6.1-sol"),
    _make_default("anthropic", ("ANTHROPIC_API_KEY",), "claude-opus-5-5", "claude-sonnet-5-5", "claude-opus-5-5"),
    _make_default(
        "google",
        ("GOOGLE_API_KEY", "GEMINI_API_KEY"),
        "gemini-3.8-flash",
        "gemini-3.5-flash-lite",
        "gemini-3.8-flash",
    ),
    _make_default("ollama", ("OLLAMA_HOST",), "qwen3-coder:30b", "qwen3-coder:30b", "qwen3-coder:30b"),
)
"""Defaults of the providers, in order of preference."""
_FAULTY: Final = _make_default("faulty", (), "planner", "planner", "coder")
_ROLES: Final = {default.prefix: default.models for default in (*DEFAULTS[:-1], REFERENCE, _FAULTY)}
"""Prefix -> models of the three roles. Ollama is left out because its server has only the models that were fetched."""


def list_configured(environ: Mapping[str, str]) -> tuple[Default, ...]:
    """Return the defaults of all providers whose key or server is set in ``environ``, in order of preference.

    The defaults of the embedded reference model are the last item.
    """
    configured = [default for default in DEFAULTS if any(map(environ.get, default.variables))]
    return (*configured, REFERENCE)


def choose_defaults(
    large: ModelRef | None, urls: Mapping[str, str | None], environ: Mapping[str, str]
) -> tuple[ModelRef, ...]:
    """Return a default model for each of the three roles: large planner, small planner, coder.

    Args:
        large: the large planner that the user has chosen; the defaults of its provider are returned. If the provider
            has no defaults, or another server replaces the provider, ``large`` is returned for each role. If ``large``
            is None, the first item of :func:`list_configured` is used.
        urls: prefix -> address of the server that replaces the provider; None for the provider itself.
    """
    if large is None:
        openai_address = {"OPENAI_BASE_URL": urls["openai"]} if urls["openai"] else {}
        return list_configured({**environ, **openai_address})[0].models
    large_for_all_roles = (large, large, large)
    if not is_providers_own(large.prefix, urls.get(large.prefix)):
        return large_for_all_roles
    return _ROLES.get(large.prefix, large_for_all_roles)
