"""Which model an evaluation asks, as options say, and whether it may be paid for."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from gridworld.adapters.asking import Asking
from gridworld.errors import ModelError
from spca.common.command import complain
from spca.common.errors import SettingsError
from spca.errors import ProviderConfigError, ProviderDownError
from spca.llm.calls.budget import Caps, capped
from spca.llm.calls.preflight import check_spelling, examine
from spca.llm.calls.prices import ModelTable
from spca.llm.providers.addresses import VARIABLES, address_fault, is_providers_own
from spca.llm.providers.base import TIMEOUT_S, Limits, Listing
from spca.llm.providers.failures import OTHER_MODEL
from spca.llm.providers.model_names import EFFORTS, ModelName, with_effort
from spca.llm.providers.registry import SERVERS_VARIABLE, own_servers, provider_for
from spca.llm.providers.servers import Server, Servers

DEFAULT_MAX_COST: Final = 5.0
"""USD that an evaluation may cost where no cap was given."""
_CAPS: Final = ("max_cost", "max_calls", "max_tokens")
_CACHE: Final = "llm_cache"
_WITHOUT_SERVER: Final = "offline, --model bfs plays without one"


def with_word(model: str, effort: str) -> str:
    """The name of a model with the word of ``--effort``; raises what :func:`with_effort` does."""
    return with_effort(model, effort, "--effort")


def asking_of(options: Mapping[str, Any]) -> Asking:
    """How the options say that a model is asked.

    Raises:
        ModelError: there is no such model, or it lacks a key.
        SettingsError: an option cannot be used, or the cost of the model cannot be capped.
    """
    model = options["model"]
    table = ModelTable.load(Path(options["model_table"]) if options["model_table"] else None)
    books, servers = Path(options["books"]) if options["books"] else None, _servers(options)
    table = table.at_ollama(servers["ollama"].url)
    _check_name(model, servers, table)
    return Asking(
        Limits(options["max_output_tokens"], None, options["timeout"] or TIMEOUT_S),
        options["actions_per_call"],
        capped([model], table, Caps(*(options[name] for name in _CAPS)), DEFAULT_MAX_COST),
        table=table,
        servers=servers,
        books=books,
        cache=books.parent / _CACHE if books and options["cache"] else None,
        notify=complain,
    )


def admitted(options: Mapping[str, Any]) -> list[str]:
    """Look a model up at its provider; return a line for all that a user should know.

    Raises:
        ModelError: it does not exist, lacks a key or was shut down.
        SettingsError: an option cannot be used, or the cost of the model cannot be capped.
    """
    asking = asking_of(options)
    models = [options["model"]]
    try:
        if options["preflight"] is False:
            check_spelling(models, asking.servers, asking.table or ModelTable.load())
            return []
        report = examine(models, servers=asking.servers, table=asking.table)
        report.require_servers(_WITHOUT_SERVER)
        warning = report.warning()
    except (ProviderConfigError, ProviderDownError) as error:
        raise ModelError(told(error)) from error
    return [warning] if warning else []


def _check_name(model: str, servers: Servers, table: ModelTable) -> None:
    try:
        provider, name = provider_for(model, servers=servers, table=table)
    except ProviderConfigError as error:
        raise ModelError(told(error)) from error
    asked, (_, at, word) = ModelName.parse(model), name.rpartition("@")
    is_own = isinstance(provider, Listing) and is_providers_own(asked.prefix, provider.address)
    if at and not asked.effort and is_own:
        raise ModelError(f"{model}: @{word} is no effort: it is one of {', '.join(EFFORTS)}")


def told(error: Exception, flag: str = "--model") -> str:
    """An error of a provider with the options of this program."""
    return str(error).replace(OTHER_MODEL, f"name another one with {flag}")


def _servers(options: Mapping[str, Any]) -> Servers:
    """The servers that options and environment name."""
    said = {prefix: (variable, os.environ.get(variable, "").strip()) for prefix, variable in VARIABLES.items()}
    if options["base_url"]:
        said["openai"] = "--base-url", options["base_url"]
    for name, url in said.values():
        if url and (fault := address_fault(name, url, is_host=name == "OLLAMA_HOST")):
            raise SettingsError(fault)
    own = own_servers(options["servers"] or (), os.environ.get(SERVERS_VARIABLE, ""))
    return {**{prefix: Server(url or None) for prefix, (_, url) in said.items()}, **own}
