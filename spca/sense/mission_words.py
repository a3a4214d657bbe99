"""What a mission calls the objects of a plan: ``ball_red_left`` is "the red ball on your left" (pure)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from spca.sense.perception import COLOURS
from spca.sense.renaming import find_meaning

_SIDES: Final = frozenset({"left", "right", "front", "behind"})
_PLACE: Final = "in front of you|behind you|on your left|on your right"


def mission_words(mission: str, names: Iterable[str]) -> dict[str, str]:
    """Return the words of the mission for each name of an object that it speaks of; others are left out.

    A name without a colour (``door_any``) is what is said without one. A name with a colour is what is said to have it,
    else what is said without one: "the key" for ``key_yellow``.
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
        sides_told = _SIDES.intersection(place.split())
        return (match["colour"] or "any") == colour, sides == sides_told

    phrases = [match for match in re.finditer(phrase, mission) if match["colour"] in (None, colour)]
    if not (phrases and kind and colour):
        return ""
    return max(phrases, key=fit)[0]
