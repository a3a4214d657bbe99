"""Which actions a model named in its words (pure).

Only a statement of an action counts: ``Action: 2``, ``{"action": "toggle"}``, or an answer that is nothing but a number
or a name. A digit inside a sentence is never taken for a choice, and a statement that fits two actions is none.

Where several are asked for, a statement may also be a list that holds nothing else: ``Actions: 2, 2, turn_left``,
``{"actions": [2, 2, 0]}``, or an answer that is nothing but a list.
"""

from __future__ import annotations

import json
import math
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
_BETWEEN: Final = re.compile(r"[,;|\n]|->|→|\bthen\b")
_NUMBER: Final = r"(?<![\w.])-\d+|\d+(?:\.\d+)?"
_DECORATION: Final = " \t\r\n*_`'\"()[]<>{}.!#"
_LONGEST: Final = 20_000
"""Characters of an answer that are looked at, from its end: a choice stands there."""
_LONGEST_VALUE: Final = 100
_MOST_OBJECTS: Final = 50


@dataclass(frozen=True, slots=True)
class Choice:
    """An action that was named, how sure the model says it is (0 to 1), and the actions that are to follow it."""

    action: int
    confidence: float | None = None
    further: tuple[int, ...] = ()

    @property
    def actions(self) -> tuple[int, ...]:
        return (self.action, *self.further)


def strip_thoughts(text: str) -> str:
    """Return a text without the blocks in which models think; one that is not closed reaches to the end."""
    rest = _THOUGHT.sub("", text)
    # Some templates open the block in the prompt, so that only its end is in the answer.
    ends = list(_THOUGHT_END.finditer(rest))
    if ends:
        rest = rest[ends[-1].end() :]
    return rest.strip()


def read_choice(text: str, action_space: Mapping[int, str], most: int = 1) -> Choice | None:
    """Return the action that an answer names, or the first ``most`` actions; None if it names none.

    The last valid ``Action:`` line wins, then the last JSON object with an ``action``, then an answer that is a
    number or a name alone, or a list of them.

    Args:
        text: the answer without thoughts.
        action_space: names by number.
        most: more than 1: a statement may be a list.
    """
    text = text[-_LONGEST:]
    stated = list[tuple[int, Sequence[int]]]()
    for match in _STATEMENT.finditer(text):
        stated.append((match.start(), _read_statement(match["value"], action_space, most)))
    if most > 1:
        for match in _STATEMENT_OF_LIST.finditer(text):
            stated.append((match.start(), _read_list(match["value"], action_space)))
    if found := [actions for _, actions in sorted(stated) if actions]:
        return _make_choice(found[-1], most)

    choices = [_read_object(found, action_space, most) for found in _find_objects(text)]
    chosen = [choice for choice in choices if choice]
    if chosen:
        return chosen[-1]
    return _make_choice(_read_alone(text, action_space, most), most)


def _make_choice(actions: Sequence[int], most: int, confidence: float | None = None) -> Choice | None:
    if not actions:
        return None
    return Choice(actions[0], confidence, tuple(actions[1:most]))


def _read_statement(value: str, action_space: Mapping[int, str], most: int) -> Sequence[int]:
    """Return the action or actions that the rest of a line begins with, unless it goes on to another one."""
    if most > 1 and (listed := _read_list(value, action_space)):
        return listed
    tokens = _make_pattern(tuple(action_space.items()))
    first = tokens.match(value.lstrip(_DECORATION))
    if first is None:
        return ()
    named = [_read_token(match, action_space) for match in tokens.finditer(value)]
    action = named[0]
    if action is None or any(each not in (action, None) for each in named):
        return ()
    return (action,)


