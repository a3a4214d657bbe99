"""``models``: the models that can be used here, what they cost, when they end, and the key that each needs."""

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
_MAX_NAME: Final = 100
_MAX_MODELS: Final = 1000
"""Characters of a name, and names of a list, that are shown."""
_FIGURES: Final = ("in", "out", "context", "until")
_COLUMNS: Final = "{:>8} {:>8} {:>8}  {:<10}"
_INDENT: Final = "  "
_HEAD: Final = re.compile(r"^[a-z0-9_-]+/(?= )")


@dataclass(frozen=True, slots=True)
class Entry:
    """A model: USD per million tokens of input and output (None: unknown), tokens of context, the day of its end.

    ``grows``: larger prompts cost more.
    """

    model: str
    input: Decimal | None
    output: Decimal | None
    context: int | None
    shutdown: date | None
    grows: bool = False

    @classmethod
    def read(cls, name: str, catalogue: Catalogue, announced: date | None) -> Self:
        """Return what is known of a model.

        Args:
            announced: the day of its end, if its server tells it.
        """
        ref = ModelRef.parse(name)
        info = catalogue.info(ref)
        price = catalogue.price(ref)
        end = announced or info.shutdown
        if price is None:
            return cls(name, None, None, info.context, end)

        first = price.tiers[0]
        base_rates = (first.input, first.output)
        is_flat = all((rates.input, rates.output) == base_rates for rates in price.tiers.values())
        return cls(name, first.input, first.output, info.context, end, grows=not is_flat)


