"""Snapshots and problems with renamed words: permuted colours, and kinds that are swapped (pure)."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from typing import Any

from spca.body import WordGroups
from spca.sense.renaming import Renaming, find_meaning, rename_values


@dataclass(frozen=True, slots=True)
class Permutation:
    """A permutation of words, applied to whole words, also in names: ``key_red_2``, "the red key", "Go To Red Ball".

    Args:
        words: maps each old word to its new word, in lower case; other words stay unchanged.
        keep_goals: whether to keep the colour of a goal, because in most worlds goals have only one colour.
        redraw: brings the drawn parts of a renamed state up to date.
    """

    words: Mapping[str, str]
    keep_goals: bool = False
    redraw: Callable[[dict[str, Any]], None] = lambda _state: None

    def text(self, text: str) -> str:
        """Return a text with the words renamed; each new word is capitalised like the old word."""
        if not self.words:
            return text
        pattern = _pattern(frozenset(self.words), self.keep_goals)
        return pattern.sub(self._rename_word, text)

    def state(self, state: Mapping[str, Any]) -> dict[str, Any]:
        """Return a writer's input (:func:`spca.writers.stored.writer_state`) with the words renamed."""
        renamed: dict[str, Any] = rename_values(state, self.text)
        self.redraw(renamed)
        return renamed

    def _rename_word(self, match: re.Match[str]) -> str:
        word = match["word"]
        if word is None:  # the colour of a goal, which is kept
            return match[0]
        new = self.words[word.lower()]
        if word.islower():
            return new
        return new.upper() if word.isupper() else new.capitalize()


def recolourings(state: Mapping[str, Any], vocabulary: WordGroups) -> tuple[dict[str, str], ...]:
    """Return two permutations of the colours of a state; fewer if the state has too few colours.

    Colours are the words that ``vocabulary`` calls alike.

    If possible, the new colours have the same alphabetical order as the colours that they replace, because a writer may
    process names in this order.
    """
    used = _list_colours(_names(state))
    text = " ".join(_texts(state)).lower()
    # Some worlds replace the words for colours by invented words; the permutations then use invented words too.
    invented: set[str] = set()
    for word in re.findall("[a-z]+", text):
        meaning = find_meaning(word, vocabulary.renamed)
        if meaning != word and meaning in vocabulary.alike:
            invented.add(word)
    others: Iterable[str] = ()
    if invented:
        others = map(Renaming(0, vocabulary.renamed).text, vocabulary.alike)
    elif used.intersection(vocabulary.alike) or not used:
        others = vocabulary.alike

    palette = sorted(used.union(invented, others))
    present = [colour for colour in palette if re.search(rf"(?<![a-z]){re.escape(colour)}(?![a-z])", text)]
    # An image holds the new colour of each colour in `present`, in the same order.
    images = [image for image in combinations(palette, len(present)) if list(image) != present]
    if len(present) == len(palette):  # no combination keeps the order, so the colours rotate
        images += [(*present[n:], *present[:n]) for n in range(1, len(present))]

    chosen: list[dict[str, str]] = []
    while images and len(chosen) < 2:
        best = min(images, key=lambda image: _count_same(present, image, chosen))
        images.remove(best)
        renamed = dict(zip(present, best, strict=True))
        chosen.append(renamed | _map_rest(palette, present, best))
    return tuple(chosen)


def _list_colours(names: Iterable[str]) -> set[str]:
    """Return the colours in names, which are their second words; leave out the word "other"."""
    split = [name.split(" ") for name in names]
    return {words[1] for words in split if len(words) > 1} - {"other"}


def likeness(vocabulary: WordGroups | None, *texts: str) -> tuple[str, ...]:
    """Return texts in which numbers replace the words that a renaming exchanges, numbered by first mention.

    Texts that differ only by a renaming give equal results.
    """
    plain = tuple(" ".join(text.split()) for text in texts)
    if vocabulary is None:
        return plain
    numbers: dict[str, str] = {}

    def number_word(match: re.Match[str]) -> str:
        word = match["word"].lower()
        plural = match["plural"]
        group = "kind" if word in vocabulary.swapped else "colour"
        numbered_word = numbers.setdefault(word, f"{group}{len(numbers)}")
        return f"{numbered_word}s" if plural else numbered_word

    pattern = _make_common_pattern(_list_common_words(vocabulary))
    return tuple(pattern.sub(number_word, text) for text in plain)


def _count_same(present: list[str], image: Iterable[str], chosen: Iterable[Mapping[str, str]]) -> int:
    """Return the number of colours in ``present`` whose new colour in ``image`` is no change or was used before.

    A new colour was used before if a permutation in ``chosen`` maps the same old colour to it.
    """
    count = 0
    for old, new in zip(present, image, strict=True):
        used = (old, *(before[old] for before in chosen))
        count += new in used
    return count


def _map_rest(palette: list[str], present: Iterable[str], image: Iterable[str]) -> dict[str, str]:
    """Map the colours that are not in ``present`` to the colours that are not in ``image``, both in palette order."""
    absent = [colour for colour in palette if colour not in set(present)]
    free = [colour for colour in palette if colour not in set(image)]
    return dict(zip(absent, free, strict=True))


def _names(state: Mapping[str, Any]) -> list[str]:
    """Return the names of the objects that a writer's input mentions."""
    seen = [text.partition(":")[0] for text in state.get("visible_objects", ())]
    return [*state.get("known_objects", ()), *seen, *filter(None, [state.get("inventory")])]


def _texts(value: Any) -> Iterable[str]:
    """Yield all strings in a nested value, including the keys of mappings."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            yield from (key, *_texts(inner))
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _texts(inner)


def _any_of(words: Iterable[str]) -> str:
    """Return a regular expression for any of the words.

    Longer words come first, so that a word does not match at the beginning of a longer word.
    """
    return f"(?:{'|'.join(map(re.escape, sorted(words, key=len, reverse=True)))})"


def _list_common_words(vocabulary: WordGroups) -> tuple[str, ...]:
    """Return the words that a renaming exchanges, without plurals."""
    kinds = [kind for kind in vocabulary.swapped if not _is_plural(kind, vocabulary.swapped)]
    return (*vocabulary.alike, *kinds)


def _is_plural(word: str, words: Collection[str]) -> bool:
    return word.removesuffix("s") in set(words) - {word} or word.removesuffix("es") in set(words) - {word}


@lru_cache(maxsize=8)
def _make_common_pattern(words: tuple[str, ...]) -> re.Pattern[str]:
    """Return a regular expression whose groups match a word that a renaming exchanges, and its plural ending."""
    any_word = "|".join(map(re.escape, words)) or "(?!)"
    return re.compile(rf"(?<![A-Za-z])(?P<word>{any_word})(?P<plural>e?s)?(?![A-Za-z])", re.IGNORECASE)


@lru_cache(maxsize=64)
def _pattern(words: frozenset[str], keep_goals: bool) -> re.Pattern[str]:
    """Return a regular expression whose group ``word`` matches a word to rename.

    If ``keep_goals``, it matches the colour of a goal without this group.
    """
    word = _any_of(words)
    goals = rf"goal[ _]{word}|{word}[ _]goal|" if keep_goals else ""
    return re.compile(rf"(?<![A-Za-z])(?:{goals}(?P<word>{word}))(?![A-Za-z])", re.IGNORECASE)
