"""Invented words for colours and kinds: a model can find out their meaning only by trying (pure).

Each renamed word has its own pool of invented words, from which a seed chooses. The meaning of an invented word is
therefore known even without the seed. The pools contain no English, French or German words (checked against the word
lists of Debian), and no words of prompts.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import Any, Final

from spca.contracts import LevelInfo
from spca.sense.perception import COLOURS, vocabulary


def _hash_text(text: str) -> int:
    """Return a hash of a text that is the same on every machine."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest())


RENAMED: Final = (*COLOURS, "door", "key", "ball", "box", "lava")
"""The words that are renamed. Walls, ground and the goal keep their names; PDDL needs the word "goal" too.

Kinds and colours that plugins add keep their names as well.
"""
_INVENTED: Final = sorted(map("".join, product("bfgklmnprtvz", "aeiou", "vxz", "ao", "bfp")), key=_hash_text)
_ALIASES: Final = {"gray": "grey"}


def find_meaning(word: str, renamed: tuple[str, ...] = RENAMED) -> str:
    """Return the true word that an invented word stands for; return any other word unchanged.

    Args:
        renamed: the words that may be renamed; by default those of the grid.
    """
    return _find_meanings(renamed).get(word, word)


@dataclass(frozen=True, slots=True)
class Renaming:
    """Replaces words for colours and kinds by invented words that a seed chooses; without a seed replaces nothing.

    Attributes:
        renamed: the words that are replaced; by default those of the grid.
    """

    seed: int | None = None
    renamed: tuple[str, ...] = RENAMED

    @property
    def vocabulary(self) -> tuple[str, ...]:
        """Every cell word after renaming, by its code; see :func:`spca.sense.perception.vocabulary`."""
        return vocabulary() if self.seed is None else _rename_words(self, vocabulary())

    def text(self, text: str) -> str:
        """Return a text after renaming, including words within names such as ``key_red`` and ``GoToRedBall``."""
        if self.seed is None:
            return text
        words = _choose_words(self)

        def replace_word(found: re.Match[str]) -> str:
            lower, title, plural = found.groups()
            word = words[lower] if lower else words[title.lower()].title()
            return f"{word}s" if plural else word

        return _make_pattern(self.renamed).sub(replace_word, text)

    def level(self, level: LevelInfo) -> LevelInfo:
        """Return the level with its texts renamed."""
        return LevelInfo(self.text(level.category), self.text(level.skill), self.text(level.level))


TRUE_WORDS: Final = Renaming()


def rename_values(value: Any, rename: Callable[[str], str]) -> Any:
    """Return a nested value in which every string is renamed, including strings in the keys of mappings."""
    if isinstance(value, str):
        return rename(value)
    if isinstance(value, Mapping):
        return {rename_values(key, rename): rename_values(inner, rename) for key, inner in value.items()}
    if isinstance(value, tuple):
        return tuple(rename_values(inner, rename) for inner in value)
    if isinstance(value, list):
        return [rename_values(inner, rename) for inner in value]
    return value


@cache
def _make_pools(renamed: tuple[str, ...]) -> Mapping[str, list[str]]:
    """Return the invented words for each word that may be renamed."""
    return {word: _INVENTED[number :: len(renamed)] for number, word in enumerate(renamed)}


@cache
def _find_meanings(renamed: tuple[str, ...]) -> Mapping[str, str]:
    return {invented: word for word, pool in _make_pools(renamed).items() for invented in pool}


def _list_aliases(renamed: tuple[str, ...]) -> dict[str, str]:
    """Return other spellings of the words that may be renamed, each with the usual spelling."""
    return {alias: word for alias, word in _ALIASES.items() if word in renamed}


@cache
def _make_pattern(renamed: tuple[str, ...]) -> re.Pattern[str]:
    """Return a pattern for a renamed word that stands alone, between underscores, or as a capitalised part of a name.

    Plurals match too.
    """
    any_word = "|".join(map(re.escape, (*renamed, *_list_aliases(renamed))))
    return re.compile(rf"(?:(?<![A-Za-z])({any_word})|({any_word.title()}))(e?s)?(?![a-z])")


@cache
def _choose_words(renaming: Renaming) -> Mapping[str, str]:
    words: dict[str, str] = {}
    for word, pool in _make_pools(renaming.renamed).items():
        drawn = _hash_text(f"{renaming.seed} {word}") % len(pool)
        words[word] = pool[drawn]
    return words | {alias: words[word] for alias, word in _list_aliases(renaming.renamed).items()}


@cache
def _rename_words(renaming: Renaming, words: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(map(renaming.text, words))
