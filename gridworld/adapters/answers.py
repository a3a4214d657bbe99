"""Which action a model named in its words (pure).

Only a statement of an action counts: ``Action: 2``, ``{"action": "toggle"}``, or an answer that is nothing but a number
or a name. A digit inside a sentence is never taken for a choice, and a statement that fits two actions is none.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
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
_NUMBER: Final = r"(?<![\w.])-\d+|\d+(?:\.\d+)?"
_DECORATION: Final = " \t\r\n*_`'\"()[]<>{}.!#"
_LONGEST: Final = 20_000
"""Characters of an answer that are looked at, from its end: a choice stands there."""
_MOST_OBJECTS: Final = 50


@dataclass(frozen=True, slots=True)
class Choice:
    """An action that was named, and how sure the model says it is (0 to 1)."""

    action: int
    confidence: float | None = None


def without_thoughts(text: str) -> str:
    """A text without the blocks in which models think; one that is not closed reaches to the end."""
    rest = _THOUGHT.sub("", text)
    # Some templates open the block in the prompt, so that only its end is in the answer.
    ends = list(_THOUGHT_END.finditer(rest))
    return (rest[ends[-1].end() :] if ends else rest).strip()


def read_choice(text: str, action_space: Mapping[int, str]) -> Choice | None:
    """The action that an answer names, None if it names none.

    The last valid ``Action:`` line wins, then the last JSON object with an ``action``, then an answer that is a
    number or a name alone.

    Args:
        text: the answer without thoughts.
        action_space: names by number.
    """
    text = text[-_LONGEST:]
    stated = [_stated(match["value"], action_space) for match in _STATEMENT.finditer(text)]
    actions = [action for action in stated if action is not None]
    if actions:
        return Choice(actions[-1])
    chosen = [choice for found in _objects(text) if (choice := _of_object(found, action_space))]
    if chosen:
        return chosen[-1]
    alone = _alone(text, action_space)
    return None if alone is None else Choice(alone)


def _stated(value: str, action_space: Mapping[int, str]) -> int | None:
    """The action that the rest of a line begins with, unless it goes on to another one."""
    tokens = _tokens(tuple(action_space.items()))
    first = tokens.match(value.lstrip(_DECORATION))
    if first is None:
        return None
    named = [_meaning(match, action_space) for match in tokens.finditer(value)]
    one = named[0]
    return one if one is not None and all(each in (one, None) for each in named) else None


def _alone(text: str, action_space: Mapping[int, str]) -> int | None:
    """The action of a text that holds nothing else; ``2 move_forward`` is one action."""
    tokens = _tokens(tuple(action_space.items()))
    named = [_meaning(match, action_space) for match in tokens.finditer(text)]
    rest = tokens.sub("", text).strip(_DECORATION + ":,-=")
    return named[0] if named and not rest and len(set(named)) == 1 else None


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


def _of_object(found: Mapping[str, Any], action_space: Mapping[int, str]) -> Choice | None:
    value = next((found[key] for key in found if key.lower() in ("action", "action_id")), None)
    if isinstance(value, bool) or not isinstance(value, int | str):
        return None
    action = _alone(str(value)[:100], action_space)
    if action is None:
        return None
    sure = next((found[key] for key in found if key.lower() == "confidence"), None)
    is_share = isinstance(sure, int | float) and not isinstance(sure, bool) and math.isfinite(sure) and 0 <= sure <= 1
    return Choice(action, float(sure) if is_share and sure is not None else None)
