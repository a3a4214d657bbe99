"""The command ``models``: list the usable models with prices, context sizes, days of shutdown and needed keys."""

from __future__ import annotations

import importlib.util
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Final, Self

from rich.console import Console
from rich.text import Text

from spca.common.command import EXIT_FINISHED
from spca.common.environment import load_environment
from spca.common.text import fold_words
from spca.errors import ProviderConfigError
from spca.llm.catalogue.catalogue import Catalogue
from spca.llm.catalogue.lookup import KnownList, ask_lists
from spca.llm.catalogue.model_ref import ModelRef
from spca.llm.catalogue.servers import SERVERS_VARIABLE, is_providers_own, parse_servers
from spca.llm.providers.base import Listing
from spca.llm.providers.secrets import quote_line
from spca.runs.default_models import DEFAULTS
from spca.runs.options import ModelOptions, ServerOptions
from spca.runs.resolution import resolve_models

_WIDTH: Final = 80
"""Columns of the output."""
_MAX_NAME: Final = 100
"""Largest number of characters of a model's name; models with longer names are left out."""
_MAX_MODELS: Final = 1000
"""Largest number of models that are shown from the list of one server."""
_FIGURES: Final = ("in", "out", "context", "until")
_COLUMNS: Final = "{:>8} {:>8} {:>8}  {:<10}"
_INDENT: Final = "  "
_PREFIX_AT_START: Final = re.compile(r"^[a-z0-9_-]+/(?= )")
"""The prefix with which the first line of an offer begins."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One model of the list.

    Attributes:
        input, output: USD per million tokens; None if unknown.
        context: size of the context in tokens; None if unknown.
        shutdown: day of the model's shutdown, if known.
        grows: whether larger prompts cost more per token.
    """

    model: str
    input: Decimal | None
    output: Decimal | None
    context: int | None
    shutdown: date | None
    grows: bool = False

    @classmethod
    def read(cls, name: str, catalogue: Catalogue, announced: date | None) -> Self:
        """Return the entry of the model ``name``, with price and context size from the catalogue.

        Args:
            announced: day of shutdown that the server announces, which replaces the day in the catalogue; None if the
                server announces none.
        """
        ref = ModelRef.parse(name)
        info = catalogue.info(ref)
        price = catalogue.price(ref)
        shutdown = announced or info.shutdown
        if price is None:
            return cls(name, None, None, info.context, shutdown)

        first_tier = price.tiers[0]
        base_rates = (first_tier.input, first_tier.output)
        is_flat = all((rates.input, rates.output) == base_rates for rates in price.tiers.values())
        return cls(name, *base_rates, info.context, shutdown, grows=not is_flat)


@dataclass(frozen=True, slots=True)
class Offer:
    """The models of one prefix.

    Attributes:
        prefix: a provider such as "openai", or the name of a server of the user's own.
        state: in words, which key is set or missing, and which server the list is from.
        is_ready: whether the provider or server can be asked.
        roles: default models of large planner, small planner and coder; () if the prefix has no defaults.
        entries: models of the server's list; if there is no list, the models of the model table.
        others: names of further listed models, whose price is unknown.
    """

    prefix: str
    state: str
    is_ready: bool
    roles: tuple[str, ...]
    entries: tuple[Entry, ...]
    others: tuple[str, ...] = ()


def print_models(where: ServerOptions, *, asks: bool, as_json: bool) -> int:
    """Print the models that can be used here; return the exit code.

    Args:
        where: servers and model table from the command line.
        asks: whether servers are asked for their lists.

    Raises:
        UserError: an option or an environment variable has an invalid value.
    """
    options = ModelOptions(where=where)
    environ = load_environment(where.servers)
    models = resolve_models(options, environ, Path.cwd())
    user_servers = parse_servers(where.servers, environ.get(SERVERS_VARIABLE, ""))
    catalogue = Catalogue.load(models.model_table, {**models.servers, **user_servers})

    roles = [str(ref) for ref in models.refs]
    offers = list_offers(catalogue, environ, ask=asks)
    if as_json:
        data = {"run": roles, "offers": [asdict(each) for each in offers]}
        print(json.dumps(data, indent=1, default=_to_plain))
        return EXIT_FINISHED

    defaults = fold_words("", f"A run without flags uses {_describe_roles(roles)}.")
    lines = [*render_offers(offers), "", *_describe_others(), "", *defaults]
    console = Console(highlight=False)
    for line in lines:
        text = Text(line)
        text.highlight_regex(_PREFIX_AT_START, "bold")
        console.print(text, soft_wrap=True)
    return EXIT_FINISHED


