"""Parse the Minecraft commands that set up a scene.

The result is a list of deeds, one for each command that has an effect on the scene.

``COMMANDS`` lists the known commands. A command may begin with a slash and a namespace. Coordinates are relative to the
spawn (``~3``). Absolute coordinates are refused, because their meaning differs between worlds.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Final, Literal

from explorer.errors import OutsideArenaError, SceneError, UnknownNameError
from explorer.files.snbt import Tag, parse_snbt
from explorer.rules.blocks import BLOCKS, code
from explorer.rules.items import item
from explorer.rules.mobs import mob_kind
from explorer.scene import PITCH_STEP, STEEPEST, Cell, Stack, move_by

MAX_LENGTH: Final = 8_000
"""Largest number of characters of a command. The game's chat accepts 256, the game's command blocks 32,500."""
MAX_COORDINATE: Final = 256
"""Largest distance along each axis between the spawn and a cell in a command, in cells."""
MAX_ITEMS: Final = 100_000
"""Largest count of one stack."""
MAX_FAULTS: Final = 100
"""Number of faulty commands after which all further commands are left unread."""
MOB_NAME: Final = "[A-Za-z0-9_]{1,40}"
"""Pattern of the names of mobs."""
Mode = Literal["replace", "hollow", "outline", "keep", "destroy"]
_IGNORED_COMMANDS: Final = (
    "gamemode",
    "time",
    "weather",
    "effect",
    "gamerule",
    "difficulty",
    "say",
    "title",
    "tellraw",
    "spawnpoint",
    "setworldspawn",
)
"""Commands of the game that have no effect on a scene."""
_MODES: Final = ("replace", "hollow", "outline", "keep", "destroy")
_PLAYERS: Final = ("@s", "@p", "@a", "@r")
_IGNORED_TAGS: Final = frozenset({"NoAI", "Silent", "PersistenceRequired", "Invulnerable", "PickupDelay", "Age"})
"""Names of data that is ignored without a note, because the rules of the explorer already imply the data."""


@dataclass(frozen=True, slots=True)
class Fill:
    """A deed that sets the blocks in a box.

    Attributes:
        low, high: corners relative to the spawn, both included.
        code: code of the block.
        mode: mode of ``/fill``.
        only: codes of the blocks that ``replace`` replaces, or None for all blocks.
        stacks: contents of the chest, or None if the command gives no contents.
    """

    low: Cell
    high: Cell
    code: int
    mode: Mode = "replace"
    only: frozenset[int] | None = None
    stacks: tuple[Stack, ...] | None = None


@dataclass(frozen=True, slots=True)
class Give:
    """A deed that puts items into the inventory."""

    stack: Stack


@dataclass(frozen=True, slots=True)
class Lay:
    """A deed that lays items on the ground.

    Attributes:
        at: cell relative to the spawn.
    """

    at: Cell
    stack: Stack


@dataclass(frozen=True, slots=True)
class Summon:
    """A deed that places a mob.

    Attributes:
        at: cell relative to the spawn.
        name: name of the mob, or "" if the command gives no name.
    """

    at: Cell
    kind: str
    name: str


@dataclass(frozen=True, slots=True)
class Stand:
    """A deed that puts the player into a cell.

    Attributes:
        at: cell relative to the spawn.
        facing, pitch: see :class:`explorer.scene.Pose`; None if the command gives no direction.
    """

    at: Cell
    facing: int | None
    pitch: int | None


@dataclass(frozen=True, slots=True)
class Clear:
    """A deed that empties the inventory."""


@dataclass(frozen=True, slots=True)
class Kill:
    """A deed that removes mobs or items.

    Attributes:
        kind: kind of the mobs, "item" for all items on the ground, or "" for all mobs and all items on the ground.
    """

    kind: str


Deed = Fill | Give | Lay | Summon | Stand | Clear | Kill


@dataclass(slots=True)
class Parsed:
    """The result of parsing a list of commands.

    Attributes:
        deeds: the deeds in the order of the commands.
        notes: parts of commands that were left out, one line each.
        faults: pairs (index in the list of commands, error), one for each faulty command.
    """

    deeds: list[Deed] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    faults: list[tuple[int, SceneError]] = field(default_factory=list)


def parse_commands(commands: Iterable[str]) -> Parsed:
    """Return the deeds, notes and faults of commands; a command that cannot be parsed adds only a fault."""
    reader = _Reader()
    for number, text in enumerate(commands):
        try:
            reader.read(text)
        except SceneError as error:
            reader.parsed.faults.append((number, error))
        if len(reader.parsed.faults) == MAX_FAULTS:
            reader.parsed.notes.append(f"commands after commands[{number}] are not read: too many are faulty")
            break
    return reader.parsed


def split_words(text: str) -> list[str]:
    """Return the words of a command, split at spaces outside of brackets and braces.

    Quotes have a meaning only within brackets or braces. Within quotes, brackets and braces have no meaning.
    """
    words = []
    word = ""
    depth = 0
    quote = ""
    escaped = False
    for letter in text:
        if letter == " " and depth <= 0 and not quote:
            words.append(word)
            word = ""
            continue
        if quote:
            if letter == quote and not escaped:
                quote = ""
            escaped = letter == "\\" and not escaped
        elif letter in "\"'" and depth:
            quote = letter
        elif letter in "{[":
            depth += 1
        elif letter in "}]":
            depth -= 1
        word += letter
    return [word for word in (*words, word) if word]


class _Reader:
    """A reader of commands, which adds to ``parsed``.

    The coordinates of each command are relative to the player's present cell. ``/tp`` moves the player.
    """

    def __init__(self) -> None:
        self.parsed = Parsed()
        self._origin: Cell = (0, 0, 0)

    def read(self, text: str) -> None:
        """Add the deed and the notes of a command; raise SceneError if the command is faulty."""
        if len(text) > MAX_LENGTH:
            raise SceneError(f"the command has more than {MAX_LENGTH:,} characters")
        name, *words = split_words(text.strip().removeprefix("/")) or [""]
        name = name.removeprefix("minecraft:")
        if name not in COMMANDS:
            raise UnknownNameError("command", name, COMMANDS)
        COMMANDS[name](self, words)

    def ignore(self, words: list[str]) -> None:
        """Ignore a command about daytime, weather, messages or similar features, which scenes do not have."""

    def clear(self, words: list[str]) -> None:
        """Parse the words of ``/clear [player]``."""
        if len(words) > 1:
            self.parsed.notes.append("/clear of single items is left out")
            return
        self.parsed.deeds.append(Clear())

    def kill(self, words: list[str]) -> None:
        """Parse the words of ``/kill @e[type=...]``.

        For any other selector, only add a note that the command is left out.
        """
        selector = words[0] if words else "@s"
        kinds = re.findall(r"type=(!?)(?:minecraft:)?([a-z_]+)", selector)
        negation, kind = kinds[0] if len(kinds) == 1 else ("", "")
        # The only known negation is type=!player, which selects all mobs and items.
        is_known = kind == "player" if negation else kind != ""
        if not selector.startswith("@e[") or not is_known:
            self.parsed.notes.append(f"/kill {selector} is left out: only @e[type=...] and @e[type=!player] are known")
            return
        self.parsed.deeds.append(Kill("" if negation else kind))

    def fill(self, words: list[str]) -> None:
        """Parse the words of ``/fill ~x ~y ~z ~x ~y ~z block [mode] [filter]``."""
        if not 7 <= len(words) <= 9:
            raise SceneError("write /fill ~x ~y ~z ~x ~y ~z block [replace|hollow|outline|keep|destroy]")
        first = self._parse_cell(words[:3])
        second = self._parse_cell(words[3:6])
        low_x, low_y, low_z = map(min, first, second)
        high_x, high_y, high_z = map(max, first, second)

        mode = words[7] if len(words) > 7 else "replace"
        if mode not in _MODES:
            raise UnknownNameError("mode of /fill", mode, _MODES)
        if len(words) > 8 and mode != "replace":
            raise SceneError(f"a filter belongs to replace, not to {mode}")
        only = None if len(words) < 9 else self._parse_filter(words[8])
        block, stacks = self._parse_block(words[6])
        low = (low_x, low_y, low_z)
        high = (high_x, high_y, high_z)
        fill = Fill(low, high, block, mode, only, stacks)  # type: ignore[arg-type]  # mode was compared with _MODES
        self.parsed.deeds.append(fill)

    def setblock(self, words: list[str]) -> None:
        """Parse the words of ``/setblock ~x ~y ~z block [mode]``."""
        if not 4 <= len(words) <= 5:
            raise SceneError("write /setblock ~x ~y ~z block [replace|keep|destroy]")
        mode = words[4] if len(words) > 4 else "replace"
        if mode not in ("replace", "keep", "destroy"):
            raise UnknownNameError("mode of /setblock", mode, ("replace", "keep", "destroy"))
        cell = self._parse_cell(words[:3])
        block, stacks = self._parse_block(words[3])
        fill = Fill(cell, cell, block, mode, None, stacks)  # type: ignore[arg-type]  # mode was compared above
        self.parsed.deeds.append(fill)

    def give(self, words: list[str]) -> None:
        """Parse the words of ``/give player item [count]``."""
        if not 2 <= len(words) <= 3 or not words[0].startswith(_PLAYERS):
            raise SceneError("write /give @s item [count]")
        name, _, data = words[1].partition("{")
        if data:
            self.parsed.notes.append(f"the data of {name} is left out")
        count = words[2] if len(words) > 2 else "1"
        self.parsed.deeds.append(Give(_parse_stack(name, count)))

    def summon(self, words: list[str]) -> None:
        """Parse the words of ``/summon mob [~x ~y ~z [data]]``; the mob ``item`` is an item that lies on the ground."""
        if len(words) not in (1, 4, 5):
            raise SceneError("write /summon mob ~x ~y ~z [{data}]")
        kind = words[0].removeprefix("minecraft:")
        at = self._origin
        if len(words) > 1:
            at = self._parse_cell(words[1:4])
        data = parse_snbt(words[4]) if len(words) > 4 else {}
        if kind == "item":
            stack = _parse_item_tag(data.pop("Item", None))
            self.parsed.deeds.append(Lay(at, stack))
        else:
            mob = mob_kind(kind).name
            name = _parse_mob_name(data.pop("CustomName", ""))
            self.parsed.deeds.append(Summon(at, mob, name))
        self._note_ignored(kind, data)

    def tp(self, words: list[str]) -> None:
        """Parse the words of ``/tp [player] ~x ~y ~z [yaw pitch]``.

        If the command moves a mob, only add a note that the command is left out. The angles, in degrees, are rounded to
        the nearest facing and the nearest step of the pitch.
        """
        target = words.pop(0) if len(words) in (4, 6) else "@s"
        if not target.startswith(_PLAYERS):
            self.parsed.notes.append(f"/tp {target} is left out: mobs stand still")
            return
        if len(words) not in (3, 5):
            raise SceneError("write /tp @s ~x ~y ~z [yaw pitch]")
        self._origin = self._parse_cell(words[:3])
        facing = None
        pitch = None
        if len(words) == 5:
            yaw_degrees = _parse_number(words[3])
            facing = round(yaw_degrees / 90) % 4
            pitch_degrees = _parse_number(words[4])
            pitch_steps = round(pitch_degrees / PITCH_STEP)
            pitch = max(-STEEPEST, min(STEEPEST, pitch_steps))
        self.parsed.deeds.append(Stand(self._origin, facing, pitch))

    def _parse_cell(self, words: list[str]) -> Cell:
        """Convert three coordinates relative to the player into a cell relative to the spawn.

        The player stands in the middle of its cell horizontally, and on the floor of its cell vertically.
        """
        x, y, z = (_parse_coordinate(word) for word in words)
        offset = (math.floor(x + 0.5), math.floor(y), math.floor(z + 0.5))
        cell = move_by(self._origin, offset)
        if max(map(abs, cell)) > MAX_COORDINATE:
            raise OutsideArenaError(
                f"{' '.join(words)} is outside the arena: at most {MAX_COORDINATE} blocks from the spawn"
            )
        return cell

    def _parse_block(self, word: str) -> tuple[int, tuple[Stack, ...] | None]:
        """Return (code of the block, contents of the chest). The contents are None if the word gives no contents."""
        name, states, data = _split_block(word)
        stacks: tuple[Stack, ...] | None = None
        block = BLOCKS[code(name, _parse_state(name, states))]
        if block.code == 0:
            raise UnknownNameError("block", name, ())
        if data:
            tags = parse_snbt(data)
            if block.kind == "chest" and "Items" in tags:
                stacks = _parse_contents(tags.pop("Items"))
            self._note_ignored(name, tags)
        return block.code, stacks

    def _parse_filter(self, word: str) -> frozenset[int]:
        """Return the codes of the blocks that a filter selects.

        If the filter gives no state, it selects every state.
        """
        name, states, _ = _split_block(word)
        if states:
            return frozenset({code(name, _parse_state(name, states))})
        named = BLOCKS[code(name)].name
        return frozenset(block.code for block in BLOCKS if block.name == named)

    def _note_ignored(self, name: str, data: dict[str, Tag]) -> None:
        """Add a note about ignored data if any of its names is missing from :data:`_IGNORED_TAGS`."""
        ignored = sorted(set(data) - _IGNORED_TAGS)
        if ignored:
            listed = ", ".join(ignored)
            self.parsed.notes.append(f"the data of {name} is left out: {listed[:80]}")


COMMANDS: Final[dict[str, Callable[[_Reader, list[str]], None]]] = {
    **dict.fromkeys(_IGNORED_COMMANDS, _Reader.ignore),
    "clear": _Reader.clear,
    "kill": _Reader.kill,
    "fill": _Reader.fill,
    "setblock": _Reader.setblock,
    "give": _Reader.give,
    "summon": _Reader.summon,
    "tp": _Reader.tp,
    "teleport": _Reader.tp,
}


def _parse_coordinate(word: str) -> float:
    """Return the number after ``~``; ``~`` alone stands for 0."""
    if not word.startswith("~"):
        raise SceneError(f"the coordinate {word[:20]!a} is not relative to the spawn: write ~ before it")
    return _parse_number(word[1:]) if word != "~" else 0.0


def _parse_number(word: str) -> float:
    if re.fullmatch(r"[+-]?\d{1,6}(\.\d{0,9})?|[+-]?\.\d{1,9}", word) is None:
        raise SceneError(f"{word[:20]!a} is not a number")
    return float(word)


def _split_block(word: str) -> tuple[str, str, str]:
    """Return (name, states, data) of a block ``name[states]{data}``; a missing component is ""."""
    parts = re.fullmatch(r"([^\[{]+)(?:\[([^\]]*)\])?(\{.*\})?", word, re.DOTALL)
    if parts is None:
        raise SceneError(f"cannot read the block {word[:40]!a}: write name[state=value]")
    return parts[1], parts[2] or "", parts[3] or ""


def _parse_state(name: str, states: str) -> Literal["", "open", "on"]:
    """Convert Minecraft's states of a block, such as ``open=true``, into the explorer's state; ignore other states."""
    given = {}
    for part in states.split(","):
        key, _, value = part.partition("=")
        given[key.strip()] = value.strip()

    kind = BLOCKS[code(name)].kind
    if kind == "door":
        return "open" if given.get("open") == "true" else ""
    if kind in ("device", "plate"):
        return "on" if given.get("powered") == "true" else ""
    return ""


def _parse_stack(name: str, count: str) -> Stack:
    if re.fullmatch(r"\d{1,6}", count) is None or not 1 <= int(count) <= MAX_ITEMS:
        raise SceneError(f"the count {count[:20]!a} is out of range: expected 1 to {MAX_ITEMS:,}")
    item(name)
    return Stack(name.removeprefix("minecraft:"), int(count))


def _parse_item_tag(tag: Tag | None) -> Stack:
    if not isinstance(tag, dict) or not isinstance(tag.get("id"), str):
        raise SceneError('a summoned item needs {Item:{id:"name",Count:1b}}')
    return _parse_stack(str(tag["id"]), str(tag.get("Count", 1)))


def _parse_contents(items: Tag) -> tuple[Stack, ...]:
    if not isinstance(items, list):
        raise SceneError('fill a chest by {Items:[{Slot:0b,id:"name",Count:1b}]}')
    return tuple(_parse_item_tag(each) for each in items)


def _parse_mob_name(tag: Tag) -> str:
    """Return the name of a mob, or "" if the name does not match :data:`MOB_NAME`.

    The tag is the name, with or without quotes, or Minecraft's JSON text ``{"text":"name"}``.
    """
    match = re.fullmatch(rf'(?:\{{"text":)?"?({MOB_NAME})"?\}}?', str(tag))
    return match[1] if match else ""