def _read_alone(text: str, action_space: Mapping[int, str], most: int) -> Sequence[int]:
    """Return the action of a text that holds nothing else; ``2 move_forward`` is one action."""
    if most > 1 and (listed := _read_list(text, action_space)):
        return listed
    tokens = _make_pattern(tuple(action_space.items()))
    named = [_read_token(match, action_space) for match in tokens.finditer(text)]
    rest = tokens.sub("", text).strip(_DECORATION + ":,-=")
    if rest or len(set(named)) != 1 or named[0] is None:
        return ()
    return (named[0],)


def _read_list(text: str, action_space: Mapping[int, str]) -> Sequence[int]:
    """Return the actions of a text that lists them and holds nothing else."""
    parts = _BETWEEN.split(text.strip(_DECORATION + ",;|"))
    items = [_read_item(part, action_space) for part in parts]
    return [action for item in items for action in item] if all(items) else ()


def _read_item(text: str, action_space: Mapping[int, str]) -> Sequence[int]:
    """Match numbers or names, one after another; a number and a name side by side are one action, or none."""
    tokens = _make_pattern(tuple(action_space.items()))
    text = text.strip().removeprefix("- ")
    if tokens.sub("", text).strip(_DECORATION + ":"):
        return ()
    matches = list(tokens.finditer(text))
    actions: list[int] = []
    while matches:
        match = matches.pop(0)
        action = _read_token(match, action_space)
        if matches and _is_number(matches[0]) is not _is_number(match):
            other = _read_token(matches.pop(0), action_space)
            if other != action:
                return ()
        if action is None:
            return ()
        actions.append(action)
    return actions


def _is_number(match: re.Match[str]) -> bool:
    return match.lastgroup is None


def _read_token(match: re.Match[str], action_space: Mapping[int, str]) -> int | None:
    if match.lastgroup is not None:
        return int(match.lastgroup.removeprefix("a"))
    # Digits of other scripts and numbers of any length are numbers too, but no actions.
    number = match[0]
    if not re.fullmatch("[0-9]{1,9}", number):
        return None
    return int(number) if int(number) in action_space else None


@lru_cache(maxsize=8)
def _make_pattern(actions: tuple[tuple[int, str], ...]) -> re.Pattern[str]:
    """Return the pattern of numbers and names; anything may join a name's words: ``move_forward``, ``pick up``."""
    names = list[str]()
    for number, name in actions:
        letters = re.sub("[ _-]", "", name)
        spelling = "[ _-]?".join(map(re.escape, letters))
        names.append(f"(?P<a{number}>(?<![A-Za-z]){spelling}(?![A-Za-z]))")
    return re.compile("|".join((*names, _NUMBER)), re.IGNORECASE)


def _find_objects(text: str) -> Iterator[Mapping[str, Any]]:
    """Yield the JSON objects in a text, those inside others included."""
    decoder = json.JSONDecoder()
    starts = [match.start() for match in re.finditer(r"\{", text)][-_MOST_OBJECTS:]
    for start in starts:
        try:
            found, _ = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            continue
        if isinstance(found, dict):
            yield found


def _read_object(found: Mapping[str, Any], action_space: Mapping[int, str], most: int) -> Choice | None:
    keys = ("action", "action_id") if most == 1 else ("actions", "action", "action_id")
    value = next((found[key] for key in found if key.lower() in keys), None)
    values = value if most > 1 and isinstance(value, list) else [value]
    if not all(isinstance(each, int | str) and not isinstance(each, bool) for each in values):
        return None
    texts = [str(each)[:_LONGEST_VALUE] for each in values[:_MOST_OBJECTS]]
    named = [_read_alone(text, action_space, most) for text in texts]
    confidence = _read_confidence(found)
    if not all(named):
        return None
    actions = [action for each in named for action in each]
    return _make_choice(actions, most, confidence)


def _read_confidence(found: Mapping[str, Any]) -> float | None:
    """Return the confidence that an object states, None unless it is a number from 0 to 1."""
    value = next((found[key] for key in found if key.lower() == "confidence"), None)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if math.isfinite(value) and 0 <= value <= 1 else None
