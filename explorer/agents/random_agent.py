"""An agent that acts at random, the baseline that every other agent must surpass."""

from __future__ import annotations

from random import Random
from typing import Final

from explorer.agents.agent import Usage
from explorer.rules.actions import MAX_AIM, Primitive, aim, craft, hold
from explorer.rules.items import item
from explorer.rules.recipes import recipe
from explorer.scene import offset_to
from explorer.view import View

_PLAIN_PRIMITIVES: Final = tuple([int(each)] for each in Primitive if each not in (Primitive.WAIT, Primitive.DONE))
"""The primitives without an operand, except wait and done. Each primitive is a list that contains only its code."""


class RandomAgent:
    """An agent that draws uniformly among all primitives except wait and done.

    Aim, hold and craft count as one primitive each, provided that at least one operand is possible. The operand is
    drawn uniformly too. Aim chooses a near thing in view, hold chooses an item of the inventory, and craft chooses a
    craftable recipe.
    """

    usage = Usage()

    def reset(self, view: View, task_text: str, seed: int) -> None:
        """Begin an episode, and seed the random generator with seed, spawn and text.

        Spawn and text make the draws differ between scenes.
        """
        self._random = Random(f"{seed} {view.origin} {task_text}")  # noqa: S311 - no secret

    def act(self, view: View) -> int:
        """Return the code of the next primitive."""
        operations = [*_PLAIN_PRIMITIVES, _list_aims(view), _list_holds(view), _list_crafts(view)]
        possible = [codes for codes in operations if codes]
        codes = self._random.choice(possible)
        return self._random.choice(codes)


def _list_aims(view: View) -> list[int]:
    """Return the codes of the primitive aim, one code for each thing that is in view and near enough."""
    offsets = [offset_to(view.pose.cell, thing.cell) for thing in view.things if thing.in_view]
    return [aim(*offset) for offset in offsets if max(map(abs, offset)) <= MAX_AIM]


def _list_holds(view: View) -> list[int]:
    """Return the codes of the primitive hold, one code for each item of the inventory that is not in hand."""
    return [hold(item(name)) for name in view.inventory if name != view.held]


def _list_crafts(view: View) -> list[int]:
    """Return the codes of the primitive craft, one code for each craftable recipe."""
    return [craft(recipe(offer.recipe)) for offer in view.recipes if offer.craftable]
