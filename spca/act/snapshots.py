"""Copies of a world's state beside its checkpoints, so that a restore need not replay; what they hold is still proven.

Objects are saved by their attributes, all in one piece, so that what they share stays shared. What cannot be pickled is
not saved, and is replayed.
"""

from __future__ import annotations

import io
import pickle
from collections import OrderedDict
from collections.abc import Sequence
from typing import Any, Final, TypeAlias

from spca.contracts import Checkpoint

MAX_KEPT: Final = 16
"""Snapshots kept of a world, the latest; one is some 10 KB."""

MAX_BYTES: Final = 1 << 20
"""Bytes of a snapshot that is kept at all."""

Parts: TypeAlias = Sequence[tuple[object, frozenset[str]]]
"""Objects that keep their identity, each with the names of the attributes that are not saved."""


class Snapshots:
    """The latest snapshots of a world by their checkpoints."""

    def __init__(self) -> None:
        self._saved: OrderedDict[Checkpoint, bytes] = OrderedDict()

    def keep(self, checkpoint: Checkpoint, parts: Parts) -> None:
        """Save the attributes of ``parts``, if there are any and it can be done."""
        self._saved.pop(checkpoint, None)
        saved = _dump(parts) if parts else None
        if saved is not None and len(saved) <= MAX_BYTES:
            self._saved[checkpoint] = saved
        while len(self._saved) > MAX_KEPT:
            self._saved.popitem(last=False)

    def load(self, checkpoint: Checkpoint, parts: Parts) -> bool:
        """Give ``parts`` the attributes that were saved with a checkpoint; False where there are none."""
        saved = self._saved.get(checkpoint)
        if saved is None or not parts:
            return False
        found = _Unpickler(io.BytesIO(saved), parts).load()
        for (part, kept), attributes in zip(parts, found, strict=True):
            own = vars(part)
            attributes |= {name: own[name] for name in kept if name in own}
            own.clear()
            own.update(attributes)
        return True


class _Pickler(pickle.Pickler):
    def __init__(self, file: io.BytesIO, parts: Parts) -> None:
        super().__init__(file, pickle.HIGHEST_PROTOCOL)
        self._numbers = {id(part): number for number, (part, _) in enumerate(parts)}

    def persistent_id(self, value: Any) -> int | None:
        return self._numbers.get(id(value))


class _Unpickler(pickle.Unpickler):
    def __init__(self, file: io.BytesIO, parts: Parts) -> None:
        super().__init__(file)
        self._parts = parts

    def persistent_load(self, number: Any) -> object:
        return self._parts[number][0]


def _dump(parts: Parts) -> bytes | None:
    saved = [{name: value for name, value in vars(part).items() if name not in kept} for part, kept in parts]
    file = io.BytesIO()
    try:
        _Pickler(file, parts).dump(saved)
    except (pickle.PicklingError, AttributeError, TypeError, RecursionError):  # what pickle says of what it cannot do
        return None
    return file.getvalue()
