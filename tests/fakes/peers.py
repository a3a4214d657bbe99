"""Independent servers of the protocols, written by others: aimock for all dialects, llmock for OpenAI's two."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import warnings
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest

from tests.support.waiting import PATIENCE

if TYPE_CHECKING:
    from llmock.testing import LLMockServer

_HERE: Final = Path(__file__).resolve().parent / "aimock"
_PROGRAM: Final = _HERE / "node_modules" / "@copilotkit" / "aimock" / "dist" / "cli.js"
INSTALL: Final = "npm --prefix tests/fakes/aimock ci"
"""The line that installs aimock; it needs Node 20."""


@dataclass(frozen=True, slots=True)
class Aimock:
    """A running aimock that knows ``aimock/fixtures.json``."""

    url: str

    def journal(self) -> list[dict[str, Any]]:
        """Every request since :meth:`forget`, as aimock reads it: path, headers, and a body in one form for all."""
        entries: list[dict[str, Any]] = json.loads(self._ask("GET", "journal"))
        return entries

    def forget(self) -> None:
        """Empty the journal."""
        self._ask("POST", "reset/journal")

    def _ask(self, method: str, what: str) -> bytes:
        with closing(HTTPConnection(self.url.removeprefix("http://"), timeout=PATIENCE)) as connection:
            connection.request(method, f"/__aimock/{what}")
            answer = connection.getresponse()
            assert answer.status == 200, answer.status
            return answer.read()


@contextmanager
def aimock() -> Iterator[Aimock]:
    """A running aimock on a free port; where it is not installed the test is skipped, under CI=true it fails."""
    node = shutil.which("node")
    if node is None:
        _missing("node is not installed: apt install nodejs npm (version 20 or newer)")
    if not _PROGRAM.is_file():
        _missing(f"aimock is not installed: {INSTALL}")
    command = [str(node), str(_PROGRAM), "--port", "0", "--fixtures", str(_HERE / "fixtures.json")]
    command += ["--validate-on-load", "--strict"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        try:
            yield Aimock(_address(process))
        finally:
            process.kill()


def _address(process: subprocess.Popen[str]) -> str:
    said = []
    assert process.stdout
    for line in process.stdout:
        said.append(line)
        if found := re.search(r"listening on (http://127\.0\.0\.1:\d+)", line):
            return found[1]
    pytest.fail(f"aimock did not start: {''.join(said)}")


def _missing(message: str) -> None:
    if os.environ.get("CI") == "true":
        pytest.fail(message)
    pytest.skip(message)


@contextmanager
def llmock() -> Iterator[LLMockServer]:
    """A running llmock on a free port of this process."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of its web framework
        from llmock.testing import LLMockServer

        with LLMockServer() as server:
            yield server
