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
"""The primitives without an operand, each as a list of its only code."""


class RandomAgent:
    """An agent that draws uniformly among all primitives except wait and done.

    Aim, hold and craft count as one primitive each, provided that at least one operand is possible. The operand is
    drawn uniformly too. The operand of aim is a near thing in view, of hold an item of the inventory, and of craft a
    craftable recipe.
    """

    usage = Usage()

    def reset(self, view: View, task_text: str, seed: int) -> None:
        """Begin an episode; seed the generator with seed, spawn and text, so that the draws differ between scenes."""
        self._random = Random(f"{seed} {view.origin} {task_text}")  # noqa: S311 - no secret

    def act(self, view: View) -> int:
        """Return the code of the next primitive."""
        operations = [*_PLAIN_PRIMITIVES, _list_aims(view), _list_holds(view), _list_crafts(view)]
        possible = [codes for codes in operations if codes]
        codes = self._random.choice(possible)
        return self._random.choice(codes)


def _list_aims(view: View) -> list[int]:
    """Return the codes that aim at a thing in view, one for each thing that is near enough."""
    offsets = [offset_to(view.pose.cell, thing.cell) for thing in view.things if thing.in_view]
    return [aim(*offset) for offset in offsets if max(map(abs, offset)) <= MAX_AIM]


def _list_holds(view: View) -> list[int]:
    """Return the codes that take an item of the inventory in hand, one for each item that is not in hand."""
    return [hold(item(name)) for name in view.inventory if name != view.held]


def _list_crafts(view: View) -> list[int]:
    """Return the codes that craft, one for each craftable recipe."""
    return [craft(recipe(offer.recipe)) for offer in view.recipes if offer.craftable]
