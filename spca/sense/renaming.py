"""Invented words for colours and kinds: a model can find out their meaning only by trying (pure).

Each renamed word has its own pool of invented words, from which a seed chooses. The meaning of an invented word is
therefore known even without the seed. The pools contain no English, French or German words (checked against the word
lists of Debian), and no words of prompts.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import Final

from spca.contracts import LevelInfo
from spca.sense.perception import COLOURS, VOCABULARY


def _hash_text(text: str) -> int:
    """Return a hash of a text that is the same on every machine."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest())


RENAMED: Final = (*COLOURS, "door", "key", "ball", "box", "lava")
"""The words that are renamed. Walls, ground and the goal keep their names; PDDL needs the word "goal" too."""
_INVENTED: Final = sorted(map("".join, product("bfgklmnprtvz", "aeiou", "vxz", "ao", "bfp")), key=_hash_text)
_POOLS: Final = {word: _INVENTED[number :: len(RENAMED)] for number, word in enumerate(RENAMED)}
_MEANT: Final = {invented: word for word, pool in _POOLS.items() for invented in pool}
_ALIASES: Final = {"gray": "grey"}
_ANY: Final = "|".join((*RENAMED, *_ALIASES))
_WORD: Final = re.compile(rf"(?:(?<![A-Za-z])({_ANY})|({_ANY.title()}))(e?s)?(?![a-z])")
"""Matches a renamed word that stands alone, between underscores, or as a capitalised part of a name; plurals match too.
"""


def find_meaning(word: str) -> str:
    """Return the true word that an invented word stands for; return any other word unchanged."""
    return _MEANT.get(word, word)


@dataclass(frozen=True, slots=True)
class Renaming:
    """Replaces words for colours and kinds by invented words that a seed chooses; without a seed replaces nothing."""

    seed: int | None = None

    @property
    def vocabulary(self) -> tuple[str, ...]:
        """Every cell word after renaming, by its code; see :data:`spca.sense.perception.VOCABULARY`."""
        return VOCABULARY if self.seed is None else _vocabulary(self.seed)

    def text(self, text: str) -> str:
        """Return a text after renaming, including words within names such as ``key_red`` and ``GoToRedBall``."""
        if self.seed is None:
            return text
        words = _words(self.seed)

        def replace_word(found: re.Match[str]) -> str:
            lower, title, plural = found.groups()
            word = words[lower] if lower else words[title.lower()].title()
            return f"{word}s" if plural else word

        return _WORD.sub(replace_word, text)

    def level(self, level: LevelInfo) -> LevelInfo:
        """Return the level with its texts renamed."""
        return LevelInfo(self.text(level.category), self.text(level.skill), self.text(level.level))


TRUE_WORDS: Final = Renaming()


@cache
def _words(seed: int) -> Mapping[str, str]:
    words: dict[str, str] = {}
    for word, pool in _POOLS.items():
        drawn = _hash_text(f"{seed} {word}") % len(pool)
        words[word] = pool[drawn]
    return words | {alias: words[word] for alias, word in _ALIASES.items()}


@cache
def _vocabulary(seed: int) -> tuple[str, ...]:
    return tuple(map(Renaming(seed).text, VOCABULARY))
