"""JSON schemas of Pydantic classes, as strict modes want them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, Field, create_model

from spca.llm.providers.schemas import describe_form, describe_schema, is_closed, json_schema


class Pose(BaseModel):
    title: str = Field(description="not the keyword")
    x: int = Field(0, ge=-3, le=3)
    facing: Literal["North", "South"] = "North"


class Plan(BaseModel):
    """What to do."""

    start: Pose
    goal: Pose = Field(description="where to")
    note: str | None = Field(None, max_length=80)
    ways: list[Pose] = Field(default_factory=list, max_length=4)


class Tree(BaseModel):
    value: int
    children: list[Tree] = []


class Forest(BaseModel):
    best: Tree
    pose: Pose


class Left(BaseModel):
    kind: Literal["left"]


class Right(BaseModel):
    kind: Literal["right"]
    by: tuple[int, float]


class Turn(BaseModel):
    which: Annotated[Left | Right, Field(discriminator="kind")]


def _walk(node: Any) -> Iterator[Mapping[str, Any]]:
    """Every schema in ``node``; the names of properties and definitions are no schemas."""
    yield node
    for key, value in node.items():
        if key in {"properties", "$defs"}:
            for child in value.values():
                yield from _walk(child)
        elif key in {"items", "additionalProperties"} and isinstance(value, dict):
            yield from _walk(value)
        elif key == "anyOf":
            for child in value:
                yield from _walk(child)


def _assert_strict(schema: dict[str, Any]) -> None:
    for node in _walk(schema):
        assert not {"default", "title", "oneOf", "allOf", "const", "discriminator", "prefixItems"} & set(node)
        if node.get("type") == "object":
            assert node["additionalProperties"] is False
            assert node["required"] == list(node["properties"])
        if "$ref" in node:
            assert set(node) == {"$ref"}
            assert node["$ref"].removeprefix("#/$defs/") in schema["$defs"]


@pytest.mark.parametrize("model", [Pose, Plan, Tree, Forest, Turn])
def test_objects_are_closed_and_all_properties_required(model: type[BaseModel]) -> None:
    schema = json_schema(model)
    assert schema["type"] == "object"
    _assert_strict(schema)
    assert is_closed(schema)


def test_classes_are_written_out_with_the_description_at_their_use() -> None:
    schema = json_schema(Plan)
    assert "$ref" not in json.dumps(schema)
    assert schema["description"] == "What to do."
    assert schema["properties"]["goal"]["description"] == "where to"
    assert schema["properties"]["goal"]["properties"] == schema["properties"]["start"]["properties"]


def test_a_property_may_be_called_like_a_keyword() -> None:
    assert json_schema(Pose)["properties"]["title"] == {"description": "not the keyword", "type": "string"}


def test_bounds_that_servers_know_stay() -> None:
    properties = json_schema(Plan)["properties"]
    assert properties["ways"]["maxItems"] == 4
    assert (properties["start"]["properties"]["x"]["minimum"], properties["start"]["properties"]["x"]["maximum"]) == (
        -3,
        3,
    )
    assert "maxLength" not in json.dumps(properties)


def test_recursive_classes_stay_references_within_themselves() -> None:
    root, within = json_schema(Tree), json_schema(Forest)
    for tree in (root, within["properties"]["best"], within["$defs"]["Tree"]):
        assert tree["properties"]["children"]["items"] == {"$ref": "#/$defs/Tree"}
    assert set(root["$defs"]) == set(within["$defs"]) == {"Tree"}


def test_tagged_unions_and_tuples() -> None:
    left, right = json_schema(Turn)["properties"]["which"]["anyOf"]
    assert left["properties"]["kind"]["enum"] == ["left"]
    assert right["properties"]["by"]["items"] == {"anyOf": [{"type": "integer"}, {"type": "number"}]}
    assert (right["properties"]["by"]["minItems"], right["properties"]["by"]["maxItems"]) == (2, 2)


def test_free_keys_and_free_values_are_not_closed() -> None:
    class Map(BaseModel):
        counts: dict[str, Pose]

    class Anything(BaseModel):
        value: Any

    class Surplus(BaseModel):
        model_config = ConfigDict(extra="allow")
        x: int

    assert not is_closed(json_schema(Map))
    assert json_schema(Map)["properties"]["counts"]["additionalProperties"]["additionalProperties"] is False
    assert not is_closed(json_schema(Anything))
    assert is_closed(json_schema(Surplus)), "the model is asked for what is declared"


def test_names_are_of_the_characters_that_servers_take() -> None:
    assert describe_schema(Plan)["name"] == "Plan"
    assert describe_schema(create_model("List[Größe] " + "x" * 80))["name"] == "List_Gr_e_" + "x" * 54


def test_told_ends_in_the_schema() -> None:
    text = describe_form(Plan)
    assert "JSON object" in text
    assert json.loads(text.partition("\n")[2]) == json_schema(Plan)


_leaves = st.sampled_from([int, str, bool, float, str | None, Literal["a", "b"], Pose, Tree])
_types = st.recursive(_leaves, lambda inner: inner.map(lambda t: list[t]) | inner.map(lambda t: t | None))  # type: ignore[valid-type]


@pytest.mark.long
@given(st.dictionaries(st.from_regex(r"[a-z]{1,8}_x", fullmatch=True), _types, min_size=1, max_size=5))
def test_any_class_of_plain_parts_gets_a_strict_schema(fields: dict[str, Any]) -> None:
    definitions: Any = {name: (kind, ...) for name, kind in fields.items()}
    model = create_model("Any", **definitions)
    schema = json_schema(model)
    _assert_strict(schema)
    assert is_closed(schema)
    assert list(schema["properties"]) == list(fields)
