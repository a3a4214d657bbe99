"""Checks that run before a provider's model receives its first request: name, options and cap on the cost."""

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
from spca.llm.providers.base import TIMEOUT_S, Listing, RequestOptions
from spca.llm.providers.failures import OTHER_MODEL

DEFAULT_MAX_COST: Final = 5.0
"""Cap on the cost of an evaluation in USD if the user sets no cap."""
_CACHE: Final = "llm_cache"
_WITHOUT_SERVER: Final = "offline, --model bfs plays without one"


def add_effort(model: str, effort: str) -> str:
    """Return a model's name with the effort of ``--effort`` appended, such as ``openai/gpt-6-luna@low``.

    Raises:
        SettingsError: the effort is unknown, the model takes no effort, or the name holds another effort.
    """
    return str(ModelRef.parse(model).set_effort(effort, "--effort"))


def make_asking(ref: ModelRef, request: ModelRequest[AskedOptions]) -> Asking:
    """Return the request settings of a model, made from its options: limits, caps, catalogue and folders.

    Raises:
        ModelError: no model has this name, or the key of the provider is missing.
        SettingsError: an option cannot be used, or the cost of the model cannot be capped.
    """
    options = request.options
    catalogue = Catalogue.load(options.model_table, _read_servers(options))
    _check_name(ref, catalogue)
    books = Path(request.books) if request.books else None
    caps = Caps(options.max_cost, options.max_calls, options.max_tokens)
    return Asking(
        RequestOptions(options.max_output_tokens, None, options.timeout or TIMEOUT_S),
        options.actions_per_call,
        require_caps([ref], catalogue, caps, DEFAULT_MAX_COST),
        catalogue=catalogue,
        books=books,
        cache=books.parent / _CACHE if books and options.cache else None,
        notify=complain,
    )


def require_usable(request: ModelRequest[AskedOptions]) -> list[str]:
    """Check that a model exists at its provider and that its cost is capped; return warnings for the user, one line
    each.

    Raises:
        ModelError: the model does not exist or was shut down, or the key of the provider is missing.
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
    """Check the name of a model.

    Raises:
        ModelError: the catalogue does not serve the model, or the effort in the name is unknown.
    """
    try:
        provider = catalogue.provider(ref)
    except ProviderConfigError as error:
        raise ModelError(describe_error(error)) from error
    _, at, word = ref.name.rpartition("@")
    has_unknown_effort = bool(at) and not ref.effort
    # Only names on servers of the user may hold an "@" that marks no effort.
    is_at_provider = isinstance(provider, Listing) and is_providers_own(ref.prefix, provider.address)
    if has_unknown_effort and is_at_provider:
        raise ModelError(f"{ref}: @{word} is no effort: it is one of {', '.join(EFFORTS)}")


def describe_error(error: Exception, flag: str = "--model") -> str:
    """Return the message of a provider's error.

    Args:
        error: the error.
        flag: command-line option that the message recommends if the user should choose another model.
    """
    return str(error).replace(OTHER_MODEL, f"name another one with {flag}")


def _read_servers(options: PaidOptions) -> Servers:
    """Return the servers by prefix, from options and environment variables. An option wins over a variable."""
    # Each prefix with (the variable or option that names the address, the address or "").
    addresses = {prefix: (name, os.environ.get(name, "").strip()) for prefix, name in VARIABLES.items()}
    if options.base_url:
        addresses["openai"] = "--base-url", options.base_url
    for name, url in addresses.values():
        fault = find_address_fault(name, url, is_host=name == "OLLAMA_HOST") if url else ""
        if fault:
            raise SettingsError(fault)
    providers = {prefix: Server(url or None) for prefix, (_, url) in addresses.items()}
    return providers | parse_servers(options.servers or (), os.environ.get(SERVERS_VARIABLE, ""))
