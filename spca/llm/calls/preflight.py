"""Look up the models of a run at their providers before anything is paid.

========================================  =====================================================================
the list has the model                    available; ending if the list, or the table at the provider's own address,
                                          names a day within 60 days; gone if the list names a day that has passed
the list lacks it                         gone if the table knows that it was shut down; else missing: refused at the
                                          provider's own address and by Ollama, a warning anywhere else
the list cannot be had                    one warning; at the provider's own address gone if the table says so, and
                                          missing if it shows that the name is misspelled
the server cannot be reached              the same; a run does not begin (:meth:`Report.require_servers`)
========================================  =====================================================================
"""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from difflib import get_close_matches
from enum import StrEnum
from textwrap import fill
from typing import Final

from spca.errors import ProviderDownError, ProviderError, TransientError, UnknownModelError
from spca.llm.calls.model_suggestions import misspelled_model
from spca.llm.calls.prices import ModelTable
from spca.llm.calls.published import PROVIDERS
from spca.llm.providers.addresses import is_providers_own
from spca.llm.providers.base import Listed, Listing
from spca.llm.providers.failures import OTHER_MODEL
from spca.llm.providers.model_names import ModelName
from spca.llm.providers.registry import IN_PROCESS, provider_for
from spca.llm.providers.secrets import quoted
from spca.llm.providers.servers import Servers

_LOG: Final = logging.getLogger(__name__)

SOON: Final = timedelta(days=60)
"""How long before its end a model is worth a warning."""
ESCAPE: Final = "--no-preflight starts all the same"
_COMPARED: Final = 1000
_LONGEST_NAME: Final = 100
"""Names of a list, and characters of each, that are compared with one that is missing."""


class State(StrEnum):
    """What is known of a model."""

    EMBEDDED = "embedded"
    AVAILABLE = "available"
    ENDING = "ending"
    UNLISTED = "unlisted"
    UNKNOWN = "unknown"
    MISSING = "missing"
    GONE = "gone"


REFUSED: Final = frozenset({State.MISSING, State.GONE})


@dataclass(frozen=True, slots=True)
class Finding:
    """What is known of a model that a run is to use; ``words``: what is wrong and what to do, "" if all is well."""

    model: str
    state: State
    words: str = ""


@dataclass(frozen=True, slots=True)
class Report:
    """Findings on the models of a run, in order, and in words which lists and which servers were unavailable."""

    findings: tuple[Finding, ...]
    unlisted: tuple[str, ...] = ()
    unreachable: tuple[str, ...] = ()

    @property
    def line(self) -> str:
        """All that a user should know, in one line; "" if nothing."""
        return "; ".join([*filter(None, (finding.words for finding in self.findings)), *self.unlisted])

    @property
    def is_refused(self) -> bool:
        """Whether a model is among them that cannot be used."""
        return any(finding.state in REFUSED for finding in self.findings)

    def render(self) -> str:
        """The report for a terminal: a row per model and one per list that cannot be had, at most 80 columns wide."""
        rows = [(finding.state.value, finding.words or finding.model) for finding in self.findings]
        return "\n".join(map(_row, [*rows, *(("no list", told) for told in self.unlisted)]))

    def require_servers(self, fix: str) -> None:
        """Refuse to begin where a server cannot be reached: every request to it would be repeated in vain.

        Args:
            fix: how to do without it.

        Raises:
            ProviderDownError: names the servers.
        """
        if self.unreachable and not self.is_refused:
            raise ProviderDownError(f"{'; '.join(self.unreachable)}; {fix} ({ESCAPE})")

    def warning(self) -> str:
        """Return the line to warn with, "" if all is well.

        Raises:
            UnknownModelError: a model cannot be used; names all that is wrong, and what to use instead.
        """
        if self.is_refused:
            raise UnknownModelError(f"{self.line} ({ESCAPE})")
        return self.line


def _row(row: tuple[str, str]) -> str:
    state, words = row
    start, indent = f"{state:<11}", " " * 11
    # Names and addresses stay whole, to be copied.
    return fill(
        words, 80, initial_indent=start, subsequent_indent=indent, break_on_hyphens=False, break_long_words=False
    )


def examine(
    models: Sequence[str],
    *,
    servers: Servers | None = None,
    table: ModelTable | None = None,
    today: date | None = None,
) -> Report:
    """Look up ``models`` (names with prefixes), each provider's list once and all of them at the same time.

    Args:
        models: what a run is to use.
        servers: those that are not at the usual place.
        table: what is known of models; by default the built-in table.
        today: by default the day in UTC.

    Raises:
        ProviderConfigError: a model cannot be asked at all, because its key is missing or there is no such provider.
    """
    table, today = table or ModelTable.load(), today or datetime.now(UTC).date()
    there = {prefix: model for model in models if (prefix := ModelName.parse(model).prefix) not in IN_PROCESS}
    asked = {prefix: provider_for(model, servers=servers, table=table)[0] for prefix, model in there.items()}
    lists = listings({prefix: server for prefix, server in asked.items() if isinstance(server, Listing)})
    found = []
    for model in dict.fromkeys(models):
        known = lists.get(ModelName.parse(model).prefix)
        found.append(judged(model, known, table, today) if known else Finding(model, State.EMBEDDED))
    lost = tuple(known.lost for known in lists.values() if known.lost)
    return Report(tuple(found), lost, tuple(known.unreachable for known in lists.values() if known.unreachable))


