"""``models``: the models that can be used here, what they cost, when they end, and the key that each needs."""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from textwrap import fill
from typing import Any, Final

from rich.console import Console
from rich.text import Text

from spca.common.command import EXIT_FINISHED, PROGRAM_VARIABLE, Parser
from spca.errors import ProviderConfigError
from spca.llm.calls.preflight import Known, listings
from spca.llm.calls.prices import ModelTable
from spca.llm.calls.rates import Price
from spca.llm.providers.addresses import is_providers_own
from spca.llm.providers.base import Listing
from spca.llm.providers.registry import SERVER_FORM, SERVER_HELP, provider_for
from spca.llm.providers.secrets import quoted
from spca.llm.providers.servers import Servers
from spca.runs import cli, model_choice

_WIDTH: Final = 80
_LONGEST_NAME: Final = 100
_MOST: Final = 1000
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


def main(argv: Sequence[str], root: Path) -> int:
    """Print the models; the exit code.

    Args:
        argv: the command and its options.
        root: the folder of the applications.

    Raises:
        UserError: an option or a variable that cannot be meant.
    """
    given = vars(_build_parser().parse_args(argv[1:]))
    asked = {name: value for name, value in given.items() if value is not None}
    environ = cli.load_environment(root, asked.get("servers", ()))
    cwd = Path.cwd()
    settings = cli.settings_from(asked, environ, root, cwd)
    models = model_choice.Models.of(settings)
    servers = {**models.servers, **model_choice.own(asked, environ)}
    offers = offered(servers, models.table, environ, ask=given["preflight"])
    if given["json"]:
        print(json.dumps({"run": settings.models, "offers": [_plain(each) for each in offers]}, indent=1))
        return EXIT_FINISHED
    console = Console(highlight=False)
    for line in (*rendered(offers), "", *_in_process(), "", *_said_of(settings.models)):
        text = Text(line)
        text.highlight_regex(_HEAD, "bold")
        console.print(text, soft_wrap=True)
    return EXIT_FINISHED


def _build_parser() -> argparse.ArgumentParser:
    text = "List the models that can be used here, with prices in USD per million tokens."
    parser = Parser(prog=f"{os.environ.get(PROGRAM_VARIABLE, 'main.py')} models", description=text)
    add = parser.add_argument
    add("--base-url", metavar="URL", help="OpenAI-compatible server of openai/... (OPENAI_BASE_URL)")
    add("--server", dest="servers", action="append", metavar=SERVER_FORM, help=SERVER_HELP)
    add("--model-table", metavar="FILE", help="context sizes and prices of models (docs/models.md)")
    add("--no-preflight", dest="preflight", action="store_false", help="ask no server for its list")
    add("--json", action="store_true", help="print JSON")
    return parser


def offered(
    servers: Servers, table: ModelTable, environ: Mapping[str, str], *, ask: bool, today: date | None = None
) -> tuple[Offer, ...]:
    """Return what each provider and each server of the user's own offers.

    Args:
        servers: by prefix: every provider that is asked over a network, and every server of the user's own.
        table: what is known of models.
        environ: where keys are.
        ask: servers for their lists, each for 5 seconds at most.
        today: by default the day in UTC.
    """
    today = today or datetime.now(UTC).date()
    asked, missing = dict[str, Listing](), dict[str, str]()
    for prefix in servers:
        try:
            provider, _ = provider_for(f"{prefix}/any", servers=servers, table=table)
        except ProviderConfigError as error:
            missing[prefix] = str(error).partition(": ")[2]
        else:
            if isinstance(provider, Listing):
                asked[prefix] = provider
    lists = listings(asked) if ask else {prefix: Known(server.address) for prefix, server in asked.items()}
    offers = []
    for prefix in servers:
        known = lists.get(prefix)
        said = _state(known, _key(prefix, servers, environ), ask=ask) if known else missing[prefix]
        offers.append(_offer(prefix, said, known, table, today))
    return tuple(offers)


def _key(prefix: str, servers: Servers, environ: Mapping[str, str]) -> str:
    """The variable whose key is sent, "" for none."""
    own = servers[prefix]
    usual = [name for each in model_choice.DEFAULTS if each.prefix == prefix for name in each.variables]
    usual = [name for name in (*usual, f"{prefix.upper()}_API_KEY") if name.endswith("_KEY")]
    variables = [own.key_variable] if own.key_variable else [] if own.is_named else usual
    return next((name for name in variables if environ.get(name, "").strip()), "")


def _state(known: Known, key: str, *, ask: bool) -> str:
    has = f"{key} is set" if key else "no key"
    if not ask:
        return f"{has}; at {known.address}, not asked"
    return f"{has}; {known.lost}" if known.lost else f"{has}; listed at {known.address}"


