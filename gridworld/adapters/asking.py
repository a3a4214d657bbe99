"""How language models are asked: limits, caps and servers, and the books of each episode.

With a folder, an episode has a folder of its own in it, whichever process plays it: its ledger (``calls.jsonl``), its
transcripts (``llm/``) and the request in flight (``state/``). An episode that was interrupted is played again with the
answers that it was given before, and caps hold for all episodes together.
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
from spca.llm.calls.ledger import BOOK, IN_FLIGHT, Outcome, Record
from spca.llm.calls.retry import RetryPolicy
from spca.llm.catalogue.catalogue import Catalogue
from spca.llm.providers.base import Limits


@dataclass(frozen=True, slots=True)
class Asking:
    """How a language model is asked.

    Attributes:
        limits: of each answer; its effort is that of the model's name.
        actions_per_call: the most actions that an answer may name.
        caps: on all episodes together.
        policy: when a request is sent again.
        catalogue: providers and prices.
        books: folder that keeps every call; None: memory, an episode at a time.
        cache: folder of answers that serve calls that are exactly the same; None: none.
        notify: told in one line whenever a request is about to be sent again.
    """

    limits: Limits = Limits()
    actions_per_call: int = 1
    caps: Caps = Caps()
    policy: RetryPolicy = RetryPolicy()
    catalogue: Catalogue = field(default_factory=Catalogue)
    books: Path | None = None
    cache: Path | None = None
    notify: Callable[[str], None] = lambda _line: None

    def desk(self, spec: TaskSpecification | None = None, how: str = "") -> CallDesk:
        """Return what the calls of an episode pass through; without a task nothing is stored.

        Args:
            spec: the task that is played.
            how: all else that makes it another episode.

        Raises:
            UserError: the folder cannot be written to, or what an earlier process left there cannot be read.
        """
        folder = None
        caps = self.caps
        if self.books is not None and spec is not None:
            folder = self.books / _name(spec, how)
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
    """Caps on several ledgers together.

    Attributes:
        others: the records of all ledgers but the one that is checked.
    """

    others: Callable[[], Sequence[Record]] = list

    def check(self, records: Sequence[Record], catalogue: Catalogue) -> None:
        """See :meth:`spca.llm.calls.budget.Caps.check`; processes may exceed a cap by one request each."""
        Caps.check(self, [*self.others(), *records], catalogue)


class Books:
    """The ledgers of all episodes of an evaluation, which other processes may be writing.

    Args:
        folder: holds a folder for each episode.
        own: the episode that is left out of :meth:`others`.
    """

    def __init__(self, folder: Path, own: Path | None = None) -> None:
        self._folder = folder
        self._own = own
        self._known: dict[Path, tuple[int, list[Record]]] = {}

    def others(self) -> list[Record]:
        """Return the records of all requests of the other episodes, with those in flight.

        Raises:
            SettingsError: a ledger cannot be read; names it.
        """
        folders = sorted(path.parent for path in self._folder.glob("*/state"))
        return [record for path in folders if path != self._own for record in self._records(path)]

    def _records(self, folder: Path) -> Iterator[Record]:
        path = folder / BOOK
        size = path.stat().st_size if path.exists() else 0
        if self._known.get(path, (0,))[0] != size:
            try:
                # A torn last line belongs to a process that writes, and is not touched.
                lines = path.read_bytes().split(b"\n")[:-1]
                self._known[path] = size, [Record.from_dict(json.loads(line)) for line in lines]
            except (OSError, ValueError, KeyError, TypeError, AttributeError, ArithmeticError) as error:
                raise SettingsError(f"{path}: this ledger cannot be read: {error}") from error
        known = self._known.get(path, (0, []))[1]
        yield from known
        with suppress(OSError, ValueError, KeyError, TypeError):  # there is none, or it is being written
            flying = Record.from_dict(json.loads((folder / IN_FLIGHT).read_bytes()))
            if flying.number > len(known):
                yield flying


def was_worked_on(books: Path) -> bool:
    """Return whether a model may have worked on a request that is in the books.

    Raises:
        SettingsError: a ledger cannot be read; names it.
    """
    return any(record.outcome is not Outcome.REJECTED for record in Books(books).others())


def _name(spec: TaskSpecification, how: str) -> str:
    task = json_text(spec.to_dict())
    digest = hashlib.sha256(f"{task} {how}".encode()).hexdigest()
    return f"{file_stem(spec.task_id)}-{digest[:8]}"
