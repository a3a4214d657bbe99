"""An agent that does anything: the floor that every other has to be above."""

from __future__ import annotations

from random import Random
from typing import Final

from explorer.agents.agent import Usage
from explorer.rules.actions import FARTHEST_AIM, Primitive, aim, craft, hold
from explorer.rules.items import item
from explorer.rules.recipes import recipe
from explorer.scene import Cell
from explorer.view import View

_ALWAYS: Final = tuple([int(each)] for each in Primitive if each not in (Primitive.WAIT, Primitive.DONE))


class RandomAgent:
    """Draws uniformly among what does something: each primitive but wait and done, aim, hold and craft.

    Aim, hold and craft count as one primitive each where there is something to aim at, to hold or to craft; what, is
    drawn uniformly too: a thing in view within reach of an aim, an item of the inventory, a craftable recipe.
    """

    usage = Usage()

    def reset(self, view: View, task_text: str, seed: int) -> None:
        """Begin an episode; seed, text and spawn decide what is drawn, so that no two scenes get the same."""
        self._random = Random(f"{seed} {view.origin} {task_text}")  # noqa: S311 - no secret

    def act(self, view: View) -> int:
        """Return the next code."""
        kinds = [kind for kind in (*_ALWAYS, _aims(view), _holds(view), _crafts(view)) if kind]
        return self._random.choice(self._random.choice(kinds))


def _aims(view: View) -> list[int]:
    offsets = [_from(view, thing.cell) for thing in view.things if thing.in_view]
    return [aim(*offset) for offset in offsets if max(map(abs, offset)) <= FARTHEST_AIM]


def _holds(view: View) -> list[int]:
    return [hold(item(name)) for name in view.inventory if name != view.held]


def _crafts(view: View) -> list[int]:
    return [craft(recipe(offer.recipe)) for offer in view.recipes if offer.craftable]


def _from(view: View, cell: Cell) -> Cell:
    x, y, z = view.pose.cell
    return cell[0] - x, cell[1] - y, cell[2] - z
