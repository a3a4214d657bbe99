"""Filter candidates into atomic tasks: consider every item, block and mob, and drop most of them with a reason.

``python -m tests.support.explorer.tasks.filter > explorer/tasks/pool.json`` writes the file that the pool reads.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from typing import Final

from explorer.rules.blocks import BLOCKS
from explorer.rules.items import ITEMS
from explorer.rules.mobs import MOBS
from explorer.rules.recipes import RECIPES, Recipe
from explorer.tasks.labels import LABELS
from explorer.tasks.schemas import SCHEMAS, Schema
from explorer.tasks.wording import one, words

DYES: Final = (
    *("white", "orange", "magenta", "light_blue", "yellow", "lime", "pink", "gray"),
    *("light_gray", "cyan", "purple", "blue", "brown", "green", "red", "black"),
)
MOST_OF_A_SCHEMA: Final = 12
MOST_BY_COLOUR: Final = 8
MOST_STEPS: Final = 300
STEPS_TO_GATHER: Final = 6
"""Low estimate of the steps to find, reach and dig one block."""

LORE: Final = {
    "enchanting": "enchant* experience_bottle",
    "brewing": "*potion* brewing_stand dragon_breath fermented_spider_eye glistering_melon_slice tipped_arrow",
    "the Nether": "*nether* *crimson* *warped* soul_* *blackstone* *basalt *quartz_ore magma* blaze* ghast_tear"
    " glowstone* shroomlight *wart* lodestone respawn_anchor ancient_debris piglin* *ing_vines crying_obsidian",
    "the End": "end_* ender* *chorus* purpur* *shulker* dragon_* elytra",
    "breeding": "*_spawn_egg turtle_* scute lead *_horse_armor carrot_on_a_stick",
    "circuits": "*piston* repeater comparator observer dispenser dropper hopper* redstone_* tripwire_hook *rail"
    " daylight_detector target note_block *minecart tnt",
    "biomes": "*coral* *kelp* prismarine_* sea_* *sponge conduit nautilus_shell ice packed_ice blue_ice bamboo"
    " cocoa_beans sweet_berries honey* bee* *nest",
    "spawn rules": "spawner infested_* *_head *_skull wither_*",
    "rare drops": "trident totem_of_undying music_disc_* nether_star heart_of_the_sea phantom_membrane name_tag",
    "commands": "*command_block* barrier structure_* jigsaw debug_stick knowledge_book petrified_* player_head",
}
"""Knowledge of the game that no scene shows -> patterns of the names that need it."""
GUI: Final = "written_book writable_book firework_* filled_map *banner_pattern suspicious_stew *_pottery_*"
"""Items that need one of the game's own windows."""
CHANCE: Final = "flint apple *_sapling wheat_seeds beetroot_seeds poisonous_potato rabbit_foot egg"
"""Items that breaking or waiting gives only by chance."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A task that might be asked for.

    Attributes:
        chosen: whether its schema names the object; all others come from the game's data.
    """

    schema: Schema
    object: str
    chosen: bool

    @property
    def id(self) -> str:
        """Id of the task."""
        return f"{self.schema.name}_{self.object}"


def candidates() -> Iterator[Candidate]:
    """Yield every candidate once: the objects that schemas name, then every other item and mob of the game."""
    for schema in SCHEMAS:
        yield from (Candidate(schema, each, chosen=True) for each in schema.objects)
    named = {(schema.name, each) for schema in SCHEMAS for each in schema.objects}
    schemas = {schema.name: schema for schema in SCHEMAS}
    for item in ITEMS:
        for name in _ways(item):
            if (name, item) not in named:
                yield Candidate(schemas[name], item, chosen=False)
    for mob in MOBS:
        for name in ("hunt", "find_animal"):
            if (name, mob) not in named:
                yield Candidate(schemas[name], mob, chosen=False)


def reason_to_drop(candidate: Candidate, kept: int, by_colour: int) -> str:
    """Return why a candidate is dropped, or "" if it becomes an atomic task.

    Args:
        kept: number of tasks of its schema kept so far.
        by_colour: number of those that differ only by colour.
    """
    name = candidate.object
    made = candidate.schema.rule == "inventory" and not candidate.schema.name.startswith("take_")
    if made and (reason := _reason_of_the_game(candidate)):
        return reason
    if not candidate.chosen:
        return f"more of the same: {candidate.schema.name} keeps {len(candidate.schema.objects)}"
    if kept >= MOST_OF_A_SCHEMA:
        return f"more than {MOST_OF_A_SCHEMA} of {candidate.schema.name}"
    if coloured(name) and by_colour >= MOST_BY_COLOUR:
        return f"more than {MOST_BY_COLOUR} of {candidate.schema.name} by colour alone"
    return ""


