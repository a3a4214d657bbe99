"""The models that play the roles for which a user has chosen none."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from spca.llm.catalogue.model_ref import ModelRef
from spca.llm.catalogue.servers import is_providers_own


@dataclass(frozen=True, slots=True)
class Default:
    """Models of the large and small planner and the coder of a provider, used where one of ``variables`` is set."""

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
"""In order of preference."""
_FAULTY: Final = _make_default("faulty", (), "planner", "planner", "coder")
_ROLES: Final = {default.prefix: default.models for default in (*DEFAULTS[:-1], REFERENCE, _FAULTY)}
"""Models of each role by prefix, where a provider has all of them; an Ollama server has what its owner has fetched."""


def list_configured(environ: Mapping[str, str]) -> tuple[Default, ...]:
    """Return the defaults for which a key or server is set, in order; the embedded model comes last."""
    configured = [default for default in DEFAULTS if any(map(environ.get, default.variables))]
    return (*configured, REFERENCE)


def choose_defaults(
    large: ModelRef | None, urls: Mapping[str, str | None], environ: Mapping[str, str]
) -> tuple[ModelRef, ...]:
    """Return the models of roles for which none is chosen; ``large`` is the large planner that is."""
    if large is None:
        at_openai = {"OPENAI_BASE_URL": urls["openai"]} if urls["openai"] else {}
        return list_configured({**environ, **at_openai})[0].models
    everywhere = (large, large, large)
    if not is_providers_own(large.prefix, urls.get(large.prefix)):
        return everywhere
    return _ROLES.get(large.prefix, everywhere)
