"""Somebody who answers the questions of ``human/FOLDER``, in a renamed world too."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from spca.llm.providers.base import Message, Request
from spca.llm.providers.offline.reference import ReferenceProvider
from spca.sense.renaming import Renaming, find_meaning

Answering = Callable[[str, str], str]
"""From a role and a question to the answer."""

_INVENTED = re.compile("(?<![A-Za-z])[a-z]+(?![a-z])|[A-Z][a-z]+(?![a-z])")
_SORTED_BY = re.compile(r"\bkey(?==)")


def learned(role: str, question: str) -> str:
    """What the embedded model answers; it is asked for no problem writer, which it looks for in a system's message."""
    return ReferenceProvider().complete(Request(role, (Message("user", question),))).text


def knowing(renaming: Renaming) -> Answering:
    """What it answers, problem writers included, when it is told the true words; told in the invented ones."""

    def answer(role: str, question: str) -> str:
        system, _, rest = _INVENTED.sub(lambda found: _true(found[0]), question).partition("\n# user\n")
        said = ReferenceProvider().complete(Request(role, (Message("system", system), Message("user", rest)))).text
        return renaming.text(_SORTED_BY.sub("\N{KEY}", said)).replace("\N{KEY}", "key")

    return answer


def _true(word: str) -> str:
    """What a word stands for, which may be a plural or capitalised."""
    for ending in ("", "s"):
        stem = word.removesuffix(ending).lower()
        if (true := find_meaning(stem)) != stem:
            plural = "es" if ending and true == "box" else ending
            return (true.title() if word[0].isupper() else true) + plural
    return word


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
