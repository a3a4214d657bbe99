"""The catalogue: providers, servers, properties and prices of models; built once from the user's table and servers."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Final, Self

from spca.common.errors import UserError
from spca.common.text import one_line
from spca.errors import ProviderConfigError, UnknownModelError
from spca.llm.catalogue.model_ref import ModelRef
from spca.llm.catalogue.model_table import ModelTable
from spca.llm.catalogue.prices import FREE, PUBLISHED, Price
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
"""Prefix of a model -> module and class of its provider; a module is imported on first use."""


ADDED_PROVIDERS: Final[dict[str, Callable[[Target], Provider]]] = {}
"""Prefix of a model -> function that makes its provider, for the prefixes that plugins have added."""


FREE_PREFIXES: Final[set[str]] = set()
"""Prefixes of plugins whose models cost nothing, unless the user's table has their price."""


def add_provider(prefix: str, make: Callable[[Target], Provider], *, is_free: bool = False) -> None:
    """Let ``make`` make the providers of models with a new prefix.

    Args:
        is_free: whether these models cost nothing.

    Raises:
        ValueError: the prefix is taken.
    """
    if prefix in PROVIDERS or prefix in ADDED_PROVIDERS:
        raise ValueError(f"{prefix}/... are models already: choose another prefix")
    ADDED_PROVIDERS[prefix] = make
    if is_free:
        FREE_PREFIXES.add(prefix)


