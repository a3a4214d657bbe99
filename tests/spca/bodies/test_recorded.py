"""The body in the record of a run: what is written, and what is read back from any record."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spca.bodies.grid.body import GRID
from spca.bodies.grid.primitives import PRIMITIVE_METHODS
from spca.bodies.recorded import BODY, describe_body, list_primitives
from spca.body import Body, Budgets, Primitive, StateAttribute, StateKind

CAT = Body("cat", (Primitive("purr", "Purr."),), (StateAttribute("hunger", StateKind.VALUE, "from 0 to 9."),))
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


@pytest.mark.parametrize("body", [GRID, CAT])
def test_what_is_recorded_is_read_back(body: Body) -> None:
    record = json.loads(json.dumps(describe_body(body)))
    assert set(record) == {"name", "sha256", "primitives"}
    assert record["name"] == body.name
    assert list_primitives({BODY: record}) == body.interface.primitives


def test_the_hash_is_that_of_what_models_and_code_get() -> None:
    assert describe_body(CAT) == describe_body(replace(CAT))
    changed = [
        replace(CAT, primitives=(Primitive("purr", "Purr loudly."),)),
        replace(CAT, state=(StateAttribute("hunger", StateKind.NUMBERS, "from 0 to 9."),)),
        replace(CAT, state=(StateAttribute("hunger", StateKind.VALUE, "from 0 to 9.", is_progress=False),)),
        replace(CAT, words=("mouse",)),
        replace(CAT, prompts={"planner_world": "A house."}),
        replace(CAT, budgets=Budgets(patience=61)),
    ]
    hashes = [describe_body(body)["sha256"] for body in (CAT, *changed)]
    assert len(set(hashes)) == len(hashes)


def test_a_run_of_an_earlier_version_had_the_body_of_the_grid() -> None:
    assert list_primitives({}) == PRIMITIVE_METHODS
    assert list_primitives({"versions": {}}) == PRIMITIVE_METHODS


@pytest.mark.parametrize("odd", [None, 3, "cat", [], ["purr"], {}, {"primitives": None}, {"primitives": {"purr": 1}}])
def test_a_record_that_is_no_body_is_that_of_an_earlier_version(odd: object) -> None:
    assert list_primitives({BODY: odd}) == PRIMITIVE_METHODS


def test_a_name_that_is_no_text_keeps_its_place() -> None:
    assert list_primitives({BODY: {"primitives": ["purr", 3, None, "hiss"]}}) == ("purr", "?", "?", "hiss")


@given(JSON)
def test_any_record_has_names(odd: Any) -> None:
    for info in ({BODY: odd}, {BODY: {"primitives": odd}}, {BODY: {"primitives": [odd, odd]}}):
        assert all(isinstance(name, str) for name in list_primitives(info))
