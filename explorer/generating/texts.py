"""Choose the goal text, the only sentence that the agent gets.

A hop is a planned milestone; a schema is a group of similar tasks.
"""

from __future__ import annotations

import random
from typing import Final

from explorer.generating.plans.plan import Hop, RejectedDraw
from explorer.tasks.naming import named_in
from explorer.tasks.pool import task
from explorer.tasks.wording import one, words

_SENTENCES: Final = {
    "enter_room": ("Go and stand in the room with the {} floor.", "Find the room with the {} floor and go in."),
    "find_block": ("Find the {} and look at it from close by.",),
    "find_banner": ("Find the {} and look at it from close by.",),
    "find_animal": ("Find the {} and look at it from close by.",),
    "find_flower": ("Find the {} and look at it from close by.",),
    "take_item": ("Put the {} into your inventory.",),
    "take_from_chest": ("Put the {} into your inventory.",),
    "take_from_third_chest": ("Put the {} into your inventory.",),
    "hunt": ("Leave no {} alive.",),
}
"""Schema -> sentences for its tasks, in addition to the text of the task; the task's object replaces ``{}``."""
_ITEM_SENTENCES: Final = ("Have {} in your inventory.", "Get hold of {}.")
"""Additional sentences for each goal to have an item; the item replaces ``{}``."""


def goal_text(rng: random.Random, goal: Hop, others: list[Hop]) -> str:
    """Return a random sentence that states the goal and does not name any other hop.

    Raises:
        RejectedDraw: every possible sentence names another hop.
    """
    sentences = [task(goal.task).text]
    for template in _SENTENCES.get(goal.schema, ()):
        sentences.append(template.format(words(goal.object)))
    if goal.aim == "item":
        sentences += [template.format(one(goal.object)) for template in _ITEM_SENTENCES]

    rng.shuffle(sentences)
    for sentence in sentences:
        if not any(named_in(sentence, hop.schema, hop.object) for hop in others):
            return sentence
    raise RejectedDraw("text: names a hop")