def coloured(name: str) -> bool:
    """Return whether an object is one of several that differ only by colour."""
    return any(name == dye or name.startswith(f"{dye}_") for dye in DYES)


def _reason_of_the_game(candidate: Candidate) -> str:
    name = candidate.object
    for lore, patterns in LORE.items():
        if _matches(name, patterns):
            return f"needs lore: {lore}"
    if _matches(name, GUI):
        return "needs a window of the game"
    if _matches(name, CHANCE):
        return "left to chance"
    steps = effort().get(name)
    if steps is None:
        return f"cannot be had by digging, hunting and crafting{_missing(name)}"
    return f"takes more than {MOST_STEPS} steps" if steps > MOST_STEPS else ""


def _missing(name: str) -> str:
    """Return the missing ingredient, as in " (needs iron_ingot)"."""
    for recipe in RECIPES:
        if recipe.makes == name:
            lacking = [min(group) for group, _ in recipe.needs if not any(each in effort() for each in group)]
            if lacking:
                return f" (needs {lacking[0]})"
    return ""


def _ways(item: str) -> Iterator[str]:
    """Yield the schemas that could ask for an item."""
    yield "take_item"
    if any(recipe.makes == item for recipe in RECIPES):
        yield _craft_schema(item)
    if item in _drops():
        yield "mine_ore" if item in _mined() else "harvest"
    if any(kind.drop.item == item for kind in MOBS.values()):
        yield "get_drop"


def _craft_schema(item: str) -> str:
    patterns = {
        "craft_planks": "*_planks",
        "craft_wooden_tool": "wooden_*",
        "craft_stone_tool": "stone_sword stone_*axe stone_shovel stone_hoe",
        "craft_bed": "*_bed",
        "craft_food": "bread *_stew *_pie cookie cake *_soup dried_kelp sugar",
        "craft_part": "*_door *_fence* *_boat *_sign *_button *_plate *_slab *_stairs *_trapdoor stick bowl *_wall",
    }
    return next((name for name, each in patterns.items() if _matches(item, each)), "craft_furniture")


@cache
def _drops() -> frozenset[str]:
    return frozenset(block.drop for block in BLOCKS if block.drop is not None)


@cache
def _mined() -> frozenset[str]:
    return frozenset(block.drop for block in BLOCKS if block.drop is not None and block.tools)


@cache
def effort() -> dict[str, int]:
    """Return item -> estimated steps to get one from nothing, by digging, hunting and crafting alone."""
    steps = dict.fromkeys((*_drops(), *(kind.drop.item for kind in MOBS.values())), STEPS_TO_GATHER)
    changed = True
    while changed:
        changed = False
        for recipe in RECIPES:
            least = _steps(recipe, steps)
            if least is not None and least < steps.get(recipe.makes, least + 1):
                steps[recipe.makes] = least
                changed = True
    return steps


def _steps(recipe: Recipe, known: dict[str, int]) -> int | None:
    total = 1
    for group, count in recipe.needs:
        least = min((known[each] for each in group if each in known), default=None)
        if least is None:
            return None
        total += least * count
    return max(1, total // recipe.count)


def _matches(name: str, patterns: str) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns.split())


def as_json() -> str:
    """Return the pool in the format of ``pool.json``: kept tasks in full, dropped ones with id and reason."""
    kept = []
    dropped = {}
    of_schema, by_colour = Counter[str](), Counter[str]()
    for candidate in candidates():
        schema, thing = candidate.schema, candidate.object
        why = reason_to_drop(candidate, of_schema[schema.name], by_colour[schema.name])
        if why:
            dropped[candidate.id] = why
            continue
        of_schema[schema.name] += 1
        by_colour[schema.name] += coloured(thing)
        kept.append(
            {
                "id": candidate.id,
                "schema": schema.name,
                "text": schema.text.format(words(thing), one=one(thing)),
                "labels": [label for label in LABELS if label in schema.labels],
                "rule": schema.rule,
                "sources": schema.sources,
            }
        )
    return json.dumps({"kept": kept, "dropped": dropped}, indent=1) + "\n"


if __name__ == "__main__":
    print(as_json(), end="")
