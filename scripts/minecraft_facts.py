"""Print the facts of Minecraft 1.16.5 that the explorer's rules need, as JSON: ``scripts/rules`` runs this file."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import chain, product
from typing import Any, Final, TypeAlias

import minecraft_data

Row: TypeAlias = dict[str, Any]

MENDED: Final[dict[str, Row]] = {
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


def block_row(row: Row) -> list[Any]:
    """Return name, hardness (-1: cannot be dug), 1 if a body collides, material, what breaks it, what it may drop."""
    name = row["name"]
    row = row | MENDED.get(name, {})
    drops = set()
    for drop in LOOT.get(name, ()):
        if not drop.get("silkTouch"):
            drops.add(drop["item"])
    hardness = row["hardness"] if row["diggable"] else -1
    collides = int(row["boundingBox"] == "block")
    material = row.get("material", "")
    tools = sorted(map(item_name, row.get("harvestTools", ())))
    return [name, hardness, collides, material, tools, sorted(drops)]


def split_recipe(row: Row) -> tuple[tuple[Any, ...], tuple[str, ...]]:
    """Return what recipes that differ only in their ingredients have in common, and the ingredients."""
    shape = row.get("inShape", [])
    cells = row.get("ingredients") or list(chain.from_iterable(shape))
    kinds = list(dict.fromkeys(cell for cell in cells if cell is not None))
    result = row["result"]
    width = max(map(len, shape), default=0)
    places = tuple(-1 if cell is None else kinds.index(cell) for cell in cells)
    layout = (item_name(result["id"]), result["count"], width, len(shape), places)
    return layout, tuple(map(item_name, kinds))


def recipe_rows() -> Iterator[list[Any]]:
    """Yield product, count, width and height (0: any shape) of each recipe, and items and count of each ingredient."""
    layouts = defaultdict(list)
    for rows in DATA.recipes.values():
        for row in rows:
            layout, ingredients = split_recipe(row)
            layouts[layout].append(ingredients)

    for (*head, places), found in layouts.items():
        groups = []
        for names in zip(*found, strict=True):
            groups.append(sorted(set(names), key=NUMBERS.__getitem__))
        if sorted(product(*groups)) != sorted(found):
            raise ValueError(f"the ingredients of {head} cannot be chosen independently")
        counts = [places.count(place) for place in range(len(groups))]
        yield [*head, [list(pair) for pair in zip(groups, counts, strict=True)]]


def format_table(name: str, rows: Iterable[Any]) -> str:
    """Return a table as a member of a JSON object, one row a line."""
    lines = ",\n".join(json.dumps(row, separators=(",", ":")) for row in rows)
    return f'"{name}": [\n{lines}\n]'


def speed_rows() -> Iterator[list[Any]]:
    """Yield name of a material, and the speed of digging it by tool."""
    for material, by_tool in DATA.materials.items():
        speeds = {item_name(tool): by_tool[tool] for tool in sorted(by_tool)}
        yield [material, speeds]


def main() -> None:
    """Print the tables."""
    recipes = sorted(recipe_rows(), key=lambda row: (NUMBERS[row[0]], row[1:]))
    items = [row["name"] for row in DATA.items_list]
    tables = (
        format_table("blocks", map(block_row, DATA.blocks_list)),
        format_table("items", items),
        format_table("recipes", recipes),
        format_table("speeds", sorted(speed_rows())),
    )
    members = ",\n".join(tables)
    print(f"{{\n{members}\n}}")


if __name__ == "__main__":
    main()
