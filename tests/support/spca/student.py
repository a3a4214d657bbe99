"""Somebody who answers the questions of ``human/FOLDER``."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from spca.llm.providers.base import Message, Request
from spca.llm.providers.offline.reference import ReferenceProvider

Answering = Callable[[str, str], str]
"""From a role and a question to the answer."""


def learned(role: str, question: str) -> str:
    """What the embedded model answers."""
    return ReferenceProvider().complete(Request(role, (Message("user", question),))).text


@contextmanager
def studying(folder: Path, answer: Answering = learned) -> Iterator[list[str]]:
    """A student in a thread of their own, as long as the block runs; the names of the files answered."""
    answered, gone = list[str](), threading.Event()

    def work() -> None:
        while not gone.wait(0.02):
            for path in sorted(folder.glob("*.prompt.md")):
                reply = path.with_name(path.name.replace(".prompt.", ".answer."))
                if not reply.exists():
                    answered.append(reply.name)
                    draft = reply.with_suffix(".draft")
                    draft.write_text(answer(path.name[5:].partition(".")[0], path.read_text(encoding="utf-8")))
                    draft.rename(reply)

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield answered
    finally:
        gone.set()
        thread.join()
