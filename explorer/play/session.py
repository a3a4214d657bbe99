"""An episode that a person plays on a page.

The requests of the page become steps. The page receives only content that the person has seen.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from explorer.evaluation.episode import Game
from explorer.evaluation.results import Episode
from explorer.files import Loaded
from explorer.play.hands import MODEL, codes_for, find_code
from explorer.report.film import describe_code, find_extent, list_changes, list_pose
from explorer.report.looks import Looks
from explorer.report.loose import list_loose
from explorer.rules.actions import Primitive
from explorer.scene import Cell
from explorer.view import Offer, Thing
from explorer.worlds.voxel import VoxelWorld

BY_NAME: Final = {primitive.name.lower(): int(primitive) for primitive in Primitive}
"""Name of a primitive -> code."""
_MESSAGE_LINES: Final = 4
"""Number of recent steps that the page lists."""


class Session:
    """One episode; the methods are thread-safe.

    Attributes:
        loaded: the scene.
        game: the state of the episode.
        looks: the looks of all blocks, items and mobs seen so far.
        finished: an event that is set when the episode is over.
    """

    def __init__(self, loaded: Loaded) -> None:
        self.loaded = loaded
        self.game = Game(VoxelWorld(), loaded)
        self._lock = threading.Lock()
        self.looks = Looks()
        self._trail = [self.game.view.pose.cell]
        # Each message is (primitive in words, why the primitive was refused or "").
        self._messages: list[tuple[str, str]] = []
        self.finished = threading.Event()

    def describe(self) -> dict[str, Any]:
        """Return the person's knowledge as JSON-compatible data."""
        with self._lock:
            return self._describe()

    def describe_looks(self) -> dict[str, Any]:
        """Return the looks of all blocks, items and mobs seen so far as JSON-compatible data."""
        with self._lock:
            return self.looks.to_dict()

    def ask(self, wish: Mapping[str, Any]) -> dict[str, Any]:
        """Carry out a request of the page, and return the person's knowledge after it (:meth:`describe`).

        Args:
            wish: the request: an object with the key ``do``, ``hold``, ``craft`` or ``touch``.

        Raises:
            ValueError: the request is unknown.
        """
        with self._lock:
            codes = self._resolve_codes(wish)
            if isinstance(codes, str):
                self._messages.append(("", codes))
                return self._describe()
            for code in codes:
                if not self.game.over:
                    self._step(code)
            if self.game.over:
                self.finished.set()
            return self._describe()

    def episode(self) -> Episode:
        """Return the result of the episode; if the episode is not over, end the episode first."""
        with self._lock:
            if not self.game.over:
                self._step(Primitive.DONE)
            return self.game.episode(MODEL)

    def _resolve_codes(self, wish: Mapping[str, Any]) -> tuple[int, ...] | str:
        """Return the codes of a request, or the reason why the request cannot be carried out."""
        if self.game.over:
            return "the episode is over"
        match wish:
            case {"do": str(name)} if name in BY_NAME:
                return (BY_NAME[name],)
            case {"hold": str(name)} if (code := find_code("hold", name)) is not None:
                return (code,)
            case {"craft": str(name)} if (code := find_code("craft", name)) is not None:
                return (code,)
            case {"touch": [int(x), int(y), int(z)]}:
                return self._resolve_touch((x, y, z), bool(wish.get("place")))
        raise ValueError("unknown request")

    def _resolve_touch(self, cell: Cell, place: bool) -> tuple[int, ...] | str:
        """Return the codes of a touch (:func:`codes_for`), or the reason why the cell cannot be touched."""
        sizes = self.loaded.scene.size
        is_inside = all(0 <= at < size for at, size in zip(cell, sizes, strict=True))
        if not is_inside:
            return "too far away"
        return codes_for(self.game.view, cell, place=place)

    def _step(self, code: int) -> None:
        """Carry out a primitive, and record the person's cell and a message."""
        self.game.step(code)
        last = self.game.view.last
        self._trail.append(self.game.view.pose.cell)
        self._messages.append((describe_code(code), "" if last.done else last.reason))

    def _describe(self) -> dict[str, Any]:
        """Return the person's knowledge, and add everything in view to the looks. The caller must hold the lock."""
        view = self.game.view
        loose = list_loose(view)
        self.looks.kinds |= {kind for kind, _ in loose}
        self.looks.kinds |= view.inventory.keys()
        self.looks.kinds |= {offer.makes.item for offer in view.recipes}
        blocks = self.looks.numbers(view.known)

        y, z, x = view.known.shape
        known: dict[str, Any] = {
            "size": (x, y, z),
            "spawn": view.origin,
            "dark": self.loaded.scene.dark,
            "step": view.step,
            "max": view.max_steps,
            "pose": list_pose(view.pose),
            "trail": self._trail,
            "blocks": list_changes(np.zeros_like(blocks), blocks),
            "extent": find_extent(blocks),
            "things": loose,
            "look": f"look/{self.looks.size}",
            "held": view.held,
            "inventory": list(view.inventory.items()),
            "recipes": [_describe_recipe(offer) for offer in view.recipes],
            "around": [_describe_thing(each) for each in view.things],
            "said": self._messages[-_MESSAGE_LINES:],
            "over": self.game.over,
        }
        if self.game.over:
            known["latched"] = len(self.game.latched)
            known["hops"] = len(self.loaded.milestones)
        return known


def _describe_thing(thing: Thing) -> dict[str, Any]:
    return {"name": thing.name, "cell": thing.cell, "state": thing.state, "near": thing.in_view}


def _describe_recipe(offer: Offer) -> dict[str, Any]:
    return {
        "name": offer.recipe,
        "makes": offer.makes.item,
        "count": offer.makes.count,
        "needs": [[count, names[0], len(names)] for names, count in offer.needs],
        "table": offer.table,
        "craftable": offer.craftable,
    }
