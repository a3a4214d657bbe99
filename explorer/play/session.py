"""An episode played by a page: its requests become steps, and it gets only what the person has seen."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from explorer.evaluation.episode import Game
from explorer.evaluation.results import Episode
from explorer.files import Loaded
from explorer.play.hands import MODEL, codes_for, named_code
from explorer.report.film import in_words, list_changes, list_pose
from explorer.report.looks import Looks
from explorer.report.loose import describe_sprite, is_loose
from explorer.rules.actions import Primitive
from explorer.scene import Cell
from explorer.view import Offer, Thing, View
from explorer.worlds.voxel import VoxelWorld

BY_NAME: Final = {primitive.name.lower(): int(primitive) for primitive in Primitive}


class Session:
    """One episode; thread-safe.

    Attributes:
        finished: set once the episode is over.
    """

    def __init__(self, loaded: Loaded) -> None:
        self.loaded = loaded
        self.game = Game(VoxelWorld(), loaded)
        self._lock = threading.Lock()
        self.looks = Looks()
        self._known = self._seen()
        self._sizes = [self.looks.size]
        self._changes = [list_changes(np.zeros_like(self._known), self._known)]
        self._said: list[tuple[str, str]] = []
        self.finished = threading.Event()

    def scene(self) -> dict[str, Any]:
        """Return what never changes, as JSON-compatible data: size, spawn and darkness."""
        view = self.game.view
        y, z, x = view.known.shape
        return {"size": (x, y, z), "spawn": view.origin, "dark": self.loaded.scene.dark}

    def told(self, have: int | None = None, note: str = "") -> dict[str, Any]:
        """Return what the person knows, as JSON-compatible data.

        Args:
            have: the last step that the page knows, None for nothing.
            note: why the request took no step.
        """
        with self._lock:
            return self._told(have, note)

    def ask(self, wish: Mapping[str, Any]) -> dict[str, Any]:
        """Carry out a request of the page: ``do``, ``hold``, ``craft`` or ``touch``.

        Raises:
            ValueError: the request is unknown.
        """
        have = wish.get("have")
        with self._lock:
            codes = self._codes(wish)
            if isinstance(codes, str):
                return self._told(have, codes)
            for code in codes:
                if not self.game.over:
                    self._step(code)
            if self.game.over:
                self.finished.set()
            return self._told(have, "")

    def episode(self) -> Episode:
        """Return the result; end the episode if it is not over."""
        with self._lock:
            if not self.game.over:
                self._step(Primitive.DONE)
            return self.game.episode(MODEL)

    def _codes(self, wish: Mapping[str, Any]) -> tuple[int, ...] | str:
        if self.game.over:
            return "the episode is over"
        match wish:
            case {"do": str(name)} if name in BY_NAME:
                return (BY_NAME[name],)
            case {"hold": str(name)} if (code := named_code("hold", name)) is not None:
                return (code,)
            case {"craft": str(name)} if (code := named_code("craft", name)) is not None:
                return (code,)
            case {"touch": [int(x), int(y), int(z)]}:
                return self._hands((x, y, z), bool(wish.get("place")))
        raise ValueError("unknown request")

    def _hands(self, cell: Cell, place: bool) -> tuple[int, ...] | str:
        width, height, depth = self.loaded.scene.size
        if not (0 <= cell[0] < width and 0 <= cell[1] < height and 0 <= cell[2] < depth):
            return "too far away"
        return codes_for(self.game.view, cell, place=place)

    def _step(self, code: int) -> None:
        self.game.step(code)
        known = self._seen()
        self._changes.append(list_changes(self._known, known))
        self._known = known
        self._sizes.append(self.looks.size)
        last = self.game.view.last
        self._said.append((in_words(code), "" if last.done else last.reason))

    def _seen(self) -> NDArray[np.int32]:
        """Return the looks of the known cells, and collect those of what lies about, is carried or can be made."""
        view = self.game.view
        self.looks.kinds |= {thing.kind for thing in view.things if is_loose(thing, view)}
        self.looks.kinds |= view.inventory.keys()
        self.looks.kinds |= {offer.makes.item for offer in view.recipes}
        return self.looks.numbers(view.known)

    def _told(self, have: object, note: str) -> dict[str, Any]:
        view = self.game.view
        told: dict[str, Any] = {
            "step": view.step,
            "max": view.max_steps,
            "pose": list_pose(view.pose),
            "held": view.held,
            "inventory": list(view.inventory.items()),
            "recipes": [_recipe(offer) for offer in view.recipes],
            "things": [_thing(each, view) for each in view.things],
            "note": note,
            "over": self.game.over,
        }
        since = have if type(have) is int and 0 <= have <= view.step else None
        told["changes"] = self._changes[0 if since is None else since + 1 :]
        told["said"] = self._said[0 if since is None else since :]
        if since is None or self._sizes[since] != self.looks.size:
            told["look"] = self.looks.told()
        if self.game.over:
            told["latched"], told["hops"] = len(self.game.latched), len(self.loaded.milestones)
        return told


def _thing(thing: Thing, view: View) -> dict[str, Any]:
    return {
        **describe_sprite(thing.kind, thing.cell),
        "name": thing.name,
        "state": thing.state,
        "loose": is_loose(thing, view),
        "near": thing.in_view,
    }


def _recipe(offer: Offer) -> dict[str, Any]:
    return {
        "name": offer.recipe,
        "makes": offer.makes.item,
        "count": offer.makes.count,
        "needs": [[count, names[0], len(names)] for names, count in offer.needs],
        "table": offer.table,
        "craftable": offer.craftable,
    }
