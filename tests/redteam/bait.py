"""What the attacks are after, new for each of them: a secret file, a place to write, ports that listen, names to tell.

Every canary ends in random digits that no source contains, so that quoting a source is no leak.
"""

from __future__ import annotations

import secrets
import shutil
import socket
import tempfile
from pathlib import Path
from types import TracebackType
from typing import Final, Self

CANARY_FILE: Final = "SECRETFILE-7f3a"
API_KEY: Final = "sk-canary-91b2"
HIDDEN_GOAL: Final = "HIDDENGOAL-55aa"


class Bait:
    """A context manager; ``tokens`` are the texts that must not come out of a sandbox.

    The folder and the file are open to every user, so that it is not their permissions that hold.
    """

    def __init__(self) -> None:
        tail = secrets.token_hex(8)
        self.key, self.goal = f"{API_KEY}-{tail}", f"{HIDDEN_GOAL}-{tail}"
        self.tail = tail
        self.folder = Path(tempfile.mkdtemp(prefix="redteam-"))
        self.folder.chmod(0o777)
        self._secret = self.folder / "secret"
        self._secret.write_text(f"{CANARY_FILE}-{tail}", encoding="utf-8")
        self._secret.chmod(0o644)
        self._tcp = socket.create_server(("127.0.0.1", 0))
        self._udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._udp.bind(("127.0.0.1", 0))
        for listener in (self._tcp, self._udp):
            listener.setblocking(False)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._tcp.close()
        self._udp.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def fill(self, source: str) -> str:
        """The source with its placeholders filled; the host's process id is left to the host."""
        values = {
            "@SECRET@": str(self._secret),
            "@PW@": str(self.folder / "written-"),
            "@PORT@": str(self._tcp.getsockname()[1]),
            "@UPORT@": str(self._udp.getsockname()[1]),
            "@TAIL@": self.tail[::-1],
        }
        for name, value in values.items():
            source = source.replace(name, value)
        return source

    def written(self) -> list[str]:
        """Names of files that were not there at the beginning."""
        return sorted(path.name for path in self.folder.iterdir() if path != self._secret)

    def changed(self) -> bool:
        """Whether the secret file is another than it was."""
        return self._secret.read_text(encoding="utf-8") != f"{CANARY_FILE}-{self.tail}"

    def reached(self) -> list[str]:
        """What arrived on the listeners since it was asked last."""
        seen = []
        try:
            connection, _ = self._tcp.accept()
            connection.close()
            seen.append("a TCP connection")
        except BlockingIOError:
            pass
        try:
            self._udp.recv(100)
            seen.append("a UDP packet")
        except BlockingIOError:
            pass
        return seen