def list_offers(
    catalogue: Catalogue, environ: Mapping[str, str], *, ask: bool, today: date | None = None
) -> tuple[Offer, ...]:
    """Return the offer of each server of the catalogue: of the providers and of the user's own servers.

    Args:
        environ: environment variables, which hold the keys.
        ask: whether to ask the servers for their lists, each for 5 seconds at most.
        today: by default the current day in UTC.
    """
    today = today or datetime.now(UTC).date()

    listing_servers: dict[str, Listing] = {}
    faults: dict[str, str] = {}
    for prefix in catalogue.servers:
        try:
            provider = catalogue.provider(ModelRef(prefix, "any"))
        except ProviderConfigError as error:
            faults[prefix] = str(error).partition(": ")[2]
        else:
            if isinstance(provider, Listing):
                listing_servers[prefix] = provider

    empty_lists = {prefix: KnownList(server.address) for prefix, server in listing_servers.items()}
    lists = ask_lists(listing_servers) if ask else empty_lists

    offers = []
    for prefix in catalogue.servers:
        known = lists.get(prefix)
        if known:
            key = _find_key(prefix, catalogue, environ)
            state = _describe_state(known, key, ask=ask)
        else:
            state = faults[prefix]
        offers.append(_make_offer(prefix, state, known, catalogue, today))
    return tuple(offers)


def _find_key(prefix: str, catalogue: Catalogue, environ: Mapping[str, str]) -> str:
    """Return the environment variable whose key is sent to the server, "" if no key is set."""
    server = catalogue.servers[prefix]
    variables = [server.key_variable]
    is_provider_with_usual_key = not server.key_variable and not server.is_named
    if is_provider_with_usual_key:
        usual = [name for default in DEFAULTS if default.prefix == prefix for name in default.variables]
        usual.append(f"{prefix.upper()}_API_KEY")
        variables = [name for name in usual if name.endswith("_KEY")]

    for name in variables:
        if name and environ.get(name, "").strip():
            return name
    return ""


def _describe_state(known: KnownList, key: str, *, ask: bool) -> str:
    """Return in words whether a key is set, and where the list is from; ``key`` is the variable of the key."""
    key_state = f"{key} is set" if key else "no key"
    if not ask:
        return f"{key_state}; at {known.address}, not asked"
    if known.lost:
        return f"{key_state}; {known.lost}"
    return f"{key_state}; listed at {known.address}"


def _make_offer(prefix: str, state: str, known: KnownList | None, catalogue: Catalogue, today: date) -> Offer:
    """Return the offer of a prefix; ``known`` is None if the server cannot be asked."""
    defaults = next((each.models for each in DEFAULTS if each.prefix == prefix), ())
    roles = tuple(map(str, defaults))
    in_table = [name for name in catalogue.table.names() if name.startswith(f"{prefix}/")]
    recommended = list(dict.fromkeys((*roles, *in_table)))
    is_own = known is None or is_providers_own(prefix, known.address)
    if known is None or not known.entries:
        names = recommended if is_own or not roles else []
        entries = [Entry.read(name, catalogue, None) for name in names]
        running = [each for each in entries if each.shutdown is None or each.shutdown > today]
        return Offer(prefix, state, known is not None, roles, tuple(running))

    short_named = [each for each in known.entries[:_MAX_MODELS] if len(each.name) <= _MAX_NAME]
    shutdowns = {f"{prefix}/{quote_line(each.name)}": each.shutdown for each in short_named}
    names = [name for name in recommended if name in shutdowns]
    names += [name for name in shutdowns if name not in recommended]

    listed: list[Entry] = []
    for name in names:
        shutdown = shutdowns[name]
        if shutdown is None or shutdown >= today:
            listed.append(Entry.read(name, catalogue, shutdown))
    # The list at a provider's own address is long: models without a known price are shown by name alone.
    shown = [each for each in listed if not is_own or each.model in recommended or each.input is not None]
    others = [each.model for each in listed if each not in shown]
    return Offer(prefix, state, True, roles, tuple(shown), tuple(others))


