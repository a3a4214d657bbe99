"""Which model an evaluation asks, as options say, and whether it may be paid for."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from gridworld.adapters.asking import Asking
from gridworld.errors import ModelError
from gridworld.evaluation.models.model_options import AskedOptions, ModelRequest, PaidOptions
from spca.common.command import complain
from spca.common.errors import SettingsError
from spca.errors import ProviderConfigError, ProviderDownError
from spca.llm.calls.budget import Caps, require_caps
from spca.llm.catalogue.catalogue import Catalogue
from spca.llm.catalogue.model_ref import EFFORTS, ModelRef
from spca.llm.catalogue.servers import (
    SERVERS_VARIABLE,
    VARIABLES,
    Server,
    Servers,
    find_address_fault,
    is_providers_own,
    parse_servers,
)
from spca.llm.providers.base import TIMEOUT_S, Limits, Listing
from spca.llm.providers.failures import OTHER_MODEL

DEFAULT_MAX_COST: Final = 5.0
"""USD that an evaluation may cost where no cap was given."""
_CACHE: Final = "llm_cache"
_WITHOUT_SERVER: Final = "offline, --model bfs plays without one"


def add_effort(model: str, effort: str) -> str:
    """Return the name of a model with the word of ``--effort``; raises what :meth:`ModelRef.with_effort` does."""
    return str(ModelRef.parse(model).with_effort(effort, "--effort"))


def make_asking(ref: ModelRef, request: ModelRequest[AskedOptions]) -> Asking:
    """Return how the options say that a model is asked.

    Raises:
        ModelError: there is no such model, or it lacks a key.
        SettingsError: an option cannot be used, or the cost of the model cannot be capped.
    """
    options = request.options
    catalogue = Catalogue.load(options.model_table, _read_servers(options))
    _check_name(ref, catalogue)
    books = Path(request.books) if request.books else None
    caps = Caps(options.max_cost, options.max_calls, options.max_tokens)
    return Asking(
        Limits(options.max_output_tokens, None, options.timeout or TIMEOUT_S),
        options.actions_per_call,
        require_caps([ref], catalogue, caps, DEFAULT_MAX_COST),
        catalogue=catalogue,
        books=books,
        cache=books.parent / _CACHE if books and options.cache else None,
        notify=complain,
    )


def require_usable(request: ModelRequest[AskedOptions]) -> list[str]:
    """Look a model up at its provider; return a line for all that a user should know.

    Raises:
        ModelError: it does not exist, lacks a key or was shut down.
        SettingsError: an option cannot be used, or the cost of the model cannot be capped.
    """
    ref = ModelRef.parse(request.name)
    catalogue = make_asking(ref, request).catalogue
    is_asked = request.options.preflight is not False
    try:
        warning = catalogue.find_warning([ref], _WITHOUT_SERVER, is_asked=is_asked)
    except (ProviderConfigError, ProviderDownError) as error:
        raise ModelError(describe_error(error)) from error
    return [warning] if warning else []


def _check_name(ref: ModelRef, catalogue: Catalogue) -> None:
    try:
        provider = catalogue.provider(ref)
    except ProviderConfigError as error:
        raise ModelError(describe_error(error)) from error
    _, at, word = ref.name.rpartition("@")
    is_own = isinstance(provider, Listing) and is_providers_own(ref.prefix, provider.address)
    if at and not ref.effort and is_own:
        raise ModelError(f"{ref}: @{word} is no effort: it is one of {', '.join(EFFORTS)}")


def describe_error(error: Exception, flag: str = "--model") -> str:
    """Return the words of a provider's error, with the options of this program."""
    return str(error).replace(OTHER_MODEL, f"name another one with {flag}")


def _read_servers(options: PaidOptions) -> Servers:
    """Return the servers that options and environment name."""
    addresses = {prefix: (name, os.environ.get(name, "").strip()) for prefix, name in VARIABLES.items()}
    if options.base_url:
        addresses["openai"] = "--base-url", options.base_url
    for name, url in addresses.values():
        if url and (fault := find_address_fault(name, url, is_host=name == "OLLAMA_HOST")):
            raise SettingsError(fault)
    providers = {prefix: Server(url or None) for prefix, (_, url) in addresses.items()}
    return providers | parse_servers(options.servers or (), os.environ.get(SERVERS_VARIABLE, ""))
