"""``--cache``: answers of earlier runs for calls that are exactly the same."""

from __future__ import annotations

import hashlib
import json
from contextlib import suppress
from pathlib import Path

from spca.common.errors import SettingsError
from spca.common.files import make_folder, write_atomic
from spca.llm.calls.ledger import Place
from spca.llm.calls.transcripts import Answer, Call, read_answer, to_text, unsent
from spca.llm.catalogue.model_ref import ModelRef
from spca.llm.catalogue.servers import Server, Servers


def find_place(model: ModelRef, servers: Servers) -> str:
    """Return what answers depend on besides the model's name: the address of its server, or the state of its file."""
    if model.prefix != "llamacpp":
        return servers.get(model.prefix, Server()).url or ""
    with suppress(OSError):
        file = Path(model.name).stat()
        return f"{file.st_size} {file.st_mtime_ns}"
    return ""


class Cache:
    """A folder with one transcript per key; only answers of the form asked for get into it.

    Args:
        folder: where they lie; made when there is something to keep.
        servers: a model at another address answers otherwise.
    """

    def __init__(self, folder: Path, servers: Servers | None = None) -> None:
        self._folder = folder
        self._servers: Servers = servers or {}
        self._bypassed: set[str] = set()

    def get(self, call: Call) -> Answer | None:
        """Return the answer to the same call, None if it is not there or the last one was bad.

        Raises:
            SettingsError: its file cannot be read.
        """
        path = self._path(call)
        if call.key in self._bypassed or not path.is_file():
            return None
        try:
            return read_answer(json.loads(path.read_text(encoding="utf-8")))
        except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
            raise SettingsError(f"{path} cannot be read ({type(error).__name__}): delete it") from error

    def put(self, call: Call, answer: Answer) -> None:
        """Serve this answer to the same call from now on.

        Raises:
            SettingsError: the folder cannot be written to.
        """
        make_folder(self._folder)
        write_atomic(self._path(call), to_text(call, unsent(call, Place(), ""), answer, "model"))

    def bypass(self, call: Call) -> None:
        """Do not serve this call again in this run."""
        self._bypassed.add(call.key)

    def _path(self, call: Call) -> Path:
        place = find_place(call.model, self._servers)
        suffix = f"-{hashlib.sha256(place.encode()).hexdigest()[:8]}" if place else ""
        return self._folder / f"{call.key}{suffix}.json"
