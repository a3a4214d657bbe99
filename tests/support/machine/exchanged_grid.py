"""A plugin for tests: the grid with every name, word and primitive exchanged one to one.

Its body is called "plane". The primitives have other names and numbers, the state attributes other names, and all
words of cells, kinds, colours, states and directions are replaced. The embedded model plays it through a translator.

A new word has the length and the first letter of the old one, and words with the same first letter keep their order.
Prompts are therefore cut and sorted as before, but no comparison with a word of the grid can succeed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from minigridenv import MiniGridEnv
from spca.act.world import ActingWorld
from spca.bodies.grid.body import GRID
from spca.body import Body, Primitive, Renamer, StateAttribute, WordGroups
from spca.contracts import AgentView, LevelInfo, LevelSpec, PlanStep, Snapshot
from spca.llm.providers.base import Message, Provider, Request, Response, Target
from spca.llm.providers.offline.reference import ReferenceProvider
from spca.protocols import Executor
from spca.sense.renaming import TRUE_WORDS, Renaming, rename_values

PRIMITIVES: Final = GRID.interface.primitives
STATE: Final = tuple(attribute.name for attribute in GRID.state)
CELLS: Final = ("unseen", "empty", "wall", "floor", "door", "key", "ball", "box", "goal", "lava", "agent")
COLOURS: Final = ("red", "green", "blue", "purple", "yellow", "grey")
OTHERS: Final = ("open", "closed", "locked", "north", "east", "south", "west")
WORDS: Final = (*PRIMITIVES, *STATE, *CELLS, *COLOURS, *OTHERS)

NEW_CODES: Final = (4, 6, 0, 5, 2, 1, 3)
"""The new code of each primitive of the grid."""
_OLD_CODES: Final = tuple(NEW_CODES.index(code) for code in range(len(NEW_CODES)))
_LETTERS: Final = "jqwx"


def _invent_word(word: str) -> str:
    """Return the word that replaces ``word``: its first letter, its rank among such words, and a filling."""
    alike = sorted(other for other in WORDS if other[0] == word[0])
    rank = divmod(alike.index(word), len(_LETTERS))
    letters = iter([word[0], *(_LETTERS[digit] for digit in rank)])
    return "".join("_" if old == "_" else next(letters, "q") for old in word)


NEW_WORDS: Final = {word: _invent_word(word) for word in WORDS}
OLD_WORDS: Final = {new: old for old, new in NEW_WORDS.items()}

_KEPT: Final = r"np\.empty\b|\bkey=lambda|\.keys\(|:goal\b|(?-i:\bAgent\b)"
"""Words of Python, NumPy, PDDL and the loop that are spelt like words of the grid."""


class _Translator:
    """Replaces words that stand alone or between underscores, also capitalised and as plurals.

    A word may follow the escaped line break of a JSON text.
    """

    def __init__(self, words: Mapping[str, str]) -> None:
        self._words = words
        longest_first = sorted(words, key=len, reverse=True)
        any_word = "|".join(map(re.escape, longest_first))
        start = r"(?:(?<![A-Za-z])|(?<=\\n))"
        self._pattern = re.compile(rf"(?:{_KEPT})|{start}({any_word})(?=(?:e?s)?(?![A-Za-z]))", re.IGNORECASE)

    def __call__(self, text: str) -> str:
        return self._pattern.sub(self._replace_word, text)

    def _replace_word(self, match: re.Match[str]) -> str:
        old = match[1]
        if old is None:
            return match[0]
        new = self._words[old.lower()]
        if old.islower():
            return new
        return new.upper() if old.isupper() else new.capitalize()


exchange: Final = _Translator(NEW_WORDS)
change_back: Final = _Translator(OLD_WORDS)


class ExchangedWords(Renaming):
    """Stands for the renaming of a world, so that all words that the world shows are exchanged."""

    @property
    def vocabulary(self) -> tuple[str, ...]:
        return tuple(map(exchange, super().vocabulary))

    def text(self, text: str) -> str:
        return exchange(super().text(text))


class ExchangedNames:
    """The grid's rules for names, in other words."""

    def list_shown_words(self, snapshot: Snapshot, level: LevelInfo) -> frozenset[str]:
        shown = rename_values(snapshot.shown, change_back)
        texts = (level.category, level.skill, level.level)
        old_level = LevelInfo(*map(change_back, texts))
        old = GRID.names.list_shown_words(Snapshot(change_back(snapshot.mission), shown), old_level)
        return frozenset(map(exchange, old))

    def find_name_faults(self, step: PlanStep, shown: frozenset[str], rename: Renamer) -> Iterator[tuple[str, str]]:
        old = PlanStep(change_back(step.action), tuple(map(change_back, step.args)))
        for name, fault in GRID.names.find_name_faults(old, frozenset(map(change_back, shown)), rename):
            yield exchange(name), exchange(fault)

    def find_wrong_argument(self, passed: Mapping[str, str]) -> tuple[str, str] | None:
        old = {change_back(name): change_back(argument) for name, argument in passed.items()}
        wrong = GRID.names.find_wrong_argument(old)
        return wrong and (exchange(wrong[0]), exchange(wrong[1]))

    def find_object_words(self, mission: str, names: Sequence[str]) -> dict[str, str]:
        found = GRID.names.find_object_words(change_back(mission), tuple(map(change_back, names)))
        return {exchange(name): exchange(words) for name, words in found.items()}


