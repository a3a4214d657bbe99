"""JSON schemas of Pydantic classes, in the subset of JSON Schema that the structured outputs of all servers support.

The subset is that of OpenAI's strict mode: every object is closed, and all of its properties are required. Servers
treat ``$ref`` differently, so each reference is replaced by the definition; only references of a class to itself
remain. Keywords outside the subset (defaults, lengths of strings) are dropped. Dropping a keyword only loosens the
schema, and answers are later validated with the class.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from pydantic import BaseModel

Schema = dict[str, Any]

_REF: Final = "#/$defs/"
_DROPPED: Final = frozenset(
    (
        "title",
        "default",
        "discriminator",
        "examples",
        "minLength",
        "maxLength",
        "uniqueItems",
        "minProperties",
        "maxProperties",
        "propertyNames",
        "patternProperties",
        "$defs",
    )
)


def json_schema(model: type[BaseModel]) -> Schema:
    """Return the schema of ``model``: closed objects, all properties required; references in recursive classes only."""
    whole = model.model_json_schema()
    tightening = _Tightening(whole.get("$defs", {}))
    schema = tightening.tighten(whole)
    definitions: dict[str, Schema] = {}
    # Expanding a definition may find further recursive classes, which then need definitions too.
    while missing := sorted(tightening.recursive - definitions.keys()):
        for name in missing:
            definitions[name] = tightening.expand(name, {})
    return {**schema, "$defs": definitions} if definitions else schema


def is_closed(schema: Schema) -> bool:
    """Return whether strict mode supports ``schema``: no object has free keys, and no value may be of any type."""
    return all(_is_closed_node(node) for node in _nodes(schema))


def describe_schema(model: type[BaseModel]) -> dict[str, Any]:
    """Return ``model`` as OpenAI's APIs expect it: schema, strictness, and a name without special characters."""
    schema = json_schema(model)
    name = re.sub(r"[^A-Za-z0-9_-]+", "_", model.__name__)[:64]
    return {"name": name, "schema": schema, "strict": is_closed(schema)}


def describe_form(model: type[BaseModel]) -> str:
    """Return an instruction with the schema of the answer, for servers that do not support schemas."""
    schema = json.dumps(json_schema(model), ensure_ascii=False, separators=(",", ":"))
    return f"Answer with one JSON object and nothing else: no code fence, no comment. Its JSON schema:\n{schema}"


class _Tightening:
    """Rewrites nodes of a schema into the subset.

    Attributes:
        recursive: names of the classes found so far that refer to themselves; references to these classes remain.
    """

    def __init__(self, definitions: Mapping[str, Schema]) -> None:
        self._definitions = definitions
        self._expanding: list[str] = []  # the classes around the present node, outermost first
        self.recursive: set[str] = set()

    def expand(self, name: str, extra_keywords: Schema) -> Schema:
        """Return the schema of a class; ``extra_keywords`` are the keywords beside the reference to the class."""
        self._expanding.append(name)
        schema = self.tighten({**self._definitions[name], **extra_keywords})
        self._expanding.pop()
        return schema

    def tighten(self, node: Schema) -> Schema:
        """Return a node rewritten into the subset; add the name of a class that contains itself to ``recursive``."""
        if "$ref" in node:
            name = node["$ref"].removeprefix(_REF)
            if name in self._expanding:
                self.recursive.add(name)
                return {"$ref": _REF + name}  # strict modes accept no keyword beside a reference
            extra_keywords = {key: value for key, value in node.items() if key != "$ref"}
            return self.expand(name, extra_keywords)

        tight: Schema = {}
        for key, value in node.items():
            if key not in _DROPPED:
                tight[key] = self._tighten_value(key, value)

        if "const" in tight:
            tight["enum"] = [tight.pop("const")]
        if "oneOf" in tight:
            tight["anyOf"] = tight.pop("oneOf")
        if "prefixItems" in tight:
            tight["items"] = _any_of(tight.pop("prefixItems"))
        is_map = "properties" not in tight and "additionalProperties" in tight
        if tight.get("type") == "object" and not is_map:
            properties = tight.setdefault("properties", {})
            tight |= {"required": list(properties), "additionalProperties": False}
        return tight

    def _tighten_value(self, key: str, value: Any) -> Any:
        """Return the value of a keyword, after rewriting all schemas inside the value into the subset."""
        if key == "properties":
            return {name: self.tighten(child) for name, child in value.items()}
        if key in {"items", "additionalProperties"} and isinstance(value, dict):
            return self.tighten(value)
        if key in {"anyOf", "oneOf", "prefixItems"}:
            return [self.tighten(child) for child in value]
        return value


def _any_of(schemas: list[Schema]) -> Schema:
    """Return a schema that accepts what any of ``schemas`` accepts; equal schemas count once."""
    distinct = [schema for i, schema in enumerate(schemas) if schema not in schemas[:i]]
    return distinct[0] if len(distinct) == 1 else {"anyOf": distinct}


def _is_closed_node(node: Schema) -> bool:
    """Return whether a node is not empty (an empty schema accepts any value) and has no free keys."""
    has_free_keys = node.get("additionalProperties", False) is not False
    return bool(node) and not has_free_keys


def _nodes(node: Schema) -> Iterator[Schema]:
    """Yield a schema and all schemas inside of it."""
    children: list[Schema] = []
    children.extend(node.get("properties", {}).values())
    children.extend(node.get("$defs", {}).values())
    children.extend(node.get("anyOf", ()))
    for key in ("items", "additionalProperties"):
        child = node.get(key)
        if isinstance(child, dict):
            children.append(child)

    yield node
    for child in children:
        yield from _nodes(child)
