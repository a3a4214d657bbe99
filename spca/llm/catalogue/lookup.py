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
from spca.llm.providers.secrets import quoted

_LOG: Final = logging.getLogger(__name__)

SOON: Final = timedelta(days=60)
"""How long before its end a model is worth a warning."""
ESCAPE: Final = "--no-preflight starts all the same"


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

    model: ModelRef
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
        remarks = [finding.words for finding in self.findings if finding.words]
        return "; ".join([*remarks, *self.unlisted])

    @property
    def is_refused(self) -> bool:
        """Whether a model is among them that cannot be used."""
        return any(finding.state in REFUSED for finding in self.findings)

    def render(self) -> str:
        """Return the report for a terminal, at most 80 columns wide: a row per model and one per unavailable list."""
        rows = [(finding.state.value, finding.words or str(finding.model)) for finding in self.findings]
        rows += [("no list", words) for words in self.unlisted]

        lines: list[str] = []
        for state, words in rows:
            lines += fold_words(f"{state:<11}", words)
        return "\n".join(lines)

    def require_servers(self, fix: str) -> None:
        """Refuse to begin where a server cannot be reached: every request to it would be repeated in vain.

        Args:
            fix: how to do without it.

        Raises:
            ProviderDownError: names the servers.
        """
        if self.unreachable and not self.is_refused:
            servers = "; ".join(self.unreachable)
            raise ProviderDownError(f"{servers}; {fix} ({ESCAPE})")

    def warning(self) -> str:
        """Return the line to warn with, "" if all is well.

        Raises:
            UnknownModelError: a model cannot be used; names all that is wrong, and what to use instead.
        """
        if self.is_refused:
            raise UnknownModelError(f"{self.line} ({ESCAPE})")
        return self.line


@dataclass(frozen=True, slots=True)
class KnownList:
    """The list of the server at ``address``, or the reason why it is unavailable: ``lost``.

    ``unreachable`` says in words that no connection to the server can be made, "" where one was.
    """

    address: str
    entries: Sequence[Listed] = ()
    lost: str = ""
    unreachable: str = ""

    def find(self, ref: ModelRef) -> Listed | None:
        """Return the entry of a model, whose name a server may complete: Ollama's tags, Google's "models/", dates."""
        names = {ref.name, f"{ref.name}:latest"} if ref.prefix == "ollama" else {ref.name.removeprefix("models/")}
        found = next((each for each in self.entries if each.name in names), None)
        if found is None and ref.prefix == "anthropic":  # lists claude-haiku-4-5 as claude-haiku-4-5-20251001
            dated = re.compile(rf"{re.escape(ref.name)}-\d{{8}}")
            found = next((each for each in self.entries if dated.fullmatch(each.name)), None)
        return found


def look_up(
    refs: Sequence[ModelRef], providers: Mapping[str, Provider], table: ModelTable, today: date | None = None
) -> Report:
    """Look up models, each provider's list once and all of them at the same time.

    Args:
        refs: what a run is to use; those that run in this process are not looked up.
        providers: of the others, by prefix.
        table: what is known of models.
        today: by default the day in UTC.
    """
    today = today or datetime.now(UTC).date()
    servers = {prefix: provider for prefix, provider in providers.items() if isinstance(provider, Listing)}
    lists = ask_lists(servers)

    found = []
    for ref in refs:
        known = lists.get(ref.prefix)
        found.append(judge(ref, known, table, today) if known else Finding(ref, State.EMBEDDED))
    lost = tuple(known.lost for known in lists.values() if known.lost)
    unreachable = tuple(known.unreachable for known in lists.values() if known.unreachable)
    return Report(tuple(found), lost, unreachable)


def ask_lists(servers: Mapping[str, Listing]) -> dict[str, KnownList]:
    """Ask servers for their lists, all of them at the same time; the answers by the same names."""
    for server in servers.values():
        with suppress(ProviderError):  # which its list will name
            server.load_sdk()
    with ThreadPoolExecutor(max(1, len(servers))) as pool:
        return dict(zip(servers, pool.map(_ask_list, servers.values()), strict=True))


def _ask_list(server: Listing) -> KnownList:
    try:
        return KnownList(server.address, server.listed())
    except ProviderError as error:
        _LOG.info("a list of models is missing: %s", error, exc_info=error)
        reason = str(error).partition(": ")[2] or str(error)  # without the model that it names first
        lost = f"the list of models at {server.address} cannot be had ({reason})"
        never_connected = isinstance(error, TransientError) and error.status is None and not error.lost
        return KnownList(server.address, lost=lost, unreachable=str(error) if never_connected else "")


def judge(ref: ModelRef, known: KnownList, table: ModelTable, today: date) -> Finding:
    """Return what a list and the table say of a model on a day (pure)."""
    info = table.info(ref)
    is_own = is_providers_own(ref.prefix, known.address)
    entry = known.find(ref)
    instead = f"use {info.successor}" if info.successor else OTHER_MODEL
    end = entry.shutdown if entry else None
    is_gone = end is not None and end < today
    if end is None and (is_own or not (entry or known.lost)):  # a server of one's own may serve anything under a name
        end = info.shutdown
        is_gone = end is not None and entry is None and end <= today
    if is_gone:
        return Finding(ref, State.GONE, f"{ref} was shut down on {end}: {instead}")
    if not (entry or known.lost):
        return _judge_missing(ref, known, is_own=is_own)
    if known.lost and is_own and (meant := find_misspelled(ref, table.known_names())):
        return Finding(ref, State.MISSING, describe_misspelled(ref, meant))
    if end and today <= end <= today + SOON:
        return Finding(ref, State.ENDING, f"{ref} will be shut down on {end}: {instead}")
    return Finding(ref, State.UNKNOWN if known.lost else State.AVAILABLE)


def _judge_missing(ref: ModelRef, known: KnownList, *, is_own: bool) -> Finding:
    is_ollama = ref.prefix == "ollama"
    is_sure = is_own or (is_ollama and not ref.name.endswith("cloud"))
    near = find_nearest(ref.name, (each.name for each in known.entries), 1)
    ways = [f"fetch it with `ollama pull {ref.name}`"] if is_ollama else []
    if near:
        ways += [f"use {ref.prefix}/{quoted(name)}" for name in near]
    elif is_sure:
        ways.append(OTHER_MODEL)

    words = f"{ref} is not in the list of models at {known.address}"
    state = State.MISSING if is_sure else State.UNLISTED
    fix = " or ".join(ways)
    return Finding(ref, state, f"{words}: {fix}" if fix else words)
