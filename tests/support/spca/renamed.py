"""A model that knows what the invented words of a renamed world stand for."""

from __future__ import annotations

import re

from spca.sense.renaming import Renaming, meant
from tests.support.spca.student import Answering, learned

_INVENTED = re.compile("(?<![A-Za-z])[a-z]+(?![a-z])|[A-Z][a-z]+(?![a-z])")
_ARGUMENT = re.compile(r"\bkey(?==)")
"""``key=`` in Python sorts; it is no thing."""


def restored(text: str) -> str:
    """A text with what each invented word stands for."""
    return _INVENTED.sub(lambda found: _true(found[0]), text)


def _true(word: str) -> str:
    for ending in ("", "s"):
        stem = word.removesuffix(ending).lower()
        if (true := meant(stem)) != stem:
            plural = "es" if ending and true == "box" else ending
            return (true.title() if word[0].isupper() else true) + plural
    return word


def knowing(renaming: Renaming) -> Answering:
    """The embedded model, which is told the true words, and whose answers are told in the invented ones."""

    def answer(role: str, question: str) -> str:
        said = _ARGUMENT.sub("\N{KEY}", learned(role, restored(question)))
        return renaming.text(said).replace("\N{KEY}", "key")

    return answer
