"""Extraction of the actions that a model names in its answer (pure).

Only a statement of an action counts: ``Action: 2``, ``{"action": "toggle"}``, or an answer that consists only of a
number or a name. A digit inside a sentence is never taken for a choice. A statement that fits two actions is ignored.

If the model may name several actions, a statement may also be a list of actions without other words. Examples are
``Actions: 2, 2, turn_left``, ``{"actions": [2, 2, 0]}``, and an answer that consists only of a list.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

_THOUGHT: Final = re.compile(r"<(think|thinking|thought)>.*?(?:</\1>|\Z)", re.IGNORECASE | re.DOTALL)
_THOUGHT_END: Final = re.compile(r"</(?:think|thinking|thought)>", re.IGNORECASE)
_STATEMENT: Final = re.compile(
    r"^[ \t>*_#`'\"\[({-]*(?:(?:my|the|so|final|next|best|chosen|selected)[ \t]+){0,3}"
    r"action(?:[ \t]+(?:id|number))?[ \t*_`]*[:=](?P<value>.*)$",
    re.IGNORECASE | re.MULTILINE,
)
_STATEMENT_OF_LIST: Final = re.compile(_STATEMENT.pattern.replace("action(?:", "actions(?:"), _STATEMENT.flags)
_SEPARATOR: Final = re.compile(r"[,;|\n]|->|→|\bthen\b")
_NUMBER: Final = r"(?<![\w.])-\d+|\d+(?:\.\d+)?"
_DECORATION: Final = " \t\r\n*_`'\"()[]<>{}.!#"
_MAX_ANSWER: Final = 20_000
"""Number of characters that are read from the end of an answer, because models state their choice at the end."""
_MAX_VALUE: Final = 100
_MAX_OBJECTS: Final = 50


@dataclass(frozen=True, slots=True)
class Choice:
    """The actions that an answer names.

    Attributes:
        action: number of the action to do now.
        confidence: confidence that the answer states, from 0 to 1; None if not stated.
        further: numbers of the actions to do after ``action``, in order.
    """

    action: int
    confidence: float | None = None
    further: tuple[int, ...] = ()

    @property
    def actions(self) -> tuple[int, ...]:
        return (self.action, *self.further)


def strip_thoughts(text: str) -> str:
    """Return a text without its reasoning blocks, such as ``<think>...</think>``.

    A block without an end tag reaches to the end of the text. If the start tag is missing, the block begins at the
    start of the text.
    """
    visible = _THOUGHT.sub("", text)
    # Some prompt templates already open the block, so that the answer holds only the end of the block.
    ends = list(_THOUGHT_END.finditer(visible))
    if ends:
        visible = visible[ends[-1].end() :]
    return visible.strip()


def read_choice(text: str, action_space: Mapping[int, str], most: int = 1) -> Choice | None:
    """Return the first ``most`` actions that an answer names, or None if the answer names no action.

    The last valid ``Action:`` line wins. If there is none, the last JSON object with an ``action`` counts. If there is
    no such object either, the whole answer must be a number, a name, or a list of numbers and names.

    Args:
        text: the answer without thoughts.
        action_space: names of the actions by number.
        most: the largest number of actions to return; 1 refuses lists.
    """
    text = text[-_MAX_ANSWER:]
    # Pairs of (position in the text, actions), so that sorting puts the last statement last.
    stated: list[tuple[int, Sequence[int]]] = []
    for match in _STATEMENT.finditer(text):
        stated.append((match.start(), _read_statement(match["value"], action_space, most)))
    if most > 1:
        for match in _STATEMENT_OF_LIST.finditer(text):
            stated.append((match.start(), _read_list(match["value"], action_space)))
    valid = [actions for _, actions in sorted(stated) if actions]
    if valid:
        return _make_choice(valid[-1], most)

    choices = [_read_object(each, action_space, most) for each in _find_objects(text)]
    valid_choices = [choice for choice in choices if choice]
    if valid_choices:
        return valid_choices[-1]
    return _make_choice(_read_whole(text, action_space, most), most)


def _make_choice(actions: Sequence[int], most: int, confidence: float | None = None) -> Choice | None:
    """Return the first ``most`` actions as a choice; None if ``actions`` is empty."""
    if not actions:
        return None
    return Choice(actions[0], confidence, tuple(actions[1:most]))


def _read_statement(value: str, action_space: Mapping[int, str], most: int) -> Sequence[int]:
    """Return the action or the list of actions that ``value``, the text after ``Action:``, names.

    Return () if the text names no action or two different actions.
    """
    if most > 1 and (listed := _read_list(value, action_space)):
        return listed
    tokens = _make_pattern(tuple(action_space.items()))
    if tokens.match(value.lstrip(_DECORATION)) is None:
        return ()
    named = [_read_token(match, action_space) for match in tokens.finditer(value)]
    action = named[0]
    # None stands for a number that is no action, such as a count later in the line.
    names_others = any(each not in (action, None) for each in named)
    if action is None or names_others:
        return ()
    return (action,)


def _read_whole(text: str, action_space: Mapping[int, str], most: int) -> Sequence[int]:
    """Return the action or the list of actions if a text consists of nothing else; return () otherwise.

    A number and a name of the same action, as in ``2 move_forward``, are one action.
    """
    if most > 1 and (listed := _read_list(text, action_space)):
        return listed
    tokens = _make_pattern(tuple(action_space.items()))
    named = [_read_token(match, action_space) for match in tokens.finditer(text)]
    other_words = tokens.sub("", text).strip(_DECORATION + ":,-=")
    if other_words or len(set(named)) != 1:
        return ()
    action = named[0]
    return () if action is None else (action,)


def _read_list(text: str, action_space: Mapping[int, str]) -> Sequence[int]:
    """Return the actions of a text that is a list of actions; () if the text holds anything else."""
    parts = _SEPARATOR.split(text.strip(_DECORATION + ",;|"))
    items = [_read_item(part, action_space) for part in parts]
    if not all(items):
        return ()
    return [action for item in items for action in item]


def _read_item(text: str, action_space: Mapping[int, str]) -> Sequence[int]:
    """Return the actions that one item of a list names, in order; () if the item holds anything else.

    A number and a name side by side must mean the same action, and count as one action.
    """
    tokens = _make_pattern(tuple(action_space.items()))
    text = text.strip().removeprefix("- ")
    if tokens.sub("", text).strip(_DECORATION + ":"):
        return ()
    matches = list(tokens.finditer(text))
    actions: list[int] = []
    index = 0
    while index < len(matches):
        action = _read_token(matches[index], action_space)
        following = matches[index + 1] if index + 1 < len(matches) else None
        is_pair = following is not None and _is_number(following) is not _is_number(matches[index])
        if following is not None and is_pair and _read_token(following, action_space) != action:
            return ()
        if action is None:
            return ()
        actions.append(action)
        index += 2 if is_pair else 1
    return actions


def _is_number(match: re.Match[str]) -> bool:
    """Return whether a match of :func:`_make_pattern` is a number. Only names are matched by a group."""
    return match.lastgroup is None


def _read_token(match: re.Match[str], action_space: Mapping[int, str]) -> int | None:
    """Return the action that a match of :func:`_make_pattern` means; None if the match is a number of no action."""
    if match.lastgroup is not None:
        return int(match.lastgroup.removeprefix("a"))
    # The pattern also matches digits of other scripts and numbers of any length, which mean no action.
    number = match[0]
    if not re.fullmatch("[0-9]{1,9}", number):
        return None
    return int(number) if int(number) in action_space else None


@lru_cache(maxsize=8)
def _make_pattern(actions: tuple[tuple[int, str], ...]) -> re.Pattern[str]:
    """Return a pattern that matches any number, and the name of any action.

    The words of a name may be joined by a space, ``_``, ``-`` or nothing. The group ``a<number>`` matches the name of
    the action with this number.
    """
    names: list[str] = []
    for number, name in actions:
        letters = re.sub("[ _-]", "", name)
        spelling = "[ _-]?".join(map(re.escape, letters))
        names.append(f"(?P<a{number}>(?<![A-Za-z]){spelling}(?![A-Za-z]))")
    return re.compile("|".join((*names, _NUMBER)), re.IGNORECASE)


def _find_objects(text: str) -> Iterator[Mapping[str, Any]]:
    """Yield the JSON objects in a text, nested objects included, in the order in which they start."""
    decoder = json.JSONDecoder()
    starts = [match.start() for match in re.finditer(r"\{", text)][-_MAX_OBJECTS:]
    for start in starts:
        try:
            value, _ = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict):
            yield value


def _read_object(answer: Mapping[str, Any], action_space: Mapping[int, str], most: int) -> Choice | None:
    """Return the choice that a JSON object states; None if the object states no action or an invalid action."""
    keys = ("action", "action_id") if most == 1 else ("actions", "action", "action_id")
    value = next((answer[key] for key in answer if key.lower() in keys), None)
    values = value if most > 1 and isinstance(value, list) else [value]
    # In Python, a bool is an int; JSON's true and false are no actions.
    if not all(isinstance(each, int | str) and not isinstance(each, bool) for each in values):
        return None
    texts = [str(each)[:_MAX_VALUE] for each in values[:_MAX_OBJECTS]]
    named = [_read_whole(text, action_space, most) for text in texts]
    confidence = _read_confidence(answer)
    if not all(named):
        return None
    actions = [action for each in named for action in each]
    return _make_choice(actions, most, confidence)


def _read_confidence(answer: Mapping[str, Any]) -> float | None:
    """Return the ``confidence`` of a JSON object; None if it is missing or is not a number from 0 to 1."""
    value = next((answer[key] for key in answer if key.lower() == "confidence"), None)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if 0 <= value <= 1 else None  # NaN is not between the bounds
