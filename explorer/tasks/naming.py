"""Check whether a text names a task that the agent should discover."""

from __future__ import annotations

import re
from typing import Final

_VERBS: Final = {
    "chop_log": "chop cut",
    "dig_ground": "dig",
    "mine_stone": "mine",
    "mine_ore": "mine",
    "harvest": "harvest pick",
    "pick_flower": "pick",
    "cut_cobweb": "cut cobweb",
    "clear_leaves": "clear leaves",
    "clear_plug": "clear",
    "climb_ledge": "climb ledge",
    "jump_over_trench": "jump trench",
    "pull_lever": "pull lever iron_door",
    "press_button": "press button iron_door",
    "stand_on_plate": "stand_on plate iron_door",
    "use_two_levers": "lever iron_door",
    "use_lever_and_button": "lever button iron_door",
    "pass_timed_door": "button iron_door",
    "place_lever": "place lever iron_door",
    "place_button": "place button iron_door",
    "open_wooden_door": "open wooden_door",
    "bridge_moat": "bridge moat lay",
    "bridge_chasm": "bridge chasm lay",
    "build_step": "build step ledge",
    "reach_high": "climb",
    "hunt": "hunt",
    "get_drop": "hunt",
    "take_handle": "lever button",
    "take_from_chest": "chest",
    "take_from_third_chest": "chests",
}
"""Name of a schema -> words that reveal its tasks: verbs, and objects other than the object of the task.

Every schema whose name begins with ``craft_`` has only the word "craft".
"""


def named_in(text: str, schema: str, thing: str) -> str:
    """Return the first revealing word of a task that a text contains, or "" if the text contains none.

    Args:
        schema: name of the task's schema.
        thing: object of the task.
    """
    verbs = "craft" if schema.startswith("craft_") else _VERBS.get(schema, "")
    words = [*verbs.split(), thing]
    lower = text.lower()
    for word in words:
        phrase = word.replace("_", " ")
        if re.search(rf"\b{re.escape(phrase)}(s|es)?\b", lower):
            return phrase
    return ""
