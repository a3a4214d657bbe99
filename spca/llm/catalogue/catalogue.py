"""Everything that is known of models in one place: built once, from the user's table and servers, and handed down."""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Final, Self

from spca.errors import ProviderConfigError, UnknownModelError
from spca.llm.catalogue.model_ref import ModelRef
from spca.llm.catalogue.model_table import ModelTable
from spca.llm.catalogue.prices import PUBLISHED, Price
from spca.llm.catalogue.servers import SERVER_FORM, Server, Servers, is_providers_own
from spca.llm.catalogue.spelling import describe_misspelled, find_misspelled, find_nearest
from spca.llm.providers.base import ModelInfo, Provider, Target

if TYPE_CHECKING:
    from spca.llm.catalogue.lookup import Report

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


class Catalogue:
    """Which models there are, where they are asked, and what they cost.

    Args:
        table: what is known of models; by default the built-in table.
        servers: those that are not at the usual place, and those of the user's own prefixes.
    """

    def __init__(self, table: ModelTable | None = None, servers: Servers | None = None) -> None:
        self.table = table or ModelTable.load()
        self.servers: Servers = servers or {}

    @classmethod
    def load(cls, table: str | None, servers: Servers) -> Self:
        """Return the catalogue with a table of the user's own; what Ollama's own service runs has no known price.

        Args:
            table: its path, None for the built-in table alone.

        Raises:
            SettingsError: the table cannot be read; names the entry.
        """
        known = ModelTable.load(Path(table) if table else None)
        return cls(known.at_ollama(servers.get("ollama", Server()).url), servers)

    def info(self, ref: ModelRef) -> ModelInfo:
        """Return what is known of a model but its price."""
        return self.table.info(ref)

    def price(self, ref: ModelRef, when: float | None = None) -> Price | None:
        """Return what a model costs; see :meth:`ModelTable.price`."""
        return self.table.price(ref, when)

    def server(self, ref: ModelRef) -> Server:
        """Return where a model is asked."""
        return self.servers.get(ref.prefix, Server())

    def provider(self, ref: ModelRef) -> Provider:
        """Return the provider of a model, for which nothing was asked yet.

        A provider that offers certain models only lists them as its attribute ``models``.

        Raises:
            ProviderConfigError: there is no such prefix or model, it does not take the effort, or its provider lacks a
                key.
        """
        server = self.server(ref)
        if ref.prefix not in PROVIDERS and not server.is_named:
            raise self._unknown_prefix(ref)
        if not ref.name:
            fix = ": human/editor or human/FOLDER" if ref.prefix == "human" else ""
            raise ProviderConfigError(f"{str(ref)!r} lacks the name of a model after {ref.prefix}/{fix}")
        info = self.info(ref)
        if fault := ref.find_effort_fault(info.least_effort):
            raise ProviderConfigError(fault)
        module, cls = PROVIDERS["openai" if server.is_named else ref.prefix]
        target = Target(
            ref.name,
            server.url,
            info,
            is_named=server.is_named,
            label=ref.model,
            key_variable=server.key_variable,
        )
        try:
            provider: Provider = getattr(importlib.import_module(module), cls)(target)
        except ProviderConfigError as error:  # no key, for instance; the name is wrong as well
            if hint := self.suggest(ref):
                raise ProviderConfigError(f"{error}{hint}") from error
            raise
        models: Sequence[str] = getattr(provider, "models", (ref.name,))
        if ref.name not in models:
            known = ", ".join(f"{ref.prefix}/{each}" for each in models)
            raise ProviderConfigError(f"unknown model {str(ref)!r}: choose one of {known}")
        return provider

    def find_nearest(self, ref: ModelRef, *, has_prefix: bool = True) -> ModelRef | None:
        """Return the known model that was probably meant; see :func:`spca.llm.catalogue.spelling.find_nearest`."""
        return find_nearest(ref, self.table.known_names(), has_prefix=has_prefix)

    def suggest(self, ref: ModelRef) -> str:
        """Return `` (did you mean X?)``, "" where no other name can be meant."""
        return _did_you_mean(self.find_nearest(ref) if self._has_known_names(ref) else None)

    def look_up(self, refs: Iterable[ModelRef], today: date | None = None) -> Report:
        """Look up models, each provider's list once and all of them at the same time.

        Args:
            refs: what a run is to use.
            today: by default the day in UTC.

        Raises:
            ProviderConfigError: a model cannot be asked at all, because its key is missing or there is no such
                provider.
        """
        from spca.llm.catalogue.lookup import look_up  # asks servers, which most programs do not

        asked = tuple(dict.fromkeys(refs))
        providers = {ref.prefix: self.provider(ref) for ref in asked if not ref.runs_in_process}
        return look_up(asked, providers, self.table, today)

    def find_warning(self, refs: Sequence[ModelRef], without_server: str = "", *, is_asked: bool) -> str:
        """Return the line to warn with before models are paid, "" if all is well.

        Args:
            refs: what a run is to use.
            without_server: how to do without a server that cannot be reached; "" where that is a warning.
            is_asked: whether servers are asked for their lists.

        Raises:
            ProviderConfigError: a model cannot be used; names all that is wrong, and what to use instead.
            ProviderDownError: a server cannot be reached.
        """
        if not is_asked:
            self.require_spelling(refs)
            return ""
        report = self.look_up(refs)
        if without_server:
            report.require_servers(without_server)
        return report.warning()

    def require_spelling(self, refs: Iterable[ModelRef]) -> None:
        """Refuse models that are certainly misspelled, where they are not looked up.

        Others would be paid before they fail.

        Raises:
            UnknownModelError: names the model that is meant.
        """
        for ref in refs:
            if self._has_known_names(ref) and (meant := find_misspelled(ref, self.table.known_names())):
                raise UnknownModelError(describe_misspelled(ref, meant))

    def _has_known_names(self, ref: ModelRef) -> bool:
        """Return whether models of a prefix have names that are published; a server of the user's own may have any."""
        return ref.prefix in PUBLISHED and is_providers_own(ref.prefix, self.server(ref).url)

    def _unknown_prefix(self, ref: ModelRef) -> ProviderConfigError:
        known = ", ".join(f"{prefix}/..." for prefix in dict.fromkeys((*PROVIDERS, *self.servers)))
        hint = _did_you_mean(self.find_nearest(ref, has_prefix=False))
        fix = f"the name must begin with one of {known}; --server {SERVER_FORM} adds one"
        return ProviderConfigError(f"unknown model {str(ref)!r}: {fix}{hint}")


def _did_you_mean(ref: ModelRef | None) -> str:
    return f" (did you mean {ref}?)" if ref else ""