class ExchangedDrawing:
    """The grid's drawing, in other words."""

    def draw_rows(self, shown: Mapping[str, Any]) -> list[str]:
        return GRID.drawing.draw_rows(rename_values(shown, change_back))

    def describe_end(self, shown: Mapping[str, Any]) -> list[str]:
        return [exchange(line) for line in GRID.drawing.describe_end(rename_values(shown, change_back))]


def _redraw(state: dict[str, Any]) -> None:
    old = rename_values(state, change_back)
    assert GRID.vocabulary
    GRID.vocabulary.redraw(old)
    state.update(rename_values(old, exchange))


def _exchange_vocabulary(words: WordGroups) -> WordGroups:
    return replace(
        words,
        renamed=tuple(map(exchange, words.renamed)),
        alike=tuple(map(exchange, words.alike)),
        swapped={exchange(old): exchange(new) for old, new in words.swapped.items()},
        swapped_title=exchange(words.swapped_title),
        redraw=_redraw,
    )


def _make_body() -> Body:
    assert GRID.vocabulary
    old = [GRID.primitives[code] for code in _OLD_CODES]
    return Body(
        name="plane",
        primitives=tuple(Primitive(NEW_WORDS[each.name], exchange(each.doc)) for each in old),
        state=tuple(StateAttribute(NEW_WORDS[each.name], each.kind, exchange(each.doc)) for each in GRID.state),
        prompts={name: exchange(text) for name, text in GRID.prompts.items()},
        budgets=GRID.budgets,
        progress=exchange(GRID.progress),
        vocabulary=_exchange_vocabulary(GRID.vocabulary),
        names=ExchangedNames(),
        drawing=ExchangedDrawing(),
    )


PLANE: Final = _make_body()


class ExchangedGrid(MiniGridEnv):
    """MiniGrid's world in other words; its primitives have other codes."""

    def __init__(self, level: LevelSpec, seed: int, executor: Executor) -> None:
        super().__init__(level, seed, executor=executor, renaming=ExchangedWords())
        self.body = PLANE

    def __setattr__(self, name: str, value: object) -> None:
        if name != "renaming" or isinstance(value, ExchangedWords):  # the run's own renaming comes from the settings
            super().__setattr__(name, value)

    def step(self, code: int) -> None:
        super().step(_OLD_CODES[code])
        self.previous_actions[-1] = code

    def frame(self) -> Any:
        return ActingWorld.frame(self)

    def _describe_shown(self) -> Mapping[str, Any]:
        vars(self)["renaming"] = TRUE_WORDS  # maps are drawn from the words of the grid
        shown = super()._describe_shown()
        vars(self)["renaming"] = ExchangedWords()
        rows = shown["map"]
        return {**rename_values(shown, exchange), "map": rows}

    def _agent_view(self) -> AgentView:
        view = super()._agent_view()
        values = [exchange(value) if isinstance(value, str) else value for value in view.values]
        return AgentView(tuple(values), view.words)


class TranslatedModel:
    """The embedded model, which is asked in the words of the grid and answers in the others."""

    def __init__(self, provider: Provider) -> None:
        self._provider = provider

    def complete(self, request: Request) -> Response:
        messages = tuple(Message(each.role, change_back(each.text), each.images) for each in request.messages)
        response = self._provider.complete(replace(request, messages=messages))
        return replace(response, text=exchange(response.text))


def make_model(target: Target) -> Provider:
    return TranslatedModel(ReferenceProvider(target))


def register(registry: Any) -> None:
    """Register the world ``plane`` and the provider ``translated``."""
    registry.world("plane", PLANE, ExchangedGrid)
    registry.provider("translated", make_model)
