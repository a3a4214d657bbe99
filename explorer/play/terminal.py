"""An episode that a person plays with keys in a terminal, possibly over ssh."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from explorer.evaluation.episode import Game
from explorer.picture.first_person import render
from explorer.play.hands import codes_for, find_code, list_targets
from explorer.play.keys import Keys, raw_keys
from explorer.play.screen import choice, inventory_lines, recipe_line, screen
from explorer.rules.actions import Primitive
from explorer.scene import Cell
from spca.common.text import one_line

if TYPE_CHECKING:
    from rich.live import Live

PRIMITIVES: Final = {
    "up": Primitive.FORWARD, "w": Primitive.FORWARD, "down": Primitive.BACK, "s": Primitive.BACK,
    "a": Primitive.LEFT, "d": Primitive.RIGHT, "left": Primitive.TURN_LEFT, "right": Primitive.TURN_RIGHT,
    "space": Primitive.JUMP, "page up": Primitive.LOOK_UP, "page down": Primitive.LOOK_DOWN, "r": Primitive.LOOK_UP,
    "f": Primitive.LOOK_DOWN, "u": Primitive.USE, "x": Primitive.DIG, "k": Primitive.ATTACK, "p": Primitive.PLACE,
    "b": Primitive.PLACE_AHEAD, "v": Primitive.PLACE_BELOW, "g": Primitive.DROP, ".": Primitive.WAIT,
}  # fmt: skip
"""Name of a key -> primitive."""
_LETTERS: Final = "abcdefghijklmnopqrstuvwxyz"
_MIN_WIDTH: Final = 110
"""Number of columns that a terminal needs for showing the picture beside the map."""


class Terminal:
    """One episode on a terminal.

    Args:
        game: the episode, which the person's steps change.
        task: the goal text.
    """

    def __init__(self, game: Game, task: str) -> None:
        self._game = game
        self._task = task
        self._note = "Tab aims at things nearby."
        self._chosen: Cell | None = None

    def play(self) -> None:
        """Play until the episode is over or the person quits.

        Raises:
            UserError: standard input or output is not a terminal.
        """
        from rich.live import Live

        with raw_keys() as keys, Live(screen=True, auto_refresh=False) as live:
            while not self._game.over:
                self._show(live)
                if not self._press(keys.next(), keys, live):
                    return

    def _show(self, live: Live) -> None:
        """Draw the screen, with the first-person view if the terminal is wide enough."""
        size = live.console.size
        view = self._game.view

        picture = None
        if size.width >= _MIN_WIDTH:
            # One pixel per column, two pixels per row; the other rows and columns are frames, map and status.
            rows = max(5, size.height - 11)
            columns = min((size.width - 10) // 2, 3 * rows)
            picture = render(view.known, view.pose, view.things, columns, 2 * rows)

        terminal_size = (size.width, size.height)
        content = screen(view, self._task, terminal_size, picture, self._note, self._chosen)
        live.update(content, refresh=True)

    def _press(self, key: str, keys: Keys, live: Live) -> bool:
        """Do what a key stands for, and return whether the person goes on playing."""
        if key in PRIMITIVES:
            self._step(PRIMITIVES[key])
            self._chosen = None
        elif key == "tab":
            self._aim_at_next()
        elif key == "enter":
            self._touch()
        elif key == "h":
            self._hold(keys, live)
        elif key == "c":
            self._craft(keys, live)
        elif key in ("q", ""):  # "" means that the terminal is gone
            return False
        return True

    def _step(self, code: int) -> None:
        """Carry out a primitive. Set the note to the reason if the primitive is refused, else to ""."""
        self._game.step(code)
        last = self._game.view.last
        self._note = one_line(f"Not done: {last.reason}.") if not last.done else ""

    def _aim_at_next(self) -> None:
        """Choose the next of the things that are near enough to aim at.

        If none of these things is chosen yet, choose the nearest.
        """
        targets = list(list_targets(self._game.view))
        if not targets:
            self._note = "Nothing is near enough to aim at."
            return
        cells = [each.cell for each in targets]
        index = 0
        if self._chosen in cells:
            index = (cells.index(self._chosen) + 1) % len(cells)
        thing = targets[index]
        self._chosen = thing.cell

        name = thing.name.replace("_", " ")
        state = f" ({thing.state})" if thing.state else ""
        self._note = one_line(f"{name}{state}: enter uses, digs or attacks it.")

    def _touch(self) -> None:
        """Attack, use or dig the chosen cell. If no cell is chosen, use the cell that the crosshair touches."""
        if self._chosen is None:
            self._step(Primitive.USE)
            return
        codes = codes_for(self._game.view, self._chosen)
        if isinstance(codes, str):
            self._note = f"Not possible: {codes}."
            return
        for code in codes:
            if not self._game.over:
                self._step(code)

    def _hold(self, keys: Keys, live: Live) -> None:
        """Let the person choose an item of the inventory, and take the item in hand."""
        view = self._game.view
        named = [("hold", name) for name in view.inventory]
        self._choose("Take in hand", inventory_lines(view), named, keys, live)

    def _craft(self, keys: Keys, live: Live) -> None:
        """Let the person choose one of the craftable recipes, and carry out the recipe."""
        offers = [each for each in self._game.view.recipes if each.craftable]
        if not offers:
            self._note = "You cannot craft anything here from what you carry."
            return
        lines = [recipe_line(each) for each in offers]
        self._choose("Craft", lines, [("craft", each.recipe) for each in offers], keys, live)

    def _choose(
        self, title: str, lines: Sequence[str], named: Sequence[tuple[str, str]], keys: Keys, live: Live
    ) -> None:
        """Show a list, wait for a key, and carry out the line that the key chooses.

        Args:
            lines: the lines to show.
            named: for each line, the arguments of :func:`find_code`.
        """
        live.update(choice(title, lines), refresh=True)
        index = _LETTERS.find(keys.next() or "?")  # find("") would return 0
        if not 0 <= index < len(named):
            return
        code = find_code(*named[index])
        if code is not None:
            self._step(code)
