"""Look up the models of a run in the lists of their providers, before any request costs money.

The state of a model (:class:`State`) follows from the list of its server and from the model table. Below, "own address"
means that the server is operated by the provider.

=============================  =====================================================================================
the list contains the model    AVAILABLE; ENDING if the list names a day of shutdown within 60 days, or, at the own
                               address, if the table does; GONE if the list names a day that has passed
the list lacks the model       GONE if the table names a day of shutdown that has passed; otherwise MISSING at the own
                               address and at Ollama, and UNLISTED (a warning) at any other server
the list is unavailable        UNKNOWN, and one warning for the list; at the own address GONE if the table names a day
                               that has passed, and MISSING if the name is certainly misspelled
the server is unreachable      as for an unavailable list, but the run does not begin (:meth:`Report.require_servers`)
=============================  =====================================================================================
"""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from enum import StrEnum
from typing import Final

from spca.common.names import find_nearest
from spca.common.text import fold_words
from spca.errors import ProviderDownError, ProviderError, TransientError, UnknownModelError
from spca.llm.catalogue.model_ref import ModelRef
from spca.llm.catalogue.model_table import ModelTable
from spca.llm.catalogue.servers import is_providers_own
from spca.llm.catalogue.spelling import describe_misspelled, find_misspelled
from spca.llm.providers.base import Listed, Listing, Provider
from spca.llm.providers.failures import OTHER_MODEL
from spca.llm.providers.secrets import quote_line

_LOG: Final = logging.getLogger(__name__)

SOON: Final = timedelta(days=60)
"""A shutdown within this time is worth a warning."""
ESCAPE: Final = "--no-preflight starts all the same"


class State(StrEnum):
    """Whether a model can be used; see the table of this module."""

    EMBEDDED = "embedded"  # runs in this process and is not looked up
    AVAILABLE = "available"
    ENDING = "ending"
    UNLISTED = "unlisted"
    UNKNOWN = "unknown"
    MISSING = "missing"
    GONE = "gone"


REFUSED: Final = frozenset({State.MISSING, State.GONE})
"""States of models with which a run does not begin."""


@dataclass(frozen=True, slots=True)
class Finding:
    """The state of one model of a run; ``words`` says what is wrong and what to do, "" if nothing is wrong."""

    model: ModelRef
    state: State
    words: str = ""


@dataclass(frozen=True, slots=True)
class Report:
    """The result of looking up the models of a run.

    Attributes:
        findings: one finding for each model, in order.
        unlisted: one message for each unavailable list.
        unreachable: one message for each server that cannot be reached.
    """

    findings: tuple[Finding, ...]
    unlisted: tuple[str, ...] = ()
    unreachable: tuple[str, ...] = ()

    @property
    def line(self) -> str:
        """One line with all faults and warnings, "" if there are none."""
        remarks = [finding.words for finding in self.findings if finding.words]
        return "; ".join([*remarks, *self.unlisted])

    @property
    def is_refused(self) -> bool:
        """Whether the report contains a model that cannot be used."""
        return any(finding.state in REFUSED for finding in self.findings)

    def render(self) -> str:
        """Return the report for a terminal, at most 80 columns wide: one row per model and per unavailable list."""
        rows = []
        for finding in self.findings:
            words = finding.words or str(finding.model)
            rows.append((finding.state.value, words))
        rows += [("no list", words) for words in self.unlisted]

        lines: list[str] = []
        for state, words in rows:
            lines += fold_words(f"{state:<11}", words)
        return "\n".join(lines)

    def require_servers(self, fix: str) -> None:
        """Refuse to begin a run if a server cannot be reached, since every request to the server would fail.

        Args:
            fix: advice for the message: how to run without the server.

        Raises:
            ProviderDownError: names the servers.
        """
        if self.unreachable and not self.is_refused:
            servers = "; ".join(self.unreachable)
            raise ProviderDownError(f"{servers}; {fix} ({ESCAPE})")

    def warning(self) -> str:
        """Return one line with all warnings, "" if there are none.

        Raises:
            UnknownModelError: a model cannot be used; names all faults and the models to use instead.
        """
        if self.is_refused:
            raise UnknownModelError(f"{self.line} ({ESCAPE})")
        return self.line


@dataclass(frozen=True, slots=True)
class KnownList:
    """The list of models of one server.

    Attributes:
        address: address of the server.
        entries: the models in the list; empty if the list is unavailable.
        lost: the reason why the list is unavailable, "" if the list is available.
        unreachable: the reason why no connection to the server can be made, "" if a connection was made.
    """

    address: str
    entries: Sequence[Listed] = ()
    lost: str = ""
    unreachable: str = ""

    def find(self, ref: ModelRef) -> Listed | None:
        """Return the entry of a model, None if the list lacks the model.

        The name in the list may differ: Ollama adds the tag "latest", Google the prefix "models/", Anthropic a date.
        """
        names = {ref.name, f"{ref.name}:latest"} if ref.prefix == "ollama" else {ref.name.removeprefix("models/")}
        for entry in self.entries:
            if entry.name in names:
                return entry
        if ref.prefix == "anthropic":  # lists claude-haiku-4-5 as claude-haiku-4-5-20251001
            dated_name = re.compile(rf"{re.escape(ref.name)}-\d{{8}}")
            for entry in self.entries:
                if dated_name.fullmatch(entry.name):
                    return entry
        return None


