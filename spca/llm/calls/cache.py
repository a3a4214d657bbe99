"""``--cache``: a folder of answers, from which identical calls of later runs are answered."""

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
    """Return a text that tells apart models of the same name: the server's address, "" for the usual address.

    For a model file, return the size (bytes) and the modification time (ns) instead, "" if the file is missing.
    """
    if model.prefix != "llamacpp":
        return servers.get(model.prefix, Server()).url or ""
    with suppress(OSError):
        file_status = Path(model.name).stat()
        return f"{file_status.st_size} {file_status.st_mtime_ns}"
    return ""


class Cache:
    """A folder with one transcript per call key; the caller puts only valid answers into the folder.

    Args:
        folder: folder of the transcripts; made by the first :meth:`put`.
        servers: servers by prefix; answers of the same model from different addresses are kept apart.
    """

    def __init__(self, folder: Path, servers: Servers | None = None) -> None:
        self._folder = folder
        self._servers: Servers = servers or {}
        self._bypassed: set[str] = set()

    def get(self, call: Call) -> Answer | None:
        """Return the cached answer to a call; None without a cached answer, or if the call was bypassed.

        Raises:
            SettingsError: the file of the answer cannot be read.
        """
        path = self._path(call)
        if call.key in self._bypassed or not path.is_file():
            return None
        try:
            return read_answer(json.loads(path.read_text(encoding="utf-8")))
        except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
            raise SettingsError(f"{path} cannot be read ({type(error).__name__}): delete it") from error

    def put(self, call: Call, answer: Answer) -> None:
        """Store the answer, so that later calls with the same key get the answer.

        Raises:
            SettingsError: the folder cannot be written to.
        """
        make_folder(self._folder)
        record = unsent(call, Place(), "")
        write_atomic(self._path(call), to_text(call, record, answer, "model"))

    def bypass(self, call: Call) -> None:
        """Make :meth:`get` return None for calls with this key, for the rest of the run."""
        self._bypassed.add(call.key)

    def _path(self, call: Call) -> Path:
        """Return the file of an answer, named by the call key and a digest of the place of the model."""
        suffix = ""
        if place := find_place(call.model, self._servers):
            digest = hashlib.sha256(place.encode()).hexdigest()
            suffix = f"-{digest[:8]}"
        return self._folder / f"{call.key}{suffix}.json"
