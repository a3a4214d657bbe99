"""Levels as values: names that differ, and records that give the same level again."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spca.contracts import LevelSpec

json_values = st.none() | st.booleans() | st.integers() | st.text(max_size=5) | st.lists(st.integers(), max_size=2)
specs = st.builds(
    LevelSpec,
    st.just("A-v0"),
    st.dictionaries(st.text(max_size=4), json_values, max_size=3),
    st.text(max_size=5),
)


@given(specs)
def test_a_level_survives_its_record(spec: LevelSpec) -> None:
    record = json.loads(json.dumps({"env_id": spec.id, "seed": 1, **spec.describe_extras()}))
    again = LevelSpec.from_record(record)
    assert again == spec
    assert again.name == spec.name
    assert hash(again) == hash(spec)


@given(specs, specs)
def test_names_differ_where_levels_do(one: LevelSpec, other: LevelSpec) -> None:
    is_same = json.dumps([one.kwargs, one.mission], sort_keys=True) == json.dumps(
        [other.kwargs, other.mission], sort_keys=True
    )
    assert (one.name == other.name) is is_same
    assert one.name.startswith(one.id)


def test_a_plain_id_leaves_no_trace() -> None:
    spec = LevelSpec("A-v0")
    assert (spec.name, spec.describe_extras()) == ("A-v0", {})


@pytest.mark.parametrize("fields", [{"kwargs": [1]}, {"kwargs": None}, {"mission_text": 3}])
def test_a_record_of_another_form_is_refused(fields: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="its arguments are no JSON object, or its mission or its world is no text"):
        LevelSpec.from_record({"env_id": "A-v0", **fields})
