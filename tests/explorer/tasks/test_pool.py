"""The pool of atomic tasks: its limits, its reasons, and the file that holds it."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from explorer.errors import UnknownNameError
from explorer.rules.blocks import BLOCKS
from explorer.rules.items import ITEMS
from explorer.rules.mobs import MOBS
from explorer.tasks import pool as pool_module
from explorer.tasks.labels import LABELS
from explorer.tasks.pool import Task, list_kept_tasks, pool, task
from explorer.tasks.schemas import SCHEMAS
from tests.support.explorer.tasks.filter import MOST_BY_COLOUR, MOST_OF_A_SCHEMA, as_json, coloured

FILE = Path(pool_module.__file__).with_name("pool.json")


def test_two_hundred_tasks_are_kept_and_most_are_dropped_with_a_reason() -> None:
    assert len(list_kept_tasks()) >= 200
    dropped = [each for each in pool().values() if not each.kept]
    assert len(dropped) > 5 * len(list_kept_tasks())
    assert all(each.why for each in dropped)


def test_no_schema_keeps_more_than_its_share() -> None:
    of_schema = Counter(each.schema for each in list_kept_tasks())
    by_colour = Counter(each.schema for each in list_kept_tasks() if coloured(each.object))
    assert max(of_schema.values()) <= MOST_OF_A_SCHEMA
    assert max(by_colour.values()) <= MOST_BY_COLOUR
    assert set(of_schema) == {each.name for each in SCHEMAS}


@pytest.mark.parametrize("label", LABELS)
def test_each_capability_is_on_ten_tasks(label: str) -> None:
    assert sum(label in each.labels for each in list_kept_tasks()) >= 10


def test_everything_that_a_schema_names_is_kept() -> None:
    assert not [f"{each.id}: {each.why}" for each in chosen() if not each.kept]


def test_objects_of_rules_exist_in_the_game() -> None:
    blocks = {each.name for each in BLOCKS}
    for each in list_kept_tasks():
        if each.rule == "inventory":
            assert each.object in ITEMS, each.id
        elif each.rule == "at_most":
            assert each.object in (MOBS if each.schema == "hunt" else blocks), each.id
        elif each.rule == "at_least" or each.schema in ("find_block", "find_banner", "find_odd", "find_pair"):
            assert each.object in blocks, each.id


def test_the_file_is_what_the_filter_says() -> None:
    said = "python -m tests.support.explorer.tasks.filter > explorer/tasks/pool.json"
    assert FILE.read_text("utf-8") == as_json(), said
    assert len(json.loads(FILE.read_text("utf-8"))["kept"]) == len(list_kept_tasks())


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("craft_furniture_enchanting_table", "needs lore: enchanting"),
        ("craft_furniture_hopper", "needs lore: circuits"),
        ("craft_furniture_shears", "cannot be had by digging, hunting and crafting (needs iron_ingot)"),
        ("take_item_stone", "more of the same: take_item keeps 10"),
        ("craft_part_birch_door", "more of the same: craft_part keeps 8"),
    ],
)
def test_reasons_name_the_thing(name: str, why: str) -> None:
    assert pool()[name].why == why


def test_dropped_and_unknown_tasks_are_refused_with_the_nearest() -> None:
    with pytest.raises(UnknownNameError, match="did you mean take_item_emerald"):
        task("take_item_emerad")
    with pytest.raises(UnknownNameError):
        task("take_item_stone")


def chosen() -> list[Task]:
    return [pool()[f"{schema.name}_{each}"] for schema in SCHEMAS for each in schema.objects]
