"""Copies of a world's state beside its checkpoints, so that a restore does not have to replay primitives.

All attributes are pickled together, so that objects that share a part still share the part after loading. A state that
cannot be pickled is not saved, and the world replays the primitives instead. After loading as after replaying, the
world compares the hash of its state with the hash in the checkpoint.
"""

from __future__ import annotations

import io
import pickle
from collections import OrderedDict
from collections.abc import Sequence
from typing import Any, Final, TypeAlias

from spca.contracts import Checkpoint

MAX_KEPT: Final = 16
"""Number of snapshots that are kept of a world, the latest ones; a snapshot takes about 10 KB."""

MAX_BYTES: Final = 1 << 20
"""Size of the largest snapshot that is kept, in bytes."""

Parts: TypeAlias = Sequence[tuple[object, frozenset[str]]]
"""Objects to save and restore in place, each with the names of its attributes that are not saved."""


class Snapshots:
    """The latest snapshots of a world, by checkpoint."""

    def __init__(self) -> None:
        self._saved: OrderedDict[Checkpoint, bytes] = OrderedDict()

    def keep(self, checkpoint: Checkpoint, parts: Parts) -> None:
        """Save the attributes of ``parts`` for a checkpoint.

        Save nothing if ``parts`` is empty, cannot be pickled or is too large.
        """
        self._saved.pop(checkpoint, None)
        saved = _dump(parts) if parts else None
        if saved is not None and len(saved) <= MAX_BYTES:
            self._saved[checkpoint] = saved
        while len(self._saved) > MAX_KEPT:
            self._saved.popitem(last=False)

    def load(self, checkpoint: Checkpoint, parts: Parts) -> bool:
        """Set the attributes of ``parts`` to the values saved for a checkpoint; return False if there are none."""
        saved = self._saved.get(checkpoint)
        if saved is None or not parts:
            return False
        try:
            found = _Unpickler(io.BytesIO(saved), parts).load()
        except Exception:  # boundary: classes of others unpickle as they like
            return False
        for (part, kept), attributes in zip(parts, found, strict=True):
            present = vars(part)
            attributes |= {name: present[name] for name in kept if name in present}
            present.clear()
            present.update(attributes)
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
    except Exception:  # boundary: pickle raises many kinds of errors, and classes of others any
        return None
    return file.getvalue()