def render_offers(offers: Sequence[Offer]) -> Iterator[str]:
    """Yield the lines that show the offers on a terminal of 80 columns.

    Names and addresses that are too long are not broken, so that they can be copied.
    """
    names = [entry.model for offer in offers for entry in offer.entries]
    longest = max(map(len, names), default=0)
    figures_width = len(_COLUMNS.format(*_FIGURES))
    width = min(longest, _WIDTH - len(_INDENT) - figures_width - 1)

    for number, offer in enumerate(offers):
        if number:
            yield ""
        yield from _fold_entry(f"{offer.prefix}/", offer.state)
        if offer.roles:
            yield from _fold_entry(_INDENT + "default", _describe_roles(offer.roles))
        if offer.entries:
            yield _lay_out("", _FIGURES, width)
        for entry in offer.entries:
            yield from _render_entry(entry, width)
        if offer.others:
            yield from _fold_entry(_INDENT + "also", ", ".join(offer.others))
    if any(entry.grows for offer in offers for entry in offer.entries):
        yield from ("", "+: large prompts cost more (docs/models.md)")


def _render_entry(entry: Entry, width: int) -> Iterator[str]:
    """Yield the row of a model; a name that is longer than ``width`` gets a line of its own above the figures."""
    plus = "+" if entry.grows else ""
    prices = [_format_usd(price) + plus if price is not None else "?" for price in (entry.input, entry.output)]
    figures = (*prices, _format_size(entry.context), str(entry.shutdown or ""))
    name = entry.model
    if len(name) > width:
        yield f"{_INDENT}{name}"
        name = ""
    yield _lay_out(name, figures, width)


def _lay_out(name: str, figures: Sequence[str], width: int) -> str:
    """Return a row of the table; ``width`` is that of the column of names."""
    return f"{_INDENT}{name:<{width}} {_COLUMNS.format(*figures)}".rstrip()


def _format_usd(price: Decimal) -> str:
    return f"{price.normalize():f}"


def _format_size(tokens: int | None) -> str:
    if tokens is None:
        return ""
    if tokens >= 1e6:
        return f"{tokens / 1e6:.3g}M"
    return f"{tokens / 1e3:.0f}k"


def _fold_entry(head: str, words: str) -> list[str]:
    """Return ``words`` broken into lines; the first line begins with ``head``."""
    return fold_words(f"{head:<11} ", words, _WIDTH)


def _describe_roles(models: Sequence[str]) -> str:
    """Return the models of large planner, small planner and coder in words."""
    if len(set(models)) == 1:
        return f"{models[0]} for all roles"

    roles_of_model: dict[str, list[str]] = {}
    for role, model in zip(("planner", "small planner", "coder"), models, strict=True):
        roles_of_model.setdefault(model, []).append(role)
    parts = [f"{' and '.join(roles)} {model}" for model, roles in roles_of_model.items()]
    return ", ".join(parts)


def _describe_others() -> Iterator[str]:
    """Yield lines that describe the prefixes of models that need no server."""
    is_installed = importlib.util.find_spec("xllamacpp") is not None
    missing = "" if is_installed else "; needs the package xllamacpp, which is not installed"
    yield from _fold_entry("reference/", "the embedded model: reference/planner and reference/coder; needs no key")
    yield from _fold_entry("llamacpp/", f"PATH.gguf: a model file of yours, run in this process{missing}")
    yield from _fold_entry("replay/", "RUN_FOLDER: the answers that a recorded run was given")
    yield from _fold_entry("human/", "editor or FOLDER: you, in your editor or through files")
    yield from _fold_entry("faulty/", "the embedded model with injected faults, for tests")


def _to_plain(value: object) -> float | str:
    """Return a price as a number, and a day as a text, for JSON."""
    return float(value) if isinstance(value, Decimal) else str(value)