@dataclass(frozen=True, slots=True)
class Known:
    """The list of the server at ``address``, or the reason why it is unavailable: ``lost``.

    ``unreachable`` says in words that no connection to the server can be made, "" where one was.
    """

    address: str
    entries: Sequence[Listed] = ()
    lost: str = ""
    unreachable: str = ""


def listings(servers: Mapping[str, Listing]) -> Mapping[str, Known]:
    """Ask servers for their lists, all of them at the same time; the answers by the same names."""
    for server in servers.values():
        with suppress(ProviderError):  # which its list will name
            server.load_sdk()
    with ThreadPoolExecutor(max(1, len(servers))) as pool:
        return dict(zip(servers, pool.map(_known, servers.values()), strict=True))


def _known(server: Listing) -> Known:
    try:
        return Known(server.address, server.listed())
    except ProviderError as error:
        _LOG.info("a list of models is missing: %s", error, exc_info=error)
        reason = str(error).partition(": ")[2] or str(error)  # without the model that it names first
        lost = f"the list of models at {server.address} cannot be had ({reason})"
        never_connected = isinstance(error, TransientError) and error.status is None and not error.lost
        return Known(server.address, lost=lost, unreachable=str(error) if never_connected else "")


def judged(model: str, known: Known, table: ModelTable, today: date) -> Finding:
    """Return what a list and the table say of a model on a day (pure)."""
    asked = ModelName.parse(model)
    prefix, name = asked.prefix, asked.name
    info, is_own = table.info(model), is_providers_own(prefix, known.address)
    entry = _entry(prefix, name, known.entries)
    told = entry.shutdown if entry else None
    is_meant = is_own or not (entry or known.lost)  # a server of one's own may serve anything under a name
    end = told or (info.shutdown if is_meant else None)
    instead = f"use {info.successor}" if info.successor else OTHER_MODEL
    if end and (end < today if told else entry is None and end <= today):
        return Finding(model, State.GONE, f"{model} was shut down on {end}: {instead}")
    if not (entry or known.lost):
        return _missing(model, known, is_own=is_own)
    if known.lost and is_own and (meant := misspelled_model(model, table)):
        return Finding(model, State.MISSING, _describe_misspelled(model, meant))
    if end and today <= end <= today + SOON:
        return Finding(model, State.ENDING, f"{model} will be shut down on {end}: {instead}")
    return Finding(model, State.UNKNOWN if known.lost else State.AVAILABLE)


def _describe_misspelled(model: str, meant: str) -> str:
    return f"{model} is no model that is known: use {meant}, or describe it with --model-table FILE (docs/models.md)"


def check_spelling(models: Sequence[str], servers: Servers, table: ModelTable) -> None:
    """Refuse models that are certainly misspelled, where they are not looked up: others would be paid before they fail.

    Args:
        models: names with prefixes.
        servers: by prefix; a server of the user's own may have any names.
        table: what is known of models.

    Raises:
        UnknownModelError: names the model that is meant.
    """
    for model in models:
        prefix = ModelName.parse(model).prefix
        url = servers[prefix].url if prefix in servers else None
        if prefix in PROVIDERS and is_providers_own(prefix, url) and (meant := misspelled_model(model, table)):
            raise UnknownModelError(_describe_misspelled(model, meant))


def _entry(prefix: str, name: str, known: Sequence[Listed]) -> Listed | None:
    """Return the entry of a model, whose name a server may complete: Ollama's tags, Google's "models/", dates."""
    names = {name, f"{name}:latest"} if prefix == "ollama" else {name.removeprefix("models/")}
    found = next((each for each in known if each.name in names), None)
    if found is None and prefix == "anthropic":  # lists claude-haiku-4-5 as claude-haiku-4-5-20251001
        found = next((each for each in known if re.fullmatch(rf"{re.escape(name)}-\d{{8}}", each.name)), None)
    return found


def _missing(model: str, known: Known, *, is_own: bool) -> Finding:
    asked = ModelName.parse(model)
    prefix, name = asked.prefix, asked.name
    is_ollama = prefix == "ollama"
    is_sure = is_own or (is_ollama and not name.endswith("cloud"))
    names = [each.name for each in known.entries[:_COMPARED] if len(each.name) <= _LONGEST_NAME]
    near = get_close_matches(name, names, 1)
    ways = [f"fetch it with `ollama pull {name}`"] if is_ollama else []
    ways += [f"use {prefix}/{quoted(each)}" for each in near] or ([OTHER_MODEL] if is_sure else [])
    words = f"{model} is not in the list of models at {known.address}"
    state = State.MISSING if is_sure else State.UNLISTED
    return Finding(model, state, ": ".join(filter(None, [words, " or ".join(ways)])))