def look_up(
    refs: Sequence[ModelRef], providers: Mapping[str, Provider], table: ModelTable, today: date | None = None
) -> Report:
    """Look up models in the lists of their providers; each provider is asked once, all at the same time.

    Args:
        refs: the models of a run; models that run in this process are not looked up.
        providers: providers of the models that have a server, by prefix.
        table: properties and prices of models.
        today: the present day; None for today's date in UTC.
    """
    today = today or datetime.now(UTC).date()
    servers = {prefix: provider for prefix, provider in providers.items() if isinstance(provider, Listing)}
    lists = ask_lists(servers)

    findings = []
    for ref in refs:
        known = lists.get(ref.prefix)
        findings.append(judge(ref, known, table, today) if known else Finding(ref, State.EMBEDDED))
    lost = tuple(known.lost for known in lists.values() if known.lost)
    unreachable = tuple(known.unreachable for known in lists.values() if known.unreachable)
    return Report(tuple(findings), lost, unreachable)


def ask_lists(servers: Mapping[str, Listing]) -> dict[str, KnownList]:
    """Ask all servers for their lists at the same time; return the lists by the keys of ``servers``."""
    for server in servers.values():
        # The SDKs must be imported before the threads start. The request for the list reports the same error again.
        with suppress(ProviderError):
            server.load_sdk()
    with ThreadPoolExecutor(max(1, len(servers))) as pool:
        lists = pool.map(_ask_list, servers.values())
        return dict(zip(servers, lists, strict=True))


def _ask_list(server: Listing) -> KnownList:
    """Return the list of a server, or the reason why the list is unavailable."""
    try:
        return KnownList(server.address, server.list_models())
    except ProviderError as error:
        _LOG.info("a list of models is missing: %s", error, exc_info=error)
        reason = str(error).partition(": ")[2] or str(error)  # provider errors begin with the name of the model
        lost = f"the list of models at {server.address} is not available ({reason})"
        never_connected = isinstance(error, TransientError) and error.status is None and not error.lost
        return KnownList(server.address, lost=lost, unreachable=str(error) if never_connected else "")


def judge(ref: ModelRef, known: KnownList, table: ModelTable, today: date) -> Finding:
    """Return the finding on a model from the list of its server and the model table (pure).

    The rules are in the table of this module.
    """
    info = table.info(ref)
    is_own_address = is_providers_own(ref.prefix, known.address)
    entry = known.find(ref)
    is_missing = entry is None and not known.lost
    instead = f"use {info.successor}" if info.successor else OTHER_MODEL
    end = entry.shutdown if entry else None
    is_gone = end is not None and end < today
    # At the address of another server, the table does not apply: its models may have any names.
    uses_table = is_own_address or is_missing
    if end is None and uses_table:
        end = info.shutdown
        is_gone = end is not None and entry is None and end <= today
    if is_gone:
        return Finding(ref, State.GONE, f"{ref} was shut down on {end}: {instead}")
    if is_missing:
        return _judge_missing(ref, known, is_own_address=is_own_address)
    if known.lost and is_own_address:
        meant = find_misspelled(ref, table.list_names())
        if meant:
            return Finding(ref, State.MISSING, describe_misspelled(ref, meant))
    if end and today <= end <= today + SOON:
        return Finding(ref, State.ENDING, f"{ref} will be shut down on {end}: {instead}")
    return Finding(ref, State.UNKNOWN if known.lost else State.AVAILABLE)


def _judge_missing(ref: ModelRef, known: KnownList, *, is_own_address: bool) -> Finding:
    """Return the finding on a model that the list of its server lacks."""
    is_ollama = ref.prefix == "ollama"
    is_local_ollama = is_ollama and not ref.name.endswith("cloud")  # cloud models need not be in the local list
    is_refused = is_own_address or is_local_ollama
    near = find_nearest(ref.name, (entry.name for entry in known.entries), 1)
    fixes = [f"fetch it with `ollama pull {ref.name}`"] if is_ollama else []
    if near:
        fixes += [f"use {ref.prefix}/{quote_line(name)}" for name in near]
    elif is_refused:
        fixes.append(OTHER_MODEL)

    fault = f"{ref} is not in the list of models at {known.address}"
    state = State.MISSING if is_refused else State.UNLISTED
    fix = " or ".join(fixes)
    return Finding(ref, state, f"{fault}: {fix}" if fix else fault)