class Catalogue:
    """Finds providers, servers, properties and prices of models.

    Args:
        table: properties and prices of models; by default the built-in table.
        servers: servers by prefix that differ from the providers' usual addresses, or that the user has added.
    """

    def __init__(self, table: ModelTable | None = None, servers: Servers | None = None) -> None:
        self.table = table or ModelTable.load()
        self.servers: Servers = servers or {}

    @classmethod
    def load(cls, table: str | None, servers: Servers) -> Self:
        """Return a catalogue in which the user's table takes precedence over the built-in table.

        Models on Ollama's own service (ollama.com) have no known price.

        Args:
            table: path of the user's table, None for the built-in table alone.
            servers: servers by prefix.

        Raises:
            SettingsError: the table cannot be read; names the invalid entry.
        """
        models = ModelTable.load(Path(table) if table else None)
        ollama = servers.get("ollama", Server())
        return cls(models.adapt_to_ollama(ollama.url), servers)

    def info(self, ref: ModelRef) -> ModelInfo:
        """Return the known properties of a model, without its price."""
        return self.table.info(ref)

    def price(self, ref: ModelRef, when: float | None = None) -> Price | None:
        """Return the price of a model; see :meth:`ModelTable.price`. Models of a plugin may cost nothing."""
        price = self.table.price(ref, when)
        is_free = price is None and ref.prefix in FREE_PREFIXES
        return FREE if is_free else price

    def server(self, ref: ModelRef) -> Server:
        """Return the server of a model."""
        return self.servers.get(ref.prefix, Server())

    def provider(self, ref: ModelRef) -> Provider:
        """Return a new provider for a model, without sending a request.

        If the provider has an attribute ``models``, a model that is missing there is unknown.

        Raises:
            ProviderConfigError: prefix or model is unknown, the model does not accept its effort, or the provider's key
                is missing.
        """
        server = self.server(ref)
        if ref.prefix not in PROVIDERS and ref.prefix not in ADDED_PROVIDERS and not server.is_named:
            raise self._unknown_prefix(ref)
        if not ref.name:
            fix = ": human/editor or human/FOLDER" if ref.prefix == "human" else ""
            raise ProviderConfigError(f"{str(ref)!r} lacks the name of a model after {ref.prefix}/{fix}")
        info = self.info(ref)
        if fault := ref.find_effort_fault(info.least_effort):
            raise ProviderConfigError(fault)
        target = Target(
            ref.name,
            server.url,
            info,
            is_named=server.is_named,
            label=ref.model,
            key_variable=server.key_variable,
        )
        try:
            provider = self._make_provider(ref, target)
        except ProviderConfigError as error:  # such as a missing key
            if hint := self.suggest(ref):  # the name may be wrong in addition
                raise ProviderConfigError(f"{error}{hint}") from error
            raise
        models = _list_models(provider, ref)
        if ref.name not in models:
            choices = ", ".join(f"{ref.prefix}/{name}" for name in models)
            raise ProviderConfigError(f"unknown model {str(ref)!r}: choose one of {choices}")
        return provider

    def _make_provider(self, ref: ModelRef, target: Target) -> Provider:
        """Return a new provider: of a plugin, of a server that the user has added, or of a built-in prefix.

        Raises:
            ProviderConfigError: the provider refuses the model, or a plugin and a server have the same prefix.
        """
        if ref.prefix in ADDED_PROVIDERS:
            if target.is_named:
                raise ProviderConfigError(f"{ref}: a plugin and a server are called {ref.prefix}: rename the server")
            return _make_added(ADDED_PROVIDERS[ref.prefix], ref, target)

        protocol = "openai" if target.is_named else ref.prefix  # servers that the user has added speak OpenAI's
        module_name, class_name = PROVIDERS[protocol]
        provider: Provider = getattr(importlib.import_module(module_name), class_name)(target)
        return provider

    def find_nearest(self, ref: ModelRef, *, has_prefix: bool = True) -> ModelRef | None:
        """Return the known model with the nearest name; see :func:`spca.llm.catalogue.spelling.find_nearest`."""
        return find_nearest(ref, self.table.list_names(), has_prefix=has_prefix)

    def suggest(self, ref: ModelRef) -> str:
        """Return `` (did you mean X?)`` for the known model with the nearest name, "" if no known name is near."""
        nearest = self.find_nearest(ref) if self._has_known_names(ref) else None
        return _did_you_mean(nearest)

    def look_up(self, refs: Iterable[ModelRef], today: date | None = None) -> Report:
        """Look up models in the lists of their providers; each provider is asked once, all at the same time.

        Args:
            refs: the models of a run.
            today: the present day; None for today's date in UTC.

        Raises:
            ProviderConfigError: a provider is unknown, or its key is missing.
        """
        from spca.llm.catalogue.lookup import look_up  # asks servers, which most programs do not

        models = tuple(dict.fromkeys(refs))
        providers = {ref.prefix: self.provider(ref) for ref in models if not ref.runs_in_process}
        return look_up(models, providers, self.table, today)

    def find_warning(self, refs: Sequence[ModelRef], without_server: str = "", *, is_asked: bool) -> str:
        """Return one line with all warnings about the models of a run, "" if there are no warnings.

        Args:
            refs: the models of the run.
            without_server: advice for the error that is raised if a server cannot be reached; if "", warn instead of
                raising.
            is_asked: whether servers are asked for their lists; if not, only the spelling of names is checked.

        Raises:
            ProviderConfigError: a model cannot be used; names all faults and the models to use instead.
            ProviderDownError: a server cannot be reached, and ``without_server`` is not "".
        """
        if not is_asked:
            self.require_spelling(refs)
            return ""
        report = self.look_up(refs)
        if without_server:
            report.require_servers(without_server)
        return report.warning()

    def require_spelling(self, refs: Iterable[ModelRef]) -> None:
        """Raise an error if a model's name is certainly misspelled; ask no server.

        The check comes before other models of the run cost money.

        Raises:
            UnknownModelError: names the model that is meant.
        """
        for ref in refs:
            if not self._has_known_names(ref):
                continue
            if meant := find_misspelled(ref, self.table.list_names()):
                raise UnknownModelError(describe_misspelled(ref, meant))

    def _has_known_names(self, ref: ModelRef) -> bool:
        """Return whether the names of all models at the server are published; a user's server may have any names."""
        return ref.prefix in PUBLISHED and is_providers_own(ref.prefix, self.server(ref).url)

    def _unknown_prefix(self, ref: ModelRef) -> ProviderConfigError:
        prefixes = dict.fromkeys((*PROVIDERS, *ADDED_PROVIDERS, *self.servers))
        choices = ", ".join(f"{prefix}/..." for prefix in prefixes)
        hint = _did_you_mean(self.find_nearest(ref, has_prefix=False))
        fix = f"the name must begin with one of {choices}; --server {SERVER_FORM} adds one"
        return ProviderConfigError(f"unknown model {str(ref)!r}: {fix}{hint}")


def _did_you_mean(ref: ModelRef | None) -> str:
    return f" (did you mean {ref}?)" if ref else ""


def _make_added(make: Callable[[Target], Provider], ref: ModelRef, target: Target) -> Provider:
    """Return a provider of a plugin.

    Raises:
        ProviderConfigError: the plugin raises an error or returns no provider.
    """
    try:
        provider = make(target)
    except UserError:
        raise
    except (Exception, SystemExit) as error:  # boundary: a plugin may raise anything
        cause = one_line(f"{type(error).__name__}: {error}")
        raise ProviderConfigError(f"{ref}: the plugin's provider cannot be made: {cause}") from error
    if not callable(getattr(provider, "complete", None)):
        raise ProviderConfigError(f"{ref}: the plugin's provider has no method complete(request)")
    return provider


def _list_models(provider: Provider, ref: ModelRef) -> Sequence[str]:
    """Return the names of all models of a provider; the name that is asked for if the provider does not list them.

    Raises:
        ProviderConfigError: the provider of a plugin has no list of names.
    """
    models = getattr(provider, "models", (ref.name,))
    if not isinstance(models, list | tuple | set | frozenset):
        raise ProviderConfigError(f"{ref}: the provider's models are {type(models).__name__}, not a list of names")
    return tuple(models)
