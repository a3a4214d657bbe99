"""Find what a mission calls the objects of a plan: ``ball_red_left`` is "the red ball on your left" (pure)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from spca.sense.perception import COLOURS
from spca.sense.renaming import find_meaning

_SIDES: Final = frozenset({"left", "right", "front", "behind"})
_PLACE: Final = "in front of you|behind you|on your left|on your right"


def mission_words(mission: str, names: Iterable[str]) -> dict[str, str]:
    """Return, for each name of an object, the phrase in the mission that means this object.

    Names that the mission does not mention are left out. A name without a colour (``door_any``) is matched by a phrase
    without a colour. A name with a colour is matched by a phrase with the same colour or, if there is none, by a phrase
    without a colour, such as "the key" for ``key_yellow``.
    """
    text = " ".join(mission.lower().replace("gray", "grey").split())
    found = {name: _words(text, name.lower()) for name in dict.fromkeys(names)}
    return {name: words for name, words in found.items() if words}


def _words(mission: str, name: str) -> str:
    kind, colour, *rest = [*name.split("_"), ""]
    mentioned = [word for word in re.findall("[a-z]+", mission) if find_meaning(word) in COLOURS]
    alternatives = dict.fromkeys((colour or "any", *mentioned))
    colours = "|".join(map(re.escape, alternatives))
    thing = rf"(?:\b(?P<colour>{colours}) )?\b{re.escape(kind)}\b(?: square\b)?"
    phrase = rf"(?:\b(?:the|an?) )?{thing}(?: (?P<place>{_PLACE})\b)?"
    sides = _SIDES.intersection(rest)

    def fit(match: re.Match[str]) -> tuple[bool, bool]:
        place = match["place"] or ""
        phrase_sides = _SIDES.intersection(place.split())
        return (match["colour"] or "any") == colour, sides == phrase_sides

    phrases = [match for match in re.finditer(phrase, mission) if match["colour"] in (None, colour)]
    if not (phrases and kind and colour):
        return ""
    return max(phrases, key=fit)[0]
