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


def without_thoughts(text: str) -> str:
    """A text without the blocks in which models think; one that is not closed reaches to the end."""
    rest = _THOUGHT.sub("", text)
    # Some templates open the block in the prompt, so that only its end is in the answer.
    ends = list(_THOUGHT_END.finditer(rest))
    return (rest[ends[-1].end() :] if ends else rest).strip()


def read_choice(text: str, action_space: Mapping[int, str], most: int = 1) -> Choice | None:
    """The action that an answer names, or the first ``most`` actions; None if it names none.

    The last valid ``Action:`` line wins, then the last JSON object with an ``action``, then an answer that is a
    number or a name alone, or a list of them.

    Args:
        text: the answer without thoughts.
        action_space: names by number.
        most: more than 1: a statement may be a list.
    """
    text = text[-_LONGEST:]
    stated = [(match.start(), _stated(match["value"], action_space, most)) for match in _STATEMENT.finditer(text)]
    if most > 1:
        stated += [(match.start(), _list(match["value"], action_space)) for match in _STATEMENT_OF_LIST.finditer(text)]
    if found := [actions for _, actions in sorted(stated) if actions]:
        return _choice(found[-1], most)
    chosen = [choice for found in _objects(text) if (choice := _of_object(found, action_space, most))]
    if chosen:
        return chosen[-1]
    return _choice(_alone(text, action_space, most), most)


def _choice(actions: Sequence[int], most: int, confidence: float | None = None) -> Choice | None:
    return Choice(actions[0], confidence, tuple(actions[1:most])) if actions else None


def _stated(value: str, action_space: Mapping[int, str], most: int) -> Sequence[int]:
    """The action that the rest of a line begins with, unless it goes on to another one; or the list that it is."""
    if most > 1 and (listed := _list(value, action_space)):
        return listed
    tokens = _tokens(tuple(action_space.items()))
    first = tokens.match(value.lstrip(_DECORATION))
    if first is None:
        return ()
    named = [_meaning(match, action_space) for match in tokens.finditer(value)]
    one = named[0]
    return (one,) if one is not None and all(each in (one, None) for each in named) else ()


def _alone(text: str, action_space: Mapping[int, str], most: int) -> Sequence[int]:
    """The action of a text that holds nothing else; ``2 move_forward`` is one action."""
    if most > 1 and (listed := _list(text, action_space)):
        return listed
    tokens = _tokens(tuple(action_space.items()))
    named = [_meaning(match, action_space) for match in tokens.finditer(text)]
    rest = tokens.sub("", text).strip(_DECORATION + ":,-=")
    return (named[0],) if named and named[0] is not None and not rest and len(set(named)) == 1 else ()


def _list(text: str, action_space: Mapping[int, str]) -> Sequence[int]:
    """The actions of a text that lists them and holds nothing else."""
    items = [_item(item, action_space) for item in _BETWEEN.split(text.strip(_DECORATION + ",;|"))]
    return [action for item in items for action in item] if all(items) else ()


def _item(text: str, action_space: Mapping[int, str]) -> Sequence[int]:
    """Numbers or names, one after another; a number and a name side by side are one action, or none."""
    tokens = _tokens(tuple(action_space.items()))
    text = text.strip().removeprefix("- ")
    if tokens.sub("", text).strip(_DECORATION + ":"):
        return ()
    found = [(match.lastgroup is None, _meaning(match, action_space)) for match in tokens.finditer(text)]
    actions: list[int] = []
    while found:
        is_number, action = found.pop(0)
        if found and found[0][0] is not is_number and found.pop(0)[1] != action:
            return ()
        if action is None:
            return ()
        actions.append(action)
    return actions


def _meaning(match: re.Match[str], action_space: Mapping[int, str]) -> int | None:
    if match.lastgroup is not None:
        return int(match.lastgroup.removeprefix("a"))
    # Digits of other scripts and numbers of any length are numbers too, but no actions.
    number = match[0]
    return int(number) if re.fullmatch("[0-9]{1,9}", number) and int(number) in action_space else None


@lru_cache(maxsize=8)
def _tokens(actions: tuple[tuple[int, str], ...]) -> re.Pattern[str]:
    """Numbers and names, the words of a name joined by anything: ``move_forward``, ``Move Forward``, ``pick up``."""
    names = (
        f"(?P<a{number}>(?<![A-Za-z]){r'[ _-]?'.join(map(re.escape, re.sub('[ _-]', '', name)))}(?![A-Za-z]))"
        for number, name in actions
    )
    return re.compile("|".join((*names, _NUMBER)), re.IGNORECASE)


def _objects(text: str) -> Iterator[Mapping[str, Any]]:
    """JSON objects in a text, those inside others included."""
    decoder = json.JSONDecoder()
    starts = [match.start() for match in re.finditer(r"\{", text)][-_MOST_OBJECTS:]
    for start in starts:
        try:
            found, _ = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            continue
        if isinstance(found, dict):
            yield found


def _of_object(found: Mapping[str, Any], action_space: Mapping[int, str], most: int) -> Choice | None:
    keys = ("action", "action_id") if most == 1 else ("actions", "action", "action_id")
    value = next((found[key] for key in found if key.lower() in keys), None)
    values = value if most > 1 and isinstance(value, list) else [value]
    if not all(isinstance(each, int | str) and not isinstance(each, bool) for each in values):
        return None
    named = [_alone(str(each)[:_LONGEST_VALUE], action_space, most) for each in values[:_MOST_OBJECTS]]
    sure = next((found[key] for key in found if key.lower() == "confidence"), None)
    is_share = isinstance(sure, int | float) and not isinstance(sure, bool) and math.isfinite(sure) and 0 <= sure <= 1
    confidence = float(sure) if is_share and sure is not None else None
    return _choice([action for each in named for action in each], most, confidence) if all(named) else None
