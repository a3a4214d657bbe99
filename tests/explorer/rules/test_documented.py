"""The tables of docs/explorer_rules.md are those of the code."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from explorer.rules.actions import Primitive, aim, craft, hold
from explorer.rules.blocks import BLOCKS, CLEAR, FLAT, KINDS, NATURAL, SCENERY
from explorer.rules.items import tool_needed
from explorer.rules.mobs import MOBS
from explorer.rules.recipes import RECIPES, recipe

PAGE = (Path(__file__).resolve().parents[3] / "docs" / "explorer_rules.md").read_text(encoding="utf-8")


def table(header: str) -> list[list[str]]:
    """Return the rows of the table whose header begins like this."""
    rows = PAGE.partition(f"\n| {header} |")[2].partition("\n\n")[0].splitlines()[2:]
    return [[cell.strip() for cell in row.strip("|").split("|")] for row in rows]


def names(cell: str) -> list[str]:
    return re.findall(r"`([^`]+)`", cell)


@pytest.mark.parametrize(
    ("name", "patterns"),
    [
        ("flat", FLAT.split()),
        ("clear", CLEAR.split()),
        ("scenery", SCENERY.split()),
        ("chests", [pattern for pattern, kind in KINDS.items() if kind == "chest"]),
    ],
)
def test_lists(name: str, patterns: list[str]) -> None:
    assert [names(cell) for head, cell in table("list") if head == name] == [patterns]


def test_natural_blocks() -> None:
    assert {head: names(cell) for head, cell in table("natural")} == {k: v.split() for k, v in NATURAL.items()}


def test_tools() -> None:
    told = {name: head for head, cell in table("tool in hand") for name in names(cell)}
    assert told == {block.name: tool_needed(block) for block in BLOCKS if block.tools}


def test_drops() -> None:
    told = {name: item for cell, item in table("block") for name in names(cell)}
    assert told == {b.name: b.drop or "nothing" for b in BLOCKS if b.breakable and b.drop != b.name}


def test_recipes() -> None:
    rows = table("recipe")
    assert len(rows) > 20
    for name, count, needs, by_table in rows:
        found = RECIPES[recipe(name)]
        assert [int(count), by_table == "yes"] == [found.count, found.table]
        told = {frozenset(kinds(group)): int(number) for number, group in (n.split(" ", 1) for n in needs.split(", "))}
        assert told == dict(found.needs)


def kinds(group: str) -> list[str]:
    if group in ("planks", "wool"):
        return [block.name for block in BLOCKS if block.name.endswith(f"_{group}")]
    return group.split(" or ")


def test_mobs() -> None:
    told = {name: (*drop.split(" "), tall == "yes") for name, drop, tall in table("mob")}
    assert told == {mob.name: (str(mob.drop.count), mob.drop.item, mob.tall) for mob in MOBS.values()}


def test_primitives() -> None:
    rows = [(re.findall(r"\d+", codes), names.split(", ")) for codes, names, _ in table("code")]
    told = {int(number): name for numbers, names in rows for number, name in zip(numbers, names, strict=False)}
    plain = {primitive.value: primitive.name.lower().replace("_", " ") for primitive in Primitive}
    assert told == {
        **plain,
        hold(0): "hold item i",
        craft(0): "craft by recipe r",
        aim(-5, -5, -5): told[aim(-5, -5, -5)],
    }
