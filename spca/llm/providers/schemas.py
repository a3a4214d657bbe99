"""JSON schemas of Pydantic classes in the subset that every server's structured output knows.

The subset is the one of OpenAI's strict mode: every object closed and all of its properties required. Servers differ
in what they make of ``$ref``, so classes are written out where they are used, except for those that hold themselves.
What is lost (defaults, lengths of strings) only loosens the schema; answers are validated with the class itself.
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
    """Return the schema of ``model``: closed objects, all properties required, references in recursive classes only."""
    whole = model.model_json_schema()
    tightening = _Tightening(whole.get("$defs", {}))
    schema = tightening.tighten(whole)
    kept: dict[str, Schema] = {}
    while missing := sorted(tightening.recursive - kept.keys()):
        kept |= {name: tightening.write_out(name, {}) for name in missing}
    return {**schema, "$defs": kept} if kept else schema


def is_closed(schema: Schema) -> bool:
    """Return whether a strict mode can promise ``schema``: no map with free keys, nothing of any type, in it."""
    return all(_is_closed_node(node) for node in _nodes(schema))


def describe_schema(model: type[BaseModel]) -> dict[str, Any]:
    """Return the schema of ``model`` as OpenAI's APIs are given it, with a name of the characters that they take."""
    schema = json_schema(model)
    name = re.sub(r"[^A-Za-z0-9_-]+", "_", model.__name__)[:64]
    return {"name": name, "schema": schema, "strict": is_closed(schema)}


def describe_form(model: type[BaseModel]) -> str:
    """Return the form of the answer in words, for servers that cannot be given a schema."""
    schema = json.dumps(json_schema(model), ensure_ascii=False, separators=(",", ":"))
    return f"Answer with one JSON object and nothing else: no code fence, no comment. Its JSON schema:\n{schema}"


class _Tightening:
    """Rewrites nodes of a schema; within itself a class stays a reference, and is one of ``recursive``."""

    def __init__(self, definitions: Mapping[str, Schema]) -> None:
        self._definitions = definitions
        self._begun: list[str] = []
        self.recursive: set[str] = set()

    def write_out(self, name: str, beside: Schema) -> Schema:
        """Return the schema of a class, with the keywords that stand beside the reference to it."""
        self._begun.append(name)
        written = self.tighten({**self._definitions[name], **beside})
        self._begun.pop()
        return written

    def tighten(self, node: Schema) -> Schema:
        if "$ref" in node:
            name = node["$ref"].removeprefix(_REF)
            if name in self._begun:
                self.recursive.add(name)
                return {"$ref": _REF + name}  # strict modes take no keyword beside a reference
            beside = {key: value for key, value in node.items() if key != "$ref"}
            return self.write_out(name, beside)

        found: Schema = {}
        for key, value in node.items():
            if key not in _DROPPED:
                found[key] = self._tighten_value(key, value)

        if "const" in found:
            found["enum"] = [found.pop("const")]
        if "oneOf" in found:
            found["anyOf"] = found.pop("oneOf")
        if "prefixItems" in found:
            found["items"] = _any_of(found.pop("prefixItems"))
        if found.get("type") == "object" and ("properties" in found or "additionalProperties" not in found):
            properties = found.setdefault("properties", {})
            found |= {"required": list(properties), "additionalProperties": False}
        return found

    def _tighten_value(self, key: str, value: Any) -> Any:
        if key == "properties":
            return {name: self.tighten(child) for name, child in value.items()}
        if key in {"items", "additionalProperties"} and isinstance(value, dict):
            return self.tighten(value)
        if key in {"anyOf", "oneOf", "prefixItems"}:
            return [self.tighten(child) for child in value]
        return value


def _any_of(schemas: list[Schema]) -> Schema:
    different = [schema for i, schema in enumerate(schemas) if schema not in schemas[:i]]
    return different[0] if len(different) == 1 else {"anyOf": different}


def _is_closed_node(node: Schema) -> bool:
    return bool(node) and node.get("additionalProperties", False) is False


def _nodes(node: Schema) -> Iterator[Schema]:
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