@dataclass(frozen=True, slots=True)
class Offer:
    """The models of a prefix.

    Attributes:
        prefix: "openai", or the name of a server of the user's own.
        state: which key it needs and whether it is set, and whose list this is, in words.
        is_ready: it can be asked.
        roles: models of the large and the small planner and of the coder where this is chosen; none where it has none.
        entries: what is listed; without a list, what the table knows.
        others: listed as well, but nothing is known of them.
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
        where: servers and model table that a user names.
        asks: whether servers are asked for their lists.

    Raises:
        UserError: an option or a variable that cannot be meant.
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
        print(json.dumps(data, indent=1, default=_plain))
        return EXIT_FINISHED

    usual = fold_words("", f"A run without flags uses {_describe_roles(roles)}.")
    lines = [*render_offers(offers), "", *_describe_others(), "", *usual]
    console = Console(highlight=False)
    for line in lines:
        text = Text(line)
        text.highlight_regex(_HEAD, "bold")
        console.print(text, soft_wrap=True)
    return EXIT_FINISHED


def list_offers(
    catalogue: Catalogue, environ: Mapping[str, str], *, ask: bool, today: date | None = None
) -> tuple[Offer, ...]:
    """Return what each provider and each server of the user's own offers.

    Args:
        catalogue: its servers are those that are listed, by prefix.
        environ: where keys are.
        ask: servers for their lists, each for 5 seconds at most.
        today: by default the day in UTC.
    """
    today = today or datetime.now(UTC).date()

    asked = dict[str, Listing]()
    missing = dict[str, str]()
    for prefix in catalogue.servers:
        try:
            provider = catalogue.provider(ModelRef(prefix, "any"))
        except ProviderConfigError as error:
            missing[prefix] = str(error).partition(": ")[2]
        else:
            if isinstance(provider, Listing):
                asked[prefix] = provider

    unasked = {prefix: KnownList(server.address) for prefix, server in asked.items()}
    lists = ask_lists(asked) if ask else unasked

    offers = []
    for prefix in catalogue.servers:
        known = lists.get(prefix)
        if known:
            key = _find_key(prefix, catalogue, environ)
            state = _describe_state(known, key, ask=ask)
        else:
            state = missing[prefix]
        offers.append(_make_offer(prefix, state, known, catalogue, today))
    return tuple(offers)


def _find_key(prefix: str, catalogue: Catalogue, environ: Mapping[str, str]) -> str:
    """Return the variable whose key is sent, "" for none."""
    server = catalogue.servers[prefix]
    variables = [server.key_variable]
    if not server.key_variable and not server.is_named:
        usual = [name for default in DEFAULTS if default.prefix == prefix for name in default.variables]
        usual.append(f"{prefix.upper()}_API_KEY")
        variables = [name for name in usual if name.endswith("_KEY")]

    for name in variables:
        if name and environ.get(name, "").strip():
            return name
    return ""


def _describe_state(known: KnownList, key: str, *, ask: bool) -> str:
    has = f"{key} is set" if key else "no key"
    if not ask:
        return f"{has}; at {known.address}, not asked"
    if known.lost:
        return f"{has}; {known.lost}"
    return f"{has}; listed at {known.address}"


def _make_offer(prefix: str, state: str, known: KnownList | None, catalogue: Catalogue, today: date) -> Offer:
    defaults = next((each.models for each in DEFAULTS if each.prefix == prefix), ())
    roles = tuple(map(str, defaults))
    in_table = [name for name in catalogue.table.names() if name.startswith(f"{prefix}/")]
    first = list(dict.fromkeys((*roles, *in_table)))
    is_own = known is None or is_providers_own(prefix, known.address)
    if known is None or not known.entries:
        entries = [Entry.read(name, catalogue, None) for name in first if is_own or not roles]
        left = [each for each in entries if not (each.shutdown and each.shutdown <= today)]
        return Offer(prefix, state, known is not None, roles, tuple(left))

    short = [each for each in known.entries[:_MAX_MODELS] if len(each.name) <= _MAX_NAME]
    ends = {f"{prefix}/{quote_line(each.name)}": each.shutdown for each in short}
    names = [name for name in first if name in ends]
    names += [name for name in ends if name not in first]

    listed = [Entry.read(name, catalogue, ends[name]) for name in names if (ends[name] or today) >= today]
    shown = [each for each in listed if not is_own or each.model in first or each.input is not None]
    others = [each.model for each in listed if each not in shown]
    return Offer(prefix, state, True, roles, tuple(shown), tuple(others))


def render_offers(offers: Sequence[Offer]) -> Iterator[str]:
    """Yield lines for a terminal of 80 columns; longer names and addresses exceed them, to be copied whole."""
    names = [entry.model for offer in offers for entry in offer.entries]
    longest = max(map(len, names), default=0)
    figures_width = len(_COLUMNS.format(*_FIGURES))
    width = min(longest, _WIDTH - len(_INDENT) - figures_width - 1)

    for number, offer in enumerate(offers):
        if number:
            yield ""
        yield from _fold(f"{offer.prefix}/", offer.state)
        if offer.roles:
            yield from _fold(_INDENT + "default", _describe_roles(offer.roles))
        if offer.entries:
            yield _lay_out("", _FIGURES, width)
        for entry in offer.entries:
            yield from _render_entry(entry, width)
        if offer.others:
            yield from _fold(_INDENT + "also", ", ".join(offer.others))
    if any(entry.grows for offer in offers for entry in offer.entries):
        yield from ("", "+: large prompts cost more (docs/models.md)")


def _render_entry(entry: Entry, width: int) -> Iterator[str]:
    plus = "+" if entry.grows else ""
    prices = [_format_usd(price) + plus if price is not None else "?" for price in (entry.input, entry.output)]
    figures = (*prices, _format_size(entry.context), str(entry.shutdown or ""))
    name = entry.model
    if len(name) > width:
        yield f"{_INDENT}{name}"
        name = ""
    yield _lay_out(name, figures, width)


def _lay_out(name: str, figures: Sequence[str], width: int) -> str:
    return f"{_INDENT}{name:<{width}} {_COLUMNS.format(*figures)}".rstrip()


def _format_usd(price: Decimal) -> str:
    return f"{price.normalize():f}"


def _format_size(tokens: int | None) -> str:
    if tokens is None:
        return ""
    if tokens >= 1e6:
        return f"{tokens / 1e6:.3g}M"
    return f"{tokens / 1e3:.0f}k"


def _fold(head: str, words: str) -> list[str]:
    return fold_words(f"{head:<11} ", words, _WIDTH)


def _describe_roles(models: Sequence[str]) -> str:
    if len(set(models)) == 1:
        return f"{models[0]} for all roles"

    roles_of_model: dict[str, list[str]] = {}
    for role, model in zip(("planner", "small planner", "coder"), models, strict=True):
        roles_of_model.setdefault(model, []).append(role)
    parts = [f"{' and '.join(roles)} {model}" for model, roles in roles_of_model.items()]
    return ", ".join(parts)


def _describe_others() -> Iterator[str]:
    """Yield what needs no server."""
    has = "" if importlib.util.find_spec("xllamacpp") else "; needs the package xllamacpp, which is not installed"
    yield from _fold("reference/", "the embedded model: reference/planner and reference/coder; needs no key")
    yield from _fold("llamacpp/", f"PATH.gguf: a model file of yours, run in this process{has}")
    yield from _fold("replay/", "RUN_FOLDER: the answers that a recorded run was given")
    yield from _fold("human/", "editor or FOLDER: you, in your editor or through files")
    yield from _fold("faulty/", "the embedded model with injected faults, for tests")


def _plain(value: object) -> float | str:
    """Return a price as a number, a day as a text."""
    return float(value) if isinstance(value, Decimal) else str(value)
