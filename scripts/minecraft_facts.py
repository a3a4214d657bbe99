"""Print the facts of Minecraft 1.16.5 that the explorer's rules need, as JSON: ``scripts/rules`` runs this file."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import product
from typing import Any, Final

import minecraft_data

MENDED: Final[dict[str, dict[str, Any]]] = {
    "peony": {"material": "plant", "harvestTools": {}},
    "coarse_dirt": {"material": "dirt"},
    "podzol": {"material": "dirt"},
}
"""What the package has wrong: in the game all three are dug as their neighbours are."""

DATA: Final = minecraft_data("1.16.5")
LOOT: Final = {row["block"]: row["drops"] for row in DATA.blockLoot_list}
NUMBERS: Final = {row["name"]: index for index, row in enumerate(DATA.items_list)}


def item_name(key: str | int) -> str:
    """Return the name of an item by its number in the package."""
    name: str = DATA.items[int(key)]["name"]
    return name


def block_row(row: dict[str, Any]) -> list[Any]:
    """Return name, hardness (-1: cannot be dug), 1 if a body collides, material, what breaks it, what it may drop."""
    row = {**row, **MENDED.get(row["name"], {})}
    drops = {drop["item"] for drop in LOOT.get(row["name"], ()) if not drop.get("silkTouch")}
    hardness = row["hardness"] if row["diggable"] else -1
    tools = sorted(item_name(key) for key in row.get("harvestTools", ()))
    return [row["name"], hardness, int(row["boundingBox"] == "block"), row.get("material", ""), tools, sorted(drops)]


def split_recipe(row: dict[str, Any]) -> tuple[tuple[Any, ...], tuple[str, ...]]:
    """Return what recipes that differ only in their ingredients have in common, and the ingredients."""
    shape = row.get("inShape", [])
    cells = row.get("ingredients") or [cell for line in shape for cell in line]
    kinds = list(dict.fromkeys(cell for cell in cells if cell is not None))
    result = row["result"]
    head = (item_name(result["id"]), result["count"], max(map(len, shape), default=0), len(shape))
    places = tuple(-1 if cell is None else kinds.index(cell) for cell in cells)
    return (*head, places), tuple(map(item_name, kinds))


def recipe_rows() -> Iterator[list[Any]]:
    """Yield product, count, width and height (0: any shape) of each recipe, and items and count of each ingredient."""
    layouts: dict[tuple[Any, ...], list[tuple[str, ...]]] = {}
    for rows in DATA.recipes.values():
        for row in rows:
            layout, ingredients = split_recipe(row)
            layouts.setdefault(layout, []).append(ingredients)
    for (*head, places), found in layouts.items():
        groups = [sorted(set(names), key=NUMBERS.__getitem__) for names in zip(*found, strict=True)]
        if sorted(product(*groups)) != sorted(found):
            raise ValueError(f"the ingredients of {head} cannot be chosen independently")
        yield [*head, [[group, places.count(place)] for place, group in enumerate(groups)]]


def main() -> None:
    """Print the tables with one row a line."""
    speeds = []
    for name, by_tool in DATA.materials.items():
        speeds.append([name, {item_name(key): by_tool[key] for key in sorted(by_tool)}])
    tables = {
        "blocks": [block_row(row) for row in DATA.blocks_list],
        "items": [row["name"] for row in DATA.items_list],
        "recipes": sorted(recipe_rows(), key=lambda row: (NUMBERS[row[0]], row[1:])),
        "speeds": sorted(speeds),
    }
    texts = []
    for name, rows in tables.items():
        lines = ",\n".join(json.dumps(row, separators=(",", ":")) for row in rows)
        texts.append(f'"{name}": [\n{lines}\n]')
    print("{\n" + ",\n".join(texts) + "\n}")


if __name__ == "__main__":
    main()
