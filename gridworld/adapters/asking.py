"""Settings of the requests to language models: limits, caps, catalogue, and the books.

The books are a folder that records every call, with one subfolder for each episode. The folder of an episode holds its
ledger (``calls.jsonl``), its transcripts (``llm/``) and the request in flight (``state/``).

The name of an episode's folder depends only on the episode, not on the process that plays the episode. Therefore, an
interrupted episode is played again with the recorded answers, and caps apply to all episodes together.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from gridworld.runner.encoding import file_stem, json_text
from gridworld.task_spec import TaskSpecification
from spca.common.errors import SettingsError
from spca.common.files import make_folder
from spca.llm.calls.budget import Caps
from spca.llm.calls.cache import Cache
from spca.llm.calls.desk import CallDesk
from spca.llm.calls.ledger import BOOK, IN_FLIGHT, Record, RequestOutcome
from spca.llm.calls.retry import RetryPolicy
from spca.llm.catalogue.catalogue import Catalogue
from spca.llm.providers.base import RequestOptions


@dataclass(frozen=True, slots=True)
class Asking:
    """Settings of the requests to one language model.

    Attributes:
        limits: limits of each answer. Its ``effort`` is ignored, because the model's name states the effort.
        actions_per_call: the most actions that an answer may name.
        caps: limits on what all episodes together may spend.
        policy: when and how often a failed request is sent again.
        catalogue: providers and prices.
        books: folder that records every call; None keeps the calls of the current episode in memory only.
        cache: folder of earlier answers, which are reused for identical calls; None disables the cache.
        notify: function that is called with one line of text before a failed request is sent again.
    """

    limits: RequestOptions = RequestOptions()
    actions_per_call: int = 1
    caps: Caps = Caps()
    policy: RetryPolicy = RetryPolicy()
    catalogue: Catalogue = field(default_factory=Catalogue)
    books: Path | None = None
    cache: Path | None = None
    notify: Callable[[str], None] = lambda _line: None

    def desk(self, spec: TaskSpecification | None = None, how: str = "") -> CallDesk:
        """Return the desk that sends and records the calls of one episode.

        Args:
            spec: the task that is played; None stores nothing on disk.
            how: text that distinguishes this episode from other episodes of the task, such as the seed.

        Raises:
            UserError: the folder of the episode cannot be written, or records of an earlier process are unreadable.
        """
        folder = None
        caps = self.caps
        if self.books is not None and spec is not None:
            folder = self.books / _name_episode(spec, how)
            make_folder(folder)
            caps = SharedCaps(caps.cost_usd, caps.calls, caps.tokens, Books(self.books, folder).others)
        cache = Cache(self.cache, self.catalogue.servers) if self.cache else None
        run = folder.name if folder else ""
        desk = CallDesk(
            folder, run, caps=caps, catalogue=self.catalogue, cache=cache, notify=self.notify, policy=self.policy
        )
        if spec is not None:
            desk.begin_level(1, "Gridworld", spec.task_id, spec.seed)
        return desk


@dataclass(frozen=True, slots=True)
class SharedCaps(Caps):
    """Caps that apply to the sum of several ledgers.

    Attributes:
        others: function that returns the records of all ledgers except the ledger that is checked.
    """

    others: Callable[[], Sequence[Record]] = list

    def check(self, records: Sequence[Record], catalogue: Catalogue) -> None:
        """Check the sum of all ledgers against the caps, as :meth:`spca.llm.calls.budget.Caps.check` does for one
        ledger.

        Each process may exceed a cap by one request, because the processes do not wait for one another.
        """
        Caps.check(self, [*self.others(), *records], catalogue)


class Books:
    """The ledgers of all episodes of an evaluation. Other processes may write to the ledgers at the same time.

    Args:
        folder: folder that holds a folder for each episode.
        own: folder of the current episode, which :meth:`others` leaves out; None leaves out no episode.
    """

    def __init__(self, folder: Path, own: Path | None = None) -> None:
        self._folder = folder
        self._own = own
        # Maps the path of a ledger to (size in bytes when last read, records).
        self._cached: dict[Path, tuple[int, list[Record]]] = {}

    def others(self) -> list[Record]:
        """Return the records of all requests of the other episodes, including requests in flight.

        Raises:
            SettingsError: a ledger cannot be read.
        """
        folders = sorted(path.parent for path in self._folder.glob("*/state"))
        return [record for path in folders if path != self._own for record in self._records(path)]

    def _records(self, folder: Path) -> Iterator[Record]:
        """Yield the records of one episode, and then its request in flight if there is one.

        The ledger is read again only if its size has changed.
        """
        path = folder / BOOK
        size = path.stat().st_size if path.exists() else 0
        size_when_read, _ = self._cached.get(path, (0, []))
        if size_when_read != size:
            try:
                # The text after the last line end is a record that another process is still writing.
                lines = path.read_bytes().split(b"\n")[:-1]
                self._cached[path] = size, [Record.from_dict(json.loads(line)) for line in lines]
            except (OSError, ValueError, KeyError, TypeError, AttributeError, ArithmeticError) as error:
                raise SettingsError(f"{path}: this ledger cannot be read: {error}") from error
        _, records = self._cached.get(path, (0, []))
        yield from records
        with suppress(OSError, ValueError, KeyError, TypeError):  # no request is in flight, or the file is incomplete
            in_flight = Record.from_dict(json.loads((folder / IN_FLIGHT).read_bytes()))
            # Records are numbered from 1; a lower number is a request that the ledger holds already.
            if in_flight.number > len(records):
                yield in_flight


def was_worked_on(books: Path) -> bool:
    """Return whether the books hold a request that a model may have processed, and that may therefore be billed.

    Raises:
        SettingsError: a ledger cannot be read.
    """
    return any(record.outcome is not RequestOutcome.REJECTED for record in Books(books).others())


def _name_episode(spec: TaskSpecification, how: str) -> str:
    """Return the name of the folder that holds the books of an episode."""
    task = json_text(spec.to_dict())
    digest = hashlib.sha256(f"{task} {how}".encode()).hexdigest()
    return f"{file_stem(spec.task_id)}-{digest[:8]}"
