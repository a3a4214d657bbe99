"""A text names nothing that is to be found out."""

from __future__ import annotations

import pytest

from explorer.tasks.naming import _VERBS, named_in
from explorer.tasks.schemas import SCHEMAS
from tests.support.explorer.drafts import drafts


@pytest.mark.parametrize(
    ("text", "schema", "thing", "word"),
    [
        ("Get the emerald.", "pull_lever", "lever", ""),
        ("Pull the levers.", "pull_lever", "lever", "pull"),
        ("Get through the iron door.", "press_button", "stone_button", "iron door"),
        ("Craft a painting.", "craft_part", "stick", "craft"),
        ("Put an oak log into your inventory.", "chop_log", "oak_log", "oak log"),
        ("Put a clog into your inventory.", "chop_log", "log", ""),
        ("Get into the room with the red floor.", "enter_room", "blue", ""),
    ],
)
def test_words_of_a_hop_are_found(text: str, schema: str, thing: str, word: str) -> None:
    assert named_in(text, schema, thing) == word


def test_verbs_are_of_schemas_that_exist() -> None:
    assert set(_VERBS) <= {schema.name for schema in SCHEMAS}


def test_no_draft_names_a_hop() -> None:
    for each in drafts(seed=5, count=24):
        text = each.text.lower()
        for milestone in each.milestones[:-1]:
            schema = next(s for s in SCHEMAS if milestone.task.startswith(f"{s.name}_"))
            thing = milestone.task.removeprefix(f"{schema.name}_").replace("_", " ")
            assert f" {thing} " not in f" {text.strip('.')} "