def _offer(prefix: str, state: str, known: Known | None, table: ModelTable, today: date) -> Offer:
    roles = next((each.models for each in model_choice.DEFAULTS if each.prefix == prefix), ())
    first = list(dict.fromkeys((*roles, *(name for name in table.names() if name.startswith(f"{prefix}/")))))
    is_own = known is None or is_providers_own(prefix, known.address)
    if known is None or not known.entries:
        tabled = [_entry(name, table, None) for name in first if is_own or not roles]
        left = [each for each in tabled if not (each.shutdown and each.shutdown <= today)]
        return Offer(prefix, state, known is not None, roles, tuple(left))
    ends = {f"{prefix}/{quoted(each.name)}": each.shutdown for each in known.entries[:_MOST] if _is_short(each.name)}
    names = [*(name for name in first if name in ends), *(name for name in ends if name not in first)]
    listed = [_entry(name, table, ends[name]) for name in names if (ends[name] or today) >= today]
    shown = [each for each in listed if not is_own or each.model in first or each.input is not None]
    others = [each.model for each in listed if each not in shown]
    return Offer(prefix, state, True, roles, tuple(shown), tuple(others))


def _is_short(name: str) -> bool:
    return len(name) <= _LONGEST_NAME


def _entry(model: str, table: ModelTable, told: date | None) -> Entry:
    info, price = table.info(model), table.price(model)
    first = price.tiers[0] if price else None
    return Entry(
        model,
        first.input if first else None,
        first.output if first else None,
        info.context,
        told or info.shutdown,
        grows=_grows(price),
    )


def _grows(price: Price | None) -> bool:
    return price is not None and len({(rates.input, rates.output) for rates in price.tiers.values()}) > 1


def rendered(offers: Sequence[Offer]) -> Iterator[str]:
    """Lines for a terminal of 80 columns; only names and addresses that are longer exceed them, to be copied whole."""
    names = [entry.model for offer in offers for entry in offer.entries]
    width = min(max(map(len, names), default=0), _WIDTH - len(_INDENT) - len(_COLUMNS.format(*_FIGURES)) - 1)
    for number, offer in enumerate(offers):
        if number:
            yield ""
        yield from _folded(f"{offer.prefix}/", offer.state)
        if offer.roles:
            yield from _folded(_INDENT + "default", _said_of_roles(offer.roles))
        if offer.entries:
            yield f"{_INDENT}{'':<{width}} {_COLUMNS.format(*_FIGURES)}".rstrip()
        for entry in offer.entries:
            yield from _row(entry, width)
        if offer.others:
            yield from _folded(_INDENT + "also", ", ".join(offer.others))
    if any(entry.grows for offer in offers for entry in offer.entries):
        yield from ("", "+: large prompts cost more (docs/models.md)")


def _row(entry: Entry, width: int) -> Iterator[str]:
    until = str(entry.shutdown or "")
    figures = _COLUMNS.format(
        _usd(entry.input, entry.grows), _usd(entry.output, entry.grows), _size(entry.context), until
    )
    if len(entry.model) > width:
        yield f"{_INDENT}{entry.model}"
    name = "" if len(entry.model) > width else entry.model
    yield f"{_INDENT}{name:<{width}} {figures}".rstrip()


def _usd(price: Decimal | None, grows: bool) -> str:
    return "?" if price is None else f"{price.normalize():f}{'+' if grows else ''}"


def _size(tokens: int | None) -> str:
    if tokens is None:
        return ""
    return f"{tokens / 1e6:.3g}M" if tokens >= 1e6 else f"{tokens / 1e3:.0f}k"


def _folded(head: str, words: str) -> list[str]:
    start, indent = f"{head:<11} ", " " * 12
    return fill(
        words, _WIDTH, initial_indent=start, subsequent_indent=indent, break_on_hyphens=False, break_long_words=False
    ).split("\n")


def _said_of_roles(models: Sequence[str]) -> str:
    if len(set(models)) == 1:
        return f"{models[0]} for all roles"
    roles: dict[str, list[str]] = {}
    for role, model in zip(("planner", "small planner", "coder"), models, strict=True):
        roles.setdefault(model, []).append(role)
    return ", ".join(f"{' and '.join(those)} {model}" for model, those in roles.items())


def _in_process() -> Iterator[str]:
    """What needs no server."""
    has = "" if importlib.util.find_spec("xllamacpp") else "; needs the package xllamacpp, which is not installed"
    yield from _folded("reference/", "the embedded model: reference/planner and reference/coder; needs no key")
    yield from _folded("llamacpp/", f"PATH.gguf: a model file of yours, run in this process{has}")
    yield from _folded("replay/", "RUN_FOLDER: the answers that a recorded run was given")
    yield from _folded("human/", "editor or FOLDER: you, in your editor or through files")
    yield from _folded("faulty/", "the embedded model with injected faults, for tests")


def _said_of(models: Sequence[str]) -> Iterator[str]:
    words = f"A run without flags uses {_said_of_roles(models)}."
    yield from fill(words, _WIDTH, break_on_hyphens=False, break_long_words=False).split("\n")


def _plain(offer: Offer) -> dict[str, Any]:
    """JSON values; prices are numbers."""
    entries = [
        asdict(each)
        | {"input": _number(each.input), "output": _number(each.output)}
        | {"shutdown": each.shutdown and each.shutdown.isoformat()}
        for each in offer.entries
    ]
    return asdict(offer) | {"entries": entries}


def _number(price: Decimal | None) -> float | None:
    return None if price is None else float(price)
